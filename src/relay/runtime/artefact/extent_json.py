"""Extents as JSON: ints, strings (a symbol) or lists (`["+", 1, ["*", 2, "n"]]`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from relay.arith.expr import (
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Product,
    Sum,
    Symbol,
    add,
    floor_divide,
    floor_modulo,
    maximum,
    minimum,
    multiply,
)

_MAX_DEPTH = 64


def extent_to_json(expr: IntExpr) -> Any:
    """Raises `TypeError` for what inputs do not determine."""
    match expr:
        case int():
            return expr
        case Symbol(name):
            return name
        case Sum(constant, terms):
            return ["+", constant, *(["*", factor, extent_to_json(term)] for term, factor in terms)]
        case Product(factors):
            return ["*", *map(extent_to_json, factors)]
        case FloorDiv(left, right):
            return ["//", extent_to_json(left), extent_to_json(right)]
        case FloorMod(left, right):
            return ["%", extent_to_json(left), extent_to_json(right)]
        case Min(left, right):
            return ["min", extent_to_json(left), extent_to_json(right)]
        case Max(left, right):
            return ["max", extent_to_json(left), extent_to_json(right)]
        case _:
            raise TypeError(f"{expr} is not an extent that inputs determine")


_OPERATIONS: Mapping[str, Callable[[IntExpr, IntExpr], IntExpr]] = {
    "+": add,
    "*": multiply,
    "//": floor_divide,
    "%": floor_modulo,
    "min": minimum,
    "max": maximum,
}


def extent_from_json(value: Any, symbols: Mapping[str, IntExpr], depth: int = 0) -> IntExpr:
    """An extent in which the names stand for `symbols`. Raises `ValueError`, `TypeError` or `LookupError` for what
    `extent_to_json` does not write."""
    if depth > _MAX_DEPTH:
        raise ValueError("an extent is nested too deeply")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        return symbols[value]
    if not isinstance(value, list | tuple):
        raise TypeError(f"{value!r} is not an extent")
    name, *rest = cast("Sequence[Any]", value)
    operands = [extent_from_json(part, symbols, depth + 1) for part in rest]
    result = operands[0]
    for operand in operands[1:]:
        result = _OPERATIONS[name](result, operand)
    return result
