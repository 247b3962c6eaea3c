"""vision.roi_align and image.crop_and_resize written out in PyTorch, one sample of one region after another."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from relay.ops.vision.crop_and_resize import CropAndResizeAttributes
from relay.ops.vision.roi_align import RoiAlignAttributes


def roi_align(attributes: RoiAlignAttributes) -> Any:
    def oracle(data: Tensor, rois: Tensor) -> Tensor:
        images = data if attributes.layout == "NCHW" else data.movedim(-1, 1)
        found = torch.stack([_region(attributes, images[int(roi[0])], roi) for roi in rois])
        return found if attributes.layout == "NCHW" else found.movedim(1, -1)

    return oracle


def _region(attributes: RoiAlignAttributes, image: Tensor, roi: Tensor) -> Tensor:
    rows, columns = (int(extent) for extent in attributes.pooled_size)  # pyright: ignore[reportArgumentType]
    offset = 0.5 if attributes.aligned else 0.0
    low_x, low_y, high_x, high_y = (roi[1:] * attributes.spatial_scale - offset).unbind()
    height, width = high_y - low_y, high_x - low_x
    if not attributes.aligned:
        height, width = height.clamp(min=1), width.clamp(min=1)
    size_y, size_x = height / rows, width / columns
    bins: list[Tensor] = []
    for row in range(rows):
        for column in range(columns):
            count_y, count_x = (
                attributes.sample_ratio if attributes.sample_ratio > 0 else math.ceil(float(size.detach()))
                for size in (size_y, size_x)
            )
            samples = [
                _taps(image, low_y + row * size_y + (y + 0.5) * size_y / count_y,
                      low_x + column * size_x + (x + 0.5) * size_x / count_x)
                for y in range(count_y) for x in range(count_x)
            ]  # fmt: skip
            bins.append(_pooled(attributes.mode, samples, image[:, 0, 0] * 0))
    return torch.stack(bins, 1).reshape(-1, rows, columns)


def _pooled(mode: str, samples: list[Tensor], nothing: Tensor) -> Tensor:
    if not samples:
        return nothing
    every = torch.stack(samples)  # [samples, taps, channels]
    if mode == "avg":
        return every.sum(1).mean(0)
    return every.sum(1).amax(0) if mode == "max" else every.amax((0, 1))


def _taps(image: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """What each of the four elements around a place counts [taps, channels]; 0 of a place outside."""
    _, height, width = image.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return torch.stack([image[:, 0, 0] * 0] * 4)
    y, x = y.clamp(0, height - 1), x.clamp(0, width - 1)
    row, column = int(y), int(x)
    below, right = min(row + 1, height - 1), min(column + 1, width - 1)
    up, left = y - row, x - column
    return torch.stack([
        image[:, row, column] * ((1 - up) * (1 - left)), image[:, row, right] * ((1 - up) * left),
        image[:, below, column] * (up * (1 - left)), image[:, below, right] * (up * left),
    ])  # fmt: skip


def crop_and_resize(attributes: CropAndResizeAttributes) -> Any:
    def oracle(data: Tensor, boxes: Tensor, indices: Tensor) -> Tensor:
        images = (data if attributes.layout == "NCHW" else data.movedim(-1, 1)).to(boxes.dtype)
        found = torch.stack([
            _crop(attributes, images[int(index)], box) for box, index in zip(boxes, indices, strict=True)
        ])  # fmt: skip
        return found if attributes.layout == "NCHW" else found.movedim(1, -1)

    return oracle


def _crop(attributes: CropAndResizeAttributes, image: Tensor, box: Tensor) -> Tensor:
    _, height, width = image.shape
    rows, columns = (int(count) for count in attributes.crop_size)  # pyright: ignore[reportArgumentType]

    def line(first: Tensor, last: Tensor, count: int, extent: int) -> list[Tensor]:
        if count == 1:
            return [(first + last) / 2 * (extent - 1)]
        return [first * (extent - 1) + step * ((last - first) * (extent - 1) / (count - 1)) for step in range(count)]

    elements: list[Tensor] = []
    for y in line(box[0], box[2], rows, height):
        for x in line(box[1], box[3], columns, width):
            if not (0 <= y <= height - 1 and 0 <= x <= width - 1):
                elements.append(torch.full_like(image[:, 0, 0], attributes.extrapolation_value))
            elif attributes.method == "bilinear":
                elements.append(_taps(image, y, x).sum(0))
            else:
                elements.append(image[:, int(torch.floor(y + 0.5)), int(torch.floor(x + 0.5))])
    return torch.stack(elements, 1).reshape(-1, rows, columns)
