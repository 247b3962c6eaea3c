"""Products of bytes, four at a time: weights packed as words of four bytes, and the products that read them.

    sum over k of data[.., k] · weight[k, n]   =   sum over c of dot4(word(data[.., 4c : 4c + 4]), words[c, n])

`dot4` takes unsigned times signed bytes, as machines do (vpdpbusd), and is exact; sums are int32 and wrap. Data are
uint8. For int8 data, `d`, one takes `d + 128` (the byte with its first bit flipped) and subtracts 128 times the sum of
the weights, which is known when these are constant: so `AlterOpLayout` writes it. Words are int32, so that a weight in
blocks of words is laid out, loaded and prefetched like one of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, ceil_divide, multiply
from relay.base.dtypes import DType
from relay.ir.attributes import NoAttributes
from relay.ir.expr import Call
from relay.ir.types import Dimension, TensorType, Type
from relay.ops.build import Argument, call
from relay.ops.conv import Conv2DAttributes
from relay.ops.dimensions import derived
from relay.ops.layout_rule import OwnLayout
from relay.ops.layouts import parse_layout, relayout
from relay.ops.matmul import DensePackAttributes, size_of
from relay.ops.record import FloatClass, FusionKind, OperatorRecord, PrecisionRule, define
from relay.ops.relating import RelationRun
from relay.ops.rounding import Array
from relay.ops.window import full_padding, per_axis, sliding_windows, windows_along
from relay.tir.expr import Call as TirCall
from relay.tir.expr import Value

BYTES = 4
"""of one word."""
_BYTE_TYPES = (DType.INT8, DType.UINT8)


def _word(parts: Sequence[Value]) -> Value:
    return TirCall("word", tuple(parts), DType.INT32)


def _dot4(data: te.Tensor, indices: tuple[IntExpr, ...], depth: IntExpr, weight: Value) -> Value:
    """The word of `data` at `indices` and `depth`, which counts words along the last axis, times one of the weight."""
    word = _word([data[(*indices, depth * BYTES + place)] for place in range(BYTES)])
    return TirCall("dot4", (word, weight), DType.INT32)


# --- nn.contrib_pack_words --------------------------------------------------------------------------------------------


def _pack_rule(run: RelationRun, attributes: NoAttributes) -> Type:  # noqa: ARG001
    data = run.tensor(0)
    run.dtype_in(0, lambda dtype: dtype in _BYTE_TYPES, "int8 or uint8")
    if not data.shape:
        run.conflict("wrong-rank", "`data` must have at least 1 axis", "[.., k]", str(data), (0,))
    return TensorType((*data.shape[:-1], derived(lambda k: ceil_divide(k, BYTES), data.shape[-1])), DType.INT32)


def _pack_meaning(attributes: NoAttributes, data: Array) -> Array:  # noqa: ARG001
    whole = np.zeros((*data.shape[:-1], -(-data.shape[-1] // BYTES) * BYTES), np.uint8)
    whole[..., : data.shape[-1]] = data.astype(np.uint8)
    return whole.view("<u4").astype(np.int32)


def _pack_compute(attributes: NoAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:  # noqa: ARG001
    (data,) = inputs
    depth = data.shape[-1]

    def byte(indices: tuple[IntExpr, ...], place: IntExpr) -> Value:
        return te.select(te.less(place, depth), data[(*indices, place)], te.const(0, data.dtype))

    return te.compute(
        result.shape,
        lambda *i: _word([byte(i[:-1], i[-1] * BYTES + place) for place in range(BYTES)]),
        name="pack_words",
    )


# --- nn.contrib_dense_words -------------------------------------------------------------------------------------------


def _words(run: RelationRun, depth: Dimension, words: Dimension, what: str) -> None:
    run.dtype_in(0, lambda dtype: dtype is DType.UINT8, "uint8")
    run.dtype_in(1, lambda dtype: dtype is DType.INT32, "int32: words of four bytes")
    run.equal(
        derived(lambda count: count * BYTES, words), depth, f"the last axis of `data` ({what})", (0, 1),
        "pad data to whole words of four", "axes-differ",
    )  # fmt: skip


def _check_sums(run: RelationRun, out_dtype: DType | None) -> None:
    if out_dtype is not DType.INT32:
        run.conflict("wrong-attribute", "sums of products of bytes are int32", 'out_dtype="int32"', str(out_dtype))


def _check_block(run: RelationRun, outputs: Dimension, blocks: Dimension, block: Dimension) -> None:
    if not isinstance(block, int) or block == 0:
        run.conflict("wrong-shape", "the block of `weight` must be known", "a constant last axis", str(block), (1,))
    run.equal(
        derived(lambda count: ceil_divide(count, block), outputs), blocks, "the number of blocks of `weight`", (1,)
    )


def _dense_rule(run: RelationRun, attributes: DensePackAttributes) -> Type:
    """data[.., 4c] × weight[ceil(units / n), c, n] → [.., units]"""
    data, weight = run.tensor(0), run.tensor(1, 3)
    if not data.shape:
        run.conflict("wrong-rank", "`data` must have at least 1 axis", "[.., 4c]", str(data), (0,))
    blocks, words, block = weight.shape
    _check_sums(run, attributes.out_dtype)
    _words(run, data.shape[-1], words, "four times axis 1 of `weight`")
    _check_block(run, attributes.units, blocks, block)
    return TensorType((*data.shape[:-1], attributes.units), DType.INT32)


def _bytes(words: Array) -> Array:
    """words[..] → [.., 4], signed bytes as int32."""
    return words.astype("<i4")[..., None].view(np.int8).astype(np.int32)


def _dense_meaning(attributes: DensePackAttributes, data: Array, weight: Array) -> Array:
    blocks, words, block = weight.shape
    plain = _bytes(weight).transpose(1, 3, 0, 2).reshape(words * BYTES, blocks * block)
    return np.matmul(data.astype(np.int32), plain[:, : int(attributes.units)])  # pyright: ignore[reportArgumentType]


def _dense_compute(attributes: DensePackAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:  # noqa: ARG001
    data, weight = inputs
    block = weight.shape[2]
    c = te.reduce_axis(weight.shape[1], "k")
    return te.compute(
        result.shape,
        lambda *i: te.sum(_dot4(data, i[:-1], c, weight[i[-1] // block, c, i[-1] % block]), axis=c),
        name="dense",
    )


# --- nn.contrib_conv2d_words ------------------------------------------------------------------------------------------


def _conv2d_rule(run: RelationRun, attributes: Conv2DAttributes) -> Type:
    """data[N, H, W, 4c] × weight[ceil(O / n), kh, kw, c, n] → [N, rows, columns, O]"""
    kernel = parse_layout(attributes.kernel_layout)
    plain = attributes.data_layout == "NHWC" and not attributes.out_layout and kernel.letters == (*"OHWI", "o")
    if not plain or any(attributes.padding) or attributes.groups != 1 or attributes.channels is None:
        run.conflict(
            "wrong-attribute", "only NHWC data, a kernel in OHWI and blocks of O, no padding and no groups are known",
            'data_layout="NHWC", kernel_layout="OHWI64o", channels=<number>', str(attributes.kernel_layout),
        )  # fmt: skip
    data, weight = run.tensor(0, 4), run.tensor(1, 5)
    _check_sums(run, attributes.out_dtype)
    batch, rows, columns, depth = data.shape
    blocks, kernel_rows, kernel_columns, words, block = weight.shape
    _words(run, depth, words, "four times axis 3 of `weight`")
    _check_block(run, attributes.channels, blocks, block)
    space = [
        windows_along(run, axis, extent, window, stride, dilation, (0, 0))
        for axis, extent, window, stride, dilation in zip(
            "HW", (rows, columns), (kernel_rows, kernel_columns), attributes.strides, attributes.dilation, strict=True
        )
    ]
    return TensorType((batch, *space, attributes.channels), DType.INT32)


def _conv2d_meaning(attributes: Conv2DAttributes, data: Array, weight: Array) -> Array:
    blocks, rows, columns, words, block = weight.shape
    kernel = _bytes(weight).transpose(1, 2, 3, 5, 0, 4).reshape(rows, columns, words * BYTES, blocks * block)
    nchw = relayout(data, parse_layout("NHWC"), parse_layout("NCHW")).astype(np.int32)
    counts = [
        (extent - dilation * (taps - 1) - 1) // stride + 1
        for extent, taps, stride, dilation in zip(
            nchw.shape[2:], (rows, columns), attributes.strides, attributes.dilation, strict=True
        )
    ]
    taps = sliding_windows(nchw, (rows, columns), attributes.strides, attributes.dilation, counts)
    product = np.tensordot(taps, kernel, axes=((4, 5, 1), (0, 1, 2)))
    return product[..., : int(attributes.channels)]  # pyright: ignore[reportArgumentType]


def _conv2d_compute(attributes: Conv2DAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data, weight = inputs
    _, kernel_rows, kernel_columns, words, block = weight.shape
    rh, rw = te.reduce_axis(kernel_rows, "rh"), te.reduce_axis(kernel_columns, "rw")
    rc = te.reduce_axis(words, "rc")
    (down, right), (apart, across) = attributes.strides, attributes.dilation

    def element(n: IntExpr, h: IntExpr, w: IntExpr, c: IntExpr) -> Any:
        at = (n, h * down + rh * apart, w * right + rw * across)
        return te.sum(_dot4(data, at, rc, weight[c // block, rh, rw, rc, c % block]), axis=(rh, rw, rc))

    return te.compute(result.shape, element, name="conv2d")


# --- records ----------------------------------------------------------------------------------------------------------


def _products_of(_: Any, inputs: tuple[Type, ...], result: Type) -> IntExpr:
    """Four for each element of the result and each word that it is summed from."""
    match inputs[1], result:
        case TensorType(shape=shape), TensorType():
            total = multiply(size_of(result), BYTES)
            for extent in shape[1:-1]:
                total = multiply(total, extent)
            return total
        case _:
            return 0


def _product(name: str, description: str, **fields: Any) -> OperatorRecord:
    return define(
        name,
        description,
        fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
        layout=OwnLayout("its layout is what it is made for"),
        float_class=FloatClass.EXACT,
        precision=PrecisionRule.FOLLOW,
        support_level=10,
        multiply_adds=_products_of,
        **fields,
    )


PACK_WORDS = define(
    "nn.contrib_pack_words",
    "Four bytes in one int32, the first in its lowest bits; the last word is filled up with zeros.",
    inputs={"data": "[.., k], int8 or uint8"},
    attributes=NoAttributes,
    type_rule=_pack_rule,
    meaning=_pack_meaning,
    compute=_pack_compute,
    fusion=FusionKind.INJECTIVE,
    layout=OwnLayout("its last axis is special"),
    support_level=10,
)
DENSE_WORDS = _product(
    "nn.contrib_dense_words", "Dense of bytes, with a weight packed in words and blocks of output units.",
    inputs={"data": "[.., 4c], uint8", "weight": "[ceil(units / n), c, n], words"},
    attributes=DensePackAttributes, type_rule=_dense_rule, meaning=_dense_meaning, compute=_dense_compute,
)  # fmt: skip
CONV2D_WORDS = _product(
    "nn.contrib_conv2d_words", "Convolution of bytes, with a weight packed in words and blocks of output channels.",
    inputs={"data": "[N, H, W, 4c], uint8", "weight": "[ceil(O / n), kh, kw, c, n], words"},
    attributes=Conv2DAttributes, type_rule=_conv2d_rule, meaning=_conv2d_meaning, compute=_conv2d_compute,
)  # fmt: skip

WORDS: tuple[OperatorRecord, ...] = (PACK_WORDS, DENSE_WORDS, CONV2D_WORDS)


def contrib_pack_words(data: Argument) -> Call:
    """data[.., k] of int8 or uint8 → [.., ceil(k / 4)] of int32, four bytes each.

    Raises `RelayError`: `wrong-dtype`, `wrong-rank`.

    >>> from relay.ops.build import var
    >>> print(contrib_pack_words(var("w", shape=(8, 10), dtype="int8")).checked_type)
    Tensor[(8, 3), int32]
    """
    return call(PACK_WORDS, (data,))


def contrib_dense_words(data: Argument, weight: Argument, units: Dimension) -> Call:
    """data[.., 4c], uint8 × weight[ceil(units / n), c, n], words → [.., units], int32

    Raises `RelayError`: `axes-differ`, `extents-differ`, `wrong-dtype`, `wrong-rank`, `wrong-shape`.

    >>> from relay.ops.build import var
    >>> x, w = var("x", shape=("n", 12), dtype="uint8"), var("w", shape=(2, 3, 64), dtype="int32")
    >>> print(contrib_dense_words(x, w, 100).checked_type)
    Tensor[(n, 100), int32]
    """
    return call(DENSE_WORDS, (data, weight), DensePackAttributes(units, DType.INT32))


def contrib_conv2d_words(
    data: Argument, weight: Argument, channels: Dimension, block: int, strides: int | Sequence[int] = (1, 1),
    dilation: int | Sequence[int] = (1, 1),
) -> Call:  # fmt: skip
    """data[N, H, W, 4c], uint8 × weight[ceil(channels / block), kh, kw, c, block], words → [N, rows, columns,
    channels], int32; without padding.

    Raises `RelayError`: `axes-differ`, `extents-differ`, `window-too-large`, `wrong-dtype`, `wrong-rank`.

    >>> from relay.ops.build import var
    >>> x, w = var("x", shape=(1, 9, 9, 8), dtype="uint8"), var("w", shape=(1, 3, 3, 2, 32), dtype="int32")
    >>> print(contrib_conv2d_words(x, w, 20, 32, strides=2).checked_type)
    Tensor[(1, 4, 4, 20), int32]
    """
    attributes = Conv2DAttributes(
        per_axis(strides, 2), full_padding(0, 2), per_axis(dilation, 2), 1, channels, None, "NHWC", f"OHWI{block}o",
        "", DType.INT32,
    )  # fmt: skip
    return call(CONV2D_WORDS, (data, weight), attributes)
