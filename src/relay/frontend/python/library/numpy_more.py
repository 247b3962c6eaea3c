"""Functions of NumPy that arrange, search and multiply: `np.sort`, `np.pad`, `np.einsum`, `np.linalg.norm`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from relay import nn, op
from relay.base.dtypes import DType
from relay.base.span import caller_span
from relay.frontend.python.block import is_expr
from relay.frontend.python.library.arithmetic import combined, common_dtype, converted, equated
from relay.frontend.python.library.numpy_functions import (
    REDUCTIONS,
    computed_shape,
    dtype_of_value,
    element_type,
    flat,
    floating,
    half_to_even,
    places,
    rank_of,
    truth_of,
)
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr
from relay.ir.types import TensorType

Function = Callable[..., Any]


def _sort(x: Expr, axis: Any = -1) -> Expr:
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


def _split(x: Expr, parts: Any, axis: int = 0) -> Any:
    if is_expr(parts):
        raise refusal(caller_span(), "`np.split` into parts that the program computes", "give numbers")
    return list(op.split(x, tuple(parts) if isinstance(parts, list) else parts, axis))


_PAD_MODES = {"constant": "constant", "edge": "edge", "reflect": "reflect"}


def _pad(x: Expr, width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Expr:
    if mode not in _PAD_MODES:
        raise refusal(caller_span(), f"`np.pad` in the mode {mode}", f"use one of {', '.join(_PAD_MODES)}")
    pairs = np.broadcast_to(np.asarray(width, int), (rank_of(x), 2)).tolist()
    return nn.pad(x, pairs, converted(constant_values, dtype_of_value(x)), pad_mode=_PAD_MODES[mode])


def _full_like(x: Expr, value: Any, dtype: Any = None) -> Expr:
    wanted = dtype_of_value(x) if dtype is None else element_type(dtype)
    return op.full_like(converted(x, wanted), converted(value, wanted))


def _norm(x: Expr, ord: Any = None, axis: Any = None, *, keepdims: bool = False) -> Expr:  # noqa: A002
    """Of vectors; of all elements, where no axis is given."""
    x = floating(x)
    if ord in (None, 2) and (axis is not None or ord is None or rank_of(x) == 1):
        return op.sqrt(op.sum(op.multiply(x, x), axis=axis, keepdims=keepdims))
    if ord == 1 and (axis is not None or rank_of(x) == 1):
        return op.sum(op.abs(x), axis=axis, keepdims=keepdims)
    if ord == np.inf and (axis is not None or rank_of(x) == 1):
        return op.max(op.abs(x), axis=axis, keepdims=keepdims)
    raise refusal(caller_span(), f"the norm {ord}", "use 1, 2 or np.inf of vectors, or write it out")


def _round(x: Any, decimals: int = 0) -> Expr:
    if decimals == 0 or not dtype_of_value(x).is_float:
        return half_to_even(x)
    scale = 10.0**decimals
    return combined("divide", half_to_even(combined("multiply", x, scale)), scale)


def _trilu(upper: bool) -> Function:
    return lambda x, k=0: op.trilu(x, converted(k, DType.INT32), upper)


def _outer(left: Any, right: Any) -> Expr:
    return combined("multiply", op.expand_dims(flat(left), 1), op.expand_dims(flat(right), 0))


def _diff(x: Expr, n: int = 1, axis: int = -1) -> Expr:
    place = axis % rank_of(x)
    for _ in range(n):
        later = op.strided_slice(x, begin=(1,), end=(2**31 - 1,), strides=(1,), axes=(place,))
        earlier = op.strided_slice(x, begin=(0,), end=(-1,), strides=(1,), axes=(place,))
        x = combined("subtract", later, earlier)
    return x


def _roll(x: Expr, shift: int, axis: Any = None) -> Expr:
    if is_expr(shift):
        raise refusal(caller_span(), "`np.roll` by what the program computes", "give a number")
    if axis is None:
        return op.reshape_like(_roll(flat(x), shift, 0), x)
    assert isinstance(x.checked_type, TensorType)
    extent = x.checked_type.shape[axis]
    if not isinstance(extent, int):
        raise refusal(
            caller_span(), "`np.roll` along an axis whose extent is not known now", "concatenate the two parts"
        )
    place = -shift % extent if extent else 0
    if place == 0:
        return x
    parts = [
        op.strided_slice(x, begin=(low,), end=(high,), strides=(1,), axes=(axis % rank_of(x),))
        for low, high in ((place, extent), (0, place))
    ]
    return op.concatenate(parts, axis)


def _stacked(axis: int) -> Function:
    def stacked(parts: Sequence[Any]) -> Expr:
        dtype = common_dtype(parts)
        arrays = [converted(each, dtype) for each in parts]
        if rank_of(arrays[0]) == 1:
            return op.stack(arrays, 0) if axis == 0 else op.concatenate(arrays, 0)
        return op.concatenate(arrays, axis)

    return stacked


def _columns(parts: Sequence[Any]) -> Expr:
    dtype = common_dtype(parts)
    arrays = [converted(each, dtype) for each in parts]
    return op.concatenate([op.expand_dims(each, 1) if rank_of(each) == 1 else each for each in arrays], 1)


def _count_nonzero(x: Any, axis: Any = None) -> Expr:
    return REDUCTIONS["sum"](truth_of(x), axis)


def _arange(*bounds: Any, dtype: Any = None) -> Expr:
    wanted = element_type(dtype) if dtype is not None else common_dtype(bounds)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return op.arange(*(converted(each, wanted) for each in (start, stop, step)), dtype=wanted)


def _isclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Expr:
    apart = op.abs(combined("subtract", floating(x), floating(y)))
    near = combined("add", combined("multiply", op.abs(floating(y)), rtol), atol)
    return op.logical_or(op.less_equal(apart, near), equated("equal", x, y))


def _moved(x: Expr, source: int, destination: int) -> Expr:
    axes = [each for each in range(rank_of(x)) if each != source % rank_of(x)]
    axes.insert(destination % rank_of(x), source % rank_of(x))
    return op.transpose(x, axes)


def _einsum(formula: str, *operands: Any) -> Expr:
    """Products of elements, summed over the letters that the result does not have."""
    if "." in formula:
        raise refusal(caller_span(), "`...` in `np.einsum`", "name all axes")
    inputs, _, output = formula.replace(" ", "").partition("->")
    names = inputs.split(",")
    if not formula.count("->"):
        letters = inputs.replace(",", "")
        output = "".join(sorted(each for each in set(letters) if letters.count(each) == 1))
    if len(names) != len(operands) or any(len(set(each)) != len(each) for each in (*names, output)):
        raise refusal(
            caller_span(), f"`np.einsum` of {formula!r}", "name each axis of an operand once, and each operand"
        )
    order = [*output, *(each for each in dict.fromkeys("".join(names)) if each not in output)]
    dtype = common_dtype(operands)
    if (
        len(names) == 2
        and (made := _as_product(names, output, [converted(each, dtype) for each in operands])) is not None
    ):
        return made
    product: Any = None
    for axes, operand in zip(names, operands, strict=True):
        given = converted(operand, dtype)
        spread = op.transpose(given, [axes.index(each) for each in order if each in axes]) if len(axes) > 1 else given
        for place, each in enumerate(order):
            if each not in axes:
                spread = op.expand_dims(spread, place)
        product = spread if product is None else combined("multiply", product, spread)
    summed = tuple(range(len(output), len(order)))
    return REDUCTIONS["sum"](product, summed) if summed else product


def _as_product(names: Sequence[str], output: str, operands: Sequence[Expr]) -> Expr | None:
    """Two matrices, multiplied over one letter."""
    left, right = names
    shared = set(left) & set(right) - set(output)
    if len(left) != 2 or len(right) != 2 or len(shared) != 1:
        return None
    (over,) = shared
    rows, columns = left.replace(over, ""), right.replace(over, "")
    if sorted(output) != sorted(rows + columns):
        return None
    made = nn.matmul(operands[0], operands[1], transpose_a=left[0] == over, transpose_b=right[1] == over)
    return made if output == rows + columns else op.transpose(made, (1, 0))


def _array_equal(x: Expr, y: Expr) -> Any:
    shapes = [getattr(each.checked_type, "shape", ()) for each in (x, y)]
    if shapes[0] != shapes[1]:
        if len(shapes[0]) != len(shapes[1]) or all(isinstance(each, int) for shape in shapes for each in shape):
            return False
        raise refusal(caller_span(), "`np.array_equal` of extents that may differ", "compare their shapes first")
    return op.all(equated("equal", x, y))


def _searchsorted(x: Expr, values: Any, side: str = "left") -> Expr:
    return op.searchsorted(x, converted(values, dtype_of_value(x)), side == "right")


def _whole_if(name: str) -> Function:
    return lambda x: getattr(op, name)(x) if dtype_of_value(x).is_float else x


_FUNCTIONS: Mapping[str, Function] = {
    "sort": _sort, "argsort": _argsort, "unique": _unique, "flip": _flip, "split": _split, "pad": _pad,
    "flipud": lambda x: op.reverse(x, axis=0), "fliplr": lambda x: op.reverse(x, axis=1),
    "broadcast_to": lambda x, shape: op.broadcast_to(x, computed_shape(shape)), "full_like": _full_like,
    "round": _round, "around": _round, "rint": half_to_even, "triu": _trilu(True), "tril": _trilu(False),
    "outer": _outer, "diff": _diff, "roll": _roll, "vstack": _stacked(0), "hstack": _stacked(1),
    "column_stack": _columns, "count_nonzero": _count_nonzero, "arange": _arange, "isclose": _isclose,
    "allclose": lambda x, y, rtol=1e-5, atol=1e-8: op.all(_isclose(x, y, rtol, atol)),
    "array_equal": _array_equal, "moveaxis": _moved, "einsum": _einsum,
    "searchsorted": _searchsorted,
    "ptp": lambda x, axis=None: combined("subtract", REDUCTIONS["max"](x, axis), REDUCTIONS["min"](x, axis)),
    "fix": _whole_if("trunc"),
    "arcsinh": lambda x: op.asinh(floating(x)), "arccosh": lambda x: op.acosh(floating(x)),
    "arctanh": lambda x: op.atanh(floating(x)), "positive": lambda x: x,
    "left_shift": lambda x, y: combined("left_shift", x, y), "right_shift": lambda x, y: combined("right_shift", x, y),
    "nonzero": lambda x: places(x), "flatnonzero": lambda x: places(flat(x))[0],
}  # fmt: skip
MORE_OF_NUMPY: Mapping[Any, Function] = {
    **{getattr(np, name): function for name, function in _FUNCTIONS.items()}, np.linalg.norm: _norm,
}  # fmt: skip
"""What a program may call of NumPy besides functions of elements and reductions."""
