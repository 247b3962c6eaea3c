"""Products of narrow numbers, a word of 32 bits at a time: weights packed as words of four bytes or of two bfloat16,
and the products that read them.

    sum over k of data[.., k] · weight[k, n]   =   sum over c of dot4(word(data[.., 4c : 4c + 4]), words[c, n])
                                               or  sum over c of dot2(word(data[.., 2c : 2c + 2]), words[c, n])

The type of the data, `uint8` or `bfloat16`, says which.

`dot4` takes unsigned times signed bytes, as machines do (vpdpbusd), and is exact; sums are int32 and wrap. For int8
data, `d`, one takes `d + 128` (the byte with its first bit flipped) and subtracts 128 times the sum of the weights,
which is known when these are constant: so `AlterOpLayout` writes it.

`dot2` takes bfloat16 times bfloat16. Products are exact in float32, in which sums are kept; how often a sum is rounded
meanwhile, and whether denormals count, is up to the machine (vdpbf16ps takes them for 0). The result is rounded once.

Words are int32, so that a weight in blocks of words is laid out, loaded and prefetched like one of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, ceil_divide, multiply
from relay.base.dtypes import DType, dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.ir.attributes import NoAttributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import Dimension, TensorType, Type
from relay.ops.framework.batch_rule import LAYS_OUT
from relay.ops.framework.build import Argument, call, optional_dtype
from relay.ops.framework.dimensions import derived
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.layouts import parse_layout, relayout
from relay.ops.framework.record import BEHIND_DIFFERENTIATION, FusionKind, OperatorRecord, PrecisionRule, define
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype
from relay.ops.framework.scale_role import PACKED_WEIGHT
from relay.ops.framework.window import full_padding, per_axis, sliding_windows, windows_along
from relay.ops.nn.conv import Conv2DAttributes
from relay.ops.nn.matmul import DensePackAttributes, rounded, size_of
from relay.tir.expr import Call as TirCall
from relay.tir.expr import Value

_WORD_BYTES = 4
_PACKED_TYPES = (DType.INT8, DType.UINT8, DType.BFLOAT16)


def per_word(dtype: DType) -> int:
    """How many numbers of a type are in one word.

    >>> per_word(DType.UINT8), per_word(DType.BFLOAT16)
    (4, 2)
    """
    return _WORD_BYTES // dtype.item_bytes


def _sum_dtype(data: DType) -> DType:
    return DType.FLOAT32 if data is DType.BFLOAT16 else DType.INT32


def _word(parts: Sequence[Value]) -> Value:
    return TirCall("word", tuple(parts), DType.INT32)


def _dot(data: te.Tensor, indices: tuple[IntExpr, ...], depth: IntExpr, weight: Value) -> Value:
    """The word of `data` at `indices` and `depth`, which counts words along the last axis, times one of the weight."""
    count = per_word(data.dtype)
    word = _word([data[(*indices, depth * count + place)] for place in range(count)])
    return TirCall(f"dot{count}", (word, weight), _sum_dtype(data.dtype))


# --- nn.contrib_pack_words --------------------------------------------------------------------------------------------


def _pack_rule(run: RelationRun, attributes: NoAttributes) -> Type:  # noqa: ARG001
    data = run.tensor(0)
    run.dtype_in(0, lambda dtype: dtype in _PACKED_TYPES, "int8, uint8 or bfloat16")
    if not data.shape:
        run.conflict("wrong-rank", "`data` must have at least 1 axis", "[.., k]", str(data), (0,))
    words = derived(lambda k: ceil_divide(k, per_word(data.dtype)), data.shape[-1])
    return TensorType((*data.shape[:-1], words), DType.INT32)


def _pack_meaning(attributes: NoAttributes, data: Array) -> Array:  # noqa: ARG001
    count = per_word(dtype_of(data.dtype))
    whole = np.zeros((*data.shape[:-1], -(-data.shape[-1] // count) * count), f"<u{_WORD_BYTES // count}")
    whole[..., : data.shape[-1]] = data.view(whole.dtype)
    return whole.view("<u4").astype(np.int32)


def _pack_compute(attributes: NoAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:  # noqa: ARG001
    (data,) = inputs
    depth, count = data.shape[-1], per_word(data.dtype)

    def part(indices: tuple[IntExpr, ...], place: IntExpr) -> Value:
        return te.select(te.less(place, depth), data[(*indices, place)], te.const(0, data.dtype))

    return te.compute(
        result.shape,
        lambda *i: _word([part(i[:-1], i[-1] * count + place) for place in range(count)]),
        name="pack_words",
    )


# --- nn.contrib_dense_words -------------------------------------------------------------------------------------------


def _words(run: RelationRun, depth: Dimension, words: Dimension, what: str) -> None:
    data = run.tensor(0).dtype
    run.dtype_in(0, lambda dtype: dtype in (DType.UINT8, DType.BFLOAT16), "uint8 or bfloat16")
    run.dtype_in(1, lambda dtype: dtype is DType.INT32, "int32: words of four bytes, or of two bfloat16")
    run.equal(
        derived(lambda count: count * per_word(data), words), depth, f"the last axis of `data` ({what})", (0, 1),
        "pad data to whole words", "axes-differ",
    )  # fmt: skip


def _result_dtype(run: RelationRun, out_dtype: DType | None) -> DType:
    if run.tensor(0).dtype is DType.BFLOAT16:
        if out_dtype not in (None, DType.BFLOAT16, DType.FLOAT32):
            run.conflict(
                "wrong-attribute", "products of bfloat16 are summed in float32", 'out_dtype "float32" or "bfloat16"',
                str(out_dtype),
            )  # fmt: skip
        return out_dtype or DType.BFLOAT16
    if out_dtype is not DType.INT32:
        run.conflict("wrong-attribute", "sums of products of bytes are int32", 'out_dtype="int32"', str(out_dtype))
    return DType.INT32


def _check_block(run: RelationRun, outputs: Dimension, blocks: Dimension, block: Dimension) -> None:
    if not isinstance(block, int) or block == 0:
        run.conflict("wrong-shape", "the block of `weight` must be known", "a constant last axis", str(block), (1,))
    run.equal(
        derived(lambda count: ceil_divide(count, block), outputs), blocks, "the number of blocks of `weight`", (1,)
    )


def _dense_rule(run: RelationRun, attributes: DensePackAttributes) -> Type:
    """data[.., words] × weight[ceil(units / n), c, n] → [.., units]"""
    data, weight = run.tensor(0), run.tensor(1, 3)
    if not data.shape:
        run.conflict("wrong-rank", "`data` must have at least 1 axis", "[.., 4c]", str(data), (0,))
    blocks, words, block = weight.shape
    result = _result_dtype(run, attributes.out_dtype)
    _words(run, data.shape[-1], words, "the numbers of all words on axis 1 of `weight`")
    _check_block(run, attributes.units, blocks, block)
    return TensorType((*data.shape[:-1], attributes.units), result)


def _numbers(words: Array, data: Array) -> Array:
    """words[..] → [.., the numbers of each], signed, in the type that products with `data` are summed in."""
    narrow = data.dtype if dtype_of(data.dtype) is DType.BFLOAT16 else np.dtype(np.int8)
    return words.astype("<i4")[..., None].view(narrow).astype(_sums_of(data))


def _sums_of(data: Array) -> np.dtype[Any]:
    return _sum_dtype(dtype_of(data.dtype)).numpy


def _rounded_sums(sums: Array, data: Array, out_dtype: DType | None) -> Array:
    return to_dtype(sums, out_dtype or dtype_of(data.dtype))


def _dense_meaning(attributes: DensePackAttributes, data: Array, weight: Array) -> Array:
    blocks, words, block = weight.shape
    depth = words * per_word(dtype_of(data.dtype))
    plain = _numbers(weight, data).transpose(1, 3, 0, 2).reshape(depth, blocks * block)
    with np.errstate(all="ignore"):
        sums = np.matmul(data.astype(_sums_of(data)), plain[:, : int(attributes.units)])  # pyright: ignore[reportArgumentType]
        return _rounded_sums(sums, data, attributes.out_dtype)


def _dense_compute(attributes: DensePackAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:  # noqa: ARG001
    data, weight = inputs
    block = weight.shape[2]
    c = te.reduce_axis(weight.shape[1], "k")
    summed = te.compute(
        result.shape,
        lambda *i: te.sum(_dot(data, i[:-1], c, weight[i[-1] // block, c, i[-1] % block]), axis=c),
        name="dense",
    )
    return rounded(summed, result.dtype, "dense_round")


# --- nn.contrib_conv2d_words ------------------------------------------------------------------------------------------


def _conv2d_rule(run: RelationRun, attributes: Conv2DAttributes) -> Type:
    """data[N, H, W, words] × weight[ceil(O / n), kh, kw, c, n] → [N, rows, columns, O]"""
    kernel = parse_layout(attributes.kernel_layout)
    plain = attributes.data_layout == "NHWC" and not attributes.out_layout and kernel.letters == (*"OHWI", "o")
    if not plain or any(attributes.padding) or attributes.groups != 1 or attributes.channels is None:
        run.conflict(
            "wrong-attribute", "only NHWC data, a kernel in OHWI and blocks of O, no padding and no groups are known",
            'data_layout="NHWC", kernel_layout="OHWI64o", channels=<number>', str(attributes.kernel_layout),
        )  # fmt: skip
    data, weight = run.tensor(0, 4), run.tensor(1, 5)
    result = _result_dtype(run, attributes.out_dtype)
    batch, rows, columns, depth = data.shape
    blocks, kernel_rows, kernel_columns, words, block = weight.shape
    _words(run, depth, words, "the numbers of all words on axis 3 of `weight`")
    _check_block(run, attributes.channels, blocks, block)
    space = [
        windows_along(run, axis, extent, window, stride, dilation, (0, 0))
        for axis, extent, window, stride, dilation in zip(
            "HW", (rows, columns), (kernel_rows, kernel_columns), attributes.strides, attributes.dilation, strict=True
        )
    ]
    return TensorType((batch, *space, attributes.channels), result)


def _conv2d_meaning(attributes: Conv2DAttributes, data: Array, weight: Array) -> Array:
    blocks, rows, columns, words, block = weight.shape
    depth = words * per_word(dtype_of(data.dtype))
    kernel = _numbers(weight, data).transpose(1, 2, 3, 5, 0, 4).reshape(rows, columns, depth, blocks * block)
    nchw = relayout(data, parse_layout("NHWC"), parse_layout("NCHW")).astype(_sums_of(data))
    counts = [
        (extent - dilation * (taps - 1) - 1) // stride + 1
        for extent, taps, stride, dilation in zip(
            nchw.shape[2:], (rows, columns), attributes.strides, attributes.dilation, strict=True
        )
    ]
    taps = sliding_windows(nchw, (rows, columns), attributes.strides, attributes.dilation, counts)
    with np.errstate(all="ignore"):
        sums = np.tensordot(taps, kernel, axes=((4, 5, 1), (0, 1, 2)))
        return _rounded_sums(sums[..., : int(attributes.channels)], data, attributes.out_dtype)  # pyright: ignore[reportArgumentType]


def _conv2d_compute(attributes: Conv2DAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data, weight = inputs
    _, kernel_rows, kernel_columns, words, block = weight.shape
    rh, rw = te.reduce_axis(kernel_rows, "rh"), te.reduce_axis(kernel_columns, "rw")
    rc = te.reduce_axis(words, "rc")
    (down, right), (apart, across) = attributes.strides, attributes.dilation

    def element(n: IntExpr, h: IntExpr, w: IntExpr, c: IntExpr) -> Any:
        at = (n, h * down + rh * apart, w * right + rw * across)
        return te.sum(_dot(data, at, rc, weight[c // block, rh, rw, rc, c % block]), axis=(rh, rw, rc))

    return rounded(te.compute(result.shape, element, name="conv2d"), result.dtype, "conv2d_round")


# --- records ----------------------------------------------------------------------------------------------------------


def _products_of(_: Any, inputs: tuple[Type, ...], result: Type) -> IntExpr:
    """For each element of the result and each word that it is summed from, as many as there are numbers in one."""
    match inputs[0], inputs[1], result:
        case TensorType(dtype=dtype), TensorType(shape=shape), TensorType():
            total = multiply(size_of(result), per_word(dtype))
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
        floating_point=FloatingPointClass.ROUNDING,
        precision=PrecisionRule.FOLLOW,
        effect=Effect.PURE,
        gradient=BEHIND_DIFFERENTIATION,
        batch=LAYS_OUT,
        scale=PACKED_WEIGHT,
        support_level=10,
        multiply_adds=_products_of,
        **fields,
    )


PACK_WORDS = define(
    "nn.contrib_pack_words",
    "Four bytes or two bfloat16 in one int32, the first in its lowest bits; the last word is filled up with zeros.",
    inputs={"data": "[.., k], int8, uint8 or bfloat16"},
    attributes=NoAttributes,
    type_rule=_pack_rule,
    meaning=_pack_meaning,
    compute=_pack_compute,
    fusion=FusionKind.INJECTIVE,
    layout=OwnLayout("its last axis is special"),
    effect=Effect.PURE,
    gradient=BEHIND_DIFFERENTIATION,
    batch=LAYS_OUT,
    scale=PACKED_WEIGHT,
    support_level=10,
)
DENSE_WORDS = _product(
    "nn.contrib_dense_words", "Dense of bytes or bfloat16, with a weight packed in words and blocks of output units.",
    inputs={"data": "[.., 4c], uint8, or [.., 2c], bfloat16", "weight": "[ceil(units / n), c, n], words"},
    attributes=DensePackAttributes, type_rule=_dense_rule, meaning=_dense_meaning, compute=_dense_compute,
)  # fmt: skip
CONV2D_WORDS = _product(
    "nn.contrib_conv2d_words", "Convolution of bytes or bfloat16, weights in words and blocks of output channels.",
    inputs={"data": "[N, H, W, 4c], uint8, or [N, H, W, 2c], bfloat16", "weight": "[ceil(O / n), kh, kw, c, n], words"},
    attributes=Conv2DAttributes, type_rule=_conv2d_rule, meaning=_conv2d_meaning, compute=_conv2d_compute,
)  # fmt: skip

WORDS: tuple[OperatorRecord, ...] = (PACK_WORDS, DENSE_WORDS, CONV2D_WORDS)


def contrib_pack_words(data: Argument) -> Call:
    """data[.., k] of int8 or uint8 → [.., ceil(k / 4)] of int32, four bytes each; of bfloat16 → [.., ceil(k / 2)].

    Raises `RelayError`: `wrong-dtype`, `wrong-rank`.

    >>> from relay.ops.framework.build import var
    >>> print(contrib_pack_words(var("w", shape=(8, 10), dtype="int8")).checked_type)
    Tensor[(8, 3), int32]
    """
    return call(PACK_WORDS, (data,))


def contrib_dense_words(
    data: Argument, weight: Argument, units: Dimension, out_dtype: str | DType | None = DType.INT32
) -> Call:
    """data[.., 4c], uint8 × weight[ceil(units / n), c, n], words → [.., units], int32; or data[.., 2c], bfloat16, with
    out_dtype "float32" or "bfloat16" (None).

    Raises `RelayError`: `axes-differ`, `extents-differ`, `wrong-dtype`, `wrong-rank`, `wrong-shape`.

    >>> from relay.ops.framework.build import var
    >>> x, w = var("x", shape=("n", 12), dtype="uint8"), var("w", shape=(2, 3, 64), dtype="int32")
    >>> print(contrib_dense_words(x, w, 100).checked_type)
    Tensor[(n, 100), int32]
    """
    return call(DENSE_WORDS, (data, weight), DensePackAttributes(units, optional_dtype(out_dtype)))


def contrib_conv2d_words(
    data: Argument, weight: Argument, channels: Dimension, block: int, strides: int | Sequence[int] = (1, 1),
    dilation: int | Sequence[int] = (1, 1), out_dtype: str | DType | None = DType.INT32,
) -> Call:  # fmt: skip
    """data[N, H, W, 4c], uint8 × weight[ceil(channels / block), kh, kw, c, block], words → [N, rows, columns,
    channels], int32; without padding. Or data[N, H, W, 2c], bfloat16, with out_dtype "float32" or "bfloat16" (None).

    Raises `RelayError`: `axes-differ`, `extents-differ`, `window-too-large`, `wrong-dtype`, `wrong-rank`.

    >>> from relay.ops.framework.build import var
    >>> x, w = var("x", shape=(1, 9, 9, 8), dtype="uint8"), var("w", shape=(1, 3, 3, 2, 32), dtype="int32")
    >>> print(contrib_conv2d_words(x, w, 20, 32, strides=2).checked_type)
    Tensor[(1, 4, 4, 20), int32]
    """
    attributes = Conv2DAttributes(
        per_axis(strides, 2), full_padding(0, 2), per_axis(dilation, 2), 1, channels, None, "NHWC", f"OHWI{block}o",
        "", optional_dtype(out_dtype),
    )  # fmt: skip
    return call(CONV2D_WORDS, (data, weight), attributes)
