"""Functions of Python (`abs`, `max`, `round`, `int`) and those of NumPy that check their arguments, on values of the
program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, cast

import numpy as np

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.span import Span
from relay.frontend.python.arguments import Arguments
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.library.arithmetic import (
    as_operand,
    combined,
    common_dtype,
    converted,
    equated,
    kind_of,
    require,
)
from relay.frontend.python.library.indexing import extent_of, index_tensor
from relay.frontend.python.library.numpy_functions import REDUCTIONS, half_to_even
from relay.frontend.python.source import refusal
from relay.frontend.python.values import is_list, items, known_now
from relay.ir.expr import Expr
from relay.ir.types import TensorType, TupleType


def _number(block: Block, value: Any, what: str, span: Span) -> Any:
    found = as_operand(block, value, span)
    if is_expr(found) and cast("TensorType", block.type_of(found)).shape:
        raise RelayError(
            rule="bad-operand", message=f"`{what}` takes a number", span=span, found=str(block.type_of(found)),
            remedy="use the function of NumPy: np.maximum, np.round, x.astype(...)",
        )  # fmt: skip
    return found


def _absolute(block: Block, span: Span, value: Any) -> Expr:
    found = as_operand(block, value, span)
    return op.abs(converted(found, DType.INT32) if common_dtype((found,)).is_bool else found)


def _extreme(name: str, reduction: str) -> Callable[..., Any]:
    def extreme(block: Block, span: Span, *values: Any) -> Any:
        if len(values) == 1:
            return _of_elements(block, span, values[0], reduction, name)
        numbers = [_number(block, each, reduction, span) for each in values]
        if common_dtype(numbers).is_bool:
            of_bools = op.logical_or if name == "maximum" else op.logical_and
            return reduce(of_bools, [converted(each, DType.BOOL) for each in numbers])
        if len({kind_of(common_dtype((each,))) for each in numbers}) > 1:
            raise RelayError(
                rule="int-and-float", message=f"`{reduction}` of numbers of several kinds: Python gives the one it "
                "finds, of its kind", span=span, remedy="make them of one kind: float(n)",
            )  # fmt: skip
        return reduce(lambda left, right: combined(name, left, right), numbers)

    return extreme


def _of_elements(block: Block, span: Span, value: Any, reduction: str, name: str) -> Any:
    """A reduction of what is iterated over: the elements of a vector, or of a Python list or tuple."""
    if isinstance(value, list | tuple):
        if not value:
            raise refusal(span, f"`{reduction}` of nothing", "give it an element")
        parts = cast("Sequence[Any]", value)
        return _extreme(name, reduction)(block, span, *parts) if len(parts) > 1 else parts[0]
    type_ = block.type_of(value)
    if isinstance(type_, TensorType) and len(type_.shape) == 1 and type_.shape != (0,):
        return REDUCTIONS[reduction](value)
    raise refusal(span, f"`{reduction}` of a {type_}", f"use np.{reduction} of a tensor; go over a list in a loop")


def _sum(block: Block, span: Span, values: Any, start: Any = 0) -> Any:
    if isinstance(values, list | tuple):
        parts = [as_operand(block, each, span) for each in cast("Sequence[Any]", values)]
        return reduce(lambda left, right: combined("add", left, right), parts, start)
    type_ = block.type_of(values)
    if isinstance(type_, TensorType) and type_.shape:
        total = REDUCTIONS["sum"](values, 0)
        return total if start == 0 and not is_expr(start) else combined("add", total, start)
    raise refusal(span, f"`sum` of a {type_}", "go over a list in a loop")


def _round(block: Block, span: Span, value: Any, digits: Any = None) -> Expr:
    found = _number(block, value, "round", span)
    if digits is not None:
        raise refusal(span, "`round` to digits", "multiply, round and divide: round(x * 100.0) / 100.0")
    return _whole(block, span, half_to_even(found))


def _int(block: Block, span: Span, value: Any = 0) -> Expr:
    return _whole(block, span, _number(block, value, "int", span))


_TOO_LARGE = "a float that is no int: it is infinite, not a number, or has more than 31 bits"


def _whole(block: Block, span: Span, value: Expr) -> Expr:
    """A number as an int, towards zero."""
    if not common_dtype((value,)).is_float:
        return converted(value, DType.INT32) if common_dtype((value,)).is_bool else value
    value = block.bind("number", value, span)
    fits = equated("less", op.abs(value), 2.0**31)
    return op.cast(require(block, value, fits, _TOO_LARGE, span), "int32")


def _float(block: Block, span: Span, value: Any = 0.0) -> Expr:
    found = _number(block, value, "float", span)
    return found if common_dtype((found,)).is_float else converted(found, DType.FLOAT32)


def _bool(block: Block, span: Span, value: Any = False) -> Expr:
    found = _number(block, value, "bool", span)
    return found if common_dtype((found,)).is_bool else equated("not_equal", found, 0)


def _list(block: Block, span: Span, values: Any) -> Any:
    """A list with the same elements."""
    if isinstance(values, list | tuple):
        return list(cast("Sequence[Any]", values))
    if is_list(block.type_of(values)):
        return block.bind_as("items", values, block.type_of(values), span)
    raise refusal(span, f"`list` of a {block.type_of(values)}", "write [row for row in ...] as a loop with append")


def _take(block: Block, span: Span, x: Any, indices: Any, axis: Any = None) -> Expr:
    x = as_operand(block, x, span)
    type_ = block.type_of(x)
    if axis is None:
        x, axis = op.reshape(x, (-1,)), 0
        type_ = block.type_of(x)
    assert isinstance(type_, TensorType)
    return index_tensor(block, x, type_, (*[slice(None)] * (axis % len(type_.shape)), indices), span)


def _np_power(block: Block, span: Span, base: Any, exponent: Any) -> Expr:
    sides = [as_operand(block, each, span) for each in (base, exponent)]
    if not common_dtype(sides).is_float and (is_expr(sides[1]) or sides[1] < 0):
        raise refusal(span, "`np.power` of integers, whose exponent may be negative", "write x ** y")
    return combined("power", *sides)


def _together(block: Block, callee: Any, arguments: Arguments) -> Any:
    """`zip`, `enumerate`, `reversed` of what has a number of elements that is known now."""
    span = arguments.span
    sequences = [each if isinstance(each, range) else items(block, each, span) for each in arguments.positional]
    if any(each is None for each in sequences):
        raise refusal(
            span, f"`{callee.__name__}` of a tensor or a list of the program", "loop over positions: range(len(x))"
        )
    return known_now(span, lambda: list(callee(*sequences, **arguments.named)))


def _length(block: Block, callee: Any, arguments: Arguments) -> Any:
    span = arguments.span
    if len(arguments.positional) != 1 or arguments.named or not is_expr(arguments.positional[0]):
        return known_now(span, callee, *arguments.positional, **arguments.named)
    (value,) = arguments.positional
    type_ = block.type_of(value)
    if is_list(type_):
        return block.session.library("length", span)(value)
    if isinstance(type_, TensorType) and type_.shape:
        return extent_of(block, value, type_.shape[0], 0)
    if isinstance(type_, TupleType):
        return len(type_.fields)
    raise RelayError(rule="no-length", message=f"a value of type {type_} has no length", span=span)


OF_SEQUENCES: Mapping[Any, Callable[[Block, Any, Arguments], Any]] = {
    len: _length, zip: _together, enumerate: _together, reversed: _together,
}  # fmt: skip
"""What asks for the number of elements only. Each is called with the block, itself, and the arguments, known or not."""

BUILTINS: Mapping[Any, Callable[..., Any]] = {
    abs: _absolute, max: _extreme("maximum", "max"), min: _extreme("minimum", "min"), sum: _sum, round: _round,
    int: _int, float: _float, bool: _bool, list: _list, np.take: _take, np.power: _np_power,
}  # fmt: skip
"""Each is called with the block, the place, and the arguments."""
