"""What both directions of FoldScaleAxis ask: along which axis a scale varies, and what lets scales pass."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.ir.expr import Call, Expr, Op
from relay.ir.types import TensorType
from relay.ops.framework.layout_rule import LayoutAttribute
from relay.ops.framework.layouts import parse_layout
from relay.ops.framework.record import OperatorRecord
from relay.ops.framework.scale_role import Channels, NoScale, PassesScale, ScaleRole, WeightedSum

Array: TypeAlias = NDArray[Any]


def role_of(expr: Expr) -> ScaleRole:
    """What the operator that an expression calls does to scales."""
    match expr:
        case Call(op=Op(operator=OperatorRecord() as record)):
            return record.scale
        case _:
            return NoScale("it is no call of an operator")


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


def along_axis(expr: Expr, scale: Array, axis: int) -> Array | None:
    """The entries of a scale that varies along one axis of an expression alone; None of any other."""
    shape = shape_of(expr)
    return along(scale, len(shape), axis % len(shape), shape[axis % len(shape)]) if shape else None


def passes_scale(expr: Call, scale: Array) -> bool:
    """Whether `op(x * scale)` is `op(x) * scale`, x its first input: where scales must be positive, none is zero
    either; of windows where the scale varies along channels alone."""
    match expr.op:
        case Op(operator=OperatorRecord(scale=PassesScale(only_positive), layout=layout)):
            pass
        case _:
            return False
    if isinstance(layout, LayoutAttribute):
        axis = parse_layout(getattr(expr.attrs, layout.attribute)).position("C")
        if getattr(expr.attrs, "out_layout", "") or along_axis(expr, scale, axis) is None:
            return False
    return not only_positive or bool((scale > 0).all())


def channels_of(expr: Call) -> Channels | None:
    """Where the channels of a sum of products stand; None of what is none, and of packed weights."""
    match role_of(expr), expr.args:
        case WeightedSum(channels), (data, _):
            shape = shape_of(data)
            return None if shape is None else channels(expr.attrs, len(shape))
        case _:
            return None


def placed(factors: Array, weight: Array, *axes: int) -> Array:
    """Factors, whose axes are those of the weight named, as they are broadcast against the weight and in its type.

    >>> placed(np.array([1.0, 2.0]), np.zeros((3, 2, 5), "float32"), 1).shape
    (1, 2, 1)
    """
    order = sorted(range(len(axes)), key=axes.__getitem__)
    shape = [weight.shape[axis] if axis in axes else 1 for axis in range(weight.ndim)]
    return factors.transpose(order).reshape(shape).astype(weight.dtype)
