"""Pooling, resizing, and space for channels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch.nn import functional

from relay.ops.nn.pool import (
    AvgPool1DAttributes,
    AvgPool2DAttributes,
    AvgPool3DAttributes,
    MaxPool1DAttributes,
    MaxPool2DAttributes,
    MaxPool3DAttributes,
)
from relay.ops.nn.pool_adaptive import AdaptivePool2DAttributes, GlobalPool2DAttributes
from relay.ops.nn.resize import Resize2DAttributes, UpSampling3DAttributes, UpSamplingAttributes
from relay.ops.nn.space_depth import SubPixelAttributes
from tests.ops.case import EXACT, NARROW, SUMMED, Case, floats, integers


def _nhwc(function: Callable[..., Any]) -> Callable[..., Any]:
    """What PyTorch's function on NCHW gives on NHWC."""
    return lambda x: function(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


def _pools() -> list[Case]:
    cases: list[Case] = []
    for size, strides, pad, ceil in (
        (3, 2, 1, False),
        (3, 2, 1, True),
        (2, 2, 0, False),
        (2, 3, 1, True),
        (3, 1, 0, True),
    ):
        for include in (False, True):
            attributes = AvgPool2DAttributes((size, size), (strides, strides), (1, 1), (pad,) * 4, ceil_mode=ceil,
                                             count_include_pad=include)  # fmt: skip
            oracle = lambda x, a=(size, strides, pad, ceil, include): functional.avg_pool2d(x, *a)  # noqa: E731
            label = f"{size} {strides} {pad} {ceil} {include}"
            cases.append(Case("nn.avg_pool2d", (floats(2, 3, 7, 8),), attributes, oracle, SUMMED, label))
        attributes = MaxPool2DAttributes((size, size), (strides, strides), (1, 1), (pad,) * 4, ceil_mode=ceil)
        oracle = lambda x, a=(size, strides, pad, 1, ceil): functional.max_pool2d(x, *a)  # noqa: E731
        cases.append(
            Case("nn.max_pool2d", (floats(2, 3, 7, 8),), attributes, oracle, EXACT, f"{size} {strides} {ceil}")
        )
        nhwc = replace(attributes, layout="NHWC")
        cases.append(
            Case("nn.max_pool2d", (floats(2, 7, 8, 3),), nhwc, _nhwc(oracle), EXACT, f"NHWC {size} {strides} {ceil}")
        )
    dilated = MaxPool2DAttributes((2, 3), (1, 2), (2, 1), (1, 0, 0, 1))
    return [
        *cases,
        Case("nn.max_pool2d", (floats(1, 2, 6, 7),), dilated, label="dilated"),
        Case("nn.max_pool2d", (floats(1, 2, 5, 6, 4),), MaxPool2DAttributes((2, 2), padding=(1, 0, 0, 1), layout="NCHW4c"),
             label="packed channels"),
        Case("nn.global_avg_pool2d", (floats(1, 2, 3, 5, 4),), GlobalPool2DAttributes("NCHW4c"), tolerance=SUMMED,
             label="packed channels"),
        Case("nn.max_pool2d", (integers(1, 2, 5, 5, dtype="int8"),), MaxPool2DAttributes((3, 3), padding=(1, 1, 1, 1)),
             label="int8"),
        Case("nn.avg_pool2d", (integers(1, 2, 4, 4),), AvgPool2DAttributes((2, 2), (2, 2)), label="int32"),
        Case("nn.avg_pool2d", (floats(1, 2, 4, 4, dtype="bfloat16"),), AvgPool2DAttributes((2, 2), (2, 2)),
             tolerance=NARROW, label="bfloat16"),
        Case("nn.avg_pool2d", (floats(1, 5, 6, 3),),
             AvgPool2DAttributes((3, 2), (2, 2), padding=(1, 0, 0, 1), layout="NHWC"), tolerance=SUMMED, label="NHWC"),
        Case("nn.max_pool1d", (floats(2, 3, 9),), MaxPool1DAttributes((3,), (2,), (1,), (1, 1)),
             lambda x: functional.max_pool1d(x, 3, 2, 1)),
        Case("nn.avg_pool1d", (floats(2, 3, 9),), AvgPool1DAttributes((3,), (2,), (1,), (1, 1)),
             lambda x: functional.avg_pool1d(x, 3, 2, 1, False, False), SUMMED),
        Case("nn.max_pool3d", (floats(2, 3, 5, 6, 7),), MaxPool3DAttributes((3, 2, 3), (2, 1, 2), padding=(1, 0, 1) * 2),
             lambda x: functional.max_pool3d(x, (3, 2, 3), (2, 1, 2), (1, 0, 1))),
        Case("nn.max_pool3d", (floats(1, 4, 5, 4, 2),), MaxPool3DAttributes((2, 2, 2), layout="NDHWC", ceil_mode=True),
             label="channels last"),
        Case("nn.avg_pool3d", (floats(2, 3, 5, 6, 7),), AvgPool3DAttributes((3, 2, 3), (2, 2, 2), padding=(1, 0, 1) * 2),
             lambda x: functional.avg_pool3d(x, (3, 2, 3), 2, (1, 0, 1), False, False), SUMMED),
        Case("nn.global_max_pool2d", (floats(2, 3, 4, 5),), GlobalPool2DAttributes(), lambda x: x.amax((2, 3), True)),
        Case("nn.global_avg_pool2d", (floats(2, 3, 4, 5),), GlobalPool2DAttributes(),
             lambda x: x.mean((2, 3), True), SUMMED),
        Case("nn.global_avg_pool2d", (floats(2, 4, 5, 3),), GlobalPool2DAttributes("NHWC"),
             lambda x: x.mean((1, 2), True), SUMMED, "NHWC"),
        *(
            Case(f"nn.adaptive_{kind}_pool2d", (floats(2, 3, 7, 8),), AdaptivePool2DAttributes(size),
                 lambda x, f=function, s=size: f(x, s), SUMMED, f"{size}")
            for kind, function in (("avg", functional.adaptive_avg_pool2d), ("max", functional.adaptive_max_pool2d))
            for size in ((3, 5), (7, 4), (1, 1), (8, 9))
        ),
        Case("nn.adaptive_avg_pool2d", (floats(1, 2, 4, 4),), AdaptivePool2DAttributes(), label="same size"),
    ]  # fmt: skip


def _resizes() -> list[Case]:
    def torch_resize(size: tuple[int, int], mode: str, align: bool | None) -> Callable[..., Any]:
        return lambda x: functional.interpolate(x, size, mode=mode, align_corners=align)

    cases: list[Case] = []
    for size in ((6, 10), (3, 4), (1, 7)):
        for method, mode in (("linear", "bilinear"), ("cubic", "bicubic")):
            for coordinates, align in (("pytorch_half_pixel", False), ("align_corners", True)):
                attributes = Resize2DAttributes(size, None, "NCHW", method, coordinates, cubic_alpha=-0.75)
                # PyTorch's half pixels of a single row differ: it has no rule of their own for one.
                oracle = torch_resize(size, mode, align) if size[0] > 1 else None
                label = f"{size} {method} {coordinates}"
                cases.append(Case("image.resize2d", (floats(1, 2, 4, 5),), attributes, oracle, SUMMED, label))
        nearest = Resize2DAttributes(size, None, "NCHW", "nearest_neighbor", "asymmetric", "floor")
        exact = Resize2DAttributes(size, None, "NCHW", "nearest_neighbor", "half_pixel", "round_prefer_ceil")
        cases += [
            Case("image.resize2d", (floats(1, 2, 4, 5),), nearest, torch_resize(size, "nearest", None), EXACT,
                 f"{size} nearest"),
            Case("image.resize2d", (floats(1, 2, 4, 5),), exact, torch_resize(size, "nearest-exact", None), EXACT,
                 f"{size} nearest exact"),
        ]  # fmt: skip
    for rounding in ("floor", "ceil", "round", "round_prefer_floor", "round_prefer_ceil"):
        attributes = Resize2DAttributes((7, 3), None, "NHWC", "nearest_neighbor", "half_pixel", rounding)
        cases.append(Case("image.resize2d", (floats(1, 4, 5, 2),), attributes, label=rounding))
    return [
        *cases,
        Case("image.resize2d", (floats(1, 1, 3, 3),), Resize2DAttributes((5, 5), method="cubic", cubic_exclude=1),
             tolerance=SUMMED, label="exclude outside"),
        Case("image.resize2d", (integers(1, 1, 3, 3, dtype="uint8", low=0, high=255),), Resize2DAttributes((5, 4)),
             label="uint8"),
        Case("nn.upsampling", (floats(1, 2, 3, 4),), UpSamplingAttributes(2.0, 3.0),
             lambda x: x.repeat_interleave(2, 2).repeat_interleave(3, 3)),
        Case("nn.upsampling", (floats(1, 2, 3, 4),), UpSamplingAttributes(2.0, 2.0, "NCHW", "bilinear", True),
             torch_resize((6, 8), "bilinear", True), SUMMED),
        Case("nn.upsampling", (floats(1, 3, 4, 2),), UpSamplingAttributes(2.0, 2.0, "NHWC"),
             _nhwc(torch_resize((6, 8), "nearest", None)), label="NHWC"),
        Case("nn.upsampling3d", (floats(1, 2, 2, 3, 4),),
             UpSampling3DAttributes(2.0, 1.0, 3.0, coordinate_transformation_mode="asymmetric"),
             lambda x: functional.interpolate(x, (4, 3, 12), mode="nearest")),
        *(Case("nn.upsampling3d", (floats(1, 2, 3, 4, 5),),
               UpSampling3DAttributes(2.0, 1.0, 3.0, "NCDHW", "trilinear", coordinates),
               lambda x, a=align: functional.interpolate(x, (6, 4, 15), mode="trilinear", align_corners=a), SUMMED,
               coordinates)
          for coordinates, align in (("half_pixel", False), ("align_corners", True))),
        Case("nn.upsampling3d", (floats(1, 2, 3, 2, 2),), UpSampling3DAttributes(2.0, 2.0, 2.0, "NDHWC"), label="NDHWC"),
    ]  # fmt: skip


def _space_depth() -> list[Case]:
    return [
        Case("nn.depth_to_space", (floats(1, 12, 2, 3),), SubPixelAttributes(2, "NCHW", "CDR"),
             lambda x: functional.pixel_shuffle(x, 2)),
        Case("nn.depth_to_space", (floats(1, 12, 2, 3),), SubPixelAttributes(2), label="DCR"),
        Case("nn.depth_to_space", (floats(1, 2, 3, 12),), SubPixelAttributes(2, "NHWC"), label="NHWC"),
        Case("nn.space_to_depth", (floats(1, 3, 4, 6),), SubPixelAttributes(2)),
        Case("nn.space_to_depth", (floats(1, 4, 6, 3),), SubPixelAttributes(2, "NHWC"), label="NHWC"),
    ]  # fmt: skip


CASES: tuple[Case, ...] = (*_pools(), *_resizes(), *_space_depth())
