"""Products of words by the tiles of AMX: the micro-kernel of `schedules/tiled.py`, as statements.

A block is `sums[rows, columns] = Σ dot(word of data[rows, k], words[k, columns])`, with up to 32 rows and 32 columns:
two tiles of 16 × 16 sums down, two across. A step of the sum takes up to 16 words: a tile of data is rows × words, one
of weights words × columns, as `nn.contrib_dense_words` and `nn.contrib_conv2d_words` have them in memory.

    tile 0 1    sums                       tile_begin(rows of 4, rows of 5, columns of 6, columns of 7, words of a step)
         2 3                               tile_zero(tile)
    tile 4 5    data                       tile_load(tile, first element, bytes from row to row)
    tile 6 7    weights                    tile_dot4(sums, data, weights), tile_dot2(sums, data, weights)
                                           tile_store(tile, first element, bytes from row to row), tile_end(as begin)

Where fewer rows than a block has may be left, a second form takes one tile of rows at a time, as many as there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from relay.arith.expr import Comparison, IntExpr, Symbol, add, linear_parts, multiply, substitute
from relay.base.dtypes import DType
from relay.te.operation import scalar_indices
from relay.te.tensorize import Block, BlockIntrinsic, refused_block
from relay.tir.buffer import Buffer
from relay.tir.expr import Call, Holds, IndexValue, Load, Value, imm
from relay.tir.stmt import Evaluate, For, If, Sequence, Stmt

NAME = "product_by_tiles"
MOST_ROWS = MOST_COLUMNS = 32
STEP_WORDS = 16
_TILE = 16  # rows, and columns of 32 bits
_ITEM_BYTES = 4
_DATA, _WEIGHTS = 4, 6


@dataclass(frozen=True, slots=True)
class Operand:
    """A buffer at indices in terms of the block's loops."""

    buffer: Buffer
    indices: tuple[IntExpr, ...]

    def at(self, values: dict[Symbol, IntExpr]) -> Load:
        return Load(self.buffer, tuple(substitute(index, values) for index in self.indices))

    def step_bytes(self, loop: Symbol) -> int | None:
        """How far it is from one iteration of a loop to the next; None where that is not one number."""
        total, stride = 0, 1
        for index, extent in reversed(list(zip(self.indices, self.buffer.shape, strict=True))):
            factor = dict(linear_parts(index)[1]).get(loop, 0)
            if factor and not isinstance(stride, int):
                return None
            total += factor * stride if isinstance(stride, int) else 0
            stride = stride * extent if isinstance(stride, int) and isinstance(extent, int) else math.nan
        return total * self.buffer.dtype.item_bytes


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one tile of data: `count` from `first` on, of `Product.row`, in iteration `line` of the other."""

    line: int
    first: int
    count: IntExpr


@dataclass(frozen=True, slots=True)
class Product:
    """What a block multiplies. Loops: `line` (None: there is one line) and `row` over rows, `column`, and those that
    are summed over, of which the last, `depth`, is over words."""

    sums: Operand
    data: Operand
    weights: Operand
    dot: str
    lines: tuple[Symbol, int] | None
    row: tuple[Symbol, int] | None
    column: tuple[Symbol, int] | None
    around: tuple[tuple[Symbol, IntExpr], ...]
    depth: tuple[Symbol, int]
    limit: IntExpr | None
    """How many of the rows there may be, where that is not known to be all."""

    @property
    def row_count(self) -> int:
        return 1 if self.row is None else self.row[1]

    @property
    def line_count(self) -> int:
        return 1 if self.lines is None else self.lines[1]

    @property
    def column_counts(self) -> tuple[int, ...]:
        """The columns of each tile."""
        columns = 1 if self.column is None else self.column[1]
        return (columns,) if columns <= _TILE else (_TILE, columns - _TILE)

    @property
    def step(self) -> int:
        """Words of a step: the most that divide the depth."""
        return max(step for step in range(1, STEP_WORDS + 1) if self.depth[1] % step == 0)

    def at(self, operand: Operand, rows: Rows, column: int, depth: IntExpr) -> Load:
        values: dict[Symbol, IntExpr] = {self.depth[0]: depth}
        for loop, value in ((self.lines, rows.line), (self.row, rows.first), (self.column, column)):
            if loop is not None:
                values[loop[0]] = value
        return operand.at(values)

    def distance(self, operand: Operand, loop: tuple[Symbol, int] | None) -> int:
        return 0 if loop is None else operand.step_bytes(loop[0]) or 0


def product_by_tiles(block: Block) -> Stmt:
    """The statement that does a block. Raises `RelayError` (`schedule-tensorize`)."""
    product = _product(block)
    every = _halves(product)
    whole = _by_tiles(product, every)
    if product.limit is None:
        return whole
    parts = [_part(product, line, half) for line in range(product.line_count) for half in _starts(product)]
    fits = Holds(Comparison(product.row_count, "<=", product.limit))
    return If(fits, whole, Sequence(tuple(parts)))


PRODUCT_BY_TILES = BlockIntrinsic(NAME, product_by_tiles, sets=True)


def _starts(product: Product) -> range:
    return range(0, product.row_count, _TILE)


def _halves(product: Product) -> tuple[Rows, ...]:
    """One or two tiles of rows, as even as can be."""
    if product.line_count == 2:
        return Rows(0, 0, product.row_count), Rows(1, 0, product.row_count)
    if product.row_count <= _TILE:
        return (Rows(0, 0, product.row_count),)
    upper = (product.row_count + 1) // 2
    return Rows(0, 0, upper), Rows(0, upper, product.row_count - upper)


def _part(product: Product, line: int, start: int) -> Stmt:
    """One tile of rows, as many as there are; the machine's part is to take no more than a tile has."""
    assert product.limit is not None
    left = add(product.limit, -start)
    return If(Holds(Comparison(0, "<", left)), _by_tiles(product, (Rows(line, start, left),)))


