"""Functions of Python (`abs`, `max`, `round`, `int`) and those of NumPy that check their arguments, on values of the
program."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, cast

import numpy as np

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Counted, Repeated, Together
from relay.frontend.python.library import arithmetic
from relay.frontend.python.library.arithmetic import (
    as_operand,
    binary,
    combined,
    common_dtype,
    converted,
    equated,
    kind_of,
    require,
)
from relay.frontend.python.library.arrays.polynomials import evaluated
from relay.frontend.python.library.functional import filtered, mapped, partial, reduced
from relay.frontend.python.library.heads import first_and_rest
from relay.frontend.python.library.indexing import extent_of, index_tensor
from relay.frontend.python.library.list_arrays import JOINS, array, stack
from relay.frontend.python.library.lists.choosing import chosen
from relay.frontend.python.library.lists.ordering import extreme, in_order
from relay.frontend.python.library.lists.sequences import (
    count_of,
    counted,
    element_of,
    flattened,
    folded,
    known,
    list_of,
    together,
)
from relay.frontend.python.library.numpy_functions import REDUCTIONS, half_to_even
from relay.frontend.python.syntax.arguments import Arguments
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import holds_expr, is_list, known_now
from relay.ir.expr import Expr, Var
from relay.ir.types import TensorType, TupleType
from relay.ops.framework.build import with_known_type


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
    parts = known(block, value, span)
    if parts is not None:
        if not parts:
            raise refusal(span, f"`{reduction}` of nothing", "give it an element")
        return _extreme(name, reduction)(block, span, *parts) if len(parts) > 1 else parts[0]
    type_ = block.type_of(value) if is_expr(value) else None
    if isinstance(type_, TensorType) and len(type_.shape) == 1 and type_.shape != (0,):
        return REDUCTIONS[reduction](value)
    if isinstance(type_, TensorType):
        raise refusal(span, f"`{reduction}` of a {type_}", f"use np.{reduction}")
    elements = block.bind("items", list_of(block, value, span), span)
    _number_type(block, elements, reduction, span)
    first, rest = first_and_rest(block, elements, f"{reduction} of an empty list", span)
    return folded(block, rest, first, lambda inner, so_far, each: combined(name, so_far, each), span)  # noqa: ARG005


def _sum(block: Block, span: Span, values: Any, start: Any = 0) -> Any:
    if isinstance(values, list | tuple):
        parts = [as_operand(block, each, span) for each in cast("Sequence[Any]", values)]
        return reduce(lambda left, right: combined("add", left, right), parts, start)
    type_ = block.type_of(values) if is_expr(values) else None
    if isinstance(type_, TensorType) and type_.shape:
        total = REDUCTIONS["sum"](values, 0)
        return total if start == 0 and not is_expr(start) else combined("add", total, start)
    elements = block.bind("items", list_of(block, values, span), span)
    row = element_of(block, elements)
    if is_list(row) and start == []:
        return flattened(block, elements, span)
    if not isinstance(row, TensorType):
        raise refusal(span, f"`sum` of a list of {row}", "go over it in a loop")
    return _sum_of_list(block, span, elements, row, start)


def _sum_of_list(block: Block, span: Span, elements: Expr, row: TensorType, start: Any) -> Expr:
    """The sum of numbers, or of tensors of one type; bools that are numbers count. A number to which tensors are added
    has no type that the sum has: it is added to the first of them, which Python does not need."""
    dtype = common_dtype((start, with_known_type(Var("each", row))))
    begin = converted(start, DType.INT32 if dtype.is_bool and not row.shape else dtype)
    if row.shape and block.type_of(begin) != block.type_of(combined("add", begin, with_known_type(Var("each", row)))):
        message = "the sum of an empty list of arrays, which is no array in Python"
        first, elements = first_and_rest(block, elements, message, span)
        begin = block.bind("begin", combined("add", begin, first), span)
    return folded(block, elements, begin, lambda inner, so_far, each: combined("add", so_far, each), span)  # noqa: ARG005


def _number_type(block: Block, elements: Expr, what: str, span: Span) -> DType:
    """The type of the elements of a list of numbers; bools count."""
    type_ = element_of(block, elements)
    if not isinstance(type_, TensorType) or type_.shape:
        raise refusal(span, f"`{what}` of a list of {type_}", "go over it in a loop")
    return DType.INT32 if type_.dtype.is_bool else type_.dtype


def _quantified(start: bool) -> Callable[..., Any]:
    """`any` and `all`: of the elements of a list, or of a vector."""

    def quantified(block: Block, span: Span, values: Any) -> Any:
        type_ = block.type_of(values) if is_expr(values) else None
        if isinstance(type_, TensorType) and len(type_.shape) == 1:
            return REDUCTIONS["all" if start else "any"](values)
        join = op.logical_and if start else op.logical_or
        if isinstance(values, list | tuple):
            truths = [_bool(block, span, each) for each in cast("Sequence[Any]", values)]
            return reduce(join, [converted(each, DType.BOOL) for each in truths])
        elements = list_of(block, values, span)
        return folded(block, elements, start, lambda inner, so_far, each: join(so_far, _bool(inner, span, each)), span)

    return quantified


def _divmod(block: Block, span: Span, left: Any, right: Any) -> Any:
    return tuple(binary(block, each, left, right, span) for each in (ast.FloorDiv(), ast.Mod()))


def _pow(block: Block, span: Span, base: Any, exponent: Any) -> Any:
    return binary(block, ast.Pow(), base, exponent, span)


def _round(block: Block, span: Span, value: Any, digits: Any = None) -> Expr:
    found = _number(block, value, "round", span)
    if digits is None:
        return whole(block, span, half_to_even(found))
    return _round_to(found, digits, span)


_MOST_DIGITS = 12
"""A float32, or an int of 32 bits, times 10 to this power is a float64: it is rounded as the number that it is."""


def _round_to(value: Any, digits: Any, span: Span) -> Expr:
    """Python's rounding to decimal digits, which is that of the number itself, not of a product that was rounded."""
    dtype = common_dtype((value,))
    if not isinstance(digits, int) or abs(digits) > _MOST_DIGITS:
        raise refusal(span, "`round` to so many digits", f"give a number that is known, from -{_MOST_DIGITS} to "
                      f"{_MOST_DIGITS}, or use np.round")  # fmt: skip
    if dtype.bits > 32:
        raise refusal(span, f"`round` of {dtype} to digits", "use np.round(x, digits), which multiplies and divides")
    if dtype.is_bool or (dtype.is_integer and digits >= 0):
        return converted(value, DType.INT32 if dtype.is_bool else dtype)
    wide, scale = converted(value, DType.FLOAT64), converted(10.0 ** abs(digits), DType.FLOAT64)
    scaled, back = (op.multiply, op.divide) if digits >= 0 else (op.divide, op.multiply)
    return op.cast(back(half_to_even(scaled(wide, scale)), scale), dtype)


