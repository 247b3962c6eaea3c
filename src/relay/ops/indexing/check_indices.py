"""Indices that must lie inside an axis: check_indices.

The result is the input. What reads elements by computed indices (`take`, `gather`, `gather_nd`) moves those outside to
the ends or counts them round; a language in which they are errors checks them first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, Type
from relay.ops.framework.batch_rule import MAY_FAIL
from relay.ops.framework.build import Argument, call, items
from relay.ops.framework.elementwise import INTEGERS
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import PIECEWISE_CONSTANT, FusionKind, IndexFault, OperatorRecord, define
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.symbolic_integer import integer
from relay.runtime.artefact.status import index_error
from relay.tir.expr import Value


@frozen
class CheckIndicesAttributes(Attributes):
    """`extents`: one, which all indices keep to, or one for each entry of their last axis. `what` takes them: a node of
    a model, or a line of a program."""

    extents: tuple[IntExpr, ...]
    what: str


def _rule(run: RelationRun, attributes: CheckIndicesAttributes) -> Type:
    """indices[.., k] → indices[.., k]"""
    indices, extents = run.tensor(0), attributes.extents
    run.dtype_in(0, *INTEGERS)
    if not extents or any(extent == ANY or (isinstance(extent, int) and extent < 0) for extent in extents):
        run.conflict("wrong-attribute", "`extents` must be those of axes", "extents of 0 or more", str(extents))
    if len(extents) > 1:
        if not indices.shape:
            run.conflict("wrong-rank", "`extents` has one entry for each entry of the last axis of `indices`",
                         f"[.., {len(extents)}]", str(indices), (0,))  # fmt: skip
        run.equal(indices.shape[-1], len(extents), "the last axis of `indices`, which `extents` counts,", (0,))
    return indices


def _meaning(attributes: CheckIndicesAttributes, indices: Array) -> Array:
    limits = np.asarray([int(integer(extent, DType.INT64)) for extent in attributes.extents], np.int64)
    wide = np.atleast_1d(indices).astype(np.int64)
    outside = (wide < -limits) | (wide >= limits)
    if bool(outside.any()):
        place = np.argwhere(outside)[0]
        extent = limits[place[-1] if len(limits) > 1 else 0]
        raise index_error(attributes.what, int(wide[tuple(place)]), int(extent))
    return indices


def _fault(attributes: CheckIndicesAttributes, inputs: tuple[te.Tensor], _: Type) -> te.Tensor:
    """The least and the greatest index of each extent, of which one may lie outside."""
    (indices,) = inputs
    extents, shape = attributes.extents, indices.shape
    outer = shape if len(extents) == 1 else shape[:-1]

    def extreme(reduce: Callable[..., Any], entry: Sequence[IntExpr]) -> Value:
        axes = [te.reduce_axis(extent, f"j{axis}") for axis, extent in enumerate(outer)]
        element = te.cast(indices[(*axes, *entry)], DType.INT64)
        return reduce(element, axis=axes) if axes else element

    found: list[Value] = [te.const(0, DType.INT64), te.const(1, DType.INT64)]
    for position, extent in enumerate(extents):
        entry = (position,) if len(extents) > 1 else ()
        least, greatest = (
            te.compute((), lambda reduce=reduce, entry=entry: extreme(reduce, entry), name=name)[()]
            for reduce, name in ((te.min, "least"), (te.max, "greatest"))
        )
        limit = te.index_value(extent, DType.INT64)
        below, above = te.less(least, -limit), te.greater_equal(greatest, limit)
        outside = te.logical_or(below, above)
        found = [
            te.select(outside, te.select(below, least, greatest), found[0]),
            te.select(outside, limit, found[1]),
        ]
    return te.compute((2,), lambda i: te.select(te.equal(i, 0), found[0], found[1]), name="check_indices")


CHECK_INDICES = define(
    "check_indices",
    "The input, integers that must be indices of an axis; negative ones count from its end.",
    inputs={"indices": "[..] or [.., k], integers"},
    attributes=CheckIndicesAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=lambda _, inputs, result: te.compute(result.shape, lambda *i: inputs[0][i], name="check_indices"),
    fusion=FusionKind.OPAQUE,
    layout=OwnLayout("its indices count axes in their order"),
    gradient=PIECEWISE_CONSTANT,
    fault=IndexFault(_fault, lambda attributes: attributes.what),
    effect=Effect.MAY_FAIL,
    is_view=True,
    batch=MAY_FAIL,
    support_level=10,
)

INDEX_CHECKS: tuple[OperatorRecord, ...] = (CHECK_INDICES,)


def check_indices(indices: Argument, extents: Sequence[IntExpr], what: str) -> Call:
    """indices[..] → the same, where each is an index of an axis: from -extent to extent - 1. With several `extents`,
    indices[.., k], one for each k. When the program runs, an index outside ends it with an error (`index-out-of-range`)
    which says that `what` was given it.

    Raises `RelayError`: `wrong-dtype`, `wrong-attribute`.

    >>> from relay.ops.framework.build import var
    >>> print(check_indices(var("ids", shape=("n",), dtype="int64"), (1000,), "the table").checked_type)
    Tensor[(n,), int64]
    """
    return call(CHECK_INDICES, (indices,), CheckIndicesAttributes(items(extents), what))
