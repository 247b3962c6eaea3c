"""Matrix products and convolutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from relay.base.dtypes import DType
from relay.ops.framework.layouts import parse_layout, relayout
from relay.ops.nn.attention import AttentionAttributes
from relay.ops.nn.conv import Conv1DAttributes, Conv2DAttributes, Conv3DAttributes
from relay.ops.nn.conv_transpose import Conv1DTransposeAttributes, Conv2DTransposeAttributes, Conv3DTransposeAttributes
from relay.ops.nn.matmul import BatchMatmulAttributes, DenseAttributes, DensePackAttributes, MatmulAttributes
from relay.ops.nn.winograd import MINIMAL, WinogradAttributes, WinogradWeightAttributes
from tests.ops.case import NARROW, SUMMED, Case, bools, floats, integers


def _products() -> list[Case]:
    packed = relayout(floats(5, 7, seed=1), parse_layout("OI"), parse_layout("OI4o"))
    return [
        Case("nn.dense", (floats(3, 7), floats(5, 7, seed=1)), DenseAttributes(), functional.linear, SUMMED),
        Case("nn.dense", (floats(2, 3, 7), floats(5, 7, seed=1)), DenseAttributes(5), functional.linear, SUMMED),
        Case("nn.dense", (floats(0, 7), floats(5, 7, seed=1)), DenseAttributes(), functional.linear),
        Case("nn.dense", (integers(3, 7, dtype="int8"), integers(5, 7, dtype="int8", seed=1)),
             DenseAttributes(out_dtype=DType.INT32), label="int8"),
        Case("nn.dense", (floats(3, 9, dtype="bfloat16"), floats(5, 9, dtype="bfloat16", seed=1)), DenseAttributes(),
             tolerance=NARROW, label="bfloat16"),
        Case("nn.contrib_dense_pack", (floats(3, 7), packed), DensePackAttributes(5),
             lambda x, _: functional.linear(x, torch.tensor(floats(5, 7, seed=1))), SUMMED),
        Case("nn.matmul", (floats(3, 4), floats(4, 5, seed=1)), MatmulAttributes(), torch.matmul, SUMMED),
        Case("nn.matmul", (floats(4, 3), floats(5, 4, seed=1)), MatmulAttributes(transpose_a=True, transpose_b=True),
             lambda a, b: a.T @ b.T, SUMMED),
        Case("nn.matmul", (floats(2, 3, 4), floats(4, 5, seed=1)), MatmulAttributes(5), torch.matmul, SUMMED),
        *(
            Case(
                "nn.batch_matmul",
                (floats(*((2, 4, 3) if a else (2, 3, 4))), floats(*((batch, 5, 4) if b else (batch, 4, 5)), seed=1)),
                BatchMatmulAttributes(None, a, b),
                lambda x, y, a=a, b=b: (x.mT if a else x) @ (y.mT if b else y), SUMMED,
                label=f"{a} {b} {batch}",
            )
            for a in (False, True) for b in (False, True) for batch in (1, 2)
        ),
    ]  # fmt: skip


def _attentions() -> list[Case]:
    q, k, v = floats(2, 5, 8), floats(2, 7, 8, seed=1), floats(2, 7, 3, seed=2)
    scale, none = AttentionAttributes(0.25), np.zeros((), np.float32)
    masks = {"row": floats(7, seed=3), "whole": floats(2, 5, 7, seed=3), "queries": floats(5, 1, seed=3)}

    def oracle(q: Any, k: Any, v: Any, mask: Any) -> Any:
        scores = q @ k.mT * 0.25
        chosen = torch.where(mask, scores, torch.tensor(-1e4)) if mask.dtype == torch.bool else scores + mask
        return chosen.softmax(-1) @ v

    four = (
        floats(2, 3, 17, 16),
        floats(2, 3, 20, 16, seed=1),
        floats(2, 3, 20, 64, seed=2),
        floats(2, 1, 1, 20, seed=3),
    )
    return [
        Case("nn.attention", (q, k, v, none), scale, oracle, SUMMED, "no mask"),
        *(Case("nn.attention", (q, k, v, mask), scale, oracle, SUMMED, name) for name, mask in masks.items()),
        Case("nn.attention", (q, k, v, bools(5, 7, seed=4)), AttentionAttributes(0.25, -1e4), oracle, SUMMED, "bool"),
        Case("nn.attention", (q[0], k[0], v[0], none), scale, oracle, SUMMED, "matrices"),
        Case("nn.attention", four, scale, oracle, SUMMED, "heads"),
        Case("nn.attention", tuple(x.astype(DType.BFLOAT16.numpy) for x in (q, k, v, none)), scale,
             tolerance=NARROW, label="bfloat16"),
    ]  # fmt: skip


def _torch_conv(attributes: Any) -> Callable[..., Any]:
    """PyTorch's convolution of NCHW data, for attributes in any layout."""
    rank = len(attributes.strides)
    space = "DHW"[3 - rank :]
    plain, oi = parse_layout("NC" + space), parse_layout("OI" + space)

    def oracle(data: Any, weight: Any) -> Any:
        true = {"O": attributes.channels} if attributes.channels else None
        x = relayout(data.numpy(), parse_layout(attributes.data_layout), plain)
        w = relayout(weight.numpy(), parse_layout(attributes.kernel_layout), oi, true)
        before, after = attributes.padding[:rank], attributes.padding[rank:]
        sides = [side for pair in zip(reversed(before), reversed(after), strict=True) for side in pair]
        convolve = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}[rank]
        y = convolve(
            functional.pad(torch.tensor(x), sides), torch.tensor(w), None, attributes.strides, 0, attributes.dilation,
            attributes.groups,
        ).numpy()  # fmt: skip
        return relayout(y, plain, parse_layout(attributes.out_layout or attributes.data_layout))

    return oracle


