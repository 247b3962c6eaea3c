"""Shape arithmetic, done while the model is read: Shape → Gather → Concat → Reshape leaves no nodes behind.

Elements are numbers or expressions of dimensions (arrays of dtype object), so a symbolic batch stays symbolic. What
cannot be decided for all extents is left to the run.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.arith.bounds import NON_NEGATIVE
from relay.arith.expr import Comparison, IntExpr, floor_divide, free_symbols, maximum, minimum, multiply
from relay.arith.prove import Proof, prove
from relay.base.dtypes import DType, dtype_of
from relay.frontend.onnx.node import OnnxNode
from relay.frontend.onnx.tensor_attribute import fill_value
from relay.frontend.onnx.value import KnownArray, settled
from relay.frontend.onnx.weights import ELEMENT_TYPES
from relay.ir.types import ANY
from relay.ops.comparison import EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from relay.ops.elementwise_binary import (
    ADD,
    DIVIDE,
    FLOOR_MOD,
    LOGICAL_AND,
    LOGICAL_OR,
    MAXIMUM,
    MINIMUM,
    MOD,
    MULTIPLY,
    SUBTRACT,
)
from relay.ops.elementwise_unary import CEIL, FLOOR, LOGICAL_NOT, NEGATIVE, SQRT
from relay.ops.record import OperatorRecord
from relay.ops.rounding import to_dtype

__all__ = ["KnownArray", "fold_node"]

LARGEST_FOLD = 4096
"""Elements of the largest array worth computing here: shapes are small, and a hostile model must not be costly."""

Fold = Callable[[OnnxNode, Sequence[NDArray[Any]]], "NDArray[Any] | Sequence[NDArray[Any]]"]


class Undecided(Exception):
    """The answer depends on extents, or is too large: the run will tell."""


def fold_node(node: OnnxNode) -> tuple[tuple[NDArray[Any], DType], ...] | None:
    """The outputs of a node whose inputs are known: elements and element type of each. None if it is not to be folded.

    Weights stay what they are: floats are folded only together with something computed from shapes.
    """
    if node.operator in ("Shape", "Size"):
        folded = _shape(node) if node.operator == "Shape" else _size(node)
        return None if folded is None else ((folded, DType.INT64),)
    fold = _FOLDS.get(node.operator)
    if fold is None or not node.inputs:
        return None
    arrays: list[NDArray[Any]] = []
    for value in node.inputs:
        if value is None:
            break
        if value.known is None or value.known.size > LARGEST_FOLD:
            return None
        arrays.append(value.known)
    if len(arrays) < len(node.inputs) or not _worth_folding(node):
        return None
    dtype = _result_dtype(node)
    try:
        with np.errstate(all="ignore"):
            made = fold(node, arrays)
    except (Undecided, ValueError, IndexError, TypeError, OverflowError, ZeroDivisionError):
        return None  # not for here: the converter gives the answer or the message
    outputs = [made] if isinstance(made, (np.ndarray, np.generic)) else list(made)
    results: list[tuple[NDArray[Any], DType]] = []
    for output in outputs:
        kept = settled(np.asarray(output), dtype)
        if kept is None or kept.size > LARGEST_FOLD:
            return None
        results.append((kept if kept.dtype == object else kept.astype(dtype.numpy), dtype))
    return tuple(results)


def _worth_folding(node: OnnxNode) -> bool:
    values = [value for value in node.inputs if value is not None]
    return any(value.from_shapes for value in values) or all(not value.dtype.is_float for value in values)


def _result_dtype(node: OnnxNode) -> DType:
    match node.operator:
        case "Equal" | "Less" | "Greater" | "LessOrEqual" | "GreaterOrEqual" | "Not" | "And" | "Or":
            return DType.BOOL
        case "Cast":
            number = node.int("to")
            if number not in ELEMENT_TYPES:
                node.unsupported("to an element type that Relay does not have")
            return ELEMENT_TYPES[number]
        case "Where":
            return node.value(1).dtype
        case "ConstantOfShape":
            return dtype_of(fill_value(node).dtype)
        case _:
            return node.value(0).dtype


# Elements


def _non_negative(expr: IntExpr) -> bool:
    ranges = dict.fromkeys(free_symbols(expr), NON_NEGATIVE)
    return prove(Comparison(0, "<=", expr), ranges) is Proof.YES


def _decide(left: Any, op: str, right: Any) -> bool:
    ranges = dict.fromkeys(free_symbols(left) | free_symbols(right), NON_NEGATIVE)
    match prove(Comparison(left, op, right), ranges):
        case Proof.YES:
            return True
        case Proof.NO:
            return False
        case Proof.UNKNOWN:
            raise Undecided


def _quotient(left: Any, right: Any) -> Any:
    """Division of integers, towards zero; of floats as it is."""
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    if isinstance(left, int) and isinstance(right, int):
        size = abs(left) // abs(right)
        return size if (left < 0) == (right < 0) else -size
    if not (_non_negative(left) and _non_negative(right - 1)):
        raise Undecided
    return floor_divide(left, right)


def _elementwise(record: OperatorRecord, symbolic: Callable[..., Any] | None = None) -> Fold:
    """What the operator means, which is what the run would compute, where all elements are numbers; else a function of
    elements, with broadcasting."""

    def fold(_: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        dtypes = {array.dtype for array in arrays}
        if len(dtypes) == 1 and np.dtype(object) not in dtypes:
            return np.asarray(record.meaning(None, *arrays))
        if symbolic is None or np.dtype(object) not in dtypes:
            raise Undecided
        objects = [array.astype(object) for array in arrays]
        return np.asarray(np.frompyfunc(symbolic, len(arrays), 1)(*objects), dtype=object)

    return fold


def _over_all(fold: Fold) -> Fold:
    """A fold of two arrays, over any number of them."""
    return lambda node, arrays: reduce(lambda left, right: np.asarray(fold(node, (left, right))), arrays)


def _mod(node: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any] | Sequence[NDArray[Any]]:
    """With fmod the sign of the dividend, else that of the divisor."""
    fold = _elementwise(MOD) if node.int("fmod", 0) else _elementwise(FLOOR_MOD, operator.mod)
    return fold(node, arrays)


def _comparison(record: OperatorRecord, op: str, swapped: bool = False) -> Fold:
    def compare(left: Any, right: Any) -> bool:
        return _decide(right, op, left) if swapped else _decide(left, op, right)

    elementwise = _elementwise(record, compare)
    return lambda node, arrays: np.asarray(elementwise(node, arrays)).astype(bool)


def _smaller(left: Any, right: Any) -> Any:
    return minimum(left, right) if _is_symbolic(left, right) else min(left, right)


def _larger(left: Any, right: Any) -> Any:
    return maximum(left, right) if _is_symbolic(left, right) else max(left, right)


def _is_symbolic(*elements: Any) -> bool:
    return not all(isinstance(element, (int, float)) for element in elements)


# Whole arrays


def _shape(node: OnnxNode) -> NDArray[Any] | None:
    """Extents `start` to `end` of the input, with NumPy's rules for slices (opset 15)."""
    extents = node.value(0).shape
    rank = len(extents)
    start, end = node.int("start", 0), node.int("end", rank)
    part = extents[slice(start, end if end < rank else None)] if start <= rank else ()
    known = np.empty(len(part), dtype=object)
    known[:] = part
    return settled(known, DType.INT64)


