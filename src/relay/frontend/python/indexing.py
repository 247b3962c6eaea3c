"""`x[i, 1:, None]` on tensors, as slices, picks and new axes."""

from __future__ import annotations

from typing import Any, cast

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.ir.expr import Expr, ExprBase
from relay.ir.types import TensorType
from relay.ops.build import as_expr
from relay.ops.index import take
from relay.ops.shape import expand_dims, squeeze
from relay.ops.slice import strided_slice


def index_tensor(data: Expr, type_: TensorType, index: Any, span: Span) -> Expr:
    """Basic indexing. Numbers may be negative; indices that the program computes count from 0 and are kept in range.

    Raises `RelayError` (rule `bad-index`).
    """
    parts = list(index) if isinstance(index, tuple) else [index]
    rank = len(type_.shape)
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    if taken > rank:
        raise _bad(span, f"{taken} indices for {rank} axes", f"at most {rank}")
    if Ellipsis in [part for part in parts if not isinstance(part, ExprBase)]:
        place = next(i for i, part in enumerate(parts) if part is Ellipsis)
        parts[place : place + 1] = [slice(None)] * (rank - taken)
    axis = 0
    for part in parts:
        match part:
            case None:
                data, axis = expand_dims(data, axis), axis + 1
            case slice():
                data, axis = _sliced(data, axis, part, span), axis + 1
            case ExprBase():
                data, axis = take(data, cast("Expr", part), axis=axis), axis + _rank_of(part, span)
            case int():
                data = _picked(data, axis, part)
            case _:
                raise _bad(span, type(part).__name__, "a number, a slice, None, ..., or an integer tensor")
    return data


def _rank_of(index: ExprBase, span: Span) -> int:
    type_ = index.checked_type
    if not isinstance(type_, TensorType) or type_.dtype.is_float or type_.dtype.is_bool:
        raise _bad(span, str(type_), "a tensor of integers")
    return len(type_.shape)


def _picked(data: Expr, axis: int, position: int) -> Expr:
    if position >= 0:
        return take(data, as_expr(position), axis=axis)
    end = position + 1 if position != -1 else _END
    return squeeze(strided_slice(data, begin=(position,), end=(end,), axes=(axis,)), axis=axis)


_END = 2**31 - 1


def _sliced(data: Expr, axis: int, part: slice, span: Span) -> Expr:
    if part == slice(None):
        return data
    begin, end, stride = part.start, part.stop, 1 if part.step is None else part.step
    if not all(each is None or isinstance(each, int) for each in (begin, end, stride)):
        raise _bad(
            span, "a slice whose bounds the program computes", "numbers: the extent of the result is part of its type"
        )
    if stride > 0:
        begin, end = 0 if begin is None else begin, _END if end is None else end
    else:
        begin, end = -1 if begin is None else begin, -_END if end is None else end
    return strided_slice(data, begin=(begin,), end=(end,), strides=(stride,), axes=(axis,))


def _bad(span: Span, found: str, expected: str) -> RelayError:
    return RelayError(
        rule="bad-index", message="a tensor cannot be indexed so", span=span, found=found, expected=expected
    )
