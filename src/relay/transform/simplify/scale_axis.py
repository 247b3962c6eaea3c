"""What both directions of FoldScaleAxis ask: along which axis a scale varies, and what lets scales pass."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.ir.expr import Call, Expr, Op
from relay.ir.types import TensorType
from relay.ops.layouts import parse_layout

Array: TypeAlias = NDArray[Any]

_MAXIMA = ("nn.relu", "nn.leaky_relu", "nn.max_pool1d", "nn.max_pool2d", "nn.global_max_pool2d")
_MEANS = ("nn.avg_pool1d", "nn.avg_pool2d", "nn.global_avg_pool2d")


def shape_of(expr: Expr) -> tuple[object, ...] | None:
    """The extents of a tensor; None of what is no tensor of known type."""
    return expr.checked_type.shape if isinstance(expr.checked_type, TensorType) else None


def is_float(array: Array) -> bool:
    """Whether an array has floating-point elements, `ml_dtypes` included."""
    return bool(np.issubdtype(array.dtype, np.floating)) or "float" in array.dtype.name


def takes_scale(weight: Array, scale: Array) -> bool:
    """Whether weights can be multiplied with a scale beforehand: not narrow ones with a wider one, which would be
    rounded where their product with data is not."""
    return is_float(weight) and weight.dtype.itemsize >= scale.dtype.itemsize


def along(scale: Array, rank: int, axis: int, extent: object) -> Array | None:
    """The `extent` entries of a scale that varies along `axis` of `rank` alone, or not at all; None of any other.

    >>> along(np.array([[2.0], [3.0]]), 4, 2, 2), along(np.array([[2.0], [3.0]]), 4, 1, 2)
    (array([2., 3.]), None)
    """
    if scale.ndim > rank or not isinstance(extent, int):
        return None
    shape = (1,) * (rank - scale.ndim) + scale.shape
    if any(size != 1 for position, size in enumerate(shape) if position != axis):
        return None
    return np.broadcast_to(scale.reshape(-1), (extent,)) if shape[axis] in (1, extent) else None


def passes_scale(expr: Call, scale: Array) -> bool:
    """Whether `op(x * scale)` is `op(x) * scale`: of maxima where no scale is negative or zero, and of means; of
    windows where the scale varies along channels alone."""
    shape = shape_of(expr)
    if not isinstance(expr.op, Op) or shape is None or expr.op.name not in (*_MAXIMA, *_MEANS):
        return False
    layout = getattr(expr.attrs, "layout", "")
    if layout:
        axis = parse_layout(layout).position("C")
        if getattr(expr.attrs, "out_layout", "") or along(scale, len(shape), axis, shape[axis]) is None:
            return False
    return expr.op.name in _MEANS or bool((scale > 0).all())
