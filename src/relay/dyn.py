"""`relay.dyn`: operators whose shapes are tensors, which `relay.reshape` and its like use for expressions."""

from relay.ops.dyn import broadcast_to, full, ones, reshape, strided_slice, zeros

__all__ = [
    "broadcast_to",
    "full",
    "ones",
    "reshape",
    "strided_slice",
    "zeros",
]
