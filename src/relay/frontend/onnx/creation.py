"""Tensors out of nothing, and operators that do nothing at inference: Constant, Range, Trilu, Dropout, …."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.frontend.onnx.elementwise import number
from relay.frontend.onnx.node import Converter, OnnxNode, Result, converter
from relay.frontend.onnx.weights import ELEMENT_TYPES, read_tensor
from relay.ir.expr import const
from relay.ops import create
from relay.ops.comparison import where
from relay.ops.shape import reshape

_LARGEST_MASK = 2**24  # elements of a constant that a converter may make


def tensor_attribute(node: OnnxNode, name: str) -> NDArray[Any]:
    """The array of a tensor attribute."""
    tensor: Any = node.attributes[name]
    return read_tensor(tensor, None, f"the attribute `{name}` of {node.name}")


def _constant(node: OnnxNode) -> Result:
    given = [name for name in _CONSTANT_ATTRIBUTES if node.has(name)]
    if len(given) != 1:
        node.unsupported(f"with {len(given)} values")
    match given[0]:
        case "value":
            return tensor_attribute(node, "value")
        case "value_float" | "value_floats" as name:
            return np.asarray(node.attributes[name], dtype=np.float32)
        case name:
            return np.asarray(node.attributes[name], dtype=np.int64)


def fill_value(node: OnnxNode) -> NDArray[Any]:
    """The element that ConstantOfShape repeats: float32 0 unless given."""
    if not node.has("value"):
        return np.zeros((), dtype=np.float32)
    array = tensor_attribute(node, "value")
    if array.size != 1:
        node.unsupported(f"with a value of {array.size} elements")
    return array.reshape(())


def _constant_of_shape(node: OnnxNode) -> Result:
    shape = node.extents(0, "a shape")
    if any(isinstance(extent, int) and extent < 0 for extent in shape):
        node.unsupported(f"of shape {shape}")
    return create.full(const(fill_value(node)), shape)


def _range(node: OnnxNode) -> Result:
    """Of known places the extent is known too; a step of 1 between symbolic places gives a symbolic extent."""
    result = create.arange(node.expr(0), node.expr(1), node.expr(2), dtype=node.value(0).dtype)
    starts, limits, steps = (node.value(position).known for position in range(3))
    if starts is None or limits is None or steps is None or steps.dtype == object or steps.size != 1:
        return result
    start, limit, step = starts.reshape(()).item(), limits.reshape(()).item(), steps.item()
    if node.value(0).dtype.is_float or step != 1:
        return result
    extent: IntExpr = limit - start
    return result if isinstance(extent, int) else reshape(result, (extent,))


def _trilu(node: OnnxNode) -> Result:
    """x[.., rows, columns] with 0 above (or below) the k-th diagonal."""
    value = node.value(0)
    shift = 0 if node.optional_value(1) is None else int(node.scalar(1, "k"))
    rows, columns = value.shape[-2:] if value.rank >= 2 else (None, None)
    if not isinstance(rows, int) or not isinstance(columns, int) or rows * columns > _LARGEST_MASK:
        node.unsupported(f"of {value.type}")
    shift = max(-rows, min(columns, shift))
    keep = (
        np.tri(rows, columns, shift - 1, dtype=bool) if node.int("upper") else np.tri(rows, columns, shift, dtype=bool)
    )
    return where(const(~keep if node.int("upper") else keep), value.expr, number(0, value.dtype))


def _eye_like(node: OnnxNode) -> Result:
    value = node.value(0)
    rows, columns = value.shape if value.rank == 2 else (None, None)
    if not isinstance(rows, int) or not isinstance(columns, int) or rows * columns > _LARGEST_MASK:
        node.unsupported(f"of {value.type}")
    dtype = ELEMENT_TYPES.get(node.int("dtype")) if node.has("dtype") else value.dtype
    if dtype is None:
        node.unsupported("of a type that Relay does not have")
    shift = max(-rows, min(columns, node.int("k")))
    return np.eye(rows, columns, shift).astype(dtype.numpy)


def _dropout(node: OnnxNode) -> Result:
    """At inference nothing is dropped: the mask is all true."""
    if node.optional_value(2) is not None and bool(node.scalar(2, "training_mode")):
        node.unsupported("in training mode")
    value = node.value(0)
    if node.output_count < 2:
        return (value, None)
    return (value, create.full(const(True), value.shape, DType.BOOL))


_CONSTANT_ATTRIBUTES = ("value", "value_float", "value_floats", "value_int", "value_ints")

CREATION: tuple[Converter, ...] = (
    converter("Constant", _constant, *_CONSTANT_ATTRIBUTES),
    converter("ConstantOfShape", _constant_of_shape, "value"),
    converter("Range", _range),
    converter("Trilu", _trilu, "upper"),
    converter("EyeLike", _eye_like, "dtype", "k"),
    converter("Dropout", _dropout, "seed"),
    converter("Identity", lambda node: node.value(0)),
    converter("Size", lambda node: create.ndarray_size(node.expr(), DType.INT64)),
)
