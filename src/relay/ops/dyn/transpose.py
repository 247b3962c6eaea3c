"""The axes in an order that the run knows: dyn.transpose."""

from __future__ import annotations

from relay import te
from relay.arith.expr import IntExpr
from relay.ir.attributes import Attributes, NoAttributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops.dyn.extents import LONG, OWN_SHAPE, entries, refuse, shape_rank, told
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES
from relay.ops.framework.build import Argument, call
from relay.ops.framework.record import FromValues, FusionKind, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.tir.expr import Value

_FAILURES = ("`axes` must name every axis of the data once",)


def _rule(run: RelationRun, _: Attributes) -> Type:
    """data[..] × axes[rank] → [.. in the order of axes]"""
    data, count = run.tensor(0), shape_rank(run, 1)
    if count != len(data.shape):
        run.conflict("wrong-shape", "`axes` must have an entry for each axis of `data`", str(len(data.shape)),
                     str(count), (0, 1))  # fmt: skip
    return TensorType((ANY,) * count, data.dtype)


def _meaning(_: Attributes, data: Array, axes: Array) -> Array:
    order = [int(axis) + data.ndim if axis < 0 else int(axis) for axis in axes]
    return data.transpose(order) if sorted(order) == list(range(data.ndim)) else refuse(_FAILURES, 0, axes.tolist())


def _order(axes: te.Tensor) -> list[Value]:
    """Counted from the front."""
    rank = axes.shape[0]
    return [te.select(te.less(axis, 0), axis + te.index_value(rank, LONG), axis) for axis in entries(axes)]


def _extents(_: Attributes, inputs: tuple[te.Tensor, ...], __: Type) -> te.Tensor:
    data, order = inputs[0], _order(inputs[1])
    missing = [te.all_of(te.not_equal(named, axis) for named in order) for axis in range(len(order))]
    shape = [te.index_value(extent, LONG) for extent in data.shape]
    extents: list[Value] = []
    for named in order:
        extent = shape[-1]
        for axis in range(len(shape) - 1):
            extent = te.select(te.equal(named, axis), shape[axis], extent)
        extents.append(extent)
    return told([te.any_of(missing)], extents, "transpose_extents")


def _compute(_: Attributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data, order = inputs[0], _order(inputs[1])

    def place(axis: int, indices: tuple[IntExpr, ...]) -> IntExpr:
        at: Value = te.const(0, LONG)
        for named, index in zip(order, indices, strict=True):
            at = te.select(te.equal(named, axis), te.index_value(index, LONG), at)
        # A place is in range by its making; the clip says so where that cannot be seen.
        return te.as_index(te.maximum(te.minimum(at, te.index_value(data.shape[axis] - 1, LONG)), 0))

    def element(*i: IntExpr) -> Value:
        return data[tuple(place(axis, i) for axis in range(len(order)))]

    return te.compute(result.shape, element, name="transpose")


TRANSPOSE = define(
    "dyn.transpose",
    "The axes in an order that is computed at run time.",
    inputs={"data": "[..]", "axes": "[rank], integers: for each axis of the result, the axis of the data that it is"},
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OPAQUE,
    layout=OWN_SHAPE,
    extents=FromValues(_extents, _FAILURES),
    effect=Effect.PURE,
    gradient=gradient_above("dynamic", "of_transpose"),
    batch=DEPENDS_ON_VALUES,
    scale=MOVES_ELEMENTS,
    support_level=3,
)


def transpose(data: Argument, axes: Argument) -> Call:
    """data[..] with its axes in the order `axes`, which may count from the end. Raises `unknown-rank`, `wrong-shape`,
    `wrong-dtype`."""
    return call(TRANSPOSE, (data, axes), NoAttributes())
