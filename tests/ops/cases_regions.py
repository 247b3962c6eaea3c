"""Regions of images, in bins and in another size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from relay.base.dtypes import DType
from relay.ops.vision.crop_and_resize import CropAndResizeAttributes
from relay.ops.vision.roi_align import MODES, RoiAlignAttributes
from tests.ops.case import NARROW, SUMMED, Case, floats, integers
from tests.ops.region_oracles import crop_and_resize, roi_align

ROIS = np.array([
    [0, 0, 0, 7, 5], [1, 2, 1.5, 4, 7.5], [1, -3, -2, 3, 3], [0, 5, 5, 30, 30], [0, 5.2, 5, 1, 2.5], [1, 3, 4, 3, 4],
    [0, -90, -40, 60, 70],
], np.float32)  # fmt: skip
"""Inside, in part and mostly outside of images of eight rows and nine columns; ends before it begins; a point."""
# Rounding decides for none which element is the nearest.
BOXES = np.array(
    [[0, 0, 1, 1], [0.1, 0.2, 0.72, 0.45], [0.9, 0.8, 0.15, 0.1], [-0.3, 0.2, 0.52, 1.4], [0.5, 0.5, 0.5, 0.5]],
    np.float32,
)
OF = np.array([0, 1, 1, 0, -1], np.int32)


def _regions() -> list[Case]:
    few, many = floats(2, 3, 8, 9), floats(2, 11, 8, 9)
    options = [
        RoiAlignAttributes((2, 3), 0.75, ratio, mode=mode, aligned=aligned)
        for mode in MODES for ratio in (2, 0) for aligned in (False, True)
    ]  # fmt: skip
    last = replace(options[0], layout="NHWC")
    garbage = np.array([[0, -1e9, 2, 1e9, 5], [1, 2, 3, np.inf, 4], [0, np.nan, 1, 2, 3]], np.float32)
    return [
        *(Case("vision.roi_align", (many if at % 2 else few, ROIS), each, roi_align(each), SUMMED, str(each))
          for at, each in enumerate(options)),
        Case("vision.roi_align", (many.transpose(0, 2, 3, 1).copy(), ROIS), last, roi_align(last), SUMMED, "channels last"),
        Case("vision.roi_align", (floats(8, 2, 4, 9, 4), ROIS), replace(last, layout="HNCW4c"), label="channels in blocks"),
        Case("vision.roi_align", (many, garbage), options[2], label="regions without end"),
        Case("vision.roi_align", (many, ROIS[:0]), options[0], label="no region"),
        Case("vision.roi_align", (floats(2, 3, 8, 9, dtype="float16"), ROIS.astype(np.float16)), options[2],
             tolerance=NARROW, label="half precision"),
        Case("vision.roi_align", (few.astype(np.float64), ROIS.astype(np.float64)), options[2], roi_align(options[2]),
             SUMMED, "double precision"),
    ]  # fmt: skip


def _crops() -> list[Case]:
    few, many = floats(2, 3, 8, 9), floats(2, 11, 8, 9)
    options = [
        CropAndResizeAttributes(size, method=method, extrapolation_value=value)
        for size in ((4, 5), (1, 3)) for method in ("bilinear", "nearest_neighbor") for value in (0.0, -2.5)
    ]  # fmt: skip
    last, bytes_ = replace(options[0], layout="NHWC"), replace(options[0], out_dtype=DType.FLOAT32)
    return [
        *(Case("image.crop_and_resize", (image, BOXES, OF), each, crop_and_resize(each), SUMMED, f"{each} of {name}")
          for each in options for image, name in ((few, "few"), (many, "many"))),
        Case("image.crop_and_resize", (many.transpose(0, 2, 3, 1).copy(), BOXES, OF), last, crop_and_resize(last), SUMMED,
             "channels last"),
        Case("image.crop_and_resize", (floats(9, 3, 8, 2), BOXES, OF), replace(last, layout="WCHN"), label="axes in another order"),
        Case("image.crop_and_resize", (integers(2, 3, 8, 9, dtype="uint8", low=0, high=255), BOXES, OF), bytes_,
             crop_and_resize(bytes_), SUMMED, "of bytes"),
        Case("image.crop_and_resize", (many, BOXES[:0], OF[:0]), options[0], label="no box"),
    ]  # fmt: skip


CASES: tuple[Case, ...] = (*_regions(), *_crops())
