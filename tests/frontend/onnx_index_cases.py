"""One-node models that read and change elements where indices tell."""

from __future__ import annotations

import numpy as np

from tests.frontend.onnx_cases import Case, floats, ints, scalar, whole


def _indexing() -> list[Case]:
    x = floats(3, 4, 5)
    return [
        Case("Gather", (x, whole(2, 2, low=0, high=3))),
        Case("Gather", (x, whole(2, 2, low=-4, high=4)), {"axis": 1}),
        Case("Gather", (x, ints(-1, 0, 2)), {"axis": -1}, (1,)),
        Case("Gather", (x, scalar(1, "int64")), {"axis": 1}, (1,)),
        Case("Gather", (x, whole(2, low=0, high=3, dtype="int32"))),
        Case("GatherElements", (x, whole(3, 2, 5, low=-4, high=4)), {"axis": 1}),
        Case("GatherND", (x, whole(2, 2, low=0, high=3))),
        Case("GatherND", (x, whole(6, 3, low=-3, high=3))),
        Case("GatherND", (x, whole(3, 2, 1, low=0, high=4)), {"batch_dims": 1}),
        Case("GatherND", (x, ints(1, -1).reshape(1, 2)), weights=(1,)),
        Case("OneHot", (whole(3, low=-4, high=4), scalar(4, "int64"), floats(2)), weights=(1, 2)),
        Case("OneHot", (whole(2, 3, low=0, high=4), scalar(4, "int64"), floats(2)), {"axis": 1}, (1,)),
        Case("Compress", (x, np.array([True, False, True])), {"axis": 0}, (1,)),
        Case("Compress", (x, np.array([True, False, True, True])), {}, (1,)),
    ]


def _updates() -> list[Case]:
    x, rows = floats(5, 4), np.array([[4, 0, -1, 2], [0, 2, 1, 3], [-3, 1, 0, 0]], np.int64)
    twice, pairs = whole(6, 4, low=-5, high=4), np.array([[0, 1], [2, -3], [-1, 0]], np.int64)
    several = [
        Case(operator, (x, indices, floats(*extents, seed=1)), {"reduction": mode}, opset=18, name=mode)
        for operator, indices, extents in (("ScatterElements", twice, (6, 4)), ("ScatterND", twice[:, :1], (6, 4)))
        for mode in ("add", "mul", "min", "max")
    ]
    return [
        Case("ScatterElements", (x, rows, floats(3, 4, seed=1))),
        Case("ScatterElements", (x, rows[:, :2].astype(np.int32) % 4, floats(3, 2, seed=1)), {"axis": 1}),
        Case("ScatterND", (x, pairs, floats(3, seed=1))),
        Case("ScatterND", (floats(5, 4, 2), pairs, floats(3, 2, seed=1)), weights=(1,)),
        *several,
        Case("ReverseSequence", (floats(4, 3, 2), ints(4, 1, 2))),
        Case("ReverseSequence", (floats(3, 4), ints(1, 3, 4)), {"batch_axis": 0, "time_axis": 1}),
    ]


INDEX_CASES: tuple[Case, ...] = (*_indexing(), *_updates())
