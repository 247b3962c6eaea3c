"""Products of bytes with a constant weight, by words of four: what AlterOpLayout writes them as.

    before: nn.dense(%x, W, out_dtype="int32")                                       %x and W int8
    after:  add(nn.contrib_dense_words(bitwise_xor(cast(%x, "uint8"), 128), words of W), -128 · sums of W)

Exact, whatever the numbers: sums wrap alike on both sides. uint8 data need neither the flip nor the sums. A depth that
is no multiple of four, and the space around an image, are padded beforehand: with what stands for 0.
"""

from __future__ import annotations

import math

import numpy as np

from relay.base.dtypes import DType
from relay.ir.expr import Call, Constant, Expr, const
from relay.ir.types import TensorType
from relay.ops.conv import CONV2D, Conv2DAttributes
from relay.ops.convert import cast
from relay.ops.elementwise_binary import add, bitwise_xor
from relay.ops.layout_transform import layout_transform
from relay.ops.layouts import parse_layout
from relay.ops.matmul import (
    BATCH_MATMUL,
    DENSE,
    MATMUL,
    BatchMatmulAttributes,
    DenseAttributes,
    MatmulAttributes,
    dense,
)
from relay.ops.pad import pad
from relay.ops.shape import reshape
from relay.ops.window import pads_of
from relay.ops.words import BYTES, contrib_conv2d_words, contrib_dense_words, contrib_pack_words
from relay.transform.context import LayoutPreferences, fitting_block

BYTE_PRODUCTS = (DENSE, MATMUL, BATCH_MATMUL, CONV2D)
_FLIPPED = 128
"""The byte that stands for 0 in int8 data whose first bit is flipped."""


def takes_words(preferences: LayoutPreferences, product: Call) -> bool:
    """Whether a product is one of bytes with one constant int8 matrix or kernel, summed up in int32, that the target
    wants in words."""
    data, weight, result = (expr.checked_type for expr in (*product.args, product))
    if not preferences.words or not isinstance(product.args[1], Constant) or not isinstance(data, TensorType):
        return False
    if not isinstance(weight, TensorType) or not isinstance(result, TensorType) or 0 in weight.shape:
        return False
    types = (data.dtype in (DType.INT8, DType.UINT8), weight.dtype is DType.INT8, result.dtype is DType.INT32)
    match product.attrs:
        case Conv2DAttributes(groups=1, kernel_layout=kernel):
            return all(types) and not parse_layout(kernel).blocks
        case DenseAttributes() | MatmulAttributes(transpose_a=False):
            return all(types)
        case BatchMatmulAttributes(transpose_a=False):
            return all(types) and weight.shape[0] == 1
        case _:
            return False


def dense_by_words(data: Expr, weight: Expr, blocks: tuple[int, ...]) -> Expr:
    """data[.., k] × weight[units, k] → [.., units]"""
    units, depth = shape_of(weight)
    block = fitting_block(blocks, units)
    bytes_ = _prepared(data, ((0, -depth % BYTES),))
    packed = layout_transform(contrib_pack_words(weight), "OI", f"OI{block}o")
    return _corrected(contrib_dense_words(bytes_, packed, units), weight, data)


def conv2d_by_words(data: Expr, weight: Expr, attributes: Conv2DAttributes, blocks: tuple[int, ...]) -> Expr:
    """data[N, H, W, C] × weight[O, kh, kw, C] → [N, rows, columns, O]; `attributes` give strides, padding, dilation."""
    channels, *_, depth = shape_of(weight)
    block = fitting_block(blocks, channels)
    bytes_ = _prepared(data, (*pads_of(attributes.padding), (0, -depth % BYTES)))
    packed = layout_transform(contrib_pack_words(weight), "OHWI", f"OHWI{block}o")
    product = contrib_conv2d_words(bytes_, packed, channels, block, attributes.strides, attributes.dilation)
    return _corrected(product, weight, data)


def shape_of(weight: Expr) -> tuple[int, ...]:
    """The shape of a constant."""
    type_ = weight.checked_type
    assert isinstance(type_, TensorType)
    return tuple(extent for extent in type_.shape if isinstance(extent, int))


def _is_signed(data: Expr) -> bool:
    type_ = data.checked_type
    return isinstance(type_, TensorType) and type_.dtype is DType.INT8


def _prepared(data: Expr, widths: tuple[tuple[int, int], ...]) -> Expr:
    """Data as uint8, with bytes that stand for 0 around their last axes."""
    signed = _is_signed(data)
    bytes_ = bitwise_xor(cast(data, DType.UINT8), _byte(_FLIPPED)) if signed else data
    type_ = bytes_.checked_type
    if not any(map(any, widths)) or not isinstance(type_, TensorType):
        return bytes_
    whole = (*((0, 0),) * (len(type_.shape) - len(widths)), *widths)
    return pad(bytes_, whole, _byte(_FLIPPED if signed else 0))


def _byte(value: int) -> Expr:
    return const(np.uint8(value))


def _corrected(product: Expr, weight: Expr, data: Expr) -> Expr:
    """The product without what the flipped bits added to it: 128 times the sum of each output's weights."""
    if not _is_signed(data):
        return product
    outputs, *rest = shape_of(weight)
    rows = reshape(weight, (outputs, math.prod(rest)))
    return add(product, dense(const(np.full(math.prod(rest), -_FLIPPED, np.int8)), rows, out_dtype=DType.INT32))
