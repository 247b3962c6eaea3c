"""What Python writes with operators, methods of arrays and functions of NumPy, as operators of Relay."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from relay import nn, op
from relay.base.dtypes import DType, dtype_of
from relay.ir.expr import Expr
from relay.ir.types import TensorType

BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "floor_mod", ast.Pow: "power", ast.LShift: "left_shift", ast.RShift: "right_shift",
    ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
}  # fmt: skip
COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater",
    ast.GtE: "greater_equal",
}  # fmt: skip
_LOGICAL = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor"}


def binary(name: str, left: Any, right: Any, types: Sequence[Any]) -> Expr:
    """An operator of Python on two operands, of which one is an expression; `types` are those of expressions.

    As in Python, `/` of integers is a float, `%` has the sign of the divisor, a float beside an integer tensor makes
    it one of floats, and an integer scalar beside a tensor of floats is a float.
    """
    left, right = _counting_as_float(left, right, types)
    dtypes = [type_.dtype for type_ in types if isinstance(type_, TensorType)]
    if all(dtype.is_bool for dtype in dtypes):
        name = _LOGICAL.get(name, name)
    whole = not any(dtype.is_float for dtype in dtypes)
    if whole and (name == "divide" or isinstance(left, float) or isinstance(right, float)):
        left, right = (each if isinstance(each, int | float) else op.cast(each, "float32") for each in (left, right))
        left, right = (float(each) if isinstance(each, int) else each for each in (left, right))
    return getattr(op, name)(left, right)


def _counting_as_float(left: Any, right: Any, types: Sequence[Any]) -> tuple[Any, Any]:
    """An integer scalar beside a tensor of floats is a number of that kind, as a Python int would be."""
    sides = [left, right]
    for position, type_ in enumerate(types):
        other = types[1 - position]
        if not isinstance(type_, TensorType) or not isinstance(other, TensorType) or not other.dtype.is_float:
            continue
        if type_.shape == () and not type_.dtype.is_float and not type_.dtype.is_bool:
            sides[position] = op.cast(sides[position], other.dtype)
    return sides[0], sides[1]


def product(left: Expr, right: Expr, left_rank: int, right_rank: int) -> Expr:
    """`left @ right`, as NumPy multiplies matrices, vectors and batches of matrices.

    Raises `ValueError` for ranks that have no such product.
    """
    match left_rank, right_rank:
        case 2, 2:
            return nn.matmul(left, right)
        case 1, 2:
            return op.squeeze(nn.matmul(op.expand_dims(left, 0), right), 0)
        case 2, 1:
            return op.squeeze(nn.matmul(left, op.expand_dims(right, 1)), 1)
        case 1, 1:
            return op.sum(op.multiply(left, right))
        case 3, 3:
            return nn.batch_matmul(left, right, transpose_b=False)
        case _:
            raise ValueError(f"a product of {left_rank} and {right_rank} axes")


def _reshape(x: Expr, *shape: Any) -> Expr:
    return op.reshape(x, shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape)


def _transpose(x: Expr, *axes: Any) -> Expr:
    return op.transpose(x, axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes or None)


def _element(dtype: Any) -> DType:
    return dtype_of(_PYTHON_NUMBERS.get(dtype, dtype))


_PYTHON_NUMBERS: Mapping[Any, Any] = {float: "float32", int: "int32", bool: "bool"}


METHODS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(op, name) for name in ("sum", "prod", "mean", "max", "min", "argmax", "argmin", "any", "all")},
    **{name: getattr(op, name) for name in ("std", "squeeze", "cumsum", "cumprod", "round", "repeat", "copy")},
    "var": op.variance,
    "clip": lambda x, low, high: op.clip(x, float(low), float(high)),
    "reshape": _reshape,
    "transpose": _transpose,
    "ravel": lambda x: op.reshape(x, (-1,)),
    "flatten": lambda x: op.reshape(x, (-1,)),
    "astype": lambda x, dtype: op.cast(x, _element(dtype)),
    "swapaxes": lambda x, first, second: op.transpose(x, _swapped(x, first, second)),
}


def _swapped(x: Expr, first: int, second: int) -> list[int]:
    assert isinstance(x.checked_type, TensorType)
    axes = list(range(len(x.checked_type.shape)))
    axes[first], axes[second] = axes[second], axes[first]
    return axes


_SAME_NAME = (
    "abs", "add", "all", "any", "argmax", "argmin", "bitwise_and", "bitwise_or", "bitwise_xor", "ceil", "copy", "cos",
    "cosh", "cumprod", "cumsum", "divide", "equal", "exp", "expand_dims", "floor", "floor_divide", "greater",
    "greater_equal", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log10", "log2", "logical_and",
    "logical_not", "logical_or", "logical_xor", "max", "maximum", "mean", "min", "minimum", "multiply", "negative",
    "not_equal", "ones_like", "power", "prod", "repeat", "reshape", "sign", "sin", "sinh", "sqrt", "squeeze", "std",
    "subtract", "sum", "take", "tan", "tanh", "tile", "transpose", "trunc", "where", "zeros_like",
)  # fmt: skip
NUMPY: Mapping[Any, Callable[..., Any]] = {
    **{getattr(np, name): getattr(op, name) for name in _SAME_NAME},
    np.concatenate: lambda parts, axis=0: op.concatenate(parts, axis),
    np.stack: lambda parts, axis=0: op.stack(parts, axis),
    np.var: op.variance,
    np.remainder: op.floor_mod,
    np.mod: op.floor_mod,
    np.arctan: op.atan,
    np.arcsin: op.asin,
    np.arccos: op.acos,
    np.square: lambda x: op.multiply(x, x),
    np.clip: lambda x, low, high: op.clip(x, float(low), float(high)),
    np.zeros: lambda shape, dtype="float32": op.zeros(shape, _element(dtype)),
    np.ones: lambda shape, dtype="float32": op.ones(shape, _element(dtype)),
    np.full: lambda shape, value, dtype="float32": op.full(value, shape, _element(dtype)),
}
CREATING = (np.zeros, np.ones, np.full, np.eye)
"""What makes arrays of float64 in NumPy, and of float32 in a program, when no element type is given."""

BUILTINS: Mapping[Any, Callable[..., Any]] = {
    abs: op.abs,
    max: op.maximum,
    min: op.minimum,
    float: lambda x: op.cast(x, "float32"),
    int: lambda x: op.cast(x, "int32"),
    bool: lambda x: op.cast(x, "bool"),
    round: op.round,
}
