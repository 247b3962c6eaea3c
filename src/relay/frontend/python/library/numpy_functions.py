"""Functions and methods of NumPy as operators of Relay, with NumPy's result types: the mean of integers is a float.

Integers are those of the program (sums of narrow ones have 32 bits), floats are float32 where NumPy would widen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType, dtype_of
from relay.base.span import caller_span
from relay.frontend.python.block import is_expr
from relay.frontend.python.library.arithmetic import combined, common_dtype, converted, equated
from relay.ir.expr import Expr
from relay.ir.types import TensorType

Function = Callable[..., Any]
_PYTHON_NUMBERS: Mapping[Any, DType] = {float: DType.FLOAT32, int: DType.INT32, bool: DType.BOOL}


def element_type(dtype: Any) -> DType:
    """The element type that `astype(float)` and its kin mean; those of torch go by their names."""
    try:
        return _PYTHON_NUMBERS[dtype]
    except (KeyError, TypeError):
        name = str(dtype)
        return dtype_of(name.removeprefix("torch.") if name.startswith("torch.") else dtype)


def dtype_of_value(x: Any) -> DType:
    return common_dtype((x,))


def rank_of(x: Any) -> int:
    """How many axes a tensor or a number has."""
    return len(x.checked_type.shape) if is_expr(x) and isinstance(x.checked_type, TensorType) else 0


def extent_along(x: Expr, axis: int) -> Any:
    """How many entries an axis has: a number that is known now, or what the program computes it by."""
    assert isinstance(x.checked_type, TensorType)
    extent = x.checked_type.shape[axis]
    if isinstance(extent, int):
        return extent
    return op.take(op.shape_of(x), converted(axis % rank_of(x), DType.INT32), axis=0)


def floating(x: Any) -> Expr:
    dtype = dtype_of_value(x)
    return converted(x, dtype if dtype.is_float else DType.FLOAT32)


def _countable(x: Any) -> Expr:
    """What sums are made of: bools and narrow integers count in 32 bits."""
    dtype = dtype_of_value(x)
    if dtype.is_bool or (dtype.is_integer and dtype.bits < 32):
        return converted(x, DType.UINT32 if str(dtype).startswith("uint") else DType.INT32)
    return converted(x, dtype)


def truth_of(x: Any) -> Expr:
    return converted(x, DType.BOOL) if dtype_of_value(x).is_bool else equated("not_equal", x, 0)


def half_to_even(x: Any) -> Expr:
    """The nearest whole number, of two the even one, with the sign of `x`; integers as they are."""
    if not dtype_of_value(x).is_float:
        return converted(x, dtype_of_value(x))
    below = op.floor(x)
    fraction, is_odd = (
        op.subtract(x, below),
        equated("not_equal", op.floor_mod(below, converted(2, dtype_of_value(x))), 0),
    )
    half = converted(0.5, dtype_of_value(x))
    up = op.logical_or(op.greater(fraction, half), op.logical_and(op.equal(fraction, half), is_odd))
    return op.where(up, op.ceil(x), below)


def _of_floats(name: str) -> Function:
    return lambda x: getattr(op, name)(floating(x))


def _to_whole(name: str) -> Function:
    return lambda x: getattr(op, name)(x) if dtype_of_value(x).is_float else _countable(x)


def _of_pairs(name: str) -> Function:
    return lambda left, right: combined(name, left, right)


def _comparison(name: str) -> Function:
    return lambda left, right: equated(name, left, right)


def _of_truths(name: str) -> Function:
    return lambda *arrays: getattr(op, name)(*map(truth_of, arrays))


def _reduction(name: str, prepared: Function) -> Function:
    def reduction(x: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Expr:
        given = prepared(x) if dtype is None else converted(x, element_type(dtype))
        return getattr(op, name)(given, axis=axis, keepdims=keepdims)

    return reduction


def _search(name: str) -> Function:
    """The place of the largest or smallest."""

    def search(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Expr:
        return getattr(op, name)(_countable(x), axis=axis, keepdims=keepdims)

    return search


def _test(name: str) -> Function:
    """Whether all or any are true."""

    def test(x: Any, axis: Any = None, *, keepdims: bool = False) -> Expr:
        return getattr(op, name)(truth_of(x), axis=axis, keepdims=keepdims)

    return test


def _extreme(name: str) -> Function:
    def extreme(x: Any, axis: Any = None, *, keepdims: bool = False) -> Expr:
        return converted(getattr(op, name)(_countable(x), axis=axis, keepdims=keepdims), dtype_of_value(x))

    return extreme


def _scan(name: str) -> Function:
    def scan(x: Any, axis: int | None = None, dtype: Any = None) -> Expr:
        return getattr(op, name)(_countable(x) if dtype is None else converted(x, element_type(dtype)), axis=axis)

    return scan


def _variance(x: Any, axis: Any = None, *, ddof: Any = 0, correction: Any = None, keepdims: bool = False) -> Expr:
    """Divided by how many there are, less `ddof`; NumPy has two names for it."""
    less = ddof if correction is None else correction
    if not is_expr(less) and less in (0, 1):
        return op.variance(floating(x), axis=axis, keepdims=keepdims, unbiased=less == 1)
    made = op.variance(floating(x), axis=axis, keepdims=keepdims)
    axes: Sequence[int] = range(rank_of(x)) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    count: Any = 1
    for each in axes:
        count = combined("multiply", count, extent_along(x, each))
    share = combined("divide", count, combined("maximum", combined("subtract", count, less), 0))
    return combined("multiply", made, share)


def _deviation(x: Any, axis: Any = None, **how: Any) -> Expr:
    return op.sqrt(_variance(x, axis, **how))


def _maximum(name: str) -> Function:
    def extreme(left: Any, right: Any) -> Expr:
        is_bool = common_dtype((left, right)).is_bool
        return combined(("logical_or" if name == "maximum" else "logical_and") if is_bool else name, left, right)

    return extreme


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Expr:  # noqa: A002
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    x = x if low is None else combined("maximum", x, low)
    return converted(x, dtype_of_value(x)) if high is None else combined("minimum", x, high)


def places(x: Any) -> tuple[Expr, ...]:
    """Where a tensor is not 0: the index of each such element along each axis."""
    found = op.argwhere(truth_of(x))
    return tuple(op.take(found, converted(axis, DType.INT32), axis=1) for axis in range(rank_of(x)))


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return places(condition)
    dtype = common_dtype((x, y))
    return op.where(truth_of(condition), converted(x, dtype), converted(y, dtype))


def joined(name: str) -> Function:
    """`concatenate` or `stack`, of arrays of any element types."""

    def join(parts: Sequence[Any], axis: int = 0) -> Expr:
        dtype = common_dtype(parts)
        return getattr(op, name)([converted(each, dtype) for each in parts], axis)

    return join


def computed_shape(shape: Any) -> Any:
    """A shape, as a tensor where the program computes a part of it."""
    extents: tuple[Any, ...] = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if any(map(is_expr, extents)):
        return op.stack([as_number(each) for each in extents], 0)
    return extents


def as_number(extent: Any) -> Expr:
    """An extent, which may stand there by its name, as a number of the program."""
    if is_expr(extent) or isinstance(extent, int):
        return converted(extent, DType.INT32)
    return op.take(op.shape_of(op.zeros((extent,), "int32")), converted(0, DType.INT32), axis=0)


def _reshape(x: Expr, *shape: Any) -> Expr:
    wanted = shape[0] if len(shape) == 1 else shape
    extents: tuple[Any, ...] = tuple(wanted) if isinstance(wanted, tuple | list) else (wanted,)
    if any(map(is_expr, extents)):
        return op.reshape(x, computed_shape(extents))
    if any(isinstance(each, int) and each < -1 for each in extents):
        raise RelayError(rule="bad-shape", message="a shape has extents, and -1 for the one that follows from them",
                         span=caller_span(), found=str(extents))  # fmt: skip
    return op.reshape(x, extents, allowzero=True)


def _transpose(x: Expr, *axes: Any) -> Expr:
    """As NumPy turns axes; two of more than two change places, as in torch."""
    if len(axes) == 2 and rank_of(x) > 2:
        return _swapped(x, *axes)
    return op.transpose(x, axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes or None)


def _swapped(x: Expr, first: int, second: int) -> Expr:
    axes = list(range(rank_of(x)))
    axes[first], axes[second] = axes[second], axes[first]
    return op.transpose(x, axes)


def _repeat(x: Expr, repeats: Any, axis: int | None = None) -> Expr:
    """Each entry of an axis so many times, which may be told for each."""
    x, axis = (flat(x), 0) if axis is None else (x, axis)
    if isinstance(repeats, int):
        return op.repeat(x, repeats, axis)
    extent = op.take(op.shape_of(x), converted(axis % rank_of(x), DType.INT32), axis=0)
    if isinstance(repeats, list | tuple):
        repeats = op.stack([converted(each, DType.INT32) for each in cast("Sequence[Any]", repeats)], 0)
    counts = op.broadcast_to(converted(repeats, DType.INT32), op.reshape(extent, (1,)))
    ends = op.cumsum(counts, 0)
    whole = op.arange(*(converted(each, DType.INT32) for each in (0, op.sum(counts), 1)), dtype="int32")
    return op.take(x, op.searchsorted(ends, whole, True), axis=axis)


def flat(x: Expr) -> Expr:
    return op.reshape(x, (-1,))


def _astype(x: Any, dtype: Any) -> Expr:
    return converted(x, element_type(dtype))


def _full(shape: Any, fill_value: Any, dtype: Any = None) -> Expr:
    wanted = dtype_of_value(fill_value) if dtype is None else element_type(dtype)
    return op.full(converted(fill_value, wanted), computed_shape(shape), wanted)


def _filled(name: str) -> Function:
    """`zeros` or `ones`."""
    return lambda shape, dtype="float32": getattr(op, name)(computed_shape(shape), element_type(dtype or "float32"))


def _like(name: str) -> Function:
    return lambda x, dtype=None: getattr(op, f"{name}_like")(
        converted(x, dtype_of_value(x) if dtype is None else element_type(dtype))
    )


def _sign(x: Any) -> Expr:
    return op.sign(_countable(x))


REDUCTIONS: Mapping[str, Function] = {
    "sum": _reduction("sum", _countable), "prod": _reduction("prod", _countable),
    "mean": _reduction("mean", floating), "max": _extreme("max"), "min": _extreme("min"),
    "any": _test("any"), "all": _test("all"), "std": _deviation,
    "var": _variance, "argmax": _search("argmax"), "argmin": _search("argmin"),
    "cumsum": _scan("cumsum"), "cumprod": _scan("cumprod"),
}  # fmt: skip
_SAME: Mapping[str, Function] = {
    **REDUCTIONS, "clip": _clip, "round": half_to_even, "repeat": _repeat, "copy": lambda x: op.copy(x),
    "squeeze": lambda x, axis=None: op.squeeze(x, axis), "ravel": flat,
}  # fmt: skip
METHODS: Mapping[str, Function] = {
    **_SAME, "reshape": _reshape, "transpose": _transpose, "flatten": flat, "astype": _astype, "swapaxes": _swapped,
}  # fmt: skip

_FUNCTIONS: Mapping[str, Function] = {
    **_SAME,
    **{name: _of_floats(name) for name in (
        "cos", "cosh", "exp", "log", "log10", "log2", "sin", "sinh", "sqrt", "tan", "tanh",
    )},
    **{name: _of_floats(relay) for name, relay in (("arctan", "atan"), ("arcsin", "asin"), ("arccos", "acos"))},
    **{name: _to_whole(name) for name in ("ceil", "floor", "trunc")},
    **{name: _of_floats(name) for name in ("isfinite", "isinf", "isnan")},
    **{name: _of_pairs(name) for name in (
        "add", "bitwise_and", "bitwise_or", "bitwise_xor", "divide", "floor_divide", "multiply", "subtract",
    )},
    "mod": _of_pairs("floor_mod"), "remainder": _of_pairs("floor_mod"), "true_divide": _of_pairs("divide"),
    "maximum": _maximum("maximum"), "minimum": _maximum("minimum"),
    **{name: _comparison(name) for name in (
        "equal", "greater", "greater_equal", "less", "less_equal", "not_equal",
    )},
    **{name: _of_truths(name) for name in ("logical_and", "logical_not", "logical_or", "logical_xor")},
    "abs": lambda x: converted(op.abs(_countable(x)), dtype_of_value(x)), "negative": lambda x: op.negative(x),
    "square": lambda x: combined("multiply", x, x), "sign": _sign, "where": _where,
    "expand_dims": lambda x, axis: op.expand_dims(x, axis),
    "reshape": lambda x, shape: _reshape(x, shape), "transpose": lambda x, axes=None: op.transpose(x, axes),
    "swapaxes": _swapped, "tile": lambda x, reps: op.tile(x, computed_shape(reps)), "zeros_like": _like("zeros"),
    "empty_like": _like("zeros"),
    "ones_like": _like("ones"), "full": _full, "empty": _filled("zeros"),
    "zeros": _filled("zeros"), "ones": _filled("ones"),
}  # fmt: skip
NUMPY: Mapping[Any, Function] = {getattr(np, name): function for name, function in _FUNCTIONS.items()}
"""What a program may call of NumPy. `np.power`, `np.take` and `np.matmul` are the operators `**`, `x[i]` and `@`."""

VIEWS = frozenset({
    "array_split", "asarray", "atleast_1d", "atleast_2d", "broadcast_to", "diagonal", "expand_dims", "flip", "fliplr",
    "flipud", "hsplit", "moveaxis", "ravel", "reshape", "rot90", "split", "squeeze", "swapaxes", "transpose", "vsplit",
})  # fmt: skip
"""What may give the same memory in NumPy."""

SCALARS: Mapping[Any, Function] = {
    kind: (lambda dtype: lambda x: converted(x, dtype))(element_type(kind)) for kind in (
        np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
        np.uint64, np.bool_,
    )
}  # fmt: skip
"""The types of NumPy's numbers, as functions: `np.float32(x)`."""
