"""More elements around a tensor, or fewer, as the run knows: dyn.nn.pad."""

from __future__ import annotations

from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops.dyn.extents import LONG, OWN_SHAPE, refuse, told
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES
from relay.ops.framework.build import Argument, as_expr, call, known_dtype
from relay.ops.framework.elementwise import INTEGERS
from relay.ops.framework.record import FromValues, FusionKind, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, element_type, to_dtype
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.tir.expr import Value


@frozen
class DynPadAttributes(Attributes):
    """`pad_mode`: `constant`, `edge`, `reflect`, which does not repeat the element at the end, or `wrap`."""

    pad_mode: str = "constant"


_MODES = ("constant", "edge", "reflect", "wrap")
_FAILURES = (
    "`pad_width` cuts more than an axis of the data has",
    "there is nothing to repeat around an axis without elements",
)


def _rule(run: RelationRun, attributes: DynPadAttributes) -> Type:
    """data[..] × pad_width[rank, 2] × pad_value → [rank unknown extents]"""
    data = run.tensor(0)
    rank = len(data.shape)
    run.dtype_in(1, *INTEGERS)
    run.tensor_like(1, (rank, 2), run.tensor(1).dtype, "it has (before, after) for each axis")
    if attributes.pad_mode not in _MODES:
        run.conflict("wrong-attribute", "the mode of padding is not known", ", ".join(_MODES), attributes.pad_mode)
    run.tensor_like(2, (), data.dtype, "it is one number of the type of `data`")
    return TensorType((ANY,) * rank, data.dtype)


def _places(mode: str, before: int, extent: int, after: int) -> tuple[Array, Array]:
    """Where in an axis each element of the padded one comes from, and whether it is one of the axis itself."""
    first, last = max(-before, 0), extent - max(-after, 0)
    if last < first or extent + before + after < 0:
        refuse(_FAILURES, 0, (before, after))
    kept = last - first
    at = np.arange(max(kept + max(before, 0) + max(after, 0), 0)) - max(before, 0)
    inside = (at >= 0) & (at < kept)
    if mode != "constant" and at.size and not kept:
        refuse(_FAILURES, 1, extent)
    period = max(2 * (kept - 1), 1)
    match mode:
        case "wrap":
            at = at % max(kept, 1)
        case "reflect":
            at = np.minimum(at % period, period - at % period) if kept > 1 else np.zeros_like(at)
        case _:
            at = np.clip(at, 0, max(kept - 1, 0))
    return at + first, inside


def _meaning(attributes: DynPadAttributes, data: Array, pad_width: Array, value: Array) -> Array:
    result, covered = data, np.asarray(True)
    for axis, (before, after) in enumerate(pad_width.tolist()):
        at, inside = _places(attributes.pad_mode, before, data.shape[axis], after)
        filler = np.zeros((*result.shape[:axis], len(at), *result.shape[axis + 1 :]), data.dtype)
        result = np.take(result, at, axis) if data.shape[axis] else filler
        covered = covered[..., None] & inside
    if attributes.pad_mode != "constant":
        return result
    return np.where(covered, result, to_dtype(value, element_type(data))).astype(data.dtype)


def _width(pad_width: te.Tensor, axis: int, side: int) -> Value:
    return te.cast(pad_width[(axis, side)], LONG)


def _kept(data: te.Tensor, pad_width: te.Tensor, axis: int) -> tuple[Value, Value]:
    """`(the first element that is not cut off, how many are left)`"""
    zero = te.const(0, LONG)
    first = te.maximum(zero - _width(pad_width, axis, 0), zero)
    cut = te.maximum(zero - _width(pad_width, axis, 1), zero)
    return first, te.index_value(data.shape[axis], LONG) - first - cut


def _extents(attributes: DynPadAttributes, inputs: tuple[te.Tensor, ...], _: Type) -> te.Tensor:
    data, pad_width, _value = inputs
    rank = len(data.shape)
    kept = [_kept(data, pad_width, axis)[1] for axis in range(rank)]
    sums = [
        te.index_value(data.shape[axis], LONG) + _width(pad_width, axis, 0) + _width(pad_width, axis, 1)
        for axis in range(rank)
    ]
    failures = [te.any_of(te.less(each, 0) for each in kept)]
    if attributes.pad_mode != "constant":
        failures.append(
            te.any_of(te.logical_and(te.equal(k, 0), te.less(0, total)) for k, total in zip(kept, sums, strict=True))
        )
    return told(failures, sums, "pad_extents")


def _compute(attributes: DynPadAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data, pad_width, value = inputs
    zero = te.const(0, LONG)

    def place(axis: int, index: IntExpr) -> tuple[Value, Value, Value]:
        """`(the place among the elements kept, how many they are, the first of them)`"""
        first, kept = _kept(data, pad_width, axis)
        at = te.index_value(index, LONG) - te.maximum(_width(pad_width, axis, 0), zero)
        return at, kept, first

    def folded(at: Value, kept: Value) -> Value:
        match attributes.pad_mode:
            case "wrap":
                return te.floor_modulo(at, te.maximum(kept, 1))
            case "reflect":
                period = te.maximum((kept - 1) * 2, 1)
                turn = te.floor_modulo(at, period)
                return te.select(te.less(1, kept), te.minimum(turn, period - turn), zero)
            case _:
                return at

    def element(*i: IntExpr) -> Value:
        indices: list[IntExpr] = []
        inside: list[Value] = []
        for axis, index in enumerate(i):
            at, kept, first = place(axis, index)
            inside += [te.greater_equal(at, 0), te.less(at, kept)]
            last = te.index_value(data.shape[axis] - 1, LONG)
            low = te.maximum(te.minimum(folded(at, kept), kept - 1), zero)
            indices.append(te.as_index(te.maximum(te.minimum(low + first, last), zero)))
        read = data[tuple(indices)]
        return te.select(te.all_of(inside), read, value[()]) if attributes.pad_mode == "constant" and inside else read

    return te.compute(result.shape, element, name="pad")


PAD = define(
    "dyn.nn.pad",
    "The tensor with a number, its edge, its reflection or itself around it; how wide is computed at run time.",
    inputs={
        "data": "[..]",
        "pad_width": "[rank, 2], integers: (before, after) of each axis; negative ones cut off",
        "pad_value": "a number",
    },
    attributes=DynPadAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OPAQUE,
    layout=OWN_SHAPE,
    extents=FromValues(_extents, _FAILURES),
    effect=Effect.PURE,
    gradient=gradient_above("dynamic", "of_pad"),
    batch=DEPENDS_ON_VALUES,
    scale=NO_SCALE_YET,
    support_level=2,
)


def pad(data: Argument, pad_width: Argument, pad_value: Any = 0, pad_mode: str = "constant") -> Call:
    """data[.., e, ..] → [.., before + e + after, ..] with (before, after) of each axis in `pad_width`. Negative widths
    cut off, before anything else is repeated. Raises `wrong-shape`, `wrong-dtype`, `wrong-attribute`."""
    expr = as_expr(data)
    value = pad_value if known_dtype(pad_value) else as_expr(pad_value, known_dtype(expr))
    return call(PAD, (expr, pad_width, value), DynPadAttributes(pad_mode))
