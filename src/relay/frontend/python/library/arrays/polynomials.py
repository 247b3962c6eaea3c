"""`np.polyval` and `np.convolve`: polynomials by their coefficients, and their products."""

from __future__ import annotations

from typing import Any

from relay import op
from relay.base.dtypes import DType
from relay.base.span import Span, caller_span
from relay.frontend.python.block import Block
from relay.frontend.python.library.arithmetic import as_operand, combined, common_dtype, converted, equated
from relay.frontend.python.library.arrays.grids import counting
from relay.frontend.python.library.arrays.statistics import sliced
from relay.frontend.python.library.list_arrays import as_array
from relay.frontend.python.library.lists.sequences import element_of, folded, list_of
from relay.frontend.python.library.lists.unpacking import elements
from relay.frontend.python.library.numpy_functions import dtype_of_value, extent_along, rank_of
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import as_expr
from relay.ir.expr import Expr
from relay.ir.types import TensorType

_ALL = 2**31 - 1


def evaluated(block: Block, span: Span, p: Any, x: Any) -> Any:
    """Of coefficients, the last of which is that of 1 (Horner), in a loop where the program finds how many."""
    p, x = (as_operand(block, as_array(block, each, span), span) for each in (p, x))
    known = elements(block, p, span)
    if known is not None:
        made: Any = 0
        for each in known:
            made = combined("add", combined("multiply", made, x), each)
        return made
    values = block.bind("items", list_of(block, p, span), span)
    coefficient = element_of(block, values)
    if not isinstance(coefficient, TensorType) or coefficient.shape:
        raise refusal(span, f"`np.polyval` of coefficients that are a {coefficient}", "go over them in a loop")
    x = block.bind("x", as_expr(block, x, span), span)
    zero = converted(0, DType.INT32 if coefficient.dtype.is_bool else coefficient.dtype)
    start = block.bind("start", combined("add", op.zeros_like(x), zero), span)

    def step(_: Block, so_far: Expr, each: Expr) -> Expr:
        return combined("add", combined("multiply", so_far, x), each)

    return folded(block, values, start, step, span)


def convolved(x: Expr, y: Expr, mode: str = "full") -> Expr:
    """The sums of products of one vector with the other backwards, at all places where they overlap."""
    if rank_of(x) != 1 or rank_of(y) != 1 or mode not in ("full", "same", "valid"):
        raise refusal(caller_span(), f"`np.convolve` of other than vectors, or in the mode {mode!r}",
                      "give two vectors, and one of the modes full, same and valid")  # fmt: skip
    dtype = common_dtype((x, y))
    x, y = (converted(each, DType.INT32 if dtype.is_bool else dtype) for each in (x, y))
    longer, width = extent_along(x, 0), extent_along(y, 0)
    is_there = op.logical_and(*(equated("greater", each, 0) for each in (longer, width)))
    x, y = (op.checked(each, is_there, "`np.convolve` of a vector that is empty") for each in (x, y))
    if isinstance(width, int) and (mode == "full" or width == 1 or (isinstance(longer, int) and longer >= width)):
        return _by_shifts(x, y, longer, width, mode)
    if isinstance(longer, int) and isinstance(width, int):
        return convolved(y, x, mode)
    return _by_windows(x, y, longer, width, mode)


def _by_shifts(x: Expr, y: Expr, longer: Any, width: int, mode: str) -> Expr:
    """By a vector of known length, which is not longer than the other one where that matters: a sum of slices."""
    none = op.zeros((width - 1,), dtype_of_value(x))
    wide = op.concatenate([none, x, none], 0)
    made: Any = None
    for place in range(width):
        part = sliced(wide, width - 1 - place, _ALL if place == 0 else -place, 0)
        term = op.multiply(part, op.take(y, converted(place, DType.INT32), axis=0))
        made = term if made is None else op.add(made, term)
    if mode == "full" or width == 1:
        return made
    cut = width - 1 if mode == "valid" else (width - 1) // 2
    count = longer - width + 1 if mode == "valid" else longer
    return sliced(made, cut, min(cut + count, longer + width - 1), 0)


def _by_windows(x: Expr, y: Expr, first: Any, second: Any, mode: str) -> Expr:
    """Of vectors of any lengths: each element is the product of a window of one with the other backwards."""
    most, least = combined("maximum", first, second), combined("minimum", first, second)
    before = combined("subtract", least, 1)
    cut: Any = {"full": 0, "same": combined("floor_divide", before, 2), "valid": before}[mode]
    count = combined(
        "add", most, {"full": before, "same": 0, "valid": op.negative(converted(before, DType.INT32))}[mode]
    )
    none = op.zeros(op.reshape(combined("maximum", combined("subtract", second, 1), 0), (1,)), dtype_of_value(x))
    windows = combined("add", op.expand_dims(combined("add", counting(count), cut), 1), counting(second))
    products = op.multiply(op.take(op.concatenate([none, x, none], 0), windows, axis=0), op.reverse(y, axis=0))
    return op.sum(products, axis=1)
