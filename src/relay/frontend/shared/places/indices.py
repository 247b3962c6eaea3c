"""Indices of elements, which a model may count from the end, and which must lie inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.formulas.products import broadcast_shape
from relay.frontend.shared.node import Node
from relay.frontend.shared.value import Value, is_symbolic
from relay.ir.expr import Call, Expr, const
from relay.ops.indexing.check_indices import check_indices
from relay.ops.indexing.index import gather, take
from relay.ops.manipulation.combine import stack
from relay.ops.manipulation.slice import slice_like
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import transpose
from relay.runtime.artefact.status import index_error


def checked(indices: Value, extents: Sequence[IntExpr], what: str) -> Expr:
    """The indices, or what ends the run where they lie outside of axes of these extents; `what` is given them. Those
    that are known now are looked at now.

    Raises `RelayError` (rule `index-out-of-range`).
    """
    known = indices.known
    if known is None or known.dtype.kind not in "iu" or not all(isinstance(extent, int) for extent in extents):
        return check_indices(indices.expr, extents, what)
    limits = np.broadcast_to(np.asarray(extents if len(extents) > 1 else extents[0], np.int64), known.shape)
    outside = (known < -limits) | (known >= limits)
    if bool(np.any(outside)):
        raise index_error(what, int(known[outside][0]), int(limits[outside][0]))
    return indices.expr


def taken(data: Value, indices: Value, axis: int, what: str) -> Call:
    """data[.., e, ..] × indices[..] → [.., indices, ..]. Indices may be negative; known ones are made plain here.

    Raises `RelayError` (rule `index-out-of-range`).
    """
    extent, known = data.shape[axis], indices.known
    inside = checked(indices, (extent,), what)
    if known is None or is_symbolic(known) or not isinstance(extent, int):
        return take(data.expr, inside, axis=axis, mode="wrap")
    if not bool(np.any(known < 0)):
        return take(data.expr, inside, axis=axis)
    return take(data.expr, const(np.where(known < 0, known + extent, known)), axis=axis)


def places_of(node: Node, data: Value, chosen: Mapping[int, Value], what: str) -> tuple[Expr, tuple[IntExpr, ...]]:
    """Indices of some axes, which broadcast, as one tensor [axes, ..] of places, and the shape of the rest."""
    shape = reduce(lambda left, right: broadcast_shape(node, left, right), (each.shape for each in chosen.values()))
    places = stack([broadcast_to(as_dtype(each.expr, DType.INT64), shape) for each in chosen.values()], len(shape))
    inside = check_indices(places, tuple(data.shape[axis] for axis in chosen), what)
    return transpose(inside, (len(shape), *range(len(shape)))), shape


def gathered(data: Value, indices: Value, axis: int, what: str) -> Call:
    """data[.., e, ..] × indices[.., k, ..] → [.., k, ..]; along the other axes the indices may be fewer.

    Raises `RelayError` (rule `index-out-of-range`).
    """
    inside = checked(indices, (data.shape[axis],), what)
    fewer = [at for at, count in enumerate(indices.shape) if at != axis and count != data.shape[at]]
    return gather(slice_like(data.expr, inside, fewer) if fewer else data.expr, axis, inside)