def _int(block: Block, span: Span, value: Any = 0) -> Expr:
    return whole(block, span, _number(block, value, "int", span))


def _tuple(block: Block, span: Span, values: Any) -> Any:
    found = known(block, values, span)
    if found is None:
        raise refusal(span, "`tuple` of what the program computes", "use list(...): a tuple has a known length")
    return tuple(found)


_TOO_LARGE = "a float that is no int: it is infinite, not a number, or has more than 31 bits"


def whole(block: Block, span: Span, value: Expr) -> Expr:
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
    if isinstance(values, list | tuple | dict):
        block.ownership.share_parts(values)
        return list(cast("Iterable[Any]", values))
    found = list_of(block, values, span)
    return block.bind_as("items", found, block.type_of(found), span)


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


def _length(block: Block, callee: Any, arguments: Arguments) -> Any:
    span = arguments.span
    if len(arguments.positional) == 1 and isinstance(arguments.positional[0], Counted):
        return count_of(block, arguments.positional[0], span)
    if len(arguments.positional) == 1 and isinstance(arguments.positional[0], Repeated):
        return arguments.positional[0].count
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


def _product(block: Block, span: Span, left: Any, right: Any) -> Expr:
    """`np.matmul`; `np.dot` is the same but for tensors without axes, which it scales by."""
    return arithmetic.product(block, left, right, span)


def _dot(block: Block, span: Span, left: Any, right: Any) -> Expr:
    sides = [as_operand(block, each, span) for each in (left, right)]
    if any(not is_expr(each) or not cast("TensorType", block.type_of(each)).shape for each in sides):
        return binary(block, ast.Mult(), sides[0], sides[1], span)
    return arithmetic.product(block, sides[0], sides[1], span)


def _inner(block: Block, span: Span, left: Any, right: Any) -> Expr:
    """Of vectors."""
    first, second = (op.reshape(as_operand(block, each, span), (-1,)) for each in (left, right))
    return arithmetic.product(block, first, second, span)


def _by_block(block: Block, callee: Any, arguments: Arguments) -> Any:
    """`min` or `max` of numbers."""
    if not holds_expr(arguments.values) and not any(isinstance(e, Counted | Together) for e in arguments.positional):
        return known_now(arguments.span, callee, *arguments.positional)
    return BUILTINS[callee](block, arguments.span, *arguments.positional)


OF_SEQUENCES: Mapping[Any, Callable[[Block, Any, Arguments], Any]] = {
    len: _length, zip: together, enumerate: together, reversed: together, range: counted, sorted: in_order,
    map: mapped, filter: filtered, functools.reduce: reduced, functools.partial: partial,
    min: extreme(_by_block, ast.Lt()), max: extreme(_by_block, ast.Gt()),
    **{getattr(itertools, name): chosen for name in (
        "chain", "combinations", "combinations_with_replacement", "pairwise", "permutations", "product", "zip_longest",
    )},
}  # fmt: skip
"""What asks for the elements, or takes functions. Each is called with the block, itself, and the arguments."""

BUILTINS: Mapping[Any, Callable[..., Any]] = {
    abs: _absolute, max: _extreme("maximum", "max"), min: _extreme("minimum", "min"), sum: _sum, round: _round,
    int: _int, float: _float, bool: _bool, list: _list, tuple: _tuple, any: _quantified(False), all: _quantified(True),
    divmod: _divmod, pow: _pow, np.take: _take, np.power: _np_power,
    np.matmul: _product, np.dot: _dot, np.vdot: _inner, np.array: array, np.asarray: array,
    np.polyval: evaluated,
    np.stack: stack, **JOINS,
}  # fmt: skip
"""Each is called with the block, the place, and the arguments."""
