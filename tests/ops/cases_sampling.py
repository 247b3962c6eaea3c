"""Images read at places that data compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional

from relay.ops.vision.affine_grid import AffineGridAttributes
from relay.ops.vision.grid_sample import GridSampleAttributes
from tests.ops.case import SUMMED, Case, floats


def _grid_sample(attributes: GridSampleAttributes) -> Any:
    """PyTorch has the axis that names the places last."""
    how = attributes.method, attributes.padding_mode, attributes.align_corners
    return lambda x, grid: functional.grid_sample(x, grid.movedim(1, -1), *how)


def _grids() -> list[Case]:
    image, few, volume = floats(2, 9, 5, 7), floats(2, 3, 5, 7), floats(1, 2, 3, 4, 5)
    grid, places = floats(2, 2, 4, 11, low=-1.6, high=1.6), floats(1, 3, 2, 3, 4, low=-1.4, high=1.4)
    on_elements = np.stack(np.meshgrid(np.linspace(-1, 1, 7), np.linspace(-1, 1, 5)))[None].repeat(2, 0)
    options = [
        GridSampleAttributes(method, padding_mode=padding, align_corners=aligned)
        for method in ("nearest", "bilinear", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for aligned in (False, True)
    ]
    cubes = [GridSampleAttributes(method, "NCDHW", padding) for method in ("nearest", "bilinear")
             for padding in ("zeros", "reflection")]  # fmt: skip
    far = np.array([[[[1e30, -1e30, 0.1, 0.5]], [[0.5, 0.0, -3e9, 3e9]]]], np.float32)
    return [
        *(Case("image.grid_sample", (image if at % 2 else few, grid), each, _grid_sample(each), SUMMED, str(each))
          for at, each in enumerate(options)),
        *(Case("image.grid_sample", (volume, places), each, _grid_sample(each), SUMMED, str(each)) for each in cubes),
        *(Case("image.grid_sample", (few, on_elements.astype(np.float32)), each, _grid_sample(each), SUMMED,
               f"on elements, {each}") for each in (options[1], options[7])),
        Case("image.grid_sample", (few[:1], far), options[6], _grid_sample(options[6]), SUMMED, "far outside"),
        Case("image.grid_sample", (few[:1], np.where(np.abs(far) > 1, np.copysign(np.float32(np.inf), far), far)), options[6],
             label="infinitely far outside"),
        Case("image.grid_sample", (floats(2, 3, 6), floats(2, 1, 4, low=-1, high=1)), GridSampleAttributes(layout="NCW"),
             lambda x, g: _grid_sample(options[7])(x[:, :, None], torch.stack([g[:, 0], g[:, 0] * 0], 1)[:, :, None])[:, :, 0],
             SUMMED, "a line"),
        Case("image.grid_sample", (floats(2, 0, 5, 7), grid), options[6], _grid_sample(options[6]), label="no channel"),
    ]  # fmt: skip


def _maps() -> list[Case]:
    def oracle(attributes: AffineGridAttributes) -> Any:
        shape = [int(extent) for extent in attributes.target_shape]  # pyright: ignore[reportArgumentType]
        return lambda x: functional.affine_grid(x, [len(x), 1, *shape], attributes.align_corners).movedim(-1, 1)

    chosen = [
        AffineGridAttributes(shape, aligned) for shape in ((4, 5), (1, 3), (2, 3, 4)) for aligned in (False, True)
    ]
    return [
        Case("image.affine_grid", (floats(2, len(each.target_shape), len(each.target_shape) + 1),), each, oracle(each),
             SUMMED, str(each)) for each in chosen
    ]  # fmt: skip


CASES: tuple[Case, ...] = (*_grids(), *_maps())