def _conv2d(data: tuple[int, ...], weight: tuple[int, ...], attributes: Conv2DAttributes) -> list[Case]:
    """One convolution in NCHW and OIHW, NHWC and HWIO, NHWC and OHWI, and with a packed kernel."""
    x, w = floats(*data), floats(*weight, seed=1)
    cases: list[Case] = []
    for data_layout, kernel_layout in (("NCHW", "OIHW"), ("NHWC", "HWIO"), ("NHWC", "OHWI"), ("NHWC", "OHWI4o")):
        laid_out = replace(attributes, data_layout=data_layout, kernel_layout=kernel_layout, channels=weight[0])
        inputs = (
            relayout(x, parse_layout("NCHW"), parse_layout(data_layout)),
            relayout(w, parse_layout("OIHW"), parse_layout(kernel_layout)),
        )
        label = f"{weight} {kernel_layout} {attributes.strides} {attributes.padding} {attributes.groups}"
        cases.append(Case("nn.conv2d", inputs, laid_out, _torch_conv(laid_out), SUMMED, label))
    return cases


def _convolutions() -> list[Case]:
    small = Conv1DAttributes((2,), (1, 2), (2,), 2)
    quantized = Conv2DAttributes(out_dtype=DType.INT32)
    narrow = Conv2DAttributes((2, 2), (1, 1, 1, 1))
    return [
        *_conv2d((1, 3, 7, 6), (5, 3, 3, 3), Conv2DAttributes()),
        *_conv2d((2, 3, 7, 9), (5, 3, 3, 2), Conv2DAttributes((2, 1), (1, 0, 2, 1), (1, 2))),
        *_conv2d((1, 4, 5, 5), (6, 2, 3, 3), Conv2DAttributes(padding=(1, 1, 1, 1), groups=2)),
        *_conv2d((1, 5, 6, 5), (5, 1, 3, 3), Conv2DAttributes((2, 2), (1, 1, 1, 1), groups=5)),
        *_conv2d((1, 3, 5, 5), (6, 1, 3, 3), Conv2DAttributes(padding=(1, 1, 1, 1), groups=3)),
        *_conv2d((1, 6, 4, 4), (4, 6, 1, 1), Conv2DAttributes()),
        Case("nn.conv2d", (floats(0, 2, 4, 4), floats(3, 2, 3, 3)), Conv2DAttributes(), label="no batch"),
        Case("nn.conv2d", (integers(1, 3, 5, 5, dtype="int8"), integers(2, 3, 3, 3, dtype="int8", seed=1)), quantized,
             label="int8"),
        Case("nn.conv2d", (floats(1, 3, 5, 5, dtype="bfloat16"), floats(2, 3, 3, 3, dtype="bfloat16", seed=1)), narrow,
             tolerance=NARROW, label="bfloat16"),
        Case("nn.conv2d", (floats(1, 3, 5, 5), floats(2, 3, 3, 3, seed=1)), Conv2DAttributes(out_layout="NHWC"),
             _torch_conv(Conv2DAttributes(out_layout="NHWC")), SUMMED, "out_layout"),
        Case("nn.conv1d", (floats(2, 3, 9), floats(4, 3, 3, seed=1)), Conv1DAttributes(),
             _torch_conv(Conv1DAttributes()), SUMMED),
        Case("nn.conv1d", (floats(2, 4, 9), floats(6, 2, 3, seed=1)), small, _torch_conv(small), SUMMED),
        *(Case("nn.conv3d", inputs, attributes, _torch_conv(attributes), SUMMED, label)
          for inputs, attributes, label in _over_three_axes()),
    ]  # fmt: skip


