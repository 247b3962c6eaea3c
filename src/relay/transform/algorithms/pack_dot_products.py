"""Products of narrow numbers with a constant weight, by words of four bytes or two bfloat16: what AlterOpLayout writes
them as.

    before: nn.dense(%x, W, out_dtype="int32")                                       %x and W int8
    after:  add(nn.contrib_dense_words(bitwise_xor(cast(%x, "uint8"), 128), words of W), -128 · sums of W)

    before: nn.dense(%x, W)                                                          %x and W bfloat16
    after:  nn.contrib_dense_words(%x, words of W)

Of bytes exact, whatever the numbers: sums wrap alike on both sides. uint8 data need neither the flip nor the sums. A
depth that is no multiple of a word, or of what is summed up at a time, and the space around an image, are padded
beforehand: with what stands for 0.
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
from relay.ops.words import contrib_conv2d_words, contrib_dense_words, contrib_pack_words, per_word
from relay.transform.framework.context import LayoutPreferences, WordPreferences, fitting_block

WORD_PRODUCTS = (DENSE, MATMUL, BATCH_MATMUL, CONV2D)
_BYTES = (DType.INT8, DType.UINT8)
_FLIPPED = 128
"""The byte that stands for 0 in int8 data whose first bit is flipped."""


def takes_words(preferences: LayoutPreferences, product: Call) -> bool:
    """Whether a product is one by a constant matrix or kernel that the target wants in words: of bytes, summed up in
    int32, or of bfloat16."""
    data, weight, result = (expr.checked_type for expr in (*product.args, product))
    if preferences.words is None or not isinstance(product.args[1], Constant) or not isinstance(data, TensorType):
        return False
    if not isinstance(weight, TensorType) or not isinstance(result, TensorType) or 0 in weight.shape:
        return False
    wanted = data.dtype in preferences.words.dtypes and _are_known(data.dtype, weight.dtype, result.dtype)
    match product.attrs:
        case Conv2DAttributes(groups=1, kernel_layout=kernel):
            return wanted and not parse_layout(kernel).blocks
        case DenseAttributes() | MatmulAttributes(transpose_a=False):
            return wanted
        case BatchMatmulAttributes(transpose_a=False):
            return wanted and weight.shape[0] == 1
        case _:
            return False


def _are_known(data: DType, weight: DType, result: DType) -> bool:
    """Whether words know products of these types."""
    if data is DType.BFLOAT16:
        return weight is DType.BFLOAT16 and result in (DType.BFLOAT16, DType.FLOAT32)
    return data in _BYTES and weight is DType.INT8 and result is DType.INT32


def dense_by_words(data: Expr, weight: Expr, words: WordPreferences, out_dtype: DType | None) -> Expr:
    """data[.., k] × weight[units, k] → [.., units]"""
    units, depth = shape_of(weight)
    block, missing = fitting_block(words.dense_blocks, units), _missing(words, depth, weight)
    whole = _prepared(data, ((0, missing),))
    packed = layout_transform(contrib_pack_words(_lengthened(weight, missing)), "OI", f"OI{block}o")
    return _corrected(contrib_dense_words(whole, packed, units, out_dtype), weight, data)


def conv2d_by_words(data: Expr, weight: Expr, attributes: Conv2DAttributes, words: WordPreferences) -> Expr:
    """data[N, H, W, C] × weight[O, kh, kw, C] → [N, rows, columns, O]; `attributes` give strides, padding, dilation."""
    channels, *_, depth = shape_of(weight)
    block, missing = fitting_block(words.conv2d_kernel_blocks, channels), _missing(words, depth, weight)
    whole = _prepared(data, (*pads_of(attributes.padding), (0, missing)))
    packed = layout_transform(contrib_pack_words(_lengthened(weight, missing)), "OHWI", f"OHWI{block}o")
    product = contrib_conv2d_words(
        whole, packed, channels, block, attributes.strides, attributes.dilation, attributes.out_dtype
    )
    return _corrected(product, weight, data)


def _missing(words: WordPreferences, depth: int, weight: Expr) -> int:
    """How many numbers whole steps have more than there are."""
    count = per_word(_dtype(weight))
    return words.padded(-(-depth // count)) * count - depth


def _lengthened(weight: Expr, missing: int) -> Expr:
    """The weight with zeros behind its last axis."""
    before = ((0, 0),) * (len(shape_of(weight)) - 1)
    return pad(weight, (*before, (0, missing)), _zero(_dtype(weight))) if missing else weight


def shape_of(weight: Expr) -> tuple[int, ...]:
    """The shape of a constant."""
    type_ = weight.checked_type
    assert isinstance(type_, TensorType)
    return tuple(extent for extent in type_.shape if isinstance(extent, int))


def _dtype(expr: Expr) -> DType:
    type_ = expr.checked_type
    assert isinstance(type_, TensorType)
    return type_.dtype


def _is_signed(data: Expr) -> bool:
    return _dtype(data) is DType.INT8


def _prepared(data: Expr, widths: tuple[tuple[int, int], ...]) -> Expr:
    """Data as uint8 or bfloat16, with what stands for 0 around their last axes."""
    signed = _is_signed(data)
    numbers = bitwise_xor(cast(data, DType.UINT8), _byte(_FLIPPED)) if signed else data
    type_ = numbers.checked_type
    if not any(map(any, widths)) or not isinstance(type_, TensorType):
        return numbers
    whole = (*((0, 0),) * (len(type_.shape) - len(widths)), *widths)
    return pad(numbers, whole, _byte(_FLIPPED) if signed else _zero(type_.dtype))


def _zero(dtype: DType) -> Expr:
    return const(np.zeros((), dtype.numpy))


def _byte(value: int) -> Expr:
    return const(np.uint8(value))


def _corrected(product: Expr, weight: Expr, data: Expr) -> Expr:
    """The product without what the flipped bits added to it: 128 times the sum of each output's weights."""
    if not _is_signed(data):
        return product
    outputs, *rest = shape_of(weight)
    rows = reshape(weight, (outputs, math.prod(rest)))
    return add(product, dense(const(np.full(math.prod(rest), -_FLIPPED, np.int8)), rows, out_dtype=DType.INT32))
