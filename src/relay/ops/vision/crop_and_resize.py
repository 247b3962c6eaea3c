"""Boxes of images in one size: image.crop_and_resize."""

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
from relay.ops.framework.build import Argument, as_float, call, dimensions, optional_dtype
from relay.ops.framework.elementwise import INTEGERS
from relay.ops.framework.layout_rule import LayoutAttribute
from relay.ops.framework.layouts import parse_layout, relayout
from relay.ops.framework.places import from_end, from_end_array, no_empty_source, wide_index
from relay.ops.framework.record import FusionKind, OperatorRecord, PrecisionRule, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NoScale
from relay.ops.framework.window import check_layout
from relay.ops.vision.reading import Found, read_at
from relay.ops.vision.regions import at_least, is_inside
from relay.ops.vision.taps import OF_ARRAYS, OF_FORMULAS, Numbers, Sampling, Taps, mixed
from relay.tir.expr import Value

METHODS = {"bilinear": "linear", "nearest_neighbor": "nearest"}


@frozen
class CropAndResizeAttributes(Attributes):
    """`crop_size`: rows and columns of the results. `extrapolation_value`: what stands outside of an image."""

    crop_size: tuple[IntExpr, ...]
    layout: str = "NCHW"
    method: str = "bilinear"
    extrapolation_value: float = 0.0
    out_dtype: DType | None = None

    @property
    def sampling(self) -> Sampling:
        return Sampling(METHODS[self.method], "border", align_corners=True)

    def place(self, first: Any, last: Any, step: Any, count: Any, extent: Any, numbers: Numbers) -> Any:
        """Where in the image element `step` of a result of `count`, a plain number if it is known, lies; of one alone
        that is the middle of its box."""
        whole = extent - 1
        alone = (first + last) * 0.5 * whole
        if isinstance(count, int):
            return first * whole + step * ((last - first) * whole / (count - 1)) if count > 1 else alone + step * 0
        among = first * whole + step * ((last - first) * whole / at_least(count - 1, 1, numbers))
        return numbers.select(numbers.less(count * 0 + 1, count), among, alone)

    def taps(self, place: Any, extent: Any, numbers: Numbers) -> Taps:
        """Of two elements equally near, the one behind is the nearest."""
        place = place if self.method == "bilinear" else numbers.floor(place + 0.5)
        return self.sampling.taps(place, extent, numbers)


def _rule(run: RelationRun, attributes: CropAndResizeAttributes) -> TensorType:
    """data[N, C, H, W] × boxes[boxes, 4] × box_indices[boxes] → [boxes, C, *crop_size]"""
    if attributes.method not in METHODS:
        run.conflict("wrong-attribute", "`method` is not known", ", ".join(METHODS), attributes.method)
    if len(attributes.crop_size) != 2:
        run.conflict("wrong-attribute", "`crop_size` must be rows and columns", "two numbers",
                     str(attributes.crop_size))  # fmt: skip
    layout = parse_layout(attributes.layout)
    check_layout(run, ("H", "W"), layout)
    data, boxes, indices = run.tensor(0, layout.rank), run.tensor(1, 2), run.tensor(2, 1)
    run.dtype_in(0, lambda dtype: not dtype.is_bool, "a number type")
    run.dtype_in(1, lambda dtype: dtype.is_float, "a floating-point type")
    run.dtype_in(2, *INTEGERS)
    dtype = attributes.out_dtype or data.dtype
    if not dtype.is_float:
        run.conflict("wrong-dtype", "the result must be of a floating-point type", "a floating-point type", str(dtype),
                     remedy="give `out_dtype`")  # fmt: skip
    run.equal(4, boxes.shape[1], "axis 1 of `boxes`, the corners y, x, y, x,", (1,))
    run.equal(boxes.shape[0], indices.shape[0], "the number of `box_indices`", (1, 2))
    extents = layout.extents(data.shape)
    for axis in "NHW":
        no_empty_source(run, extents[axis], (boxes.shape[0], *attributes.crop_size))
    rows, columns = attributes.crop_size
    return TensorType(layout.shape({"N": boxes.shape[0], "C": extents["C"], "H": rows, "W": columns}), dtype)


def _meaning(attributes: CropAndResizeAttributes, data: Array, boxes: Array, box_indices: Array) -> Array:
    layout, last = parse_layout(attributes.layout), parse_layout("NHWC")
    result = attributes.out_dtype or dtype_of(data.dtype)
    images, corners = relayout(data, layout, last), wide(boxes)
    instances = from_end_array(box_indices, len(images))[:, None, None]
    number, kind = corners.dtype.type, to_dtype(np.zeros(0), result.computation).dtype.type
    lines: list[tuple[Taps, Array]] = []
    with np.errstate(all="ignore"):  # corners may be infinite
        for axis, (count, extent) in enumerate(zip(attributes.crop_size, images.shape[1:3], strict=True)):
            steps = np.arange(int(count)).astype(number)  # pyright: ignore[reportArgumentType]
            place = attributes.place(
                corners[:, axis, None], corners[:, axis + 2, None], steps, len(steps), number(extent), OF_ARRAYS
            )
            at: tuple[Any, ...] = (slice(None), slice(None), None) if axis == 0 else (slice(None), None, slice(None))
            taps = attributes.taps(place, number(extent), OF_ARRAYS)
            lines.append((
                tuple((each[at], None if weight is None else weight[at][..., None].astype(kind))
                      for each, weight in taps),
                is_inside(place, number(extent), 0, OF_ARRAYS)[at],
            ))  # fmt: skip
        (y, in_rows), (x, in_columns) = lines
        read = mixed(lambda places: images[(instances, *places)].astype(kind), (y, x))
        value = np.where((in_rows & in_columns)[..., None], read, kind(attributes.extrapolation_value))
    return relayout(to_dtype(value, result), last, layout)


