"""Tensors out of nothing, and operators that do nothing at inference: Constant, Range, Trilu, …."""

from __future__ import annotations

import math

import numpy as np

from relay.base.dtypes import DType
from relay.frontend.onnx.converters.shaping.computed import is_computed, is_plain
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.onnx.tensor_attribute import fill_value, tensor_attribute
from relay.frontend.onnx.weights import ELEMENT_TYPES
from relay.frontend.shared.formulas.triangles import LARGEST_CONSTANT, on_diagonal, triangle
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.computed_axes import entries, scalar
from relay.frontend.shared.value import Value, array_of
from relay.ir.expr import Expr, const
from relay.ops import dyn
from relay.ops.creation import create
from relay.ops.creation.triangle import trilu
from relay.ops.elementwise.convert import cast
from relay.ops.framework.dimensions import product
from relay.ops.manipulation.shape import reshape


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


def _constant_of_shape(node: OnnxNode) -> Result:
    if is_computed(node, 0):
        return dyn.full(const(fill_value(node)), entries(node, 0, "a shape")[0])
    shape = node.extents(0, "a shape")
    if any(isinstance(extent, int) and extent < 0 for extent in shape):
        node.unsupported(f"of shape {shape}")
    return create.full(const(fill_value(node)), shape)


def _range(node: OnnxNode) -> Result:
    """Numbers where all three are known; else computed by the run, with a symbolic extent for a step of 1."""
    known = [value.known for value in node.values()]
    plain = [array.reshape(()).item() for array in known if array is not None and array.size == 1]
    if len(plain) == 3 and all(isinstance(item, (int, float)) for item in plain):
        return _known_range(node, *plain)
    dtype = node.value(0).dtype
    result = create.arange(*(_scalar(node, each) for each in node.values()), dtype=dtype)
    if len(plain) < 3 or dtype.is_float or plain[2] != 1:
        return result
    return reshape(result, (plain[1] - plain[0],))


def _scalar(node: OnnxNode, value: Value) -> Expr:
    """A tensor of one element as a scalar."""
    if value.rank == 0:
        return value.expr
    if any(extent != 1 for extent in value.shape):
        node.unsupported(f"with an input of type {value.type}")
    return reshape(value.expr, ())


def _known_range(node: OnnxNode, start: float, limit: float, step: float) -> Result:
    dtype = node.value(0).dtype
    if step == 0 or not all(math.isfinite(item) for item in (start, limit, step)):
        node.unsupported(f"from {start} to {limit} by {step}")
    count = max(0, math.ceil((limit - start) / step))
    if count > LARGEST_CONSTANT:
        return create.arange(*(const(item, dtype) for item in (start, limit, step)), dtype=dtype)
    return (start + step * np.arange(count)).astype(dtype.numpy)


def _trilu(node: OnnxNode) -> Result:
    """x[.., rows, columns] with 0 above (or below) the k-th diagonal."""
    value = node.value(0)
    if value.rank < 2:
        node.unsupported(f"of {value.type}")
    upper = bool(node.int("upper"))
    if not is_plain(node, 1):
        return trilu(value.expr, scalar(node, 1, "k"), upper)
    shift = 0 if node.optional_value(1) is None else int(node.scalar(1, "k"))
    return triangle(value, shift, upper=upper)


def _eye_like(node: OnnxNode) -> Result:
    value = node.value(0)
    if value.rank != 2:
        node.unsupported(f"of {value.type}")
    rows, columns = value.shape
    dtype = ELEMENT_TYPES.get(node.int("dtype")) if node.has("dtype") else value.dtype
    if dtype is None:
        node.unsupported("of a type that Relay does not have")
    if isinstance(rows, int) and isinstance(columns, int) and rows * columns <= LARGEST_CONSTANT:
        return np.eye(rows, columns, max(-rows, min(columns, node.int("k")))).astype(dtype.numpy)
    return cast(on_diagonal((value, 0), (value, 1), node.int("k")), dtype)


def _size(node: OnnxNode) -> Result:
    known = array_of((product(node.value(0).shape),))
    return create.ndarray_size(node.expr(), DType.INT64) if known is None else known.reshape(())


_CONSTANT_ATTRIBUTES = ("value", "value_float", "value_floats", "value_int", "value_ints")

CREATION: tuple[Converter, ...] = (
    converter("Constant", _constant, *_CONSTANT_ATTRIBUTES),
    converter("ConstantOfShape", _constant_of_shape, "value"),
    converter("Range", _range),
    converter("Trilu", _trilu, "upper"),
    converter("EyeLike", _eye_like, "dtype", "k"),
    converter("Identity", lambda node: node.item(0)),
    converter("Size", _size),
)
