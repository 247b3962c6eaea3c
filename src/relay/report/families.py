"""The colours of kernels: by what they mostly do."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.runtime.profile.program_profile import KernelProfile

FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "convolution": "convolutions",
        "product": "matrix products and attention",
        "reduction": "reductions, pooling and norms",
        "other": "elementwise, movement and others",
    }
)
"""The class of each family in the style sheet, and what it is called."""

_REDUCTIONS = ("pool", "softmax", "norm", "sum", "mean", "max", "min", "prod", "argm", "variance", "std")


def family(kernel: KernelProfile) -> str:
    """The family of a kernel: that of its heaviest operator."""
    names = [name.rpartition(".")[2] for name in kernel.operators]
    if any("conv" in name for name in names):
        return "convolution"
    if kernel.multiply_adds:
        return "product"
    if any(name.startswith(_REDUCTIONS) or "pool" in name or "softmax" in name or "norm" in name for name in names):
        return "reduction"
    return "other"


def described(kernel: KernelProfile) -> str:
    """The operators of a kernel, short."""
    most = 8
    return ", ".join(kernel.operators[:most]) + (", …" if len(kernel.operators) > most else "")
