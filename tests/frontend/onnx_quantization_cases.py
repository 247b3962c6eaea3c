"""One-node models of quantised numbers: scales of tensors, axes and blocks, halves, and what lies beyond the type."""

from __future__ import annotations

import numpy as np

from tests.frontend.onnx_cases import Array, Case, floats, scalar, whole

_HALVES = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1e9, -1e9, 126.5, 127.5, 254.5, 255.5], np.float32)


def _bytes(*shape: int, seed: int = 0, dtype: str = "uint8") -> Array:
    limits = np.iinfo(dtype)
    return whole(*shape, seed=seed, low=int(limits.min), high=int(limits.max), dtype=dtype)


def _scale(*shape: int, seed: int = 9) -> Array:
    return floats(*shape, seed=seed, low=0.01, high=0.3)


def _to_and_from() -> list[Case]:
    x, cases = floats(2, 3, 8), []
    for dtype in ("uint8", "int8", "uint16", "int16"):
        q = _bytes(2, 3, 8, seed=1, dtype=dtype)
        one, each = _bytes(seed=2, dtype=dtype), _bytes(3, seed=3, dtype=dtype)
        blocks = _bytes(2, 3, 2, seed=4, dtype=dtype)
        for operator, data in (("QuantizeLinear", x), ("DequantizeLinear", q)):
            cases += [
                Case(operator, (data, _scale(), one), opset=21, name=dtype),
                Case(operator, (data, _scale(3), each), {"axis": 1}, (1, 2), 21, name=dtype),
                Case(operator, (data, _scale(2, 3, 2), blocks), {"axis": -1, "block_size": 4}, opset=21, name=dtype),
            ]
    return [
        *cases,
        Case("QuantizeLinear", (_HALVES, scalar(1.0))),
        Case("QuantizeLinear", (_HALVES, scalar(1.0), scalar(1, "int8")), opset=10),
        Case("QuantizeLinear", (_HALVES, scalar(1.0)), {"output_dtype": 3}, opset=21),
        Case("DequantizeLinear", (whole(5, dtype="int32", low=-(2**20), high=2**20), scalar(0.3))),
        Case("DequantizeLinear", (_bytes(5), _scale(1), _bytes(1, seed=5)), {"axis": 0}),
        Case("DynamicQuantizeLinear", (floats(4, 5, low=-3.0),), outputs=3),
        Case("DynamicQuantizeLinear", (floats(4, 5, low=1.0),), outputs=3, name="all above 0"),
    ]


def _products() -> list[Case]:
    a, b = _bytes(2, 4, 6), _bytes(6, 5, seed=1)
    x, w = _bytes(1, 4, 7, 7), _bytes(6, 2, 3, 3, seed=1)
    padded = {"pads": [1, 1, 1, 1], "strides": [2, 2], "group": 2}
    matmul = (a, _scale(seed=1), scalar(7, "uint8"))
    bias = whole(6, low=-900, high=900, dtype="int32")
    conv = (x, _scale(seed=1), scalar(7, "uint8"), w, _scale(seed=2), scalar(9, "uint8"))
    return [
        Case("MatMulInteger", (a, b)),
        Case("ConvInteger", (x, w), padded),
        Case("ConvInteger", (x, w, scalar(5, "uint8"), scalar(3, "uint8")), padded, (1,)),
        Case("QLinearMatMul", (*matmul, b, _scale(seed=2), scalar(9, "uint8"), scalar(20.0), scalar(128, "uint8"))),
        Case("QLinearConv", (*conv, scalar(9.0), scalar(3, "uint8")), padded),
        Case("QLinearConv", (*conv, scalar(9.0), scalar(3, "uint8"), bias), padded, (3, 8)),
        Case("QLinearConv", (*conv[:4], _scale(6), np.full(6, 9, np.uint8), scalar(9.0), scalar(3, "uint8")), padded),
    ]


def _mixed_products() -> list[Case]:
    a, b, zeros = _bytes(2, 4, 6), _bytes(6, 5, seed=1, dtype="int8"), _bytes(5, dtype="int8")
    scales = (_scale(seed=1), scalar(7, "uint8"), b, _scale(5), zeros, scalar(20.0), scalar(9, "uint8"))
    return [
        Case("MatMulInteger", (a, b, scalar(5, "uint8"), zeros), weights=(1, 3)),
        Case("QLinearMatMul", (a, *scales)),
    ]


QUANTIZATION_REFERENCE_CASES: tuple[Case, ...] = tuple(_mixed_products())
"""Bytes with and without signs: where processors lack dot products of them, onnxruntime saturates sums of two products
to 16 bits."""
QUANTIZATION_CASES: tuple[Case, ...] = (*_to_and_from(), *_products())
