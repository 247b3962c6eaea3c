"""Regions of images in bins of one number, whatever their size: vision.roi_align.

Mask R-CNN (He et al., 2017), section 3. Samples lie evenly in each bin, and are taken between elements
(`regions.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import DType, dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType
from relay.ops.framework.batch_rule import NoBatchRule
from relay.ops.framework.build import Argument, as_float, call, dimensions
from relay.ops.framework.layout_rule import LayoutAttribute
from relay.ops.framework.layouts import parse_layout, relayout
from relay.ops.framework.places import from_end_array, no_empty_source
from relay.ops.framework.record import FusionKind, OperatorRecord, PrecisionRule, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NoScale
from relay.ops.framework.window import check_layout
from relay.ops.vision.reading import channels_last, turned_back
from relay.ops.vision.region_loops import RegionLoops
from relay.ops.vision.regions import BETWEEN, CORNERS, REACH, Bins, at_least, is_inside
from relay.ops.vision.taps import OF_ARRAYS, Numbers, Taps
from relay.tir.buffer import Buffer
from relay.tir.stmt import Stmt

MODES = ("avg", "max", "max_taps")


@frozen
class RoiAlignAttributes(Attributes):
    """`pooled_size`: the bins of a region along y and x. `sample_ratio`: the samples of a bin along an axis; 0 or less:
    as many as it has elements, rounded up. `mode`: of the samples the mean (`avg`) or the greatest (`max`), or of the
    elements around them, each times what it counts in its sample, the greatest (`max_taps`). `aligned`: places are
    those of the edges of elements, not of their middles, and regions may be smaller than an element."""

    pooled_size: tuple[IntExpr, ...]
    spatial_scale: float
    sample_ratio: int = -1
    layout: str = "NCHW"
    mode: str = "avg"
    aligned: bool = False

    def bins(self, first: Any, last: Any, count: Any, numbers: Numbers) -> Bins:
        """A region along an axis, of which it has `count` bins."""
        low, high = first * self.spatial_scale, last * self.spatial_scale
        if self.aligned:
            low, high = low - 0.5, high - 0.5
        length = high - low if self.aligned else at_least(high - low, 1, numbers)
        size = length / count
        return Bins(low, size, self.sample_ratio if self.sample_ratio > 0 else numbers.floor(size * -1) * -1)


def _rule(run: RelationRun, attributes: RoiAlignAttributes) -> TensorType:
    """data[N, C, H, W] × rois[regions, 5] → [regions, C, *pooled_size]"""
    if attributes.mode not in MODES:
        run.conflict("wrong-attribute", "`mode` is not known", ", ".join(MODES), attributes.mode)
    if len(attributes.pooled_size) != 2 or 0 in attributes.pooled_size:
        run.conflict("wrong-attribute", "`pooled_size` must be rows and columns", "two numbers of 1 or more",
                     str(attributes.pooled_size))  # fmt: skip
    layout = parse_layout(attributes.layout)
    check_layout(run, ("H", "W"), layout)
    data, rois = run.tensor(0, layout.rank), run.tensor(1, 2)
    for position in (0, 1):
        run.dtype_in(position, lambda dtype: dtype.is_float, "a floating-point type")
    run.equal(5, rois.shape[1], "axis 1 of `rois`, an instance and the corners x, y, x, y,", (1,))
    extents = layout.extents(data.shape)
    for axis in "NHW":
        no_empty_source(run, extents[axis], rois.shape[:1])
    rows, columns = attributes.pooled_size
    return TensorType(layout.shape({"N": rois.shape[0], "C": extents["C"], "H": rows, "W": columns}), data.dtype)


def _meaning(attributes: RoiAlignAttributes, data: Array, rois: Array) -> Array:
    layout, last = parse_layout(attributes.layout), parse_layout("NHWC")
    images, regions = relayout(wide(data), layout, last), wide(rois)
    pooled = [int(extent) for extent in attributes.pooled_size]  # pyright: ignore[reportArgumentType]
    result = np.zeros((len(regions), *pooled, images.shape[3]), images.dtype)
    instances = from_end_array(to_dtype(regions[:, 0], DType.INT64), len(images))
    with np.errstate(all="ignore"):  # corners may be infinite
        for number, region in enumerate(regions):
            image = images[instances[number]]
            lines = [
                [_samples(attributes, region[list(CORNERS[axis])], bin_, pooled[axis], image.shape[axis])
                 for bin_ in range(pooled[axis])]
                for axis in (0, 1)
            ]  # fmt: skip
            for row, y in enumerate(lines[0]):
                for column, x in enumerate(lines[1]):
                    result[number, row, column] = _pooled(attributes.mode, image, y, x)
    return relayout(to_dtype(result, dtype_of(data.dtype)), last, layout)


@frozen(eq=False)
class _Samples:
    """The samples of a bin along an axis that may be something; `count` of all, as a float."""

    taps: Taps
    inside: Array
    count: Any

    @property
    def is_whole(self) -> bool:
        """Whether these are all, and there are some."""
        return 0 < len(self.inside) == self.count


def _samples(attributes: RoiAlignAttributes, corners: Array, bin_: int, bins: int, extent: int) -> _Samples:
    number = corners.dtype.type
    region = attributes.bins(corners[0], corners[1], number(bins), OF_ARRAYS)
    first, end = region.samples(number(bin_), number(extent), REACH, OF_ARRAYS)
    which = np.arange(*(int(to_dtype(each, DType.INT64)) for each in (first, end)))
    places = region.place(number(bin_), which.astype(number), OF_ARRAYS)
    inside = is_inside(places, number(extent), REACH, OF_ARRAYS)
    count = at_least(number(region.count), 0, OF_ARRAYS)
    return _Samples(BETWEEN.taps(places, number(extent), OF_ARRAYS), inside, count)


def _pooled(mode: str, image: Array, y: _Samples, x: _Samples) -> Array:
    number = image.dtype.type
    parts = [
        (image[np.ix_(row, column)], (high[:, None] * wide_[None, :])[:, :, None].astype(number))
        for row, high in y.taps for column, wide_ in x.taps
    ]  # fmt: skip
    products = [read * weight for read, weight in parts]
    values = np.maximum.reduce(products) if mode == "max_taps" else np.add.reduce(products)
    values = np.where((y.inside[:, None] & x.inside[None, :])[:, :, None], values, number(0))
    if mode == "avg":
        return values.sum((0, 1)) / number(at_least(y.count * x.count, 1, OF_ARRAYS))
    return values.max((0, 1), initial=-np.inf if y.is_whole and x.is_whole else 0)


def _compute(attributes: RoiAlignAttributes, inputs: tuple[te.Tensor, te.Tensor], result: TensorType) -> te.Tensor:
    """Stages `roi_align_data`, unless channels lie together, extern `roi_align_mixed`, and `roi_align`."""
    data, rois = inputs
    layout = parse_layout(attributes.layout)
    extents = layout.extents(result.shape)

    def emit(given: tuple[Buffer, ...], made: tuple[Buffer, ...]) -> Stmt:
        return RegionLoops(attributes.mode, attributes.bins, *given, *made).statement()

    turned = channels_last(data, layout, "roi_align")
    shape = tuple(extents[axis] for axis in "NHWC")
    (values,) = te.extern([shape], [data.dtype.computation], [turned, rois], emit, name="roi_align_mixed")
    return turned_back(values, layout, result, "roi_align")


ROI_ALIGN = define(
    "vision.roi_align",
    "Regions of images in bins of one number, each the mean or the greatest of samples in it.",
    inputs={
        "data": "[N, C, H, W] in the order of layout",
        "rois": "[regions, 5]: an instance, as a number, and the corners x, y, x, y",
    },
    attributes=RoiAlignAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OPAQUE,
    layout=LayoutAttribute("layout"),
    floating_point=FloatingPointClass.ROUNDING,
    precision=PrecisionRule.WIDE,
    effect=Effect.PURE,
    gradient=gradient_above("regions", "of_roi_align"),
    batch=NoBatchRule("regions name instances by number"),
    scale=NoScale("places are not linear"),
    support_level=5,
)

REGION_POOLS: tuple[OperatorRecord, ...] = (ROI_ALIGN,)


def roi_align(
    data: Argument, rois: Argument, pooled_size: Sequence[IntExpr] | IntExpr, spatial_scale: float,
    sample_ratio: int = -1, layout: str = "NCHW", mode: str = "avg", aligned: bool = False,
) -> Call:  # fmt: skip
    """data[N, C, H, W] × rois[regions, 5] → [regions, C, *pooled_size]: each region, an instance and the corners
    (x, y, x, y) in it times `spatial_scale`, in bins, and of each bin the mean (`avg`) of its samples, or the greatest
    (`max`), or the greatest of the elements around them, each times what it counts there (`max_taps`).

    A bin has `sample_ratio` samples along each axis, evenly spread, or where that is 0 or less as many as it has
    elements, rounded up. Samples lie between elements; beyond the outer ones they are those, and more than one element
    beyond, 0. A region is an element large at least, unless it is `aligned`: then places are those of the edges of
    elements, not of their middles. Instances are counted as `take` does.

    Mask R-CNN (He et al., 2017), section 3. Raises `RelayError`: `wrong-attribute`, `bad-layout`, `wrong-rank`,
    `wrong-dtype`, `extents-differ`, `empty-source`.

    >>> from relay.ops.framework.build import var
    >>> image, rois = var("image", shape=(1, 256, 50, 68)), var("rois", shape=("regions", 5))
    >>> print(roi_align(image, rois, (7, 7), 0.0625, 2).checked_type)
    Tensor[(regions, 256, 7, 7), float32]
    """
    size = dimensions(pooled_size) if isinstance(pooled_size, (tuple, list)) else dimensions(pooled_size) * 2
    attributes = RoiAlignAttributes(size, as_float(spatial_scale), sample_ratio, layout, mode, aligned)
    return call(ROI_ALIGN, (data, rois), attributes)
