"""`relay.dyn`: operators whose shapes are tensors, which `relay.reshape` and its like use for expressions."""

from relay.ops.dyn import (
    broadcast_to,
    full,
    one_hot,
    ones,
    pad,
    reshape,
    strided_slice,
    tile,
    transpose,
    zeros,
)
from relay.ops.sorting.dyn_topk import topk

__all__ = [
    "broadcast_to",
    "full",
    "one_hot",
    "ones",
    "pad",
    "reshape",
    "strided_slice",
    "tile",
    "topk",
    "transpose",
    "zeros",
]
