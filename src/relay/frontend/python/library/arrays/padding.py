"""`np.pad`, and what other libraries have of it: elements before and behind those of each axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from relay import nn, op
from relay.base.span import caller_span
from relay.frontend.python.block import is_expr
from relay.frontend.python.library.arithmetic import combined, converted, equated
from relay.frontend.python.library.arrays.grids import counting
from relay.frontend.python.library.numpy_functions import dtype_of_value, extent_along, rank_of
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Constant, Expr

Pair: TypeAlias = tuple[Any, Any]
"""What is before an axis, and what is behind it."""


def by_widths(x: Expr, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Expr:
    """`np.pad`"""
    if mode not in MODES:
        raise refusal(caller_span(), f"`np.pad` in the mode {mode}", f"use one of {', '.join(MODES)}")
    pairs = _pairs(pad_width, rank_of(x))
    known = [each for pair in pairs for each in pair if not is_expr(each)]
    if any(isinstance(each, float) for each in known):
        raise refusal(caller_span(), "`np.pad` by a width that is no int", "round it: int(width)")
    if any(each < 0 for each in known):
        raise refusal(caller_span(), "`np.pad` by a negative width", "slice it: x[1:]")
    return padded(x, pairs, mode, _pairs(constant_values, rank_of(x)))


def padded(x: Expr, pairs: Sequence[Pair], mode: str, values: Sequence[Pair]) -> Expr:
    """By the widths, and the values, of each axis."""
    dtype = dtype_of_value(x)
    same = {each if not is_expr(each) else id(each) for pair in values for each in pair}
    if mode in _OF_OPERATOR and len(same) == 1 and not any(is_expr(each) for pair in pairs for each in pair):
        widths = [tuple(map(int, pair)) for pair in pairs]
        return nn.pad(x, widths, converted(values[0][0], dtype), pad_mode=mode)
    for axis, ((before, behind), around) in enumerate(zip(pairs, values, strict=True)):
        if is_expr(before) or is_expr(behind) or before or behind:
            before, behind = _width(before), _width(behind)
            if mode == "constant":
                x = _with_values(x, axis, (before, behind), around)
            else:
                x = op.take(x, MODES[mode](*_places(x, axis, before, behind)), axis=axis)
    return x


def _pairs(given: Any, rank: int) -> list[Pair]:
    """A number for all sides, two for those of each axis, or two for each axis, as NumPy broadcasts them."""
    given = given.data.tolist() if isinstance(given, Constant) else given
    rows: list[Any] = list(cast("Sequence[Any]", given)) if isinstance(given, list | tuple) else [given]
    if not any(isinstance(each, list | tuple) for each in rows):
        rows = [rows]
    if any(rank_of(each) for row in rows for each in row) or len(rows) not in (1, rank) or max(map(len, rows)) > 2:
        raise refusal(caller_span(), "widths or values of another shape", "give two numbers for each axis")
    pairs = [(row[0], row[-1]) for row in rows]
    return pairs * rank if len(pairs) == 1 else pairs


def _width(width: Any) -> Any:
    """A width, which is not negative."""
    if not is_expr(width) and width < 0:
        raise refusal(caller_span(), "a negative width beside one that the program computes", "slice it: x[1:]")
    if not is_expr(width):
        return width
    is_there = equated("greater_equal", width, 0)
    return op.checked(width, is_there, "an axis is padded by a negative width")


def _with_values(x: Expr, axis: int, widths: Pair, values: Pair) -> Expr:
    """With as many entries of a value on each side."""
    type_of_entry = op.any if dtype_of_value(x).is_bool else op.sum
    entry = type_of_entry(x, axis=axis, keepdims=True)  # of which only the type counts
    sides: list[Expr] = []
    for width, value in zip(widths, values, strict=True):
        count = op.reshape(width, (1,)) if is_expr(width) else (width,)
        places = op.zeros(count, "int32")
        sides.append(op.take(op.full_like(entry, converted(value, dtype_of_value(x))), places, axis=axis))
    return op.concatenate([sides[0], x, sides[1]], axis)


def _places(x: Expr, axis: int, before: Any, behind: Any) -> tuple[Expr, Any]:
    """The places of the new axis, counted from the first entry of the old one; and how many entries that has."""
    extent = extent_along(x, axis)
    if not isinstance(extent, int):
        x = op.checked(x, equated("greater", extent, 0), "an axis without entries is padded by what is there")
        extent = extent_along(x, axis)
    whole = combined("add", combined("add", before, extent), behind)
    return combined("subtract", counting(whole), before), extent


def _back_and_forth(places: Expr, period: Any, turn: Any) -> Expr:
    at = combined("floor_mod", places, combined("maximum", period, 1))
    return combined("minimum", at, combined("subtract", turn, at))


MODES: Mapping[str, Callable[[Expr, Any], Expr]] = {
    "constant": lambda places, extent: places,  # noqa: ARG005 - nothing is taken
    "edge": lambda places, n: combined("maximum", combined("minimum", places, combined("subtract", n, 1)), 0),
    "wrap": lambda places, n: combined("floor_mod", places, combined("maximum", n, 1)),
    "reflect": lambda places, n: _back_and_forth(places, _twice(n, 1), combined("maximum", _twice(n, 1), 0)),
    "symmetric": lambda places, n: _back_and_forth(places, _twice(n, 0), combined("subtract", _twice(n, 0), 1)),
}
"""Which entry stands at a place, by the names of NumPy."""
_OF_OPERATOR = ("constant", "edge", "reflect")


def _twice(extent: Any, less: int) -> Expr:
    return combined("multiply", combined("subtract", extent, less), 2)
