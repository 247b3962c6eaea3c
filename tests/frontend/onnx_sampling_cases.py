"""One-node models that read images at places that data compute."""

from __future__ import annotations

import numpy as np

from tests.frontend.onnx_cases import Case, floats, ints


def _grids() -> list[Case]:
    image, grid = floats(2, 3, 5, 4), floats(2, 3, 6, 2, low=-1.4, high=1.4, seed=1)
    volume, places = floats(1, 2, 3, 4, 5), floats(1, 2, 3, 2, 3, low=-1.3, high=1.3, seed=1)
    cases = [
        Case("GridSample", (image, grid), {"mode": mode, "padding_mode": padding, "align_corners": aligned}, opset=16)
        for mode in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for aligned in (0, 1)
    ]
    cases += [Case("GridSample", (volume, places), {"mode": mode}, opset=20) for mode in ("linear", "nearest")]
    theta = floats(2, 2, 3)
    return [
        *cases,
        *(Case("AffineGrid", (theta, ints(2, 3, 4, 5)), {"align_corners": aligned}, opset=20) for aligned in (0, 1)),
        Case("AffineGrid", (floats(1, 3, 4), ints(1, 2, 2, 3, 4)), {"align_corners": 1}, (1,), opset=20, name="known"),
    ]


def _regions(opset: int) -> list[Case]:
    """Both modes, both ways to count places, samples that the run counts, and more channels than a vector has."""
    boxes = np.array([[0, 0, 7, 5], [2, 1.5, 4, 7.5], [-3, -2, 3, 3], [5, 5, 30, 30]], np.float32)
    options = {"output_height": 2, "output_width": 3, "spatial_scale": 0.75}
    ways = ({}, {"coordinate_transformation_mode": "output_half_pixel"}) if opset >= 16 else ({},)
    return [
        Case("RoiAlign", (floats(2, channels, 8, 9), boxes, ints(0, 1, 1, 0)),
             {**options, "sampling_ratio": ratio, "mode": mode, **way}, opset=opset, name=f"of {channels}")
        for ratio, mode, channels in ((2, "avg", 3), (0, "avg", 11), (2, "max", 11), (0, "max", 3)) for way in ways
    ]  # fmt: skip


def _deformable() -> list[Case]:
    image, weight = floats(2, 4, 5, 6), floats(6, 2, 3, 2, seed=1)
    offset, mask = floats(2, 2 * 3 * 2 * 2, 2, 5, seed=2), floats(2, 2 * 3 * 2, 2, 5, low=0, high=1, seed=3)
    options = {"group": 2, "offset_group": 2, "strides": [2, 1], "pads": [0, 0, 1, 0], "kernel_shape": [3, 2]}
    return [
        Case("DeformConv", (image, weight, offset), options, opset=19, name="plain"),
        Case("DeformConv", (image, weight, offset, floats(6, seed=4), mask), options, opset=19, name="with a mask"),
    ]


def _boxes() -> list[Case]:
    boxes, scores = floats(2, 9, 4, low=0, high=4), floats(2, 3, 9, low=0, high=1, seed=1)
    limits = (ints(4), np.array([0.3], np.float32), np.array([0.1], np.float32))
    return [
        Case("NonMaxSuppression", (boxes, scores, *limits)),
        Case("NonMaxSuppression", (boxes, scores, *limits), {"center_point_box": 1}, weights=(2, 3, 4)),
        Case("NonMaxSuppression", (boxes, scores, ints(2)), name="without limits"),
        Case("NonMaxSuppression", (boxes, scores), name="no boxes"),
    ]


def _windows() -> list[Case]:
    image, row = floats(2, 3, 7, 6), floats(1, 2, 9, seed=1)
    pooled = {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1], "dilations": [1, 2]}
    places = np.array([[[[5, 7], [13, 15]]]], np.int64)
    folded = {"pads": [0, 1, 0, 1], "strides": [1, 2], "dilations": [2, 1]}
    return [
        Case("MaxPool", (image,), pooled, outputs=2, name="places"),
        Case("MaxPool", (image,), {**pooled, "storage_order": 1}, outputs=2, name="places by columns"),
        Case("MaxPool", (row,), {"kernel_shape": [3], "strides": [2]}, outputs=2, name="places in rows"),
        Case("MaxUnpool", (floats(1, 1, 2, 2), places), {"kernel_shape": [2, 2], "strides": [2, 2]}),
        Case("Col2Im", (floats(2, 3 * 4, 12), ints(5, 6), ints(2, 2)), folded, opset=18),
        Case("Col2Im", (floats(1, 2 * 3, 4), ints(6), ints(3)), weights=(1, 2), opset=18, name="known"),
    ]


SAMPLING_CASES: tuple[Case, ...] = (*_grids(), *_regions(10), *_regions(16), *_boxes(), *_windows())
SAMPLING_REFERENCE_CASES: tuple[Case, ...] = (*_deformable(), *_regions(22))
