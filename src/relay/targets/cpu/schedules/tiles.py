"""Register tiles: how many rows and how many columns accumulate at a time.

With V vectors a row, V·rows accumulators, V vectors of the weight and one broadcast must fit the registers. Wide tiles
load less for each product; narrow ones take more rows, and leave fewer lanes empty where there are few columns.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.target import Target
from relay.ir.expr import Op, Var
from relay.ops.conv import Conv2DAttributes
from relay.ops.layouts import parse_layout
from relay.ops.winograd import WinogradAttributes
from relay.targets.cpu.schedules.plan import Plan, even_tile
from relay.te.tensor import Tensor
from relay.transform.context import fitting_block

CONVOLUTION = (2, 3, 4, 1)
PRODUCT = (4, 3, 2, 1)
"""Vectors in the width of a tile, by preference."""

_PACKED_DENSE = ("nn.contrib_dense_pack", "nn.contrib_dense_words")
_MOST_ROWS = 14
_WIDEST_WITH_FEW_REGISTERS = 3


def tile_widths(target: Target, vectors: tuple[int, ...]) -> tuple[int, ...]:
    """The widths of tiles, in elements, by preference."""
    lanes = target.register_bits // 32
    few = target.register_count < 32
    return tuple(count * lanes for count in vectors if not few or count <= _WIDEST_WITH_FEW_REGISTERS)


def tile_width(plan: Plan, columns: IntExpr, vectors: tuple[int, ...]) -> int:
    """The width of the tile: that of the blocks of packed weights, else what leaves the fewest lanes empty."""
    packed = packed_weight(plan)
    if packed is not None and isinstance(packed.shape[-1], int):
        return packed.shape[-1]
    widths = tile_widths(plan.target, vectors)
    return fitting_block(widths, columns) if isinstance(columns, int) else widths[0]


def tile_rows(plan: Plan, rows: IntExpr, width: int) -> int:
    """As many rows as registers allow, in equal parts."""
    return even_tile(rows, most_rows(plan, width))


def most_rows(plan: Plan, width: int) -> int:
    """How many rows of a tile the registers hold. AArch64 multiplies by a lane of a vector, so LLVM loads the factors
    of four steps at once and keeps a vector of them for each row."""
    vectors = -(-width // plan.vector_lanes)
    registers = plan.target.register_count - vectors
    lanewise = plan.target.triple.startswith(("aarch64", "arm64"))
    rows = registers // (vectors + 1) if lanewise else (registers - 1) // vectors
    return min(_MOST_ROWS, max(1, rows))


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
