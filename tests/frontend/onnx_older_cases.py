"""Nodes as opsets before 13 write them: attributes that became inputs, and other meanings."""

from __future__ import annotations

import numpy as np

from tests.frontend.onnx_cases import Case, bools, floats, ints, whole

_IMAGE = floats(2, 3, 4, 5)
_PLACES = whole(2, 2, low=0, high=3)

OLDER_CASES: tuple[Case, ...] = (
    *(Case(op, (floats(2, 3, 4),), {"axis": 1}, opset=11) for op in ("Softmax", "LogSoftmax", "Hardmax")),
    *(Case(op, (floats(2, 3, 4),), opset=7) for op in ("Softmax", "LogSoftmax")),
    Case("Softmax", (floats(2, 3, 4),), {"axis": 0}, opset=9),
    Case("Softmax", (floats(2, 3, 4),), {"axis": -1}, opset=12),
    Case("Clip", (floats(3, 4),), {"min": -0.5, "max": 1.0}, opset=7),
    Case("Clip", (floats(3, 4),), {"max": 0.5}, opset=10),
    Case("Slice", (floats(3, 8),), {"starts": [1, -4], "ends": [3, 2**40], "axes": [0, 1]}, opset=9),
    Case("Slice", (floats(3, 8),), {"starts": [1], "ends": [-1]}, opset=7),
    Case("Pad", (floats(3, 4),), {"pads": [1, 0, 2, 1], "value": 0.5}, opset=7),
    Case("Pad", (floats(3, 4),), {"pads": [1, 1, 1, 1], "mode": "reflect"}, opset=10),
    Case("Squeeze", (floats(1, 3, 1),), {"axes": [0]}, opset=9),
    Case("Squeeze", (floats(1, 3, 1),), opset=12),
    Case("Unsqueeze", (floats(3, 4),), {"axes": [0, 2]}, opset=11),
    Case("Split", (floats(6, 2),), {"axis": 0, "split": [1, 2, 3]}, opset=7, outputs=3),
    Case("Split", (floats(6, 2),), {"axis": 0}, opset=11, outputs=2),
    Case("ReduceSum", (floats(2, 3, 4),), {"axes": [0, 2], "keepdims": 0}, opset=11),
    Case("ReduceMax", (floats(2, 3, 4),), {"axes": [-1]}, opset=12),
    Case("Dropout", (floats(3, 4),), {"ratio": 0.3}, opset=7),
    Case("Dropout", (floats(3, 4),), {"ratio": 0.3}, opset=10),
    Case("BatchNormalization", (_IMAGE, *(floats(3, seed=i, low=0.5) for i in range(4))), opset=7),
    Case("BatchNormalization", (_IMAGE, *(floats(3, seed=i, low=0.5) for i in range(4))), opset=9),
    Case("Cast", (floats(3, 4),), {"to": 7}, opset=9),
    Case("Gemm", (floats(3, 4), floats(4, 2), floats(2)), {"beta": 0.5}, opset=7),
    Case("PRelu", (_IMAGE, floats(3, 1, 1)), opset=7),
    Case("Max", (floats(3, 4), floats(4)), opset=8),
    Case("MaxPool", (_IMAGE,), {"kernel_shape": [2, 2]}, opset=8),
    Case("AveragePool", (_IMAGE,), {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0]}, opset=7),
    Case("DepthToSpace", (floats(1, 8, 2, 3),), {"blocksize": 2}, opset=10),
    Case("ArgMax", (floats(3, 4),), {"axis": 1}, opset=11),
    Case("Scatter", (floats(3, 4), _PLACES, floats(2, 2, seed=1)), {"axis": 0}, opset=9),
    Case("Upsample", (_IMAGE,), {"scales": [1.0, 1.0, 2.0, 3.0]}, opset=7),
    Case("Upsample", (_IMAGE, np.asarray([1, 1, 2, 2], np.float32)), {"mode": "linear"}, (1,), opset=9),
    Case("Resize", (_IMAGE, np.asarray([1, 1, 2, 3], np.float32)), weights=(1,), opset=10),
    Case("Where", (bools(3, 4), floats(3, 4), floats(3, 4, seed=1)), opset=9),
    Case("Reshape", (floats(3, 4), ints(0, 2, -1)), weights=(1,), opset=8, name="copies"),
    Case("Expand", (floats(3, 1), ints(2, 3, 4)), weights=(1,), opset=8),
)
