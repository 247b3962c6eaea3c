"""Functions of NumPy that multiply arrays: `np.einsum`, `np.tensordot`, `np.kron`, `np.cross`, `np.linalg.norm`."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from relay import nn, op
from relay.base.dtypes import DType
from relay.base.span import caller_span
from relay.frontend.python.library.arithmetic import combined, common_dtype, converted, vector_product
from relay.frontend.python.library.numpy_functions import REDUCTIONS, flat, floating, rank_of
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr
from relay.ops.framework.build import as_expr

Function = Callable[..., Any]


def _outer(x: Any, y: Any) -> Expr:
    return combined("multiply", op.expand_dims(flat(x), 1), op.expand_dims(flat(y), 0))


def _kron(x: Expr, y: Expr) -> Expr:
    """Each element of one times the other, in place of the element."""
    rank = max(rank_of(x), rank_of(y))
    for _ in range(rank - rank_of(x)):
        x = op.expand_dims(x, 0)
    for _ in range(rank - rank_of(y)):
        y = op.expand_dims(y, 0)
    for axis in range(rank):
        x, y = op.expand_dims(x, 2 * axis + 1), op.expand_dims(y, 2 * axis)
    made = combined("multiply", x, y)
    return op.reshape(made, [-3] * rank) if rank else made


def _cross(x: Expr, y: Expr, axis: int = -1) -> Expr:
    if any(getattr(each.checked_type, "shape", (0,))[axis] != 3 for each in (x, y)):
        raise refusal(caller_span(), "`np.cross` of other than vectors of 3", "write it out")
    turns = [
        op.take(each, as_expr(np.array(to, np.int32)), axis=axis) for each in (x, y) for to in ([1, 2, 0], [2, 0, 1])
    ]
    return combined("subtract", combined("multiply", turns[0], turns[3]), combined("multiply", turns[1], turns[2]))


def _inner(x: Any, y: Any) -> Expr:
    """The sums of the products over the last axes."""
    if not rank_of(x) or not rank_of(y):
        return combined("multiply", x, y)
    if rank_of(x) == rank_of(y) == 1:
        dtype = common_dtype((x, y))
        dtype = DType.INT32 if dtype.is_bool else dtype
        return vector_product(converted(x, dtype), converted(y, dtype))
    return _tensordot(x, y, ([rank_of(x) - 1], [rank_of(y) - 1]))


def _tensordot(x: Expr, y: Expr, axes: Any = 2) -> Expr:
    """The sums of the products over pairs of axes."""
    if isinstance(axes, int):
        over = list(range(rank_of(x) - axes, rank_of(x))), list(range(axes))
    else:
        over = tuple([each] if isinstance(each, int) else list(each) for each in cast("Sequence[Any]", axes))
    pairs = [[each % rank_of(of) for each in part] for part, of in zip(over, (x, y), strict=True)]
    letters = iter(string.ascii_letters)
    names = [next(letters) for _ in range(rank_of(x))], [next(letters) for _ in range(rank_of(y))]
    for one, other in zip(*pairs, strict=True):
        names[1][other] = names[0][one]
    output = [
        each for part, taken in zip(names, pairs, strict=True) for place, each in enumerate(part) if place not in taken
    ]
    return einsum(f"{''.join(names[0])},{''.join(names[1])}->{''.join(output)}", x, y)


def einsum(formula: Any, *arrays: Any, optimize: Any = False) -> Expr:  # noqa: ARG001
    """Products of elements, summed over the letters that the result does not have."""
    if not isinstance(formula, str):
        raise refusal(caller_span(), "`np.einsum` without a formula", 'write it as "ij,jk->ik"')
    names, output = _letters(formula, arrays)
    if (
        len(names) != len(arrays)
        or any(len(set(each)) != len(each) for each in (*names, output))
        or set(output) - set("".join(names))
    ):
        raise refusal(
            caller_span(), f"`np.einsum` of {formula!r}", "name each axis of an operand once, and each operand"
        )
    order = [*output, *(each for each in dict.fromkeys("".join(names)) if each not in output)]
    dtype = common_dtype(arrays)
    given = [converted(each, dtype) for each in arrays]
    if len(names) == 2 and (made := _as_product(names, output, given)) is not None:
        return made
    product: Any = None
    for axes, operand in zip(names, given, strict=True):
        spread = (
            op.transpose(operand, [axes.index(each) for each in order if each in axes]) if len(axes) > 1 else operand
        )
        for place, each in enumerate(order):
            if each not in axes:
                spread = op.expand_dims(spread, place)
        product = spread if product is None else combined("multiply", product, spread)
    summed = tuple(range(len(output), len(order)))
    return REDUCTIONS["sum"](product, summed) if summed else product


def _letters(formula: str, arrays: Sequence[Any]) -> tuple[list[str], str]:
    """The letters of the axes of each array and of the result, those for `...` included."""
    inputs, arrow, output = formula.replace(" ", "").partition("->")
    spare = [each for each in string.ascii_letters if each not in formula]
    names = inputs.split(",")
    more = [rank_of(x) - len(each) + 3 if "..." in each else 0 for each, x in zip(names, arrays, strict=False)]
    most = max(more, default=0)
    names = [each.replace("...", "".join(spare[most - n : most])) for each, n in zip(names, more, strict=False)]
    if arrow:
        return names, output.replace("...", "".join(spare[:most]))
    letters = inputs.replace(",", "").replace("...", "")
    return names, "".join([*spare[:most], *sorted(each for each in set(letters) if letters.count(each) == 1)])


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


def norm(x: Expr, ord: Any = None, axis: Any = None, *, keepdims: bool = False) -> Expr:  # noqa: A002
    """Of vectors; of all elements, where no axis is given."""
    x = floating(x)
    is_of_vectors = isinstance(axis, int) or (axis is None and rank_of(x) == 1)
    if ord is None or (ord == "fro" and not is_of_vectors) or (ord == 2 and is_of_vectors):
        return op.sqrt(op.sum(op.multiply(x, x), axis=axis, keepdims=keepdims))
    if is_of_vectors and ord == 1:
        return op.sum(op.abs(x), axis=axis, keepdims=keepdims)
    if is_of_vectors and ord in (np.inf, -np.inf):
        return (op.max if ord > 0 else op.min)(op.abs(x), axis=axis, keepdims=keepdims)
    if is_of_vectors and ord == 0:
        return REDUCTIONS["sum"](converted(op.not_equal(x, op.zeros_like(x)), DType.FLOAT32), axis, keepdims=keepdims)
    if is_of_vectors and isinstance(ord, int | float):
        powers = combined("power", op.abs(x), float(ord))
        return combined("power", op.sum(powers, axis=axis, keepdims=keepdims), 1 / ord)
    raise refusal(caller_span(), f"the norm {ord} of a matrix", "use 'fro', or norms of its rows: axis=1")


def _vecdot(x: Any, y: Any, axis: int = -1) -> Expr:
    return REDUCTIONS["sum"](combined("multiply", x, y), axis)


def _matrix_power(x: Expr, n: Any) -> Expr:
    if not isinstance(n, int) or n < 1:
        raise refusal(caller_span(), "a power of a matrix other than 1, 2, …", "multiply in a loop")
    made = x
    for _ in range(n - 1):
        made = nn.matmul(made, x)
    return made


_FUNCTIONS: Mapping[str, Function] = {
    "outer": _outer, "kron": _kron, "cross": _cross, "inner": _inner, "tensordot": _tensordot, "einsum": einsum,
    "vecdot": _vecdot,
}  # fmt: skip
PRODUCTS_OF_NUMPY: Mapping[Any, Function] = {
    **{getattr(np, name): function for name, function in _FUNCTIONS.items()},
    np.linalg.norm: norm, np.linalg.matrix_power: _matrix_power,
}  # fmt: skip
"""What a program may call of NumPy that multiplies arrays."""
