"""Register tiles: how many rows and how many columns accumulate at a time.

With V vectors a row, V·rows accumulators, V vectors of the weight and one broadcast must fit the registers. Wide tiles
load less for each product; narrow ones take more rows, and leave fewer lanes empty where there are few columns.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.ir.expr import Op, Var
from relay.ops.conv import Conv2DAttributes
from relay.ops.layouts import parse_layout
from relay.ops.winograd import WinogradAttributes
from relay.targets.cpu.emit.context import dot_instructions, float_dot_instructions
from relay.targets.cpu.intrinsics.product_by_tiles import STEP_WORDS
from relay.targets.cpu.schedules.plan import Plan, even_tile
from relay.targets.cpu.target import CpuTarget
from relay.te.tensor import Tensor
from relay.transform.framework.context import WordPreferences, fitting_block

CONVOLUTION = (2, 3, 4, 1)
PRODUCT = (4, 3, 2, 1)
"""Vectors in the width of a tile, by preference."""

_PACKED_DENSE = ("nn.contrib_dense_pack", "nn.contrib_dense_words")
FEW_ROWS_TO_WIDEN = 8
"""Rows up to which a product reads bfloat16 weights as they are, although it multiplies in float32."""
_MOST_ROWS = 14
_TILE_WIDTHS = (32, 16)  # of AMX
_WIDEST_WITH_FEW_REGISTERS = 3


def tile_widths(target: CpuTarget, vectors: tuple[int, ...]) -> tuple[int, ...]:
    """The widths of tiles, in elements, by preference."""
    lanes = target.register_bits // 32
    few = target.register_count < 32
    return tuple(count * lanes for count in vectors if not few or count <= _WIDEST_WITH_FEW_REGISTERS)


def tile_dtypes(target: CpuTarget) -> tuple[DType, ...]:
    """The types of data that a machine multiplies by the tiles of AMX."""
    if not target.has("amx-tile"):
        return ()
    bytes_ = (DType.INT8, DType.UINT8) if target.has("amx-int8") else ()
    return (*bytes_, DType.BFLOAT16) if target.has("amx-bf16") else bytes_


def word_preferences(target: CpuTarget) -> WordPreferences | None:
    """The products that there are instructions for: of bytes, of bfloat16, or none."""
    lanes = target.register_bits // 32
    by_tiles = tile_dtypes(target)
    found = list(by_tiles)
    if lanes in dot_instructions(target):
        found += [DType.INT8, DType.UINT8]
    if lanes in float_dot_instructions(target):
        found.append(DType.BFLOAT16)
    if by_tiles:
        return WordPreferences(tuple(dict.fromkeys(found)), _TILE_WIDTHS, _TILE_WIDTHS, STEP_WORDS)
    if not found:
        return None
    return WordPreferences(tuple(found), tile_widths(target, CONVOLUTION), tile_widths(target, PRODUCT))


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
