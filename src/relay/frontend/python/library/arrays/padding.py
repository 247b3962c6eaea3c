"""`np.pad`: arrays with more around them, as much as is known now or as the program computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from relay import nn, op
from relay.base.dtypes import DType
from relay.base.span import caller_span
from relay.frontend.python.block import is_expr
from relay.frontend.python.library.arithmetic import combined, converted, equated
from relay.frontend.python.library.arrays.grids import counting
from relay.frontend.python.library.numpy_functions import dtype_of_value, extent_along, rank_of
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr, const
from relay.ir.types import TensorType

_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")
_NEGATIVE = "a negative number of elements is put around an array"


def padded(x: Expr, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Expr:
    """`np.pad`. What is around is one number, or what is inside: its edge, or all of it, mirrored or again."""
    if mode not in _MODES:
        raise refusal(caller_span(), f"`np.pad` in the mode {mode}", f"use one of {', '.join(_MODES)}")
    widths = _widths(pad_width, rank_of(x))
    known = [each for pair in widths for each in pair if not is_expr(each)]
    if any(each < 0 for each in known):
        raise refusal(caller_span(), "`np.pad` by a negative number", "take a slice")
    if isinstance(constant_values, list | tuple | np.ndarray):
        raise refusal(caller_span(), "`np.pad` with several numbers", "put arrays around it by np.concatenate")
    value = converted(constant_values, dtype_of_value(x))
    if len(known) == 2 * rank_of(x):
        whole = [tuple(map(int, pair)) for pair in widths]
        return nn.mirror_pad(x, whole, "SYMMETRIC") if mode == "symmetric" else nn.pad(x, whole, value, pad_mode=mode)
    computed = op.stack([op.stack([converted(each, DType.INT32) for each in pair], 0) for pair in widths], 0)
    computed = op.checked(computed, op.all(equated("greater_equal", computed, 0)), _NEGATIVE)
    if mode == "constant":
        return nn.pad(x, computed, value)
    for axis, pair in enumerate(widths):
        if any(map(is_expr, pair)) or any(pair):
            before, after = (op.take(op.take(computed, const(axis), axis=0), const(side), axis=0) for side in (0, 1))
            x = op.take(x, _places(extent_along(x, axis), before, after, mode), axis=axis)
    return x


def _widths(width: Any, rank: int) -> list[tuple[Any, Any]]:
    """How many elements are put before and behind along each axis: one number is for all, a pair for each axis. Raises
    `RelayError` (rule `python-subset`)."""
    if isinstance(width, np.ndarray):
        width = width.tolist()
    if isinstance(width, list | tuple):
        rows = [tuple(each) if isinstance(each, list | tuple) else each for each in cast("Sequence[Any]", width)]
        if not any(isinstance(each, tuple) for each in rows):
            rows = [tuple(rows)]
        pairs = [each * 2 if isinstance(each, tuple) and len(each) == 1 else each for each in rows]
    else:
        pairs = [(width, width)]
    pairs = pairs * rank if len(pairs) == 1 else pairs
    if len(pairs) != rank or not all(isinstance(each, tuple) and len(each) == 2 for each in pairs):
        raise refusal(caller_span(), "`np.pad` by these widths", "give a number, a pair, or a pair for each axis")
    if not all(map(_is_whole, (each for pair in pairs for each in pair))):
        raise refusal(caller_span(), "`np.pad` by what are no whole numbers", "give ints")
    return cast("list[tuple[Any, Any]]", pairs)


def _is_whole(width: Any) -> bool:
    if not is_expr(width):
        return isinstance(width, int | np.integer) and not isinstance(width, bool)
    type_ = width.checked_type
    return isinstance(type_, TensorType) and type_.shape == () and type_.dtype.is_integer


def _places(extent: Any, before: Expr, after: Expr, mode: str) -> Expr:
    """Which elements of an axis stand where, with those around it. The run ends where there are none."""
    extent = converted(extent, DType.INT32)
    extent = op.checked(extent, equated("greater", extent, 0), "an axis without elements is padded")
    place = combined("subtract", counting(combined("add", combined("add", before, extent), after)), before)
    last = combined("subtract", extent, 1)
    if mode == "edge":
        return combined("minimum", combined("maximum", place, 0), last)
    if mode == "wrap":
        return combined("floor_mod", place, extent)
    twice = mode == "symmetric"  # the element at the end
    turn = combined("add", combined("multiply", last, 2), 2 if twice else 0)
    place = combined("floor_mod", place, combined("maximum", turn, 1))
    return combined("minimum", place, combined("subtract", turn, combined("add", place, 1 if twice else 0)))
