"""Gradients of regions of images: by the images, and by where the regions lie.

A sample adds to the elements around it what they counted there, and moves by how their weights change; where it lies
moves with both ends of its region. Samples have the axes [regions, rows, samples, columns, samples].
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from typing import Any

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, const
from relay.ops.creation.create import arange, zeros_like
from relay.ops.elementwise.comparison import equal, less, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import divide, logical_and, multiply
from relay.ops.gradients.sampling import OF_EXPRESSIONS, extent_of, slopes_of
from relay.ops.gradients.shared import kept_where, tensor_of, zeros_of
from relay.ops.indexing.index import gather_nd, take
from relay.ops.indexing.scatter import scatter_nd
from relay.ops.manipulation.combine import stack
from relay.ops.manipulation.layout_transform import in_layout
from relay.ops.manipulation.shape import expand_dims
from relay.ops.reduction.reduce import max as greatest
from relay.ops.reduction.reduce import sum as sum_over
from relay.ops.vision.crop_and_resize import CropAndResizeAttributes
from relay.ops.vision.regions import BETWEEN, CORNERS, REACH, Bins, at_least, is_inside
from relay.ops.vision.roi_align import RoiAlignAttributes
from relay.ops.vision.taps import Taps

_LONG, _LAST = DType.INT64, "NHWC"
_ALL = [1, 2, 3, 4]
"""The axes of the samples of a region."""


@frozen(eq=False)
class _Line:
    """Samples along an axis. `inside`: those that are something; `taps`: what counts there, `slopes`: how that changes
    with the place; `part`: how far between both ends of the region, in whose `unit` elements are counted; `stretches`:
    whether the second end moves it."""

    inside: Expr
    taps: Taps
    slopes: Taps | None
    part: Expr
    unit: Any
    stretches: Expr | None = None


def of_roi_align(call: Call, given: Expr) -> tuple[Expr | None, ...]:
    """The mean hands on to all samples of a bin, the greatest to those that are it, in equal shares."""
    assert isinstance(call.attrs, RoiAlignAttributes)
    attributes, rois, number = call.attrs, call.args[1], tensor_of(call.args[1]).dtype
    data, given = (in_layout(each, attributes.layout, _LAST) for each in (call.args[0], given))
    lines: list[_Line] = []
    counts: list[Expr] = []
    exists: list[Expr] = []
    for axis, corners in enumerate(CORNERS):
        first, last = (take(rois, const(at, _LONG), axis=1) for at in corners)
        bins, extent = (extent_of(each, 1 + axis, number) for each in (given, data))
        region = attributes.bins(first, last, bins, OF_EXPRESSIONS)
        count = const(region.count, number) if isinstance(region.count, int) else expand_dims(region.count, 1, 4)
        samples = const(region.count, _LONG) if isinstance(region.count, int) else _most(region.count)
        sample = _steps(samples, number, 2 - 2 * axis)
        bin_ = _steps(extent_of(given, 1 + axis, _LONG), number, 3 - 2 * axis)
        spread = Bins(expand_dims(region.low, 1, 4), expand_dims(region.size, 1, 4), count)
        place = spread.place(bin_, sample, OF_EXPRESSIONS)
        inside = logical_and(is_inside(place, extent, REACH, OF_EXPRESSIONS), less(sample, count))
        part = (bin_ + (sample + 0.5) / _positive(count)) / bins
        length = (last - first) * attributes.spatial_scale
        stretches = None if attributes.aligned else less(length * 0 + 1, length)
        taps, slopes = BETWEEN.taps(place, extent, OF_EXPRESSIONS), _slopes(place, extent)
        lines.append(_Line(inside, taps, slopes, part, attributes.spatial_scale, stretches))
        exists.append(less(sample, count))
        counts.append(count)
    sampled = _Sampled.of(data, take(rois, const(0, _LONG), axis=1), lines)
    shared = expand_dims(expand_dims(given, 2), 4)  # [regions, rows, 1, columns, 1, C]
    if attributes.mode == "avg":
        count = cast(_positive(multiply(*counts)), tensor_of(given).dtype)
        shares = expand_dims(divide(shared, expand_dims(count, -1) if tensor_of(count).shape else count), 0)
    else:
        shares = sampled.chosen(logical_and(*exists), shared, by_taps=attributes.mode == "max_taps")
    by_data, (y, x) = sampled.back(shares)
    columns = (zeros_like(y[0]), x[0], y[0], x[1], y[1])
    return in_layout(by_data, _LAST, attributes.layout), stack([cast(each, number) for each in columns], 1)


def of_crop_and_resize(call: Call, given: Expr) -> tuple[Expr | None, ...]:
    """Each element of a result is one sample."""
    assert isinstance(call.attrs, CropAndResizeAttributes)
    attributes, (_, boxes, indices) = call.attrs, call.args
    dtype, number = tensor_of(call.args[0]).dtype, tensor_of(boxes).dtype
    data, given = (in_layout(each, attributes.layout, _LAST) for each in (call.args[0], given))
    lines: list[_Line] = []
    for axis in (0, 1):
        first, last = (expand_dims(take(boxes, const(at, _LONG), axis=1), 1, 4) for at in (axis, axis + 2))
        count, extent = (extent_of(each, 1 + axis, number) for each in (given, data))
        step = _steps(extent_of(given, 1 + axis, _LONG), number, 3 - 2 * axis)
        known = tensor_of(given).shape[1 + axis]
        place = attributes.place(first, last, step, known if isinstance(known, int) else count, extent, OF_EXPRESSIONS)
        gaps = at_least(count - 1, 1, OF_EXPRESSIONS)
        part = where(less(count * 0 + 1, count), step / gaps, step * 0 + 0.5)
        slopes = _slopes(place, extent) if attributes.method == "bilinear" else None
        inside, taps = is_inside(place, extent, 0, OF_EXPRESSIONS), attributes.taps(place, extent, OF_EXPRESSIONS)
        lines.append(_Line(inside, taps, slopes, part, extent - 1))
    sampled = _Sampled.of(cast(data, tensor_of(given).dtype), indices, lines)
    shared = expand_dims(expand_dims(given, 2), 4)
    by_data, (y, x) = sampled.back(expand_dims(shared, 0))
    by_boxes = stack([cast(each, number) for each in (y[0], x[0], y[1], x[1])], 1)
    by_data = cast(in_layout(by_data, _LAST, attributes.layout), dtype) if dtype.is_float else None
    return by_data, by_boxes, None


@frozen(eq=False)
class _Sampled:
    """All samples of data[N, H, W, C]: elements around them [taps, .., C], where these stand, what they count
    [taps, ..]."""

    data: Expr
    lines: tuple[_Line, ...]
    indices: Expr
    read: Expr
    weights: Expr

    @staticmethod
    def of(data: Expr, instances: Expr, lines: Sequence[_Line]) -> _Sampled:
        around = list(product(*(line.taps for line in lines)))
        instance = expand_dims(cast(instances, _LONG), 1, 4)
        rows: list[list[Expr]] = []
        for (y, _), (x, _) in around:
            nowhere = (y + x + instance) * 0
            rows.append([instance + nowhere, y + nowhere, x + nowhere])
        indices = stack([stack(row, 0) for row in rows], 1)
        read = gather_nd(data, indices, index_rank=3)
        dtype = tensor_of(data).dtype
        weights = stack([_weight([weight for _, weight in each], indices, dtype) for each in around], 0)
        return _Sampled(data, tuple(lines), indices, read, weights)

    @property
    def inside(self) -> Expr:
        return expand_dims(logical_and(*(line.inside for line in self.lines)), -1)

    def chosen(self, exist: Expr, given: Expr, *, by_taps: bool) -> Expr:
        """What the greatest of a bin hands on [taps or 1, .., C]: to the samples, or to what their taps counted."""
        products = multiply(self.read, expand_dims(self.weights, -1))
        values = kept_where(self.inside, products if by_taps else sum_over(products, 0, keepdims=True))
        values = where(expand_dims(exist, -1), values, const(float("-inf"), tensor_of(values).dtype))
        of_bin = [0, 3, 5]
        is_it = cast(equal(values, greatest(values, of_bin, keepdims=True)), tensor_of(values).dtype)
        return divide(multiply(is_it, given), sum_over(is_it, of_bin, keepdims=True))

    def back(self, shares: Expr) -> tuple[Expr, list[tuple[Expr, Expr]]]:
        """By the data, and along each axis by both ends of regions, of what samples are given [taps or 1, .., C]."""
        shares = kept_where(self.inside, shares)
        updates = multiply(shares, expand_dims(self.weights, -1))
        by_data = scatter_nd(zeros_of(self.data), self.indices, updates, mode="add")
        moved = sum_over(multiply(shares, self.read), -1)
        ends = [self._by_ends(moved, axis) for axis in range(len(self.lines))]
        return by_data, ends

    def _by_ends(self, moved: Expr, axis: int) -> tuple[Expr, Expr]:
        line = self.lines[axis]
        if line.slopes is None:
            nothing = zeros_like(sum_over(moved, [0, *(each + 1 for each in _ALL)]))
            return nothing, nothing
        changed = [line.slopes if at == axis else each.taps for at, each in enumerate(self.lines)]
        dtype = tensor_of(self.data).dtype
        slopes = stack([_weight([weight for _, weight in each], self.indices, dtype) for each in product(*changed)], 0)
        places = cast(sum_over(multiply(moved, slopes), 0), tensor_of(line.part).dtype) * line.unit
        both, second = sum_over(places, _ALL), sum_over(multiply(places, line.part), _ALL)
        second = second if line.stretches is None else kept_where(line.stretches, second)
        return both - second, second


def _slopes(place: Expr, extent: Any) -> Taps:
    """How what counts around a place changes with it: beyond the outer elements not at all."""
    moves = logical_and(less(extent * 0, place), less(place, extent - 1))
    taps = BETWEEN.taps(place, extent, OF_EXPRESSIONS, slopes_of(BETWEEN))
    return tuple((at, kept_where(moves, weight)) for at, weight in taps)


def _weight(weights: Sequence[Any], indices: Expr, dtype: DType) -> Expr:
    """What an element counts, by what it does along each axis, for all samples."""
    known = [cast(weight, dtype) for weight in weights if weight is not None]
    ones = cast(take(take(indices, const(0, _LONG), axis=0), const(0, _LONG), axis=0) * 0 + 1, dtype)
    return reduce(multiply, known, ones)


def _steps(count: Expr, dtype: DType, behind: int) -> Expr:
    """0, 1, .. along an axis with `behind` axes behind it."""
    steps = cast(arange(const(0, _LONG), count, dtype=_LONG), dtype)
    return expand_dims(steps, 1, behind) if behind else steps


def _most(counts: Expr) -> Expr:
    """The most samples of a bin that a region has."""
    return cast(greatest(at_least(counts, 0, OF_EXPRESSIONS)), _LONG)


def _positive(count: Expr) -> Expr:
    return at_least(count, 1, OF_EXPRESSIONS)
