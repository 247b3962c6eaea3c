"""Functions of NumPy of elements (`np.hypot`) and on whole arrays (`np.diag`, `np.median`, `np.isin`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, cast

import numpy as np

from relay import op
from relay.base.dtypes import DType
from relay.base.span import caller_span
from relay.frontend.python.block import is_expr
from relay.frontend.python.library import elements
from relay.frontend.python.library.arithmetic import combined, common_dtype, converted, equated, vector_product
from relay.frontend.python.library.numpy_functions import (
    METHODS,
    REDUCTIONS,
    dtype_of_value,
    flat,
    floating,
    places,
    rank_of,
    truth_of,
)
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr
from relay.ir.types import TensorType
from relay.ops.framework.build import as_expr

Function = Callable[..., Any]


def _of_floats(function: Function) -> Function:
    """A function of floats, for arguments of any kind that broadcast."""

    def of_floats(*values: Any) -> Expr:
        dtype = common_dtype([*values, 1.0]) if not common_dtype(values).is_float else common_dtype(values)
        given = [converted(each, dtype) for each in values]
        return function(*given)

    return of_floats


def _diagonal(x: Expr, offset: int = 0) -> Expr:
    type_ = x.checked_type
    assert isinstance(type_, TensorType)
    extents = [each for each in type_.shape if isinstance(each, int)]
    if len(extents) != 2 or len(type_.shape) != 2:
        raise refusal(caller_span(), f"the diagonal of a {type_}", "give a matrix of known extents")
    rows, columns = (np.diagonal(each, offset) for each in np.indices(extents))
    return op.adv_index([x, _places(rows), _places(columns)])


def _places(array: Any) -> Expr:
    return as_expr(np.asarray(array, np.int32))


def _diag(x: Expr, k: int = 0) -> Expr:
    """The diagonal of a matrix, or a matrix with a diagonal."""
    if rank_of(x) == 2:
        return _diagonal(x, k)
    type_ = x.checked_type
    assert isinstance(type_, TensorType)
    if k != 0:
        raise refusal(caller_span(), "`np.diag` beside the diagonal", "pad a diagonal matrix")
    extent = type_.shape[0]
    count = (
        op.arange(converted(extent, DType.INT32), dtype="int32")
        if isinstance(extent, int)
        else op.cumsum(op.cast(op.ones_like(x), "int32"), 0)
    )
    same = op.equal(op.expand_dims(count, 0), op.expand_dims(count, 1))
    return op.where(same, op.expand_dims(x, 0), converted(0, type_.dtype))


def _trace(x: Expr) -> Expr:
    """The sum of the diagonal of a matrix."""
    upper = op.trilu(op.ones_like(x), converted(0, DType.INT32), True)
    return REDUCTIONS["sum"](op.multiply(x, op.trilu(upper, converted(0, DType.INT32), False)))


def _quantile(scale: float) -> Function:
    def quantile(x: Expr, q: Any, axis: Any = None) -> Expr:
        if is_expr(q) or not isinstance(q, int | float):
            raise refusal(caller_span(), "a quantile that the program computes", "give a number")
        ordered = op.sort(floating(flat(x) if axis is None else x), -1 if axis is None else axis)
        place = -1 if axis is None else axis
        type_ = ordered.checked_type
        assert isinstance(type_, TensorType)
        extent = type_.shape[place]
        if isinstance(extent, int):
            at = q / scale * (extent - 1)
            ends = [op.take(ordered, converted(end(at), DType.INT32), axis=place) for end in (math.floor, math.ceil)]
            return combined(
                "add", ends[0], combined("multiply", combined("subtract", ends[1], ends[0]), at - math.floor(at))
            )
        last = combined(
            "subtract", op.take(op.shape_of(ordered), converted(place % len(type_.shape), DType.INT32), axis=0), 1
        )
        where = combined("multiply", last, float(q) / scale)
        lower, upper = (op.take(ordered, op.cast(end(where), "int32"), axis=place) for end in (op.floor, op.ceil))
        return combined(
            "add", lower, combined("multiply", combined("subtract", upper, lower), op.subtract(where, op.floor(where)))
        )

    return quantile


def _average(x: Expr, axis: Any = None, *, weights: Any = None) -> Expr:
    if weights is None:
        return REDUCTIONS["mean"](x, axis)
    total = REDUCTIONS["sum"](combined("multiply", floating(x), weights), axis)
    return combined(
        "divide", total, REDUCTIONS["sum"](floating(weights), axis if rank_of(weights) == rank_of(x) else None)
    )


def _isin(x: Expr, wanted: Any, *, invert: bool = False) -> Expr:
    if isinstance(wanted, list | tuple):
        found = [equated("equal", x, each) for each in cast("Sequence[Any]", wanted)]
        held = reduce(op.logical_or, found) if found else op.not_equal(x, x)
    else:
        held = op.any(equated("equal", op.expand_dims(x, -1), flat(wanted)), axis=-1)
    return op.logical_not(held) if invert else held


def _append(x: Expr, values: Any, axis: Any = None) -> Expr:
    dtype = common_dtype((x, values))
    given = [converted(each, dtype) for each in (x, values)]
    given = [flat(each) for each in given] if axis is None else given
    return op.concatenate(given, 0 if axis is None else axis)


def _kron(x: Expr, y: Expr) -> Expr:
    if rank_of(x) != 1 or rank_of(y) != 1:
        raise refusal(caller_span(), "`np.kron` of matrices", "use np.einsum and reshape")
    return flat(combined("multiply", op.expand_dims(x, 1), op.expand_dims(y, 0)))


def _cross(x: Expr, y: Expr) -> Expr:
    if any(getattr(each.checked_type, "shape", ()) != (3,) for each in (x, y)):
        raise refusal(caller_span(), "`np.cross` of other than vectors of 3", "write it out")
    ahead = [op.take(each, _places([1, 2, 0]), axis=0) for each in (x, y)]
    behind = [op.take(each, _places([2, 0, 1]), axis=0) for each in (x, y)]
    return combined("subtract", combined("multiply", ahead[0], behind[1]), combined("multiply", behind[0], ahead[1]))


def _split(x: Expr, parts: Any, axis: int = 0) -> Any:
    type_ = x.checked_type
    assert isinstance(type_, TensorType)
    extent = type_.shape[axis]
    if not isinstance(extent, int) or not isinstance(parts, int):
        raise refusal(caller_span(), "`np.array_split` of an extent that is not known now", "slice it")
    ends = np.cumsum([len(each) for each in np.array_split(np.arange(extent), parts)])[:-1]
    return list(op.split(x, tuple(map(int, ends)), axis))


def _select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Expr:
    dtype = common_dtype([*choices, default])
    result = converted(default, dtype)
    for holds, value in reversed(list(zip(conditions, choices, strict=True))):
        result = op.where(truth_of(holds), converted(value, dtype), result)
    return result


def _nan_to_num(x: Expr, nan: float = 0.0) -> Expr:
    return op.where(op.isnan(floating(x)), converted(nan, dtype_of_value(floating(x))), floating(x))


def _without_nan(name: str) -> Function:
    return lambda x, axis=None: REDUCTIONS[name](_nan_to_num(x), axis)


def _two_axes(x: Expr) -> Expr:
    return op.expand_dims(x, 0) if rank_of(x) == 1 else x


def _inner(x: Expr, y: Expr) -> Expr:
    if rank_of(x) != 1 or rank_of(y) != 1:
        raise refusal(caller_span(), "`np.inner` of matrices", "write x @ y.T")
    dtype = common_dtype((x, y))
    dtype = DType.INT32 if dtype.is_bool else dtype
    return vector_product(converted(x, dtype), converted(y, dtype))


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


def _digits(x: Expr, bins: Expr) -> Expr:
    return op.searchsorted(bins, converted(x, dtype_of_value(bins)), True)


def _item(x: Expr, *index: Any) -> Expr:
    if index:
        raise refusal(caller_span(), "`.item` at an index", "write x[i]")
    return op.reshape(x, ())


def _along_axis(x: Expr, places: Expr, axis: int) -> Expr:
    return op.gather(x, axis, places)


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
    "diag": _diag, "diagonal": _diagonal, "trace": _trace, "average": _average, "isin": _isin, "append": _append,
    "median": lambda x, axis=None: _quantile(1.0)(x, 0.5, axis), "quantile": _quantile(1.0),
    "percentile": _quantile(100.0), "kron": _kron, "cross": _cross, "array_split": _split, "select": _select,
    "nansum": _without_nan("sum"),
    "amax": REDUCTIONS["max"], "amin": REDUCTIONS["min"], "argwhere": lambda x: op.argwhere(truth_of(x)),
    "atleast_2d": _two_axes, "atleast_1d": lambda x: op.reshape(x, (1,)) if rank_of(x) == 0 else x, "inner": _inner,
    "rot90": _turned, "digitize": _digits,
    "extract": lambda holds, x: op.take(flat(x), op.squeeze(op.argwhere(flat(truth_of(holds))), 1), axis=0),
    "take_along_axis": _along_axis, "empty_like": lambda x: op.zeros_like(x),
    "heaviside": lambda x, y: op.where(equated("equal", x, 0), converted(y, dtype_of_value(floating(x))),
                                       converted(equated("greater", x, 0), dtype_of_value(floating(x)))),
}  # fmt: skip
ARRAYS_OF_NUMPY: Mapping[Any, Function] = {getattr(np, name): function for name, function in _FUNCTIONS.items()}
"""What a program may call of NumPy that is made of other operators."""

MORE_METHODS: Mapping[str, Function] = {
    **METHODS, "trace": _trace, "diagonal": _diagonal, "item": _item, "argsort": lambda x, axis=-1: op.argsort(x, axis),
    "nonzero": places,
    "conj": lambda x: x,
}  # fmt: skip
