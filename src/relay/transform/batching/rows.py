"""Batched values: one tensor that holds a value of every instance of a clause.

A tensor of shape `[a, b]` an instance becomes rows of shape `[n, a, b]`; where `a` is 1, that axis becomes the batch's,
and the rows are `[n, b]`: programs for one instance carry such an axis only to have a batch of one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, Union, assert_never

from relay.arith.expr import IntExpr
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.base.span import Span
from relay.ir.expr import Expr, GlobalVar, Tuple, const
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.creation.create import zeros_like
from relay.ops.elementwise.convert import cast
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims, reshape


@frozen
class Refusal:
    """Why `function` is not batched: a sentence whose subject is the function."""

    function: GlobalVar
    reason: str
    span: Span | None = None

    def __str__(self) -> str:
        where = "" if self.span is None else f" ({self.span})"
        return f"@{self.function.name_hint} {self.reason}{where}"


@frozen(eq=False)
class Rows:
    """A tensor of `type` for each instance: `expr` has their shape `[n, *row_shape(type)]`."""

    expr: Expr
    type: TensorType


@frozen(eq=False)
class Shared:
    """A tensor that is the same for all instances."""

    expr: Expr
    type: TensorType


Batched: TypeAlias = Union[Rows, Shared, "tuple[Batched, ...]"]


def row_shape(type_: TensorType) -> tuple[IntExpr, ...]:
    """The axes of rows behind the batch's.

    >>> row_shape(TensorType((1, 8), "float32")), row_shape(TensorType((2, 8), "float32"))
    ((8,), (2, 8))
    """
    return type_.shape[1:] if has_unit_axis(type_) else type_.shape


def has_unit_axis(type_: TensorType) -> bool:
    """Whether axis 0 is 1, so that in rows it is the batch's."""
    return bool(type_.shape) and type_.shape[0] == 1


def rows_type(type_: TensorType, count: IntExpr) -> TensorType:
    """The type of `count` rows of `type_`."""
    return TensorType((count, *row_shape(type_)), type_.dtype)


def with_axes(expr: Expr, found: Sequence[IntExpr], wanted: Sequence[IntExpr]) -> Expr:
    """Rows whose axes behind the batch's are `found`, with axes `wanted` instead: the same elements in order."""
    return expr if tuple(found) == tuple(wanted) else reshape(expr, (0, *wanted))


def in_full(rows: Rows) -> Expr:
    """The rows as `[n, *shape]`, with the unit axis that rows leave out."""
    return with_axes(rows.expr, row_shape(rows.type), rows.type.shape)


def from_full(expr: Expr, type_: TensorType) -> Rows:
    """Rows out of `[n, *shape]`."""
    return Rows(with_axes(expr, type_.shape, row_shape(type_)), type_)


def repeated(value: Rows | Shared, like: Rows) -> Rows:
    """A shared tensor once for each row of `like`."""
    if isinstance(value, Rows):
        return value
    one = value.expr if has_unit_axis(value.type) else expand_dims(value.expr, 0)
    return Rows(take(one, first_row_of_each(like), axis=0), value.type)


def first_row_of_each(like: Rows) -> Expr:
    """`int32[n]`, all 0, where `like` has n rows."""
    row = row_shape(like.type)
    flat = reshape(like.expr, (0, -1)) if row else like.expr
    column = take(flat, const(0), axis=1) if row else flat
    return cast(zeros_like(column), "int32")


def leaf_types(type_: Type) -> tuple[TensorType, ...] | None:
    """The tensors in a type of nested tuples, left to right; None if there is anything else in it, or an extent that
    is not known."""
    match type_:
        case TensorType(shape):
            return (type_,) if all(isinstance(extent, int) and extent > 0 for extent in shape) else None
        case TupleType(fields):
            found: list[TensorType] = []
            for field in fields:
                leaves = leaf_types(field)
                if leaves is None:
                    return None
                found += leaves
            return tuple(found)
        case _:
            return None


def leaves_of(value: Batched) -> tuple[Rows | Shared, ...]:
    """The tensors of a value, left to right."""
    match value:
        case Rows() | Shared():
            return (value,)
        case tuple():
            return tuple(leaf for part in value for leaf in leaves_of(part))
        case _:
            assert_never(value)


def nested(type_: Type, leaves: Sequence[Rows]) -> Batched:
    """The value of `type_` that has these leaves."""
    remaining = iter(leaves)

    def build(part: Type) -> Batched:
        match part:
            case TensorType():
                return next(remaining)
            case TupleType(fields):
                return tuple(build(field) for field in fields)
            case _:
                raise CompilerBug("AutoBatch", f"{part} has no leaves")

    return build(type_)


def nested_expr(type_: Type, leaf: Callable[[int, TensorType], Expr]) -> Expr:
    """The expression of `type_`; `leaf(position, type)` makes each tensor, left to right."""
    positions = iter(range(len(leaf_types(type_) or ())))

    def build(part: Type) -> Expr:
        match part:
            case TensorType():
                return leaf(next(positions), part)
            case TupleType(fields):
                return Tuple(tuple(build(field) for field in fields))
            case _:
                raise CompilerBug("AutoBatch", f"{part} has no leaves")

    return build(type_)
