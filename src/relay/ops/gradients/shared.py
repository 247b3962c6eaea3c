"""What rules share: facts of typed expressions, and zeros."""

from __future__ import annotations

from relay.infer.eager import eager_type
from relay.ir.expr import Expr, const
from relay.ir.types import TensorType, TupleType
from relay.ops.creation.create import zeros, zeros_like
from relay.ops.elementwise.comparison import where
from relay.ops.manipulation.shape import expand_dims


def tensor_of(expr: Expr) -> TensorType:
    """The type of an expression that is a tensor."""
    type_ = eager_type(expr)
    assert isinstance(type_, TensorType)
    return type_


def rank_of(expr: Expr) -> int:
    return len(tensor_of(expr).shape)


def fields_of(expr: Expr) -> tuple[TensorType, ...]:
    """The types of a tuple of tensors."""
    type_ = eager_type(expr)
    assert isinstance(type_, TupleType)
    return tuple(each for each in type_.fields if isinstance(each, TensorType))


def extents_of(expr: Expr) -> tuple[int, ...] | None:
    """The shape of a tensor, if all extents are numbers."""
    shape = tensor_of(expr).shape
    known = tuple(extent for extent in shape if isinstance(extent, int))
    return known if len(known) == len(shape) else None


def zeros_of(expr: Expr) -> Expr:
    """Zeros in the form of a tensor, which is read for its extents only where its type does not tell them."""
    shape = extents_of(expr)
    return zeros_like(expr) if shape is None else zeros(shape, tensor_of(expr).dtype)


def kept_where(condition: Expr, data: Expr) -> Expr:
    """The data where a condition is true, 0 elsewhere."""
    return where(condition, data, const(0.0, tensor_of(data).dtype))


def dropped_where(condition: Expr, data: Expr) -> Expr:
    """0 where a condition is true, the data elsewhere."""
    return where(condition, const(0.0, tensor_of(data).dtype), data)


def along_axis(vector: Expr, axis: int, rank: int) -> Expr:
    """vector[C] for data[.., C, ..]"""
    trailing = rank - 1 - axis
    return expand_dims(vector, axis=1, num_newaxis=trailing) if trailing else vector