def _compute(
    attributes: CropAndResizeAttributes, inputs: tuple[te.Tensor, te.Tensor, te.Tensor], result: TensorType
) -> te.Tensor:
    """Stages `crop_and_resize_rows` and `.._columns`, where these lie, and those of `read_at`."""
    data, boxes, indices = inputs
    layout = parse_layout(attributes.layout)
    extents, number = layout.extents(data.shape), boxes.dtype.computation

    def places(axis: int, name: str) -> te.Tensor:
        count = attributes.crop_size[axis]
        known = count if isinstance(count, int) else te.index_value(count, number)

        def place(box: IntExpr, step: IntExpr) -> Value:
            first, last = (te.cast(boxes[box, corner], number) for corner in (axis, axis + 2))
            whole = te.index_value(extents["HW"[axis]], number)
            return attributes.place(first, last, te.index_value(step, number), known, whole, OF_FORMULAS)

        return te.compute((boxes.shape[0], count), place, name=f"crop_and_resize_{name}")

    lines = places(0, "rows"), places(1, "columns")

    def found_at(box: IntExpr, *at: IntExpr) -> Found:
        taps: list[Taps] = []
        inside: list[Value] = []
        for axis, (line, step) in enumerate(zip(lines, at, strict=True)):
            place, whole = line[box, step], te.index_value(extents["HW"[axis]], number)
            taps.append(tuple(
                (where, None if weight is None else te.cast(weight, result.dtype.computation))
                for where, weight in attributes.taps(place, whole, OF_FORMULAS)
            ))  # fmt: skip
            inside.append(is_inside(place, whole, 0, OF_FORMULAS))
        return Found(tuple(taps), te.select(te.all_of(inside), te.const(1, DType.INT32), te.const(0, DType.INT32)))

    return read_at(
        data, layout, result, "crop_and_resize", found_at,
        lambda box: from_end(wide_index(indices, (box,)), extents["N"]), attributes.extrapolation_value,
    )  # fmt: skip


CROP_AND_RESIZE = define(
    "image.crop_and_resize",
    "Boxes of images in one size.",
    inputs={
        "data": "[N, C, H, W] in the order of layout",
        "boxes": "[boxes, 4]: corners y, x, y, x; 0 and 1 are the middles of the outer elements",
        "box_indices": "[boxes], integers: the instance of each box",
    },
    attributes=CropAndResizeAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
    layout=LayoutAttribute("layout"),
    floating_point=FloatingPointClass.ROUNDING,
    precision=PrecisionRule.WIDE,
    effect=Effect.PURE,
    gradient=gradient_above("regions", "of_crop_and_resize"),
    batch=NoBatchRule("boxes name instances by number"),
    scale=NoScale("places are not linear"),
    support_level=5,
)

CROPS: tuple[OperatorRecord, ...] = (CROP_AND_RESIZE,)


def crop_and_resize(
    data: Argument, boxes: Argument, box_indices: Argument, crop_size: Sequence[IntExpr] | IntExpr,
    layout: str = "NCHW", method: str = "bilinear", extrapolation_value: float = 0.0,
    out_dtype: str | DType | None = None,
) -> Call:  # fmt: skip
    """data[N, C, H, W] × boxes[boxes, 4] × box_indices[boxes] → [boxes, C, *crop_size]: each box, the corners
    (y, x, y, x) in the instance that its index names, sampled in as many rows and columns, the outer ones at its edges.

    0 and 1 are the middles of the outer elements; where a sample lies beyond them, it is `extrapolation_value`. A box
    whose second corner comes first is a mirror image. `method`: `bilinear` or `nearest_neighbor`. Integers need an
    `out_dtype`. Instances are counted as `take` does.

    TensorFlow's operator of this name. Raises `RelayError`: `wrong-attribute`, `bad-layout`, `wrong-rank`,
    `wrong-dtype`, `extents-differ`, `empty-source`.

    >>> from relay.ops.framework.build import var
    >>> images, boxes = var("images", shape=(2, 3, 32, 32)), var("boxes", shape=("k", 4))
    >>> print(crop_and_resize(images, boxes, var("of", shape=("k",), dtype="int32"), (8, 9)).checked_type)
    Tensor[(k, 3, 8, 9), float32]
    """
    size = dimensions(crop_size) if isinstance(crop_size, (tuple, list)) else dimensions(crop_size) * 2
    attributes = CropAndResizeAttributes(size, layout, method, as_float(extrapolation_value), optional_dtype(out_dtype))
    return call(CROP_AND_RESIZE, (data, boxes, box_indices), attributes)
