"""Places that indices name, as gathers read them: negative ones count from the end, and what is outside is clipped, so
that nothing outside of the data is ever read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.ir.types import Dimension
from relay.ops.framework.dimensions import product
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.tir.expr import Value


def wide_index(indices: te.Tensor, at: Sequence[IntExpr]) -> Value:
    return te.cast(indices[tuple(at)], DType.INT64)


def clipped(place: Value, extent: IntExpr) -> Value:
    return te.maximum(te.minimum(place, te.index_value(extent - 1, DType.INT64)), 0)


def from_end(place: Value, extent: IntExpr) -> Value:
    """A place inside the data: negative ones count from the end, then all are clipped."""
    return clipped(te.select(te.less(place, 0), place + te.index_value(extent, DType.INT64), place), extent)


def from_end_array(places: Array, extent: int) -> Array:
    places = places.astype(np.int64)
    return np.clip(np.where(places < 0, places + extent, places), 0, max(extent - 1, 0))


def no_empty_source(run: RelationRun, extent: Dimension, indices: Sequence[Dimension]) -> None:
    """A conflict where something is read along an axis that has nothing."""
    if extent == 0 and product(indices) != 0:
        run.conflict("empty-source", "there is nothing to take from an axis of extent 0", "1 or more", "0", (0,))
