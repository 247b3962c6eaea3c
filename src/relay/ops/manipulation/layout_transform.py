"""Data in another layout: layout_transform."""

from __future__ import annotations

from typing import Any

from relay import te
from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.framework.batch_rule import LAYS_OUT
from relay.ops.framework.build import Argument, call
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.layouts import parse_layout, relayout
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.tir.expr import Value


@frozen
class LayoutTransformAttributes(Attributes):
    src_layout: str
    dst_layout: str


def _rule(run: RelationRun, attributes: LayoutTransformAttributes) -> Type:
    """data in src_layout → the same data in dst_layout, blocks padded with zeros"""
    source, destination = parse_layout(attributes.src_layout), parse_layout(attributes.dst_layout)
    if set(source.axes) != set(destination.axes):
        run.conflict("bad-layout", "`src_layout` and `dst_layout` must name the same axes",
                     f"an order of {', '.join(sorted(source.axes))}", attributes.dst_layout)  # fmt: skip
    data = run.tensor(0, source.rank)
    for letter, extent in zip(source.letters, data.shape, strict=True):
        if letter.islower():
            run.equal(source.block(letter), extent, f"the block of {letter.upper()} in `data`", (0,))
    return TensorType(destination.shape(source.extents(data.shape)), data.dtype)


def _compute(attributes: LayoutTransformAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    (data,) = inputs
    source, destination = parse_layout(attributes.src_layout), parse_layout(attributes.dst_layout)
    extents = source.extents(data.shape)

    def element(*indices: IntExpr) -> Value:
        at = destination.positions(indices)
        value: Value = data[source.indices(at)]
        guards = [
            te.less(at[axis], extents[axis])
            for axis in destination.axes
            if _pads(destination.block(axis), extents[axis])
        ]
        return te.select(te.all_of(guards), value, te.const(0, data.dtype)) if guards else value

    return te.compute(result.shape, element, name="layout_transform")


def _pads(block: int, extent: IntExpr) -> bool:
    return block > 1 and extent % block != 0


def _meaning(attributes: LayoutTransformAttributes, data: Any) -> Any:
    return relayout(data, parse_layout(attributes.src_layout), parse_layout(attributes.dst_layout))


LAYOUT_TRANSFORM = define(
    "layout_transform",
    "The data in another layout; blocks are padded with zeros.",
    inputs={"data": "in the layout src_layout"},
    attributes=LayoutTransformAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.INJECTIVE,
    layout=OwnLayout("it is what changes layouts"),
    effect=Effect.PURE,
    gradient=gradient_above("manipulation", "of_layout_transform"),
    batch=LAYS_OUT,
    scale=MOVES_ELEMENTS,
    support_level=5,
)

LAYOUT_TRANSFORMS: tuple[OperatorRecord, ...] = (LAYOUT_TRANSFORM,)


def layout_transform(data: Argument, src_layout: str, dst_layout: str) -> Call:
    """`data` in another layout: `NCHW` to `NHWC`, `OIHW` to `OHWI64o`. Blocks are padded with zeros to whole ones;
    from blocks to none, that padding stays.

    Raises `RelayError`: `bad-layout`, `wrong-rank`, `extents-differ`.

    >>> from relay.ops.framework.build import var
    >>> print(layout_transform(var("w", shape=(100, 3, 7, 7)), "OIHW", "OHWI64o").checked_type)
    Tensor[(2, 7, 7, 3, 64), float32]
    """
    return call(LAYOUT_TRANSFORM, (data,), LayoutTransformAttributes(src_layout, dst_layout))


def in_layout(data: Expr, src_layout: str, dst_layout: str) -> Expr:
    """`data` in another layout, or as they are where that is theirs. Raises what `layout_transform` raises."""
    return data if src_layout == dst_layout else layout_transform(data, src_layout, dst_layout)
