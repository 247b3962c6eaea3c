"""Functions of NumPy that make arrays of places: `np.eye`, `np.linspace`, `np.meshgrid`, `np.diag`, `np.trace`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from relay import op
from relay.base.dtypes import DType
from relay.base.span import caller_span
from relay.frontend.python.block import is_expr
from relay.frontend.python.library.arithmetic import combined, common_dtype, converted, equated
from relay.frontend.python.library.numpy_functions import (
    REDUCTIONS,
    computed_shape,
    dtype_of_value,
    element_type,
    extent_along,
    flat,
    floating,
    rank_of,
)
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr

Function = Callable[..., Any]


def counting(extent: Any) -> Expr:
    """0, 1, 2, … as many as an extent tells: a number, the name of one, or what the program computes."""
    if isinstance(extent, int) or is_expr(extent):
        return op.arange(*(converted(each, DType.INT32) for each in (0, extent, 1)), dtype="int32")
    return combined("subtract", op.cumsum(op.ones((extent,), "int32"), 0), 1)


def _places(rows: Any, columns: Any) -> tuple[Expr, Expr]:
    """The row and the column of each element of a matrix, as a column and a row."""
    return op.expand_dims(counting(rows), 1), op.expand_dims(counting(columns), 0)


def _eye(rows: Any, columns: Any = None, k: Any = 0, dtype: Any = float) -> Expr:
    row, column = _places(rows, rows if columns is None else columns)
    return converted(equated("equal", combined("add", row, k), column), element_type(dtype))


def _tri(rows: Any, columns: Any = None, k: Any = 0, dtype: Any = float) -> Expr:
    row, column = _places(rows, rows if columns is None else columns)
    return converted(equated("greater_equal", combined("add", row, k), column), element_type(dtype))


def _triangle(upper: bool) -> Function:
    return lambda x, k=0: op.trilu(x, converted(k, DType.INT32), upper)


def _diagonal(x: Expr, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Expr:
    """Of matrices in two axes; it is the last axis."""
    if is_expr(offset):
        raise refusal(caller_span(), "a diagonal that the program computes", "give a number")
    rank = rank_of(x)
    axes = (axis1 % rank, axis2 % rank)
    if axes != (0, 1):
        x = op.transpose(x, [*axes, *(each for each in range(rank) if each not in axes)])
    rows, columns = extent_along(x, 0), extent_along(x, 1)
    width = combined("subtract", columns, max(offset, 0)), combined("subtract", rows, max(-offset, 0))
    if isinstance(rows, int) and isinstance(columns, int):
        count: Any = max(0, min(columns - max(offset, 0), rows - max(-offset, 0)))
    else:
        count = combined("maximum", combined("minimum", *width), 0)
    place = counting(count)
    found = op.adv_index([x, combined("add", place, max(-offset, 0)), combined("add", place, max(offset, 0))])
    return op.transpose(found, [*range(1, rank - 1), 0]) if rank > 2 else found


def _diag(x: Expr, k: int = 0) -> Expr:
    """The diagonal of a matrix, or a matrix with a diagonal."""
    if rank_of(x) == 2:
        return _diagonal(x, k)
    size = combined("add", extent, abs(k)) if is_expr(extent := extent_along(x, 0)) else extent + abs(k)
    row, column = _places(size, size)
    place = combined("minimum", row if k >= 0 else column, combined("subtract", extent, 1))
    return op.where(
        equated("equal", combined("add", row, k), column), op.take(x, place, axis=0), converted(0, dtype_of_value(x))
    )


def _trace(x: Expr, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Expr:
    return REDUCTIONS["sum"](_diagonal(x, offset, axis1, axis2), -1)


def _arange(*bounds: Any, dtype: Any = None) -> Expr:
    wanted = element_type(dtype) if dtype is not None else common_dtype(bounds)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return op.arange(*(converted(each, wanted) for each in (start, stop, step)), dtype=wanted)


def _linspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, *, dtype: Any = None) -> Expr:
    """Numbers at equal distances, as floats; the last is `stop` itself."""
    if rank_of(start) or rank_of(stop):
        raise refusal(
            caller_span(), "`np.linspace` between arrays", "write start + (stop - start) * np.linspace(0, 1, n)"
        )
    place = converted(counting(num), DType.FLOAT32)
    gaps = combined("maximum", combined("subtract", num, 1), 1) if endpoint else combined("maximum", num, 1)
    share = combined("divide", place, gaps)
    back = combined("subtract", 1.0, share)
    made = combined("add", combined("multiply", floating(start), back), combined("multiply", floating(stop), share))
    if dtype is None:
        return made
    return converted(op.floor(made) if element_type(dtype).is_integer else made, element_type(dtype))


def _logspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0) -> Expr:
    return combined("power", floating(base), _linspace(start, stop, num, endpoint))


def _geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True) -> Expr:
    """Of positive numbers."""
    return op.exp(_linspace(op.log(floating(start)), op.log(floating(stop)), num, endpoint))


def _meshgrid(*arrays: Any, indexing: str = "xy", sparse: bool = False) -> list[Any]:
    """The coordinates of a grid, each as an array of the whole grid."""
    vectors = [flat(each) for each in arrays]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    spread = [
        op.reshape(each, [-1 if place == axis else 1 for place in range(len(vectors))])
        for each, axis in zip(vectors, order, strict=True)
    ]
    whole = computed_shape([extent_along(vectors[axis], 0) for axis in order])
    return spread if sparse else [op.broadcast_to(each, whole) for each in spread]


_FUNCTIONS: Mapping[str, Function] = {
    "eye": _eye, "identity": lambda rows, dtype=float: _eye(rows, dtype=dtype), "tri": _tri,
    "triu": _triangle(True), "tril": _triangle(False), "diag": _diag, "diagonal": _diagonal, "trace": _trace,
    "arange": _arange, "linspace": _linspace, "logspace": _logspace, "geomspace": _geomspace, "meshgrid": _meshgrid,
}  # fmt: skip
GRIDS_OF_NUMPY: Mapping[Any, Function] = {getattr(np, name): function for name, function in _FUNCTIONS.items()}
"""What a program may call of NumPy that is made by the places of its elements."""