def _over_three_axes() -> list[tuple[Any, Conv3DAttributes, str]]:
    plain = Conv3DAttributes()
    strided = Conv3DAttributes((2, 1, 2), (1, 0, 1, 0, 1, 1), (1, 2, 1), 2)
    last = replace(plain, data_layout="NDHWC", kernel_layout="DHWIO", padding=(1,) * 6)
    return [
        ((floats(2, 3, 4, 5, 4), floats(4, 3, 2, 3, 2, seed=1)), plain, "plain"),
        ((floats(1, 4, 5, 6, 5), floats(6, 2, 3, 2, 3, seed=1)), strided, "strided"),
        ((floats(1, 3, 4, 3, 2), floats(3, 3, 3, 2, 5, seed=1)), last, "channels last"),
    ]


def _bytes() -> list[Case]:
    """Weights in words, and products that read them: data and weights have the largest bytes among theirs."""
    data = integers(3, 5, 4, 8, dtype="uint8", low=0, high=255)
    weight = integers(5, 3, 2, 8, dtype="int8", low=-128, high=127, seed=1)
    data[0, 0, 0], weight[0] = 255, -128
    matrix = relayout(_words_of(weight[:, 0, 0]), parse_layout("OI"), parse_layout("OI4o"))
    kernel = relayout(_words_of(weight), parse_layout("OHWI"), parse_layout("OHWI4o"))
    dense = DensePackAttributes(5, DType.INT32)
    convolution = Conv2DAttributes(
        (2, 1), dilation=(1, 2), channels=5, data_layout="NHWC", kernel_layout="OHWI4o", out_dtype=DType.INT32
    )

    def convolved(x: Any, _: Any) -> Any:
        product = functional.conv2d(
            x.double().permute(0, 3, 1, 2), torch.tensor(weight).double().permute(0, 3, 1, 2), None, (2, 1), 0, (1, 2)
        )
        return product.permute(0, 2, 3, 1).int()

    pairs = floats(3, 6, dtype="bfloat16")
    halves = relayout(_words_of(floats(5, 6, dtype="bfloat16", seed=1)), parse_layout("OI"), parse_layout("OI4o"))
    pixels = floats(1, 5, 4, 6, dtype="bfloat16")
    window = relayout(
        _words_of(floats(5, 3, 2, 6, dtype="bfloat16", seed=1)), parse_layout("OHWI"), parse_layout("OHWI4o")
    )
    return [
        Case("nn.contrib_pack_words", (floats(2, 7, dtype="bfloat16"),), label="bfloat16"),
        Case("nn.contrib_dense_words", (pairs, halves), DensePackAttributes(5), tolerance=NARROW, label="bfloat16"),
        Case("nn.contrib_dense_words", (pairs, halves), DensePackAttributes(5, DType.FLOAT32), tolerance=SUMMED,
             label="bfloat16 summed in float32"),
        Case("nn.contrib_conv2d_words", (pixels, window), replace(convolution, out_dtype=None), tolerance=NARROW,
             label="bfloat16"),
        Case("nn.contrib_pack_words", (weight,), label="int8"),
        Case("nn.contrib_pack_words", (integers(2, 7, dtype="uint8", low=0, high=255),), label="uint8"),
        Case("nn.contrib_dense_words", (data, matrix), dense,
             lambda x, _: functional.linear(x.double(), torch.tensor(weight[:, 0, 0]).double()).int()),
        Case("nn.contrib_dense_words", (data[0, 0, 0], matrix), dense, label="one row"),
        Case("nn.contrib_conv2d_words", (data, kernel), convolution, convolved),
    ]  # fmt: skip


