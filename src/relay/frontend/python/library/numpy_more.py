"""Functions of NumPy that arrange, search and compare: `np.sort`, `np.pad`, `np.roll`, `np.isclose`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from relay import op
from relay.frontend.python.library.arithmetic import combined, common_dtype, converted, equated
from relay.frontend.python.library.arrays.grids import GRIDS_OF_NUMPY, counting
from relay.frontend.python.library.arrays.padding import by_widths
from relay.frontend.python.library.arrays.polynomials import convolved
from relay.frontend.python.library.arrays.products import PRODUCTS_OF_NUMPY
from relay.frontend.python.library.arrays.splitting import split
from relay.frontend.python.library.arrays.statistics import STATISTICS_OF_NUMPY, sliced
from relay.frontend.python.library.numpy_functions import (
    computed_shape,
    dtype_of_value,
    element_type,
    extent_along,
    flat,
    floating,
    half_to_even,
    places,
    rank_of,
)
from relay.ir.expr import Expr, If, const
from relay.ir.types import ANY

Function = Callable[..., Any]


def _sort(x: Expr, axis: Any = -1, *, kind: Any = None, stable: Any = None) -> Expr:  # noqa: ARG001
    return op.sort(flat(x) if axis is None else x, -1 if axis is None else axis)


def _argsort(x: Expr, axis: Any = -1, *, kind: Any = None, stable: Any = None) -> Expr:  # noqa: ARG001
    return op.argsort(flat(x) if axis is None else x, -1 if axis is None else axis)


def _unique(x: Expr, *, return_counts: bool = False) -> Any:
    """The values, each once, in order; `op.unique` gives as many entries as it was given, and how many count."""
    found = op.unique(flat(x), is_sorted=True, return_counts=return_counts)
    values, count = found[0], found[3]
    parts = [values, found[4]] if return_counts else [values]
    kept = [op.strided_slice(each, begin=(0,), end=count, strides=(1,)) for each in parts]
    return tuple(kept) if return_counts else kept[0]


def _flip(x: Expr, axis: Any = None) -> Expr:
    axes = range(rank_of(x)) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    for each in axes:
        x = op.reverse(x, axis=each)
    return x


def _full_like(x: Expr, fill_value: Any, dtype: Any = None) -> Expr:
    wanted = dtype_of_value(x) if dtype is None else element_type(dtype)
    return op.full_like(converted(x, wanted), converted(fill_value, wanted))


def _round(x: Any, decimals: int = 0) -> Expr:
    if decimals == 0 or not dtype_of_value(x).is_float:
        return half_to_even(x)
    scale = 10.0**decimals
    return combined("divide", half_to_even(combined("multiply", x, scale)), scale)


def _roll(x: Expr, shift: Any, axis: Any = None) -> Expr:
    """Each element, so many places further, from the end to the beginning."""
    if axis is None:
        return op.reshape_like(_roll(flat(x), shift, 0), x)
    if isinstance(axis, tuple | list):
        shifts = shift if isinstance(shift, tuple | list) else [shift] * len(axis)
        return reduce(lambda so_far, pair: _roll(so_far, *pair), zip(shifts, axis, strict=True), x)
    extent = extent_along(x, axis)
    if isinstance(extent, int) and isinstance(shift, int):
        place = -shift % extent if extent else 0
        return x if place == 0 else op.concatenate([sliced(x, place, extent, axis), sliced(x, 0, place, axis)], axis)
    place = combined("floor_mod", combined("subtract", counting(extent), shift), combined("maximum", extent, 1))
    return op.reshape_like(op.take(x, place, axis=axis), x)


def _isclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Expr:
    apart = op.abs(combined("subtract", floating(x), floating(y)))
    near = combined("add", combined("multiply", op.abs(floating(y)), rtol), atol)
    is_near = op.logical_and(op.less_equal(apart, near), op.isfinite(floating(y)))
    made = op.logical_or(is_near, equated("equal", x, y))
    return op.logical_or(made, op.logical_and(op.isnan(floating(x)), op.isnan(floating(y)))) if equal_nan else made


def _allclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Expr:
    return op.all(_isclose(x, y, rtol, atol, equal_nan))


def _array_equal(x: Expr, y: Expr) -> Any:
    shapes = [getattr(each.checked_type, "shape", ()) for each in (x, y)]
    if shapes[0] == shapes[1] and ANY not in shapes[0]:
        return op.all(equated("equal", x, y))
    if len(shapes[0]) != len(shapes[1]) or all(isinstance(each, int) for shape in shapes for each in shape):
        return False
    alike = op.all(op.equal(op.shape_of(x), op.shape_of(y)))
    return If(alike, op.all(equated("equal", x, op.reshape_like(y, x))), const(False))


def _searchsorted(x: Expr, y: Any, side: str = "left") -> Expr:
    """Where numbers belong among ordered ones: both as floats, where one is."""
    dtype = common_dtype((x, y)) if dtype_of_value(y).is_float else dtype_of_value(x)
    return op.searchsorted(converted(x, dtype), converted(y, dtype), side == "right")


def _whole_if(name: str) -> Function:
    return lambda x: getattr(op, name)(x) if dtype_of_value(x).is_float else x


def _moved_axes(x: Expr, source: Any, destination: Any) -> Expr:
    pairs = [[each] if isinstance(each, int) else list(each) for each in (source, destination)]
    to = [each % rank_of(x) for each in pairs[1]]
    from_ = [each % rank_of(x) for each in pairs[0]]
    order = [each for each in range(rank_of(x)) if each not in from_]
    for place, axis in sorted(zip(to, from_, strict=True)):
        order.insert(place, axis)
    return op.transpose(x, order)


_FUNCTIONS: Mapping[str, Function] = {
    "sort": _sort, "argsort": _argsort, "unique": _unique, "flip": _flip, "split": split, "pad": by_widths,
    "hsplit": lambda x, into: split(x, into, 0 if rank_of(x) == 1 else 1), "vsplit": split,
    "flipud": lambda x: op.reverse(x, axis=0), "fliplr": lambda x: op.reverse(x, axis=1),
    "broadcast_to": lambda x, shape: op.broadcast_to(x, computed_shape(shape)), "full_like": _full_like,
    "round": _round, "around": _round, "rint": half_to_even, "roll": _roll,
    "isclose": _isclose, "allclose": _allclose, "array_equal": _array_equal, "moveaxis": _moved_axes,
    "searchsorted": _searchsorted, "convolve": convolved, "fix": _whole_if("trunc"),
    "arcsinh": lambda x: op.asinh(floating(x)), "arccosh": lambda x: op.acosh(floating(x)),
    "arctanh": lambda x: op.atanh(floating(x)), "positive": lambda x: x,
    "left_shift": lambda x, y: combined("left_shift", x, y), "right_shift": lambda x, y: combined("right_shift", x, y),
    "nonzero": lambda x: places(x), "flatnonzero": lambda x: places(flat(x))[0],
}  # fmt: skip
MORE_OF_NUMPY: Mapping[Any, Function] = {
    **{getattr(np, name): function for name, function in _FUNCTIONS.items()},
    **GRIDS_OF_NUMPY, **PRODUCTS_OF_NUMPY, **STATISTICS_OF_NUMPY,
}  # fmt: skip
"""What a program may call of NumPy besides functions of elements and reductions."""
