"""Operators whose shapes and counts are tensors: dyn.reshape, dyn.broadcast_to, dyn.full, dyn.tile, ….

A shape is a tensor [rank] of integers, a count a scalar. The extent of a shape is known, so the rank of the result is;
the extents of the result are `?`, and the run finds them. The functions of the static operators (`relay.reshape`) come
here when a shape is an expression. `dyn.topk` stands with what puts elements in order.
"""

from relay.ops.dyn.broadcast import BROADCAST_TO, broadcast_to
from relay.ops.dyn.create import FULL, ONES, ZEROS, DynInitAttributes, full, ones, zeros
from relay.ops.dyn.one_hot import ONE_HOT, DynOneHotAttributes, one_hot
from relay.ops.dyn.pad import PAD, DynPadAttributes, pad
from relay.ops.dyn.reshape import RESHAPE, DynReshapeAttributes, reshape
from relay.ops.dyn.strided_slice import STRIDED_SLICE, DynStridedSliceAttributes, strided_slice
from relay.ops.dyn.tile import TILE, tile
from relay.ops.dyn.transpose import TRANSPOSE, transpose

DYNAMIC = (RESHAPE, BROADCAST_TO, FULL, ZEROS, ONES, STRIDED_SLICE, TRANSPOSE, TILE, PAD, ONE_HOT)

__all__ = [
    "BROADCAST_TO", "DYNAMIC", "FULL", "ONES", "ONE_HOT", "PAD", "RESHAPE", "STRIDED_SLICE", "TILE",
    "TRANSPOSE", "ZEROS", "DynInitAttributes", "DynOneHotAttributes", "DynPadAttributes", "DynReshapeAttributes",
    "DynStridedSliceAttributes", "broadcast_to", "full", "one_hot", "ones", "pad", "reshape",
    "strided_slice", "tile", "transpose", "zeros",
]  # fmt: skip
