"""Places that an affine map moves: image.affine_grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, maximum
from relay.base.dtypes import dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType
from relay.ops.framework.batch_rule import HasBatchAxis
from relay.ops.framework.build import Argument, call, dimensions
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import FusionKind, OperatorRecord, PrecisionRule, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.tir.expr import Value


@frozen
class AffineGridAttributes(Attributes):
    """`target_shape`: the extents of the image that the places are for."""

    target_shape: tuple[IntExpr, ...]
    align_corners: bool = True

    def fraction(self, step: Any, extent: Any) -> tuple[Any, Any]:
        """`(numerator, denominator)` of the place, from -1 to 1, of an element of an axis, as whole numbers. Of one
        element alone that is the middle."""
        if not self.align_corners:
            return step * 2 + 1 - extent, extent
        gaps = extent - 1
        return step * 2 - gaps, maximum(gaps, 1) if not isinstance(gaps, int) else max(gaps, 1)


def _rule(run: RelationRun, attributes: AffineGridAttributes) -> TensorType:
    """data[N, axes, axes + 1] → [N, axes, *target_shape]"""
    spatial = len(attributes.target_shape)
    if not spatial:
        run.conflict("wrong-attribute", "`target_shape` must have an axis", "one extent or more", "()")
    data = run.tensor(0, 3)
    run.dtype_in(0, lambda dtype: dtype.is_float, "a floating-point type")
    run.equal(spatial, data.shape[1], "axis 1 of `data`, as many as axes of the target", (0,))
    run.equal(spatial + 1, data.shape[2], "axis 2 of `data`, one more than axes of the target", (0,))
    return TensorType((data.shape[0], spatial, *attributes.target_shape), data.dtype)


def _meaning(attributes: AffineGridAttributes, data: Array) -> Array:
    theta, shape = wide(data), attributes.target_shape
    spatial = len(shape)
    total = theta[:, :, spatial].reshape(*theta.shape[:2], *(1,) * spatial)
    for axis, extent in enumerate(shape):
        numerator, denominator = attributes.fraction(np.arange(int(extent)), int(extent))  # pyright: ignore[reportArgumentType]
        line = numerator.astype(theta.dtype) / theta.dtype.type(denominator)
        column = theta[:, :, spatial - 1 - axis].reshape(*theta.shape[:2], *(1,) * spatial)
        total = total + column * line.reshape(-1, *(1,) * (spatial - 1 - axis))
    return to_dtype(total, dtype_of(data.dtype))


def _compute(attributes: AffineGridAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    (theta,) = inputs
    dtype, spatial = theta.dtype.computation, len(result.shape) - 2

    def element(*i: IntExpr) -> Value:
        instance, row, *at = i
        total = te.cast(theta[instance, row, spatial], dtype)
        for axis, extent in enumerate(attributes.target_shape):
            numerator, denominator = attributes.fraction(at[axis], extent)
            place = te.index_value(numerator, dtype) / te.index_value(denominator, dtype)
            total = total + te.cast(theta[instance, row, spatial - 1 - axis], dtype) * place
        return te.cast(total, result.dtype)

    return te.compute(result.shape, element, name="affine_grid")


AFFINE_GRID = define(
    "image.affine_grid",
    "The places of an image, from -1 to 1 along each axis, as an affine map moves them.",
    inputs={"data": "[N, axes, axes + 1]: the map of each instance, first the row of the last axis"},
    attributes=AffineGridAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.INJECTIVE,
    layout=OwnLayout("rows of the map are axes of the image"),
    floating_point=FloatingPointClass.ROUNDING,
    precision=PrecisionRule.WIDE,
    effect=Effect.PURE,
    gradient=gradient_above("sampling", "of_affine_grid"),
    batch=HasBatchAxis(),
    scale=NO_SCALE_YET,
    support_level=5,
)

AFFINE_GRIDS: tuple[OperatorRecord, ...] = (AFFINE_GRID,)


def affine_grid(data: Argument, target_shape: Sequence[IntExpr], align_corners: bool = True) -> Call:
    """data[N, axes, axes + 1] → [N, axes, *target_shape]: the places that `image.grid_sample` reads, for a result whose
    element at a place p is to be what the image has at `data` · (p, 1).

    -1 and 1 are the middles of the outer elements, or without `align_corners` their outer edges. Raises `RelayError`:
    `wrong-attribute`, `wrong-rank`, `wrong-dtype`, `extents-differ`.

    >>> from relay.ops.framework.build import var
    >>> print(affine_grid(var("theta", shape=("n", 2, 3)), (8, 9)).checked_type)
    Tensor[(n, 2, 8, 9), float32]
    """
    return call(AFFINE_GRID, (data,), AffineGridAttributes(dimensions(target_shape), align_corners))