def _by_tiles(product: Product, rows: tuple[Rows, ...]) -> Stmt:
    columns = product.column_counts
    sums = [(2 * i + j, each, j) for i, each in enumerate(rows) for j in range(len(columns))]
    shape = _shape(product, rows)
    row_bytes = product.distance(product.sums, product.row)
    parts = [
        _call("tile_begin", *shape),
        *(_call("tile_zero", _number(tile)) for tile, _, _ in sums),
        _accumulated(product, rows),
        *(
            _call(
                "tile_store", _number(tile), product.at(product.sums, each, j * _TILE, 0),
                _number(row_bytes or _TILE * _ITEM_BYTES),
            )
            for tile, each, j in sums
        ),
        _call("tile_end", *shape),
    ]  # fmt: skip
    return Sequence(tuple(parts))


def _accumulated(product: Product, rows: tuple[Rows, ...]) -> Stmt:
    """The loops over what is summed up."""
    counter = Symbol("step")
    depth = multiply(counter, product.step)
    body: list[Stmt] = []
    row_bytes = product.distance(product.data, product.row) or STEP_WORDS * _ITEM_BYTES
    weight_bytes = product.distance(product.weights, product.depth) or _TILE * _ITEM_BYTES
    for j in range(len(product.column_counts)):
        weights = product.at(product.weights, rows[0], j * _TILE, depth)
        body.append(_call("tile_load", _number(_WEIGHTS + j), weights, _number(weight_bytes)))
        for i, each in enumerate(rows):
            if j == 0:
                data = product.at(product.data, each, 0, depth)
                body.append(_call("tile_load", _number(_DATA + i), data, _number(row_bytes)))
            body.append(_call(f"tile_{product.dot}", *map(_number, (2 * i + j, _DATA + i, _WEIGHTS + j))))
    steps: Stmt = For(counter, product.depth[1] // product.step, Sequence(tuple(body)))
    for symbol, extent in reversed(product.around):
        steps = For(symbol, extent, steps)
    return steps


def _shape(product: Product, rows: tuple[Rows, ...]) -> tuple[Value, ...]:
    counts: list[IntExpr] = [each.count for each in rows]
    columns = product.column_counts
    numbers = (*counts, *(0,) * (2 - len(counts)), *columns, *(0,) * (2 - len(columns)), product.step)
    return tuple(_number(number) if isinstance(number, int) else IndexValue(number, DType.INT64) for number in numbers)


def _number(value: int) -> Value:
    return imm(value, DType.INT64)


def _call(name: str, *arguments: Value) -> Stmt:
    return Evaluate(Call(name, arguments, DType.INT64))


# --- what a block is --------------------------------------------------------------------------------------------------


def _product(block: Block) -> Product:
    def refuse(expected: str, found: str) -> Exception:
        return refused_block(NAME, block, expected, found)

    match block.sources:
        case (Call(name=("dot2" | "dot4") as dot, arguments=(Call(arguments=(Load() as data, *_)), Load() as words)),):
            pass
        case _:
            raise refuse("products of words of data and words of weights", str(block.sources[0])[:200])
    sums, weights = (Operand(load.buffer, scalar_indices(load)) for load in (block.targets[0], words))
    known = Operand(data.buffer, scalar_indices(data))
    loops = [(symbol, extent) for symbol, extent, reduced in block.loops if not reduced and extent != 1]
    reduced = [(symbol, extent) for symbol, extent, is_reduced in block.loops if is_reduced]
    fixed = [(symbol, extent) for symbol, extent in loops if isinstance(extent, int)]
    if len(fixed) != len(loops) or not reduced:
        raise refuse("loops of known extents, and one that sums", ", ".join(str(extent) for _, extent in loops))
    column = next((loop for loop in fixed if weights.step_bytes(loop[0])), None)
    rows = [loop for loop in fixed if loop is not column]
    *around, depth = reduced
    if not isinstance(depth[1], int) or not _fit(rows, column):
        raise refuse(f"up to {MOST_ROWS} rows, in up to 2 lines, by {MOST_COLUMNS} columns", str(fixed))
    _check_distances(refuse, sums, known, weights, rows, column, depth)
    lines, row = (rows[0], rows[1]) if len(rows) == 2 else (None, rows[0] if rows else None)
    limit = _limit(refuse, block.guards, row, column)
    return Product(sums, known, weights, dot, lines, row, column, tuple(around), (depth[0], depth[1]), limit)


def _fit(rows: list[tuple[Symbol, int]], column: tuple[Symbol, int] | None) -> bool:
    extents = [extent for _, extent in rows]
    in_tiles = not extents or (len(extents) == 1 and extents[0] <= MOST_ROWS)
    in_lines = len(extents) == 2 and extents[0] == 2 and extents[1] <= _TILE
    return (in_tiles or in_lines) and (column is None or column[1] <= MOST_COLUMNS)


def _check_distances(
    refuse: Callable[[str, str], Exception], sums: Operand, data: Operand, weights: Operand,
    rows: list[tuple[Symbol, int]], column: tuple[Symbol, int] | None, depth: tuple[Symbol, IntExpr],
) -> None:  # fmt: skip
    """Words follow each other in data, columns in weights and sums; all other distances are known."""
    if depth[1] != 1 and (data.step_bytes(depth[0]) != _ITEM_BYTES or weights.step_bytes(depth[0]) is None):
        raise refuse("data whose words lie together", str(data.indices))
    if column is not None and (weights.step_bytes(column[0]), sums.step_bytes(column[0])) != (_ITEM_BYTES, _ITEM_BYTES):
        raise refuse("weights and sums whose columns lie together", str(weights.indices))
    if any(operand.step_bytes(symbol) is None for symbol, _ in rows for operand in (sums, data)):
        raise refuse("rows at known distances", str(data.indices))


def _limit(
    refuse: Callable[[str, str], Exception], guards: tuple[Comparison, ...], row: tuple[Symbol, int] | None,
    column: tuple[Symbol, int] | None,
) -> IntExpr | None:  # fmt: skip
    """How many rows there are by a guard on their loop. Guards on columns are none: weights are padded to whole blocks,
    and sums have room for them."""
    limit = None
    for guard in guards:
        constant, terms = linear_parts(guard.left)
        factors = dict(terms)
        if column is not None and column[0] in factors:
            continue
        if row is None or factors.get(row[0]) != 1 or guard.op != "<" or limit is not None:
            raise refuse("at most one guard on rows", str(guard))
        rest: IntExpr = constant
        for term, factor in terms:
            rest = rest if term is row[0] else add(rest, multiply(term, factor))
        limit = add(guard.right, multiply(rest, -1))
    return limit
