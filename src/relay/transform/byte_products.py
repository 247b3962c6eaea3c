"""Products of bytes with a constant weight, by words of four: what AlterOpLayout writes them as.

    before: nn.dense(%x, W, out_dtype="int32")                                       %x and W int8
    after:  add(nn.contrib_dense_words(bitwise_xor(cast(%x, "uint8"), 128), words of W), -128 · sums of W)

Exact, whatever the numbers: sums wrap alike on both sides. uint8 data need neither the flip nor the sums. A depth that
is no multiple of four, and the space around an image, are padded beforehand: with what stands for 0.
"""

from __future__ import annotations

import numpy as np

from relay.base.dtypes import DType
from relay.ir.expr import Call, Constant, Expr, const
from relay.ir.types import TensorType
from relay.ops.conv import Conv2DAttributes
from relay.ops.convert import cast
from relay.ops.elementwise_binary import add, bitwise_xor, multiply
from relay.ops.layout_transform import layout_transform
from relay.ops.pad import pad
from relay.ops.reduce import sum as sum_of
from relay.ops.window import pads_of
from relay.ops.words import BYTES, contrib_conv2d_words, contrib_dense_words, contrib_pack_words
from relay.transform.context import LayoutPreferences, fitting_block

_FLIPPED = 128
"""The byte that stands for 0 in int8 data whose first bit is flipped."""


def takes_words(preferences: LayoutPreferences, product: Call) -> bool:
    """Whether a product is one of bytes with a constant int8 weight, summed up in int32, that the target wants in
    words."""
    data, weight, result = (expr.checked_type for expr in (*product.args, product))
    return (
        preferences.words
        and isinstance(product.args[1], Constant)
        and isinstance(data, TensorType)
        and isinstance(weight, TensorType)
        and isinstance(result, TensorType)
        and data.dtype in (DType.INT8, DType.UINT8)
        and weight.dtype is DType.INT8
        and result.dtype is DType.INT32
        and 0 not in weight.shape
    )


def dense_by_words(data: Expr, weight: Expr, is_signed: bool, blocks: tuple[int, ...]) -> Expr:
    """data[.., k] × weight[units, k] → [.., units]"""
    units, depth = shape_of(weight)
    block = fitting_block(blocks, units)
    bytes_ = _padded(_unsigned(data, is_signed), ((0, -depth % BYTES),), is_signed)
    packed = layout_transform(contrib_pack_words(weight), "OI", f"OI{block}o")
    return _corrected(contrib_dense_words(bytes_, packed, units), weight, is_signed)


def conv2d_by_words(
    data: Expr, weight: Expr, attributes: Conv2DAttributes, is_signed: bool, blocks: tuple[int, ...]
) -> Expr:
    """data[N, H, W, C] × weight[O, kh, kw, C] → [N, rows, columns, O]; `attributes` give strides, padding, dilation."""
    channels, *_, depth = shape_of(weight)
    block = fitting_block(blocks, channels)
    bytes_ = _padded(_unsigned(data, is_signed), (*pads_of(attributes.padding), (0, -depth % BYTES)), is_signed)
    packed = layout_transform(contrib_pack_words(weight), "OHWI", f"OHWI{block}o")
    product = contrib_conv2d_words(bytes_, packed, channels, block, attributes.strides, attributes.dilation)
    return _corrected(product, weight, is_signed)


def shape_of(weight: Expr) -> tuple[int, ...]:
    """The shape of a constant."""
    type_ = weight.checked_type
    assert isinstance(type_, TensorType)
    return tuple(extent for extent in type_.shape if isinstance(extent, int))


def _unsigned(data: Expr, is_signed: bool) -> Expr:
    return bitwise_xor(cast(data, DType.UINT8), _byte(_FLIPPED)) if is_signed else data


def _padded(data: Expr, widths: tuple[tuple[int, int], ...], is_signed: bool) -> Expr:
    """Bytes that stand for 0 around the last axes."""
    if not any(map(any, widths)):
        return data
    type_ = data.checked_type
    assert isinstance(type_, TensorType)
    whole = (*((0, 0),) * (len(type_.shape) - len(widths)), *widths)
    return pad(data, whole, _byte(_FLIPPED if is_signed else 0))


def _byte(value: int) -> Expr:
    return const(np.uint8(value))


def _corrected(product: Expr, weight: Expr, is_signed: bool) -> Expr:
    """The product without what the flipped bits added to it."""
    if not is_signed:
        return product
    sums = sum_of(cast(weight, DType.INT32), axis=0, exclude=True)
    return add(product, multiply(sums, const(np.int32(-_FLIPPED))))