def _size(node: OnnxNode) -> NDArray[Any] | None:
    count: IntExpr = 1
    for extent in node.value(0).shape:
        if extent is ANY:
            return None
        count = multiply(count, extent)
    known = np.empty((), dtype=object)
    known[()] = count
    return settled(known, DType.INT64)


def _cast(node: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    dtype = ELEMENT_TYPES[node.int("to")]
    if arrays[0].dtype != object and dtype.bits > 8:
        return to_dtype(arrays[0], dtype)
    if arrays[0].dtype != object or not dtype.is_integer:
        raise Undecided  # a symbolic extent as a float, and what ONNX says of narrow types, are for the run
    return arrays[0]


def _gather(node: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    data, indices = arrays
    if indices.dtype == object:
        raise Undecided
    return np.asarray(data.take(indices, axis=node.int("axis", 0)))


def _concat(node: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays, axis=node.int("axis"))


def _slice(_: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    data, rest = arrays[0], [_plain(array).tolist() for array in arrays[1:]]
    starts, ends = rest[0], rest[1]
    axes = rest[2] if len(rest) > 2 else range(len(starts))
    steps = rest[3] if len(rest) > 3 else [1] * len(starts)
    window = [slice(None)] * data.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        to_front = step < 0 and end < -data.shape[axis]
        window[axis] = slice(start, None if to_front else end, step)
    return data[tuple(window)]


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == object:
        raise Undecided
    return array


def _squeeze(_: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    axes = tuple(_plain(arrays[1]).tolist()) if len(arrays) > 1 else None
    return np.squeeze(arrays[0], axis=axes)


def _unsqueeze(_: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.expand_dims(arrays[0], tuple(_plain(arrays[1]).tolist()))


def _reshape(node: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    shape = _plain(arrays[1]).tolist()
    if not node.int("allowzero", 0):
        shape = [arrays[0].shape[i] if extent == 0 else extent for i, extent in enumerate(shape)]
    return arrays[0].reshape(shape)


def _transpose(node: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0].transpose(node.ints("perm") if node.has("perm") else None)


def _split(node: OnnxNode, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    axis = node.int("axis", 0)
    if len(arrays) < 2:
        raise Undecided
    edges = np.cumsum(_plain(arrays[1]))[:-1]
    return list(np.split(arrays[0], edges, axis=axis))


def _expand(_: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    shape = np.broadcast_shapes(arrays[0].shape, tuple(_plain(arrays[1]).tolist()))
    _check_size(math.prod(shape))
    return np.broadcast_to(arrays[0], shape)


def _tile(_: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    repeats = _plain(arrays[1]).tolist()
    _check_size(arrays[0].size * math.prod(repeats))
    return np.tile(arrays[0], repeats)


def _range(_: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    start, limit, delta = (_plain(array).item() for array in arrays)
    _check_size(math.ceil((limit - start) / delta))
    count = max(0, math.ceil((limit - start) / delta))
    return np.asarray([start + i * delta for i in range(count)], dtype=arrays[0].dtype)


def _constant_of_shape(node: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    shape = _plain(arrays[0]).tolist()
    _check_size(math.prod(shape))
    return np.full(shape, fill_value(node))


def _check_size(elements: float) -> None:
    if elements > LARGEST_FOLD:
        raise Undecided


def _where(_: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.where(_plain(arrays[0]), arrays[1], arrays[2])


def _reduction(combine: Callable[[Any, Any], Any], empty: int) -> Fold:
    def fold(node: OnnxNode, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        if arrays[0].ndim != 1 or len(arrays) > 1 or node.has("axes") or node.value(0).dtype.is_float:
            raise Undecided  # only what exporters write of shapes: over the whole list
        total: Any = empty
        for element in arrays[0].tolist():
            total = combine(total, element)
        result = np.empty((1,) if node.int("keepdims", 1) else (), dtype=object)
        result[...] = total
        return result

    return fold


_FOLDS: Mapping[str, Fold] = {
    "Cast": _cast,
    "Gather": _gather,
    "Concat": _concat,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Split": _split,
    "Expand": _expand,
    "Tile": _tile,
    "Range": _range,
    "ConstantOfShape": _constant_of_shape,
    "Where": _where,
    "Add": _elementwise(ADD, operator.add),
    "Sub": _elementwise(SUBTRACT, operator.sub),
    "Mul": _elementwise(MULTIPLY, operator.mul),
    "Div": _elementwise(DIVIDE, _quotient),
    "Mod": _mod,
    "Neg": _elementwise(NEGATIVE, operator.neg),
    "Min": _over_all(_elementwise(MINIMUM, _smaller)),
    "Max": _over_all(_elementwise(MAXIMUM, _larger)),
    "Floor": _elementwise(FLOOR),
    "Ceil": _elementwise(CEIL),
    "Sqrt": _elementwise(SQRT),
    "Equal": _comparison(EQUAL, "=="),
    "Less": _comparison(LESS, "<"),
    "LessOrEqual": _comparison(LESS_EQUAL, "<="),
    "Greater": _comparison(GREATER, "<", swapped=True),
    "GreaterOrEqual": _comparison(GREATER_EQUAL, "<=", swapped=True),
    "Not": _elementwise(LOGICAL_NOT),
    "And": _elementwise(LOGICAL_AND),
    "Or": _elementwise(LOGICAL_OR),
    "ReduceProd": _reduction(operator.mul, 1),
    "ReduceSum": _reduction(operator.add, 0),
}
