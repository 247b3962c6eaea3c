"""Lists as arrays and arrays as lists: `np.array(xs)`, `np.stack(rows)`, `x.tolist()`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from relay import op
from relay.base.dtypes import DType
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.library.arithmetic import as_operand, combined, common_dtype, converted
from relay.frontend.python.library.numpy_functions import computed_shape, element_type
from relay.frontend.python.library.sequences import element_of, folded, lifted, list_of
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import is_list
from relay.ir.expr import Expr, Tuple, TupleGetItem, const
from relay.ir.types import TensorType


def array(block: Block, span: Span, value: Any, dtype: Any = None, *, copy: Any = True) -> Any:  # noqa: ARG001
    """`np.array(value)`: of numbers, arrays, and lists of such."""
    made = _array(block, value, span)
    if not is_expr(made):
        made = converted(made, common_dtype((made,)))
    block.type_of(made)
    return made if dtype is None else converted(made, element_type(dtype))


def _array(block: Block, value: Any, span: Span) -> Any:
    if isinstance(value, list | tuple):
        parts = [_array(block, each, span) for each in cast("Sequence[Any]", value)]
        if not parts:
            return converted([], DType.FLOAT32)
        dtype = common_dtype(parts)
        return block.bind("array", op.stack([converted(each, dtype) for each in parts], 0), span)
    if is_expr(value) and is_list(block.type_of(value)):
        return stacked(block, value, span)
    return as_operand(block, value, span)


def stacked(block: Block, values: Expr, span: Span) -> Expr:
    """The elements of a Relay list, numbers or tensors of one shape, along a new first axis."""
    values = block.bind("items", values, span)
    type_ = element_of(block, values)
    if is_list(type_):
        inner = lifted(block, (("row", type_),), lambda inner, row: stacked(inner, row, span), span)
        return stacked(block, block.session.library("map", span)(inner, values), span)
    if not isinstance(type_, TensorType) or not all(isinstance(each, int) for each in type_.shape):
        raise refusal(span, f"an array of a list of {type_}", "give a list of numbers, or of tensors of one shape")
    count = block.bind("count", block.session.library("length", span)(values), span)
    zero = converted(0 if not type_.dtype.is_bool else False, type_.dtype)
    empty = block.bind("empty", op.full(zero, computed_shape((count, *type_.shape)), type_.dtype), span)

    def put(inner: Block, state: Expr, each: Expr) -> Any:
        so_far, place = (TupleGetItem(state, position) for position in (0, 1))
        for part in (so_far, place):
            inner.type_of(part)
        row = op.reshape(each, (1, *type_.shape))
        made = op.scatter_nd(so_far, op.reshape(place, (1, 1)), row)
        return Tuple((made, combined("add", place, 1)))

    filled = folded(block, values, (empty, const(0)), put, span)
    return block.bind("array", TupleGetItem(filled, 0), span)


def of_lists(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a sequence of arrays, for a Relay list too: its elements are then along the first axis."""

    def joined(block: Block, span: Span, parts: Any, axis: int = 0) -> Any:
        if is_expr(parts) and is_list(block.type_of(parts)):
            if axis != 0 or function.__name__ != "joined":
                raise refusal(span, "a list of arrays along another axis than the first", "transpose the result")
            return stacked(block, parts, span)
        return function([as_operand(block, each, span) for each in parts], axis)

    return joined


def to_list(block: Block, owner: Expr, span: Span) -> Expr:
    """`x.tolist()`: a list for each axis."""
    type_ = block.type_of(owner)
    assert isinstance(type_, TensorType)
    if not type_.shape:
        return owner
    rows = block.bind("rows", list_of(block, owner, span), span)
    if len(type_.shape) == 1:
        return rows
    row = lifted(block, (("row", element_of(block, rows)),), lambda inner, each: to_list(inner, each, span), span)
    return block.bind("items", block.session.library("map", span)(row, rows), span)
