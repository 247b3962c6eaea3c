"""Take products of narrow numbers with a constant weight by packed dot products: PackDotProducts, a target's rule.

    before: nn.dense(%x, W, out_dtype="int32")                                       %x and W int8
    after:  add(nn.contrib_dense_words(bitwise_xor(cast(%x, "uint8"), 128), words of W), -128 · sums of W)

    before: nn.dense(%x, W)                                                          %x and W bfloat16
    after:  nn.contrib_dense_words(%x, words of W)

A word is four bytes or two bfloat16, and an instruction multiplies and sums those of a word. Convolutions are in NHWC
afterwards, with changes of layout around them where they were in another; AlterOpLayout takes these away. Depthwise
ones and those in groups stay. Of bytes exact, whatever the numbers: sums wrap alike on both sides. uint8 data need
neither the flip nor the sums. A depth that is no multiple of a word, or of what is summed up at a time, and the space
around an image, are padded beforehand: with what stands for 0. Floating point: ROUNDING.
"""

from __future__ import annotations

import math

import numpy as np

from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.expr import Call, Constant, Expr, Function, Op, const
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.types import TensorType
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, bitwise_xor
from relay.ops.framework.layouts import parse_layout
from relay.ops.framework.record import OperatorRecord
from relay.ops.framework.window import pads_of
from relay.ops.manipulation.layout_transform import in_layout, layout_transform
from relay.ops.manipulation.pad import pad
from relay.ops.manipulation.shape import reshape, squeeze
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.conv import CONV2D, Conv2DAttributes
from relay.ops.nn.matmul import (
    BATCH_MATMUL,
    DENSE,
    MATMUL,
    BatchMatmulAttributes,
    DenseAttributes,
    MatmulAttributes,
    dense,
)
from relay.ops.nn.words import contrib_conv2d_words, contrib_dense_words, contrib_pack_words, per_word
from relay.transform.framework.context import PassContext, fitting_block
from relay.transform.framework.passes import Pass, function_pass, pass_factory

_PRODUCTS = (DENSE, MATMUL, BATCH_MATMUL, CONV2D)
_BYTES = (DType.INT8, DType.UINT8)
_FLIPPED = 128
"""The byte that stands for 0 in int8 data whose first bit is flipped."""
_BATCHED = 3  # axes of a batch of matrices


@frozen
class PackedDotProducts:
    """Of which products a target has packed dot products, and the blocks of output channels that lie together.

    `dtypes`: the types of their data. `steps`: words are summed up so many at a time, or fewer if always equally many.
    """

    dtypes: tuple[DType, ...]
    conv2d_kernel_blocks: tuple[int, ...]
    dense_blocks: tuple[int, ...]
    steps: int = 1

    def padded(self, words: int) -> int:
        """How many words there must be, so that equal steps sum up all `words`.

        >>> bytes_by_tiles = PackedDotProducts((DType.UINT8,), (32,), (32,), 16)
        >>> [bytes_by_tiles.padded(words) for words in (3, 16, 17, 33, 192)]
        [3, 16, 18, 33, 192]
        """
        count = -(-words // self.steps)
        return -(-words // count) * count


@pass_factory
def PackDotProducts(available: PackedDotProducts) -> Pass:
    """Take products of narrow numbers with a constant weight by packed dot products, of which these are available."""

    @function_pass(level=2, floating_point=FloatingPointClass.ROUNDING)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        return rewrite_nodes(function, lambda _, expr: _by_words(expr, available))

    return run


def _by_words(expr: Expr, available: PackedDotProducts) -> Expr:
    """A product of narrow numbers with one constant matrix or kernel, by words; other expressions as they are."""
    match expr:
        case Call(op=Op(operator=OperatorRecord() as record), args=(data, weight), attrs=attributes) if (
            record in _PRODUCTS and _is_packed(expr, available)
        ):
            if isinstance(attributes, Conv2DAttributes):
                return _conv2d_by_words(data, weight, attributes, available)
            matrix = squeeze(weight, (0,)) if len(_shape(weight)) == _BATCHED else weight
            if not getattr(attributes, "transpose_b", record is DENSE):
                matrix = transpose(matrix, (1, 0))
            return _dense_by_words(data, matrix, available, getattr(attributes, "out_dtype", None))
        case _:
            return expr


def _is_packed(product: Call, available: PackedDotProducts) -> bool:
    """Whether a product is one by a constant matrix or kernel that there are packed dot products for: of bytes, summed
    up in int32, or of bfloat16."""
    data, weight, result = (expr.checked_type for expr in (*product.args, product))
    if not isinstance(product.args[1], Constant) or not isinstance(data, TensorType):
        return False
    if not isinstance(weight, TensorType) or not isinstance(result, TensorType) or 0 in weight.shape:
        return False
    wanted = data.dtype in available.dtypes and _are_known(data.dtype, weight.dtype, result.dtype)
    match product.attrs:
        case Conv2DAttributes(groups=1, data_layout=layout, kernel_layout=kernel, out_layout=out):
            plain = not parse_layout(layout).blocks and not parse_layout(kernel).blocks
            return wanted and plain and out in ("", layout)
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


def _dense_by_words(data: Expr, weight: Expr, available: PackedDotProducts, out_dtype: DType | None) -> Expr:
    """data[.., k] × weight[units, k] → [.., units]"""
    units, depth = _shape(weight)
    block, missing = fitting_block(available.dense_blocks, units), _missing(available, depth, weight)
    whole = _prepared(data, ((0, missing),))
    packed = layout_transform(contrib_pack_words(_lengthened(weight, missing)), "OI", f"OI{block}o")
    return _corrected(contrib_dense_words(whole, packed, units, out_dtype), weight, data)


def _conv2d_by_words(data: Expr, kernel: Expr, attributes: Conv2DAttributes, available: PackedDotProducts) -> Expr:
    """A convolution in its own layout, around one of data[N, H, W, C] × weight[O, kh, kw, C]."""
    weight, layout = in_layout(kernel, attributes.kernel_layout, "OHWI"), attributes.data_layout
    channels, *_, depth = _shape(weight)
    block, missing = fitting_block(available.conv2d_kernel_blocks, channels), _missing(available, depth, weight)
    whole = _prepared(in_layout(data, layout, "NHWC"), (*pads_of(attributes.padding), (0, missing)))
    packed = layout_transform(contrib_pack_words(_lengthened(weight, missing)), "OHWI", f"OHWI{block}o")
    product = contrib_conv2d_words(
        whole, packed, channels, block, attributes.strides, attributes.dilation, attributes.out_dtype
    )
    return in_layout(_corrected(product, weight, data), "NHWC", layout)


def _missing(available: PackedDotProducts, depth: int, weight: Expr) -> int:
    """How many numbers whole steps have more than there are."""
    count = per_word(_dtype(weight))
    return available.padded(-(-depth // count)) * count - depth


def _lengthened(weight: Expr, missing: int) -> Expr:
    """The weight with zeros behind its last axis."""
    before = ((0, 0),) * (len(_shape(weight)) - 1)
    return pad(weight, (*before, (0, missing)), _zero(_dtype(weight))) if missing else weight


def _shape(weight: Expr) -> tuple[int, ...]:
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
    outputs, *rest = _shape(weight)
    rows = reshape(weight, (outputs, math.prod(rest)))
    return add(product, dense(const(np.full(math.prod(rest), -_FLIPPED, np.int8)), rows, out_dtype=DType.INT32))