def _minimal() -> list[Case]:
    """Convolutions of 3×3 with kernels transformed by matrices written out here (Lavin and Gray 2015, section 4.1)."""
    weight = floats(5, 3, 3, 3, seed=1)
    found: list[Case] = []
    for tile, rows in _KERNEL_TRANSFORMS.items():
        matrix = np.array(rows)
        points = np.einsum("pr,oirs,qs->pqoi", matrix, weight.astype(np.float64), matrix).astype(np.float32)
        blocked = relayout(points, parse_layout("HWOI"), parse_layout("OHWI4o"))
        attributes = WinogradAttributes(tile, (1, 1, 1, 1))
        in_blocks = WinogradAttributes(tile, (0, 1, 2, 0), 5, "OHWI4o")

        def convolved(x: Any, _: Any, padding: tuple[int, ...] = (1, 1, 1, 1)) -> Any:
            top, left, bottom, right = padding
            padded = functional.pad(x.double().permute(0, 3, 1, 2), (left, right, top, bottom))
            return functional.conv2d(padded, torch.tensor(weight).double()).permute(0, 2, 3, 1).float()

        found += [
            Case("nn.contrib_conv2d_winograd_weight_transform", (weight,), WinogradWeightAttributes(tile),
                 lambda _, points=points: torch.tensor(points), SUMMED, f"F({tile}, 3)"),
            Case("nn.contrib_conv2d_winograd_without_weight_transform", (floats(2, 7, 9, 3), points), attributes,
                 convolved, SUMMED, f"F({tile}, 3)"),
            Case("nn.contrib_conv2d_winograd_without_weight_transform", (floats(1, 4, 5, 3), blocked), in_blocks,
                 lambda x, w: convolved(x, w, (0, 1, 2, 0)), SUMMED, f"F({tile}, 3) of a kernel in blocks"),
        ]  # fmt: skip
    assert set(_KERNEL_TRANSFORMS) == set(MINIMAL)
    return found


_KERNEL_TRANSFORMS = {
    2: [[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]],
    4: [[1 / 4, 0, 0], [-1 / 6, -1 / 6, -1 / 6], [-1 / 6, 1 / 6, -1 / 6], [1 / 24, 1 / 12, 1 / 6],
        [1 / 24, -1 / 12, 1 / 6], [0, 0, 1]],
}  # fmt: skip


def _words_of(weight: Any) -> Any:
    return np.ascontiguousarray(weight).view("<i4")


def _transposed(rank: int, attributes: Any) -> Callable[..., Any]:
    convolve = {
        1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d
    }[rank]  # fmt: skip

    def oracle(data: Any, weight: Any) -> Any:
        full = convolve(data, weight, None, attributes.strides, 0, 0, attributes.groups, attributes.dilation)
        sides = zip(attributes.padding[:rank], attributes.padding[rank:], attributes.output_padding, strict=True)
        for axis, (before, after, added) in enumerate(sides, start=2):
            padded = functional.pad(full.movedim(axis, -1), (0, added)).movedim(-1, axis)
            full = padded.narrow(axis, before, padded.shape[axis] - before - after)
        return full

    return oracle


def _transposed_convolutions() -> list[Case]:
    plain = Conv2DTransposeAttributes()
    strided = Conv2DTransposeAttributes(
        strides=(2, 3), padding=(1, 0, 1, 1), output_padding=(1, 2), dilation=(1, 2), groups=2, channels=6
    )
    line = Conv1DTransposeAttributes(strides=(2,), padding=(1, 1), output_padding=(1,))
    space = Conv3DTransposeAttributes(
        strides=(2, 1, 3),
        padding=(1, 0, 0, 0, 1, 1),
        output_padding=(1, 0, 2),
        dilation=(1, 2, 1),
        groups=2,
        channels=6,
    )
    x, w = floats(1, 4, 3, 4), floats(4, 3, 3, 2, seed=1)
    nhwc = replace(strided, data_layout="NHWC", kernel_layout="HWIO")
    return [
        Case("nn.conv2d_transpose", (floats(2, 3, 3, 4), floats(3, 5, 2, 3, seed=1)), plain, _transposed(2, plain), SUMMED),
        Case("nn.conv2d_transpose", (x, w), strided, _transposed(2, strided), SUMMED),
        Case("nn.conv2d_transpose", (x.transpose(0, 2, 3, 1).copy(), w.transpose(2, 3, 0, 1).copy()), nhwc,
             tolerance=SUMMED, label="NHWC"),
        Case("nn.conv1d_transpose", (floats(2, 3, 5), floats(3, 4, 3, seed=1)), line, _transposed(1, line), SUMMED),
        Case("nn.conv3d_transpose", (floats(1, 4, 2, 3, 2), floats(4, 3, 2, 3, 2, seed=1)), space, _transposed(3, space),
             SUMMED),
    ]  # fmt: skip


CASES: tuple[Case, ...] = (
    *_products(), *_attentions(), *_convolutions(), *_bytes(), *_minimal(), *_transposed_convolutions(),
)  # fmt: skip
