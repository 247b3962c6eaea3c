"""Features made of features: Scaler, Normalizer, Binarizer, Imputer, encoders, ….   x[b, features]"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.onnx.tensor_attribute import tensor_attribute
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.indices import taken
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ir.types import TensorType
from relay.ops.checked import checked
from relay.ops.elementwise.comparison import equal, greater, isnan, where
from relay.ops.elementwise.elementwise_binary import divide, maximum, multiply, subtract
from relay.ops.elementwise.elementwise_unary import abs as magnitude
from relay.ops.elementwise.elementwise_unary import sqrt
from relay.ops.framework.dimensions import product
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.reduction import reduce
from relay.ops.reduction.reduce_index import argmax


def _extractor(node: OnnxNode) -> Result:
    """x[.., features], places[..] → [.., places]"""
    x, places = node.value(0), node.value(1)
    count = product(places.shape)
    flat = reshape(places.expr, (count,), allowzero=True)
    known = None if places.known is None else places.known.reshape(-1)
    row = Value("", flat, TensorType((count,), places.dtype), known)
    found = taken(x, row, x.rank - 1, f"{node.operator} {node.name}")
    return expand_dims(found, 0) if x.rank == 1 else found


def _binarizer(node: OnnxNode) -> Result:
    dtype = node.value(0).dtype
    above = greater(as_dtype(node.expr(), DType.FLOAT32), const(node.float("threshold"), DType.FLOAT32))
    return where(above, const(1, dtype), const(0, dtype))


def _scaler(node: OnnxNode) -> Result:
    """(x - offset) · scale, of each feature or of all."""
    x = as_dtype(node.expr(), DType.FLOAT32)
    offset, scale = (const(np.array(node.ints(name), np.float32)) for name in ("offset", "scale"))
    return multiply(subtract(x, offset), scale)


def _normalizer(node: OnnxNode) -> Result:
    x = as_dtype(node.expr(), DType.FLOAT32)
    match node.text("norm"):
        case "MAX":
            length: Expr = reduce.max(magnitude(x), -1, keepdims=True)
        case "L1":
            length = reduce.sum(magnitude(x), -1, keepdims=True)
        case "L2":
            length = sqrt(reduce.sum(multiply(x, x), -1, keepdims=True))
        case other:
            node.unsupported(f"with norm {other!r}")
    return divide(x, maximum(length, const(1e-30, DType.FLOAT32)))


def _imputer(node: OnnxNode) -> Result:
    """What is the replaced value, or NaN where that is, becomes the imputed one, of each feature or of all."""
    x, dtype = node.value(0), node.value(0).dtype
    kind = "float" if dtype.is_float else "int64"
    imputed = np.array(node.ints(f"imputed_value_{kind}s"), dtype.numpy)
    replaced: Any = node.attributes[f"replaced_value_{kind}"]
    missing = isnan(x.expr) if np.isnan(replaced) else equal(x.expr, const(replaced, dtype))
    return where(missing, const(imputed), x.expr)


def _matches(x: Value, keys: NDArray[Any]) -> Expr:
    """bool[.., keys]: which of them each element is; NaN is NaN."""
    element = expand_dims(x.expr, x.rank)
    same: Expr = equal(element, const(keys))
    return where(isnan(element), const(np.isnan(keys)), same) if x.dtype.is_float else same


def _one_hot(node: OnnxNode) -> Result:
    """A feature for each category; what is none of them ends the run unless `zeros` allows it."""
    if node.has("cats_strings"):
        node.unsupported("of texts")
    x = node.value(0)
    same = _matches(x, np.array(node.ints("cats_int64s"), np.int64).astype(x.dtype.numpy))
    found = as_dtype(same, DType.FLOAT32)
    if node.int("zeros"):
        return found
    known = reduce.all(reduce.any(same, -1), None)
    return checked(found, known, f"{node.operator} {node.name}: an element is none of the categories")


_KINDS = {"int64s": np.int64, "floats": np.float32}


def _label_encoder(node: OnnxNode) -> Result:
    """The value of each key, the default where there is none."""
    x, keys, values = node.value(0), _listed(node, "keys"), _listed(node, "values")
    if keys.size != values.size or not keys.size:
        node.unsupported(f"with {keys.size} keys and {values.size} values")
    same = _matches(x, keys.astype(x.dtype.numpy))
    if node.has("default_tensor"):
        default = tensor_attribute(node, "default_tensor").reshape(())
    else:
        default = np.asarray(node.attributes["default_float" if values.dtype.kind == "f" else "default_int64"])
    first = take(const(values), argmax(as_dtype(same, DType.INT32), -1), axis=0)
    return where(reduce.any(same, -1), first, const(default.astype(values.dtype)))


def _listed(node: OnnxNode, what: str) -> NDArray[Any]:
    if node.has(f"{what}_tensor"):
        return tensor_attribute(node, f"{what}_tensor").reshape(-1)
    for name, dtype in _KINDS.items():
        if node.has(f"{what}_{name}"):
            return np.array(node.ints(f"{what}_{name}"), dtype)
    return node.unsupported("of texts")


_TABLES = tuple(f"{what}_{kind}" for what in ("keys", "values") for kind in (*_KINDS, "tensor"))

FEATURES: tuple[Converter, ...] = (
    converter("ai.onnx.ml.ArrayFeatureExtractor", _extractor),
    converter("ai.onnx.ml.Binarizer", _binarizer, "threshold"),
    converter("ai.onnx.ml.Scaler", _scaler, "offset", "scale"),
    converter("ai.onnx.ml.Normalizer", _normalizer, "norm"),
    converter(
        "ai.onnx.ml.Imputer", _imputer, "imputed_value_floats", "imputed_value_int64s", "replaced_value_float",
        "replaced_value_int64",
    ),
    converter("ai.onnx.ml.OneHotEncoder", _one_hot, "cats_int64s", "cats_strings", "zeros"),
    converter(
        "ai.onnx.ml.LabelEncoder", _label_encoder, *_TABLES, "default_float", "default_int64", "default_tensor"
    ),
)  # fmt: skip
