"""Register tiles: how many rows and how many columns accumulate at a time.

With V vectors a row, V·rows accumulators, V vectors of the weight and one broadcast must fit the registers. Wide tiles
load less for each product; narrow ones take more rows, and leave fewer lanes empty where there are few columns.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.ir.expr import Op, Var
from relay.ops.framework.layouts import parse_layout
from relay.ops.nn.conv import Conv2DAttributes
from relay.ops.nn.winograd import WinogradAttributes
from relay.targets.cpu.core import Core, core_of
from relay.targets.cpu.emit.context import dot_instructions, float_dot_instructions
from relay.targets.cpu.intrinsics.product_by_tiles import STEP_WORDS
from relay.targets.cpu.schedules.plan import Plan, even_tile
from relay.targets.cpu.target import CpuTarget
from relay.te.schedule.space import Decider
from relay.te.tensor import Tensor
from relay.transform.algorithms.pack_dot_products import PackedDotProducts
from relay.transform.framework.context import fitting_block

_PACKED_DENSE = ("nn.contrib_dense_pack", "nn.contrib_dense_words")
_AMX_WIDTHS = (32, 16)
"""Two tiles of AMX side by side, or one."""


def tile_dtypes(target: CpuTarget) -> tuple[DType, ...]:
    """The types of data that a machine multiplies by the tiles of AMX."""
    if not target.has("amx-tile"):
        return ()
    bytes_ = (DType.INT8, DType.UINT8) if target.has("amx-int8") else ()
    return (*bytes_, DType.BFLOAT16) if target.has("amx-bf16") else bytes_


def packed_dot_products(target: CpuTarget) -> PackedDotProducts | None:
    """The packed dot products (VNNI layout) that there are instructions for: of bytes, of bfloat16, or none."""
    core, by_amx = core_of(target), tile_dtypes(target)
    found = list(by_amx)
    if core.vector_lanes in dot_instructions(target):
        found += [DType.INT8, DType.UINT8]
    if core.vector_lanes in float_dot_instructions(target):
        found.append(DType.BFLOAT16)
    if by_amx:
        return PackedDotProducts(tuple(dict.fromkeys(found)), _AMX_WIDTHS, _AMX_WIDTHS, STEP_WORDS)
    if not found:
        return None
    return PackedDotProducts(
        tuple(found), core.widths(core.convolution_vectors), core.widths(core.product_vectors)
    )  # fmt: skip


def decide_width(plan: Plan, columns: IntExpr, vectors: tuple[int, ...], pick: Decider) -> int:
    """The width of the tile: that of the blocks of packed weights, else what leaves the fewest lanes empty."""
    packed = packed_weight(plan)
    if packed is not None and isinstance(packed.shape[-1], int):
        return pick("width", packed.shape[-1], (), "the blocks in which weights are packed")
    widths = plan.core.widths(vectors)
    if not isinstance(columns, int):
        return pick("width", widths[0], widths, "the width preferred for an unknown number of columns")
    return pick("width", fitting_block(widths, columns), widths, f"leaves the fewest lanes empty of {columns}")


def decide_rows(plan: Plan, rows: IntExpr, width: int, pick: Decider) -> int:
    """The rows of a tile: as many as registers allow, in equal parts."""
    most = most_rows(plan.core, width)
    return pick(
        "rows", even_tile(rows, most), range(1, most + 1), f"registers hold {most}, and parts of {rows} are even"
    )


def most_rows(core: Core, width: int) -> int:
    """How many rows of a tile the registers hold."""
    vectors = -(-width // core.vector_lanes)
    registers = core.register_count - vectors
    rows = registers // (vectors + 1) if core.multiplies_by_lane else (registers - 1) // vectors
    return min(core.most_tile_rows, max(1, rows))


def packed_weight(plan: Plan) -> Tensor | None:
    """The weight of the group's heavy operator, if its output channels are packed in blocks, innermost."""
    for call, _ in plan.group.anchors:
        dense = isinstance(call.op, Op) and call.op.name in _PACKED_DENSE
        convolution = (
            isinstance(call.attrs, (Conv2DAttributes, WinogradAttributes))
            and parse_layout(call.attrs.kernel_layout).blocks
        )
        if dense or convolution:
            weight = call.args[1]
            return next((t for t in plan.group.inputs if isinstance(weight, Var) and t.name == weight.name_hint), None)
    return None
