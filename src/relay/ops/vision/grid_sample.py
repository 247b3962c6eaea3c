"""Images read at places that data compute: image.grid_sample."""

from __future__ import annotations

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType
from relay.ops.framework.batch_rule import HasBatchAxis
from relay.ops.framework.build import Argument, call
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.layouts import parse_layout
from relay.ops.framework.places import no_empty_source
from relay.ops.framework.record import FusionKind, OperatorRecord, PrecisionRule, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NoScale
from relay.ops.vision.reading import Found, read_at
from relay.ops.vision.taps import OF_ARRAYS, OF_FORMULAS, PADDINGS, Sampling, Taps, mixed

_METHODS = {"nearest": "nearest", "bilinear": "linear", "bicubic": "cubic"}
_LAYOUTS = {"NCW": 1, "NCHW": 2, "NCDHW": 3}


@frozen
class GridSampleAttributes(Attributes):
    """`method`: `nearest`, `bilinear` or `bicubic`; `padding_mode`: `zeros`, `border` or `reflection`."""

    method: str = "bilinear"
    layout: str = "NCHW"
    padding_mode: str = "zeros"
    align_corners: bool = True

    @property
    def sampling(self) -> Sampling:
        return Sampling(_METHODS[self.method], self.padding_mode, self.align_corners)


def _rule(run: RelationRun, attributes: GridSampleAttributes) -> TensorType:
    """data[N, C, space] × grid[N, axes of space, result] → [N, C, result]"""
    for name, value, known in (
        ("method", attributes.method, tuple(_METHODS)), ("layout", attributes.layout, tuple(_LAYOUTS)),
        ("padding_mode", attributes.padding_mode, PADDINGS),
    ):  # fmt: skip
        if value not in known:
            run.conflict("wrong-attribute", f"`{name}` is not known", ", ".join(known), value)
    spatial = _LAYOUTS[attributes.layout]
    data, grid = run.tensor(0, spatial + 2), run.tensor(1, spatial + 2)
    run.dtype_in(0, lambda dtype: dtype.is_float, "a floating-point type")
    run.same_dtype(data.dtype, 1)
    run.equal(data.shape[0], grid.shape[0], "the batch of `grid`", (0, 1))
    run.equal(spatial, grid.shape[1], "axis 1 of `grid`, a place along each axis", (1,))
    for extent in data.shape[2:]:
        no_empty_source(run, extent, grid.shape[2:])
    return TensorType((*data.shape[:2], *grid.shape[2:]), data.dtype)


def _meaning(attributes: GridSampleAttributes, data: Array, grid: Array) -> Array:
    x, places, how = wide(data), wide(grid), attributes.sampling
    number, spatial = x.dtype.type, x.ndim - 2
    batch = np.arange(len(x)).reshape(-1, *(1,) * spatial)
    result = np.empty((*x.shape[:2], *grid.shape[2:]), x.dtype)
    with np.errstate(all="ignore"):  # places may be infinite
        taps = [
            how.taps(how.from_unit(places[:, spatial - 1 - axis], number(extent)), number(extent), OF_ARRAYS)
            for axis, extent in enumerate(x.shape[2:])
        ]
        for channel in range(x.shape[1]):
            result[:, channel] = mixed(lambda at, of=x[:, channel]: of[(batch, *at)], taps)
    return to_dtype(result, dtype_of(data.dtype))


def _compute(attributes: GridSampleAttributes, inputs: tuple[te.Tensor, te.Tensor], result: TensorType) -> te.Tensor:
    data, grid = inputs
    how, dtype, spatial = attributes.sampling, data.dtype.computation, len(data.shape) - 2

    def found_at(*i: IntExpr) -> Found:
        taps: list[Taps] = []
        for axis, extent in enumerate(data.shape[2:]):
            unit, whole = te.cast(grid[(i[0], spatial - 1 - axis, *i[1:])], dtype), te.index_value(extent, dtype)
            taps.append(how.taps(how.from_unit(unit, whole), whole, OF_FORMULAS))
        return Found(tuple(taps))

    return read_at(data, parse_layout(attributes.layout), result, "grid_sample", found_at, lambda instance: instance)


GRID_SAMPLE = define(
    "image.grid_sample",
    "An image read at places between its elements, which a second tensor gives.",
    inputs={
        "data": "[N, C, space]",
        "grid": "[N, axes of space, result]: places from -1 to 1, first that along the last axis",
    },
    attributes=GridSampleAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
    layout=OwnLayout("places name axes in their order"),
    floating_point=FloatingPointClass.ROUNDING,
    precision=PrecisionRule.WIDE,
    effect=Effect.PURE,
    gradient=gradient_above("sampling", "of_grid_sample"),
    batch=HasBatchAxis(),
    scale=NoScale("places are not linear"),
    support_level=5,
)

GRID_SAMPLES: tuple[OperatorRecord, ...] = (GRID_SAMPLE,)


def grid_sample(
    data: Argument, grid: Argument, method: str = "bilinear", layout: str = "NCHW", padding_mode: str = "zeros",
    align_corners: bool = True,
) -> Call:  # fmt: skip
    """data[N, C, space] × grid[N, axes of space, result] → [N, C, result]: the image at each place that the grid names,
    from the last axis to the first; -1 and 1 are the middles of the outer elements, or without `align_corners` their
    outer edges.

    Raises `RelayError`: `wrong-attribute`, `wrong-rank`, `wrong-dtype`, `dtypes-differ`, `extents-differ`,
    `empty-source`.

    >>> from relay.ops.framework.build import var
    >>> image, grid = var("image", shape=("n", 3, 32, 32)), var("grid", shape=("n", 2, 8, 9))
    >>> print(grid_sample(image, grid).checked_type)
    Tensor[(n, 3, 8, 9), float32]
    """
    return call(GRID_SAMPLE, (data, grid), GridSampleAttributes(method, layout, padding_mode, align_corners))
