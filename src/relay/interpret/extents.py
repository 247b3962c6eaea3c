"""Extents at run time: what symbols stand for, and whether values are of the extents that types promise."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, cast

import numpy as np

from relay.arith.expr import (
    COMPARISON_OPERATORS,
    IntExpr,
    Node,
    Symbol,
    free_symbols,
    linear_parts,
    substitute,
)
from relay.base.diagnostics import RelayError
from relay.base.dtypes import dtype_of
from relay.base.span import Span
from relay.interpret.values import Environment, RefValue, Value
from relay.ir.attributes import Attributes
from relay.ir.operator import Check
from relay.ir.types import (
    AnyDimension,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
)
from relay.runtime.arguments.extents import Source
from relay.runtime.artefact.status import undefined_extent
from relay.runtime.values.values import DataValue


def extent_of(dim: IntExpr, environment: Environment) -> int | None:
    """The number that a dimension stands for here; None when a symbol has no value yet. Raises `RelayError` (rule
    `undefined-extent`) where it is divided by 0.

    >>> n = Symbol("n")
    >>> environment = Environment(None)
    >>> environment.values[n] = 3
    >>> extent_of(2 * n + 1, environment)
    7
    """
    if isinstance(dim, int):
        return dim
    result = _as_known(dim, environment)
    return result if isinstance(result, int) else None


def _as_known(dim: IntExpr, environment: Environment) -> IntExpr:
    """A dimension with what its symbols stand for, as far as they have values."""
    known = {symbol: environment.find(symbol) for symbol in free_symbols(dim)}
    numbers = {symbol: value for symbol, value in known.items() if isinstance(value, int)}
    try:
        return substitute(dim, numbers)
    except ZeroDivisionError:
        raise undefined_extent(dim, {symbol.name: value for symbol, value in numbers.items()}) from None


def conforms(value: Value, type_: Type, environment: Environment) -> str:
    """Bind the symbols that `value` determines. A fact when it is not of `type_`; the empty string when it is."""
    stack: list[tuple[Value, Type]] = [(value, type_)]
    later: list[tuple[int, IntExpr]] = []
    while stack:
        part, expected = stack.pop()
        match expected:
            case TensorType(shape, dtype):
                if not isinstance(part, np.ndarray):
                    return f"{_kind(part)} is not a tensor"
                if dtype_of(part.dtype) is not dtype:
                    return f"{dtype_of(part.dtype)} is not {dtype}"
                if part.ndim != len(shape):
                    return f"rank {part.ndim} is not rank {len(shape)}"
                later += zip(part.shape, shape, strict=True)
            case TupleType(parts):
                if not isinstance(part, tuple) or len(part) != len(parts):
                    return f"{_kind(part)} is not a tuple of {len(parts)}"
                stack.extend(zip(reversed(part), reversed(parts), strict=True))
            case TypeCall(func):
                if not isinstance(part, DataValue) or part.type_name != func.name:
                    return f"{_kind(part)} is not a {func}"
            case FuncType():
                if isinstance(part, (np.ndarray, tuple, DataValue, RefValue)):
                    return f"{_kind(part)} is not a function"
            case RefType():
                if not isinstance(part, RefValue):
                    return f"{_kind(part)} is not a ref"
            case TypeVar() | GlobalTypeVar() | IncompleteType():
                pass
    return _bind_and_compare(later, environment)


def _bind_and_compare(extents: list[tuple[int, IntExpr]], environment: Environment) -> str:
    """Symbols that stand alone take their value where first met; then those of which an extent is a multiple, plus a
    constant, when all else in it is known. Everything else must agree with them."""
    for extent, dim in extents:
        if isinstance(dim, Symbol) and environment.find(dim) is None:
            environment.values[dim] = extent
    waiting = [each for each in extents if not isinstance(each[1], int | Symbol | AnyDimension)]
    while waiting:
        extent, dim = waiting.pop()
        offset, terms = linear_parts(_as_known(dim, environment))
        if len(terms) != 1 or not isinstance(terms[0][0], Symbol):
            continue  # nothing is left to find, or too much
        symbol, factor = terms[0]
        value = Source(0, 0, factor, offset).value(extent)
        if value is None:
            return f"{extent} is not {dim} for any {symbol} of 0 or more"
        environment.values[symbol] = value
        waiting += [each for each in extents if symbol in free_symbols(each[1])]
    for extent, dim in extents:
        if isinstance(dim, AnyDimension):
            continue
        known = extent_of(dim, environment)
        if known is not None and known != extent:
            return f"{extent} is not {known}" + ("" if isinstance(dim, int) else f", which {dim} is here")
    return ""


def _kind(value: Value) -> str:
    match value:
        case np.ndarray():
            return "a tensor"
        case tuple():
            return f"a tuple of {len(value)}"
        case DataValue(type_name):
            return f"a {type_name}"
        case RefValue():
            return "a ref"
        case _:
            return "a function"


def enforce(check: Check, environment: Environment, span: Span | None) -> None:
    """Raise `RelayError` (rule `extent-mismatch`) when a check that waited for the run does not hold."""
    left, right = extent_of(check.condition.left, environment), extent_of(check.condition.right, environment)
    if left is None or right is None or COMPARISON_OPERATORS[check.condition.op](left, right):
        return
    raise RelayError(
        rule="extent-mismatch",
        message=check.message,
        span=span,
        expected=check.text,
        found=_found(check, environment),
    )


def _found(check: Check, environment: Environment) -> str:
    """What the sides of a condition are here, or the symbols in it where it has words of its own."""
    shown: list[IntExpr] = [check.condition.left, check.condition.right]
    if check.stated:
        shown = sorted({symbol for side in shown for symbol in free_symbols(side)}, key=str)
    return ", ".join(f"{side} = {extent_of(side, environment)}" for side in shown)


def concrete(attributes: Attributes, environment: Environment) -> Attributes:
    """The attributes with symbolic dimensions replaced by their numbers. Raises `RelayError` (rule `unknown-extent`)
    where no value has told one."""
    changes: dict[str, object] = {}
    for item in fields(attributes):
        value = getattr(attributes, item.name)
        number = _concrete(value, environment)
        if number is not value:
            changes[item.name] = number
    return replace(attributes, **cast("dict[str, Any]", changes)) if changes else attributes


def _concrete(value: object, environment: Environment) -> object:
    if isinstance(value, Node) and not isinstance(value, AnyDimension):
        number = extent_of(value, environment)
        if number is None:
            open_ = ", ".join(str(each) for each in free_symbols(value) if environment.find(each) is None)
            raise RelayError(
                rule="unknown-extent", message=f"the function needs the extent `{open_}`, which no value before tells",
                found=str(value), remedy="let a parameter have an axis of that extent",
            )  # fmt: skip
        return number
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        new = tuple(_concrete(item, environment) for item in items)
        return value if all(a is b for a, b in zip(items, new, strict=True)) else new
    return value
