"""Functions of NumPy of elements (`np.hypot`) and on whole arrays (`np.isin`, `np.append`, `np.select`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from relay import op
from relay.base.dtypes import DType
from relay.base.span import caller_span
from relay.frontend.python.library import elements
from relay.frontend.python.library.arithmetic import combined, common_dtype, converted, equated
from relay.frontend.python.library.arrays.splitting import array_split
from relay.frontend.python.library.numpy_functions import (
    METHODS,
    REDUCTIONS,
    as_number,
    dtype_of_value,
    extent_along,
    flat,
    floating,
    places,
    rank_of,
    truth_of,
)
from relay.frontend.python.library.numpy_more import MORE_OF_NUMPY
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr

Function = Callable[..., Any]


def _of_floats(function: Function) -> Function:
    """A function of floats, for arguments of any kind that broadcast."""

    def of_floats(*arrays: Any) -> Expr:
        dtype = common_dtype(arrays) if common_dtype(arrays).is_float else common_dtype([*arrays, 1.0])
        return function(*(converted(each, dtype) for each in arrays))

    return of_floats


def _isin(x: Any, y: Any, *, invert: bool = False) -> Expr:
    held = op.any(equated("equal", op.expand_dims(x, -1), flat(y)), axis=-1)
    return op.logical_not(held) if invert else held


def _append(x: Any, y: Any, axis: Any = None) -> Expr:
    given = [converted(each, common_dtype((x, y))) for each in (x, y)]
    return op.concatenate(given if axis is not None else list(map(flat, given)), axis or 0)


def _select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Expr:
    dtype = common_dtype([*choices, default])
    result = converted(default, dtype)
    for holds, value in reversed(list(zip(conditions, choices, strict=True))):
        result = op.where(truth_of(holds), converted(value, dtype), result)
    return result


def _nan_to_num(x: Expr, *, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Expr:  # noqa: ARG001
    """NaN as 0, infinities as the largest and the smallest float; integers as they are."""
    if not dtype_of_value(x).is_float:
        return x
    limits = np.finfo(str(dtype_of_value(x)))
    high, low = (float(of) if given is None else given for of, given in ((limits.max, posinf), (limits.min, neginf)))
    made = op.where(op.isnan(x), converted(nan, dtype_of_value(x)), x)
    for infinity, value in ((math.inf, high), (-math.inf, low)):
        made = op.where(equated("equal", x, infinity), converted(value, dtype_of_value(x)), made)
    return made


def _two_axes(x: Expr) -> Expr:
    return op.expand_dims(x, 0) if rank_of(x) == 1 else x


def _turned(x: Expr, k: int = 1) -> Expr:
    """A matrix, turned by `k` quarters against the clock."""
    for _ in range(k % 4):
        x = op.reverse(op.transpose(x, [1, 0, *range(2, rank_of(x))]), axis=0)
    return x


def _reciprocal(x: Expr) -> Expr:
    if not dtype_of_value(x).is_float:
        raise refusal(caller_span(), "`np.reciprocal` of integers", "write 1 / x")
    return combined("divide", 1.0, x)


def _scaled(factor: float) -> Function:
    return lambda x: combined("multiply", floating(x), factor)


def _digits(x: Any, bins: Any, right: bool = False) -> Expr:
    return MORE_OF_NUMPY[np.searchsorted](bins, x, "left" if right else "right")


def _item(x: Expr, *index: Any) -> Expr:
    if index:
        raise refusal(caller_span(), "`.item` at an index", "write x[i]")
    return op.reshape(x, ())


def along_axis(x: Expr, indices: Expr, axis: Any = -1) -> Expr:
    """`np.take_along_axis`: what stands at places along an axis. The run ends where one is outside."""
    if axis is None:
        x, axis = flat(x), 0
    extent = extent_along(x, axis)
    least = op.negative(converted(extent, DType.INT32))
    inside = op.logical_and(equated("less", indices, extent), equated("greater_equal", indices, least))
    return op.gather(x, axis, op.checked(indices, op.all(inside), "the index is out of range"))


def _unravelled(indices: Any, shape: Any) -> tuple[Any, ...]:
    """The place along each axis of places among all elements."""
    extents = list(map(as_number, shape))
    inside = op.logical_and(equated("less", indices, _product(extents)), equated("greater_equal", indices, 0))
    indices = op.checked(converted(indices, DType.INT32), op.all(inside), "the index is out of range")
    found: list[Any] = []
    for extent in reversed(extents):
        found.insert(0, combined("floor_mod", indices, extent))
        indices = combined("floor_divide", indices, extent)
    return tuple(found)


def _product(extents: Sequence[Any]) -> Expr:
    return reduce(lambda left, right: combined("multiply", left, right), extents, as_number(1))


def _size(x: Expr, axis: int | None = None) -> Expr:
    axes = range(rank_of(x)) if axis is None else (axis,)
    return _product([as_number(extent_along(x, each)) for each in axes])


_FUNCTIONS: Mapping[str, Function] = {
    "arctan2": _of_floats(elements.angle), "hypot": _of_floats(elements.hypotenuse),
    "log1p": _of_floats(elements.log1p), "expm1": _of_floats(elements.expm1),
    "cbrt": _of_floats(elements.cube_root), "exp2": _of_floats(elements.exp2),
    "logaddexp": _of_floats(elements.log_sum), "copysign": _of_floats(elements.signed_as),
    "fmax": _of_floats(elements.but_nan("maximum")), "fmin": _of_floats(elements.but_nan("minimum")),
    "fabs": lambda x: op.abs(floating(x)), "deg2rad": _scaled(math.pi / 180), "radians": _scaled(math.pi / 180),
    "rad2deg": _scaled(180 / math.pi), "degrees": _scaled(180 / math.pi), "nan_to_num": _nan_to_num,
    "reciprocal": _reciprocal, "float_power": lambda x, y: combined("power", floating(x), floating(y)),
    "fmod": lambda x, y: op.trunc_mod(*(converted(each, common_dtype((x, y))) for each in (x, y))),
    "invert": lambda x: op.logical_not(x) if dtype_of_value(x).is_bool else op.bitwise_not(x),
    "divmod": lambda x, y: (combined("floor_divide", x, y), combined("floor_mod", x, y)),
    "isin": _isin, "append": _append, "array_split": array_split, "select": _select,
    "amax": REDUCTIONS["max"], "amin": REDUCTIONS["min"], "argwhere": lambda x: op.argwhere(truth_of(x)),
    "atleast_2d": _two_axes, "atleast_1d": lambda x: op.reshape(x, (1,)) if rank_of(x) == 0 else x,
    "rot90": _turned, "digitize": _digits,
    "extract": lambda condition, x: op.take(flat(x), op.squeeze(op.argwhere(flat(truth_of(condition))), 1), axis=0),
    "take_along_axis": along_axis, "unravel_index": _unravelled, "size": _size,
    "heaviside": lambda x, y: op.where(equated("equal", x, 0), converted(y, dtype_of_value(floating(x))),
                                       converted(equated("greater", x, 0), dtype_of_value(floating(x)))),
}  # fmt: skip
ARRAYS_OF_NUMPY: Mapping[Any, Function] = {getattr(np, name): function for name, function in _FUNCTIONS.items()}
"""What a program may call of NumPy that is made of other operators."""

MORE_METHODS: Mapping[str, Function] = {
    **METHODS, "item": _item, "nonzero": places, "conj": lambda x: x,
    **{name: MORE_OF_NUMPY[getattr(np, name)] for name in ("argsort", "diagonal", "round", "searchsorted", "trace")},
}  # fmt: skip
