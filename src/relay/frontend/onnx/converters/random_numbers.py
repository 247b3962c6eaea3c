"""Random numbers: RandomUniform, RandomNormal, their Like forms, Bernoulli, Multinomial, Dropout.

A run of ONNX may draw other numbers each time. Here programs are functions: a node draws by a key of its own, made of
its seed, or without one of its name, so that it gives the same numbers each time and others than other nodes.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.onnx.weights import ELEMENT_TYPES
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.node import Result, converter
from relay.ir.expr import Expr, const
from relay.ir.types import ANY
from relay.ops.creation import random
from relay.ops.creation.create import full
from relay.ops.elementwise.comparison import greater_equal, less, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import divide, multiply, subtract
from relay.ops.elementwise.elementwise_unary import exp

Draw = Callable[[OnnxNode, Expr, "tuple[IntExpr, ...]", DType], Expr]


def _key(node: OnnxNode) -> Expr:
    if node.has("seed"):
        return random.threefry_key(int.from_bytes(struct.pack("<d", node.float("seed")), "little"))
    return random.threefry_key(zlib.crc32(node.name.encode()))


def _uniform(node: OnnxNode, key: Expr, shape: tuple[IntExpr, ...], dtype: DType) -> Expr:
    return random.uniform(key, shape, dtype, node.float("low"), node.float("high"))[1]


def _normal(node: OnnxNode, key: Expr, shape: tuple[IntExpr, ...], dtype: DType) -> Expr:
    return random.normal(key, shape, dtype, node.float("mean"), node.float("scale"))[1]


def _dtype(node: OnnxNode, default: DType | None = None) -> DType:
    dtype = ELEMENT_TYPES.get(node.int("dtype")) if node.has("dtype") else default
    if dtype is None:
        node.unsupported("of a type that Relay does not have")
    return dtype


def _drawn(node: OnnxNode, draw: Draw, shape: tuple[IntExpr, ...], dtype: DType) -> Expr:
    if not dtype.is_float or ANY in shape:
        node.unsupported(f"of type {dtype} and shape {shape}")
    return draw(node, _key(node), shape, dtype)


def _of_shape(draw: Draw) -> Callable[[OnnxNode], Result]:
    return lambda node: _drawn(node, draw, node.ints("shape"), _dtype(node))


def _like(draw: Draw) -> Callable[[OnnxNode], Result]:
    return lambda node: _drawn(node, draw, node.value(0).shape, _dtype(node, node.value(0).dtype))


def _bernoulli(node: OnnxNode) -> Result:
    """1 with the probability that each element is."""
    value = node.value(0)
    fraction: Any = random.uniform(_key(node), value.shape, DType.FLOAT32)[1]
    return cast(less(fraction, as_dtype(value.expr, DType.FLOAT32)), _dtype(node, value.dtype))


def _multinomial(node: OnnxNode) -> Result:
    """Classes by their logarithms of probabilities: x[batch, classes] → [batch, samples]."""
    probabilities = exp(as_dtype(node.expr(), DType.FLOAT32))
    drawn: Any = random.multinomial(_key(node), probabilities, node.int("sample_size"))[1]
    return cast(drawn, _dtype(node, DType.INT32))


def _dropout(node: OnnxNode) -> Result:
    """In training a share of the elements becomes 0 and the rest makes up for it (Srivastava et al. 2014); at inference
    all are kept. The second output says which are."""
    value, training = node.value(0), node.optional_value(2)
    if training is None or (training.known is not None and not training.known.any()):
        mask = full(const(True), value.shape, DType.BOOL) if node.output_count > 1 else None
        return (value, mask)
    if ANY in value.shape:
        node.unsupported(f"in training mode of {value.type}")
    share = const(0.5, DType.FLOAT32) if node.optional_value(1) is None else as_dtype(node.expr(1), DType.FLOAT32)
    if training.known is None:
        share = where(training.expr, share, const(0, DType.FLOAT32))
    fractions: Any = random.uniform(_key(node), value.shape, DType.FLOAT32)[1]
    kept = greater_equal(fractions, share)
    scale = as_dtype(divide(const(1, DType.FLOAT32), subtract(const(1, DType.FLOAT32), share)), value.dtype)
    return (where(kept, multiply(value.expr, scale), const(0, value.dtype)), kept)


RANDOM: tuple[Converter, ...] = (
    converter("RandomUniform", _of_shape(_uniform), "dtype", "high", "low", "seed", "shape"),
    converter("RandomNormal", _of_shape(_normal), "dtype", "mean", "scale", "seed", "shape"),
    converter("RandomUniformLike", _like(_uniform), "dtype", "high", "low", "seed"),
    converter("RandomNormalLike", _like(_normal), "dtype", "mean", "scale", "seed"),
    converter("Bernoulli", _bernoulli, "dtype", "seed"),
    converter("Multinomial", _multinomial, "dtype", "sample_size", "seed"),
    converter("Dropout", _dropout, "seed"),
)
