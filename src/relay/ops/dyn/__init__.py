"""Operators whose shapes are tensors: dyn.reshape, dyn.broadcast_to, dyn.full, dyn.zeros, dyn.ones, dyn.strided_slice.

A shape is a tensor [rank] of integers. Its extent is known, so the rank of the result is; the extents of the result are
`?`, and the run finds them. The functions of the static operators (`relay.reshape`) come here when a shape is an
expression.
"""

from relay.ops.dyn.broadcast import BROADCAST_TO, broadcast_to
from relay.ops.dyn.create import FULL, ONES, ZEROS, DynInitAttributes, full, ones, zeros
from relay.ops.dyn.reshape import RESHAPE, reshape
from relay.ops.dyn.strided_slice import STRIDED_SLICE, DynStridedSliceAttributes, strided_slice

DYNAMIC = (RESHAPE, BROADCAST_TO, FULL, ZEROS, ONES, STRIDED_SLICE)

__all__ = [
    "BROADCAST_TO", "DYNAMIC", "FULL", "ONES", "RESHAPE", "STRIDED_SLICE", "ZEROS", "DynInitAttributes",
    "DynStridedSliceAttributes", "broadcast_to", "full", "ones", "reshape", "strided_slice", "zeros",
]  # fmt: skip
