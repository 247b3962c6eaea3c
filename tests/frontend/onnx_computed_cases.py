"""One-node models whose shapes, axes, sizes and amounts data compute."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from tests.frontend.onnx_cases import Case, bools, floats, ints, scalar, whole
from tests.frontend.onnx_quantization_cases import QUANTIZATION_REFERENCE_CASES
from tests.frontend.onnx_sampling_cases import SAMPLING_REFERENCE_CASES

_REDUCTIONS = (
    "ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
    "ReduceLogSumExp",
)  # fmt: skip


def _reductions() -> list[Case]:
    x = floats(3, 4, 5)
    cases = [
        Case(operator, (x, axes), {"keepdims": keepdims}, opset=18, name="computed")
        for operator in _REDUCTIONS
        for axes, keepdims in ((ints(1), 1), (ints(-1, 0), 0))
    ]
    none = ints()
    cases.append(Case("ReduceSum", (x, none), {"noop_with_empty_axes": 1}, opset=18, name="no axes"))
    cases.append(Case("ReduceSum", (x, none), opset=18, name="all axes"))
    return cases


def _running() -> list[Case]:
    x = floats(3, 4)
    return [
        Case("CumSum", (x, scalar(axis, "int64")), {"exclusive": exclusive, "reverse": reverse}, weights)
        for axis in (0, -1)
        for exclusive, reverse in ((0, 0), (1, 1))
        for weights in ((), (1,))
    ]


def _shapes() -> list[Case]:
    x = floats(2, 3, 4)
    wide = [Case("Pad", (x, ints(1, 0, 2, 0, 2, 1), scalar(7)), {"mode": "constant"}, name="computed")]
    wide += [Case("Pad", (x, ints(1, 0, 2, 0, 2, 1)), {"mode": mode}, name="computed") for mode in ("edge", "reflect")]
    return [
        *wide,
        Case("Pad", (x, ints(1, 2, -1, 0), None, ints(-1, 0)), {"mode": "constant"}, opset=18, name="axes"),
        Case("Pad", (x, ints(0, 1, 2, 0, 1, 3)), {"mode": "wrap"}, (1,), opset=19, name="wrap"),
        Case("Pad", (x, ints(0, 1, 2, 0, 1, 3)), {"mode": "wrap"}, opset=19, name="wrap computed"),
        Case("Reshape", (x, ints(0, -1, 2)), name="computed"),
        Case("Reshape", (floats(2, 0), ints(0, 5)), {"allowzero": 1}, name="computed"),
        Case("Expand", (floats(3, 1), ints(2, 1, 4)), name="computed"),
        Case("Expand", (x, ints(1, 1)), name="computed fewer"),
        Case("Tile", (x, ints(1, 2, 0)), name="computed"),
        Case("Squeeze", (floats(1, 3, 1, 2), ints(2, 0)), name="computed"),
        Case("Unsqueeze", (x, ints(-1, 1)), name="computed"),
        Case("Split", (floats(5, 6), ints(1, 0, 4)), {"axis": 0}, outputs=3, name="computed"),
        Case("Split", (floats(5, 6), ints(2, 4)), {"axis": -1}, outputs=2, name="computed last"),
        Case("Slice", (x, ints(0, -3), ints(9, -1)), name="computed"),
        Case("Slice", (x, ints(2, -1), ints(-9, 0), ints(-1, 1), ints(-1, -2)), name="computed all"),
        Case("Slice", (x, ints(1), ints(3), ints(1)), weights=(3,), name="computed bounds"),
        Case("ConstantOfShape", (ints(2, 0, 3),), name="computed"),
        Case("OneHot", (whole(3, low=-4, high=4), scalar(4, "int64"), floats(2)), {"axis": 0}, name="computed"),
        Case("Trilu", (floats(3, 4), scalar(-1, "int64")), {"upper": 0}, name="computed"),
        Case("Compress", (x, np.array([True, False, True])), {"axis": 2}, name="computed"),
        Case("Compress", (x, np.array([True, False, True])), name="computed flat"),
        Case("SpaceToDepth", (floats(1, 2, 4, 6),), {"blocksize": 2}),
    ]


def _orders() -> list[Case]:
    x, rows = floats(3, 5), np.array([[2, 1], [1, 3], [2, 1], [1, 2], [1, 3]], np.float32)
    return [
        Case("TopK", (x, ints(2)), {"axis": -1}, (1,), outputs=2),
        Case("TopK", (x, ints(3)), {"axis": 0, "largest": 0}, outputs=2, name="computed"),
        Case("NonZero", (whole(3, 4, low=0, high=2),)),
        Case("Unique", (whole(9, low=0, high=4).astype(np.float32),), outputs=4),
        Case("Unique", (whole(3, 4, low=0, high=4),), {"sorted": 0}, outputs=4),
        Case("Unique", (rows,), {"axis": 0}, outputs=4),
        Case("Unique", (rows,), {"axis": 0, "sorted": 0}, outputs=4),
        Case("Unique", (rows.T.copy(),), {"axis": -1}, outputs=1),
    ]


def _resizes() -> list[Case]:
    x = floats(1, 2, 5, 7)
    scales = np.array([1, 1, 0.6, 1.7], np.float32)
    cases = [
        Case("Resize", (x, None, scales), {"mode": mode, "coordinate_transformation_mode": coordinates}, weights,
             opset=19, name="scales")
        for mode in ("nearest", "linear", "cubic")
        for coordinates in ("half_pixel", "asymmetric", "half_pixel_symmetric")
        for weights in ((), (2,))
    ]  # fmt: skip
    methods = (("linear", {"antialias": 1}), ("cubic", {"antialias": 1}), ("cubic", {"exclude_outside": 1}))
    several = [
        Case("Resize", (x, None, None, ints(1, 2, 3, 9)), {"mode": mode, **options}, weights, opset=18, name="sizes")
        for mode, options in methods
        for weights in ((), (3,))
    ]
    region = np.array([0.4, 0.6, 0.8, 1.3], np.float32)
    crops = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}
    box = np.concatenate([np.zeros(2, np.float32), region[:2], np.ones(2, np.float32), region[2:]])
    return [
        *cases, *several,
        Case("Resize", (x, box, None, ints(1, 2, 3, 4)), crops, opset=13, name="crop"),
        Case("Resize", (x, None, None, ints(4, 4)), {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"},
             opset=18, name="aspect"),
        Case("Resize", (x, None, None, ints(4, 4)), {"axes": [2, 3], "keep_aspect_ratio_policy": "not_smaller"}, (3,),
             opset=18, name="aspect"),
        Case("Resize", (floats(2, 5), None, np.array([1, 1.5], np.float32)), {"mode": "linear"}, (2,), name="of rows"),
    ]  # fmt: skip


def _losses() -> list[Case]:
    x, targets = floats(3, 5, 2), np.array([[0, 4], [2, 2], [1, 3]], np.int64)
    weights = floats(5, low=0.1, high=2, seed=1)
    return [
        Case(operator, inputs, {"reduction": reduction, **ignored}, opset=13, outputs=1, name=f"{len(inputs)}")
        for operator in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
        for inputs in ((x, targets), (x, targets, weights))
        for reduction in ("none", "sum", "mean")
        for ignored in ({}, {"ignore_index": 2})
    ]


def _spectra() -> list[Case]:
    signal, pairs = floats(2, 10, 3, 1), floats(2, 10, 3, 2, seed=1)
    return [
        Case("DFT", (signal, scalar(8, "int64"), scalar(1, "int64")), opset=20),
        Case("DFT", (signal, scalar(13, "int64"), scalar(1, "int64")), {"onesided": 1}, weights=(1, 2), opset=20),
        Case("DFT", (pairs, None, scalar(-2, "int64")), {"inverse": 1}, opset=20),
        Case("DFT", (pairs, None), {"axis": 1}, opset=17),
        Case("STFT", (floats(2, 40, 1), scalar(5, "int64"), floats(16), scalar(16, "int64"))),
        Case("STFT", (floats(2, 40, 1), scalar(6, "int64"), floats(15)), {"onesided": 0}, weights=(1,)),
        *(Case(f"{name}Window", (scalar(9, "int64"),), {"periodic": periodic}, weights)
          for name in ("Hann", "Hamming", "Blackman") for periodic in (0, 1) for weights in ((), (0,))),
        Case("MelWeightMatrix", (*(scalar(each, "int64") for each in (8, 32, 8000)), scalar(50), scalar(3500))),
    ]  # fmt: skip


def _equations() -> list[Case]:
    several = [
        ("...ii->...i", (2, 3, 4, 4)), ("ii", (5, 5)), ("iij,j->i", (3, 3, 4), (4,)),
        ("...ij,...jk", (2, 1, 3, 4), (1, 5, 4, 6)),
        ("i...->...", (2, 3)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("a,b,ab->", (3,), (4,), (3, 4)),
        ("b...i,...ij->b...j", (2, 3, 4), (3, 4, 5)),
    ]  # fmt: skip
    return [
        Case("Einsum", tuple(floats(*shape, seed=at) for at, shape in enumerate(shapes)), {"equation": equation})
        for equation, *shapes in several
    ]


def _determinants() -> list[Case]:
    singular = np.array([[1, 2, 3], [2, 4, 6], [0, 1, 5]], np.float32)
    swapped = np.array([[0, 2], [3, 1]], np.float32)
    matrices = {"stack": floats(2, 3, 4, 4), "one": floats(1, 1), "singular": singular, "swapped": swapped}
    return [Case("Det", (x,), name=name) for name, x in matrices.items()]


COMPUTED_CASES: tuple[Case, ...] = (
    *_reductions(),
    *_running(),
    *_shapes(),
    *_orders(),
    *_resizes(),
    *_spectra(),
    *_equations(),
    *_determinants(),
)
REFERENCE_CASES: tuple[Case, ...] = (
    *_losses(),
    *SAMPLING_REFERENCE_CASES,
    *QUANTIZATION_REFERENCE_CASES,
    Case(
        "ConvTranspose", (floats(1, 1, 3, 3), floats(1, 2, 3, 3, seed=1)), {"strides": [3, 2], "output_shape": [10, 8]}
    ),
    Case("BitCast", (floats(3, 2),), {"to": TensorProto.INT32}, opset=26),
    Case("BitCast", (bools(5),), {"to": TensorProto.UINT8}, opset=26, name="bools"),
    Case("CumProd", (floats(3, 4), scalar(1, "int64")), {"exclusive": 1}, opset=26),
    Case("CumProd", (floats(3, 4), scalar(0, "int64")), {"reverse": 1}, (1,), opset=26),
    Case("SpaceToDepth", (floats(1, 2, 4, 6),), {"blocksize": 2, "mode": "CRD"}, opset=28),
)
"""What onnxruntime does not have, or not exactly on every machine: ONNX's own evaluator says what they mean."""
