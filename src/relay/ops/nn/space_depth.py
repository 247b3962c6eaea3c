"""Space for channels and back: nn.depth_to_space, nn.space_to_depth.   data[N, C, H, W]"""

from __future__ import annotations

from functools import partial
from typing import Any

from relay import te
from relay.arith.expr import Comparison, IntExpr
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, Dimension, TensorType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call
from relay.ops.framework.dimensions import derived, quotient
from relay.ops.framework.layout_rule import LayoutAttribute
from relay.ops.framework.layouts import parse_layout, relayout
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.ops.framework.window import check_layout


@frozen
class SubPixelAttributes(Attributes):
    """`mode` (of depth_to_space): `DCR` has the block's position above the channels, `CDR` below."""

    block_size: int = 1
    layout: str = "NCHW"
    mode: str = "DCR"


def _part(run: RelationRun, extent: Dimension, factor: int, axis: str) -> Dimension:
    if extent is ANY:
        return ANY
    exact = quotient(extent, factor)
    if exact is None:
        run.require(Comparison(extent % factor, "==", 0), "block-does-not-divide",
                    f"axis {axis} of `data`, {extent}, must be a multiple of {factor}", (0,))  # fmt: skip
        return extent // factor
    return exact


def _rule(to_space: bool, run: RelationRun, attributes: SubPixelAttributes) -> Type:
    layout = parse_layout(attributes.layout)
    check_layout(run, ("H", "W"), layout)
    data = run.tensor(0, layout.rank)
    block = attributes.block_size
    if block < 1 or attributes.mode not in ("DCR", "CDR"):
        run.conflict("wrong-attribute", "`block_size` must be at least 1 and `mode` DCR or CDR", "",
                     f"{block}, {attributes.mode}")  # fmt: skip
    extents = layout.extents(data.shape)
    grown = {axis: derived(lambda e: e * block, extents[axis]) for axis in "HW"}
    if to_space:
        changed = {"C": _part(run, extents["C"], block * block, "C"), **grown}
    else:
        changed = {"C": derived(lambda c: c * block * block, extents["C"]),
                   **{axis: _part(run, extents[axis], block, axis) for axis in "HW"}}  # fmt: skip
    return TensorType(layout.shape({**extents, **changed}), data.dtype)


def _meaning(to_space: bool, attributes: SubPixelAttributes, data: Array) -> Array:
    layout, plain = parse_layout(attributes.layout), parse_layout("NCHW")
    x = relayout(data, layout, plain)
    n, c, h, w = x.shape
    b = attributes.block_size
    if to_space:
        if attributes.mode == "DCR":
            y = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
        else:
            y = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
        y = y.reshape(n, c // (b * b), h * b, w * b)
    else:
        y = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)
    return relayout(y, plain, layout)


def _compute(to_space: bool, attributes: SubPixelAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    (data,) = inputs
    layout = parse_layout(attributes.layout)
    b = attributes.block_size
    source, target = layout.extents(data.shape)["C"], layout.extents(result.shape)["C"]

    def element(*indices: IntExpr) -> Any:
        at = layout.positions(indices)
        row, column, channel = at["H"], at["W"], at["C"]
        if to_space:
            offset = (row % b) * b + column % b
            channel = offset * target + channel if attributes.mode == "DCR" else channel * b * b + offset
            place = {"C": channel, "H": row // b, "W": column // b}
        else:
            offset = channel // source
            place = {"C": channel % source, "H": row * b + offset // b, "W": column * b + offset % b}
        return data[layout.indices({**at, **place})]

    return te.compute(result.shape, element, name="depth_to_space" if to_space else "space_to_depth")


def _record(name: str, description: str, to_space: bool) -> OperatorRecord:
    return define(
        name,
        description,
        inputs={"data": "[N, C, H, W] in the order of layout"},
        attributes=SubPixelAttributes,
        type_rule=partial(_rule, to_space),
        meaning=partial(_meaning, to_space),
        compute=partial(_compute, to_space),
        fusion=FusionKind.INJECTIVE,
        layout=LayoutAttribute("layout"),
        effect=Effect.PURE,
        gradient=gradient_above("windows", "of_depth_to_space" if to_space else "of_space_to_depth"),
        batch=NO_BATCH_RULE_YET,
        scale=MOVES_ELEMENTS,
        support_level=5,
    )


DEPTH_TO_SPACE = _record("nn.depth_to_space", "Channels laid out in blocks of space.", True)
SPACE_TO_DEPTH = _record("nn.space_to_depth", "Blocks of space laid out in channels.", False)

SPACE_DEPTH: tuple[OperatorRecord, ...] = (DEPTH_TO_SPACE, SPACE_TO_DEPTH)


def depth_to_space(data: Argument, block_size: int, layout: str = "NCHW", mode: str = "DCR") -> Call:
    """data[N, C, H, W] → [N, C / b², H · b, W · b] with b = `block_size`; `mode` as ONNX has it.

    Raises `RelayError`: `block-does-not-divide`, `wrong-attribute`, `bad-layout`, `wrong-rank`.
    """
    return call(DEPTH_TO_SPACE, (data,), SubPixelAttributes(block_size, layout, mode))


def space_to_depth(data: Argument, block_size: int, layout: str = "NCHW") -> Call:
    """data[N, C, H, W] → [N, C · b², H / b, W / b] with b = `block_size`. Errors as those of `depth_to_space`."""
    return call(SPACE_TO_DEPTH, (data,), SubPixelAttributes(block_size, layout))
