"""Products of words by the tiles of AMX: the micro-kernel of `schedules/amx.py`, as statements.

A block is `sums[rows, columns] = Σ dot(word of data[rows, k], words[k, columns])`, with up to 32 rows and 32 columns:
two tiles of 16 × 16 sums down, two across. A step of the sum takes up to 16 words: a tile of data is rows × words, one
of weights words × columns, as `nn.contrib_dense_words` and `nn.contrib_conv2d_words` have them in memory.

    tile 0 1    sums                       tile_begin(rows of 4, rows of 5, columns of 6, columns of 7, words of a step)
         2 3                               tile_zero(tile)
    tile 4 5    data                       tile_load(tile, first element, bytes from row to row)
    tile 6 7    weights                    tile_dot4(sums, data, weights), tile_dot2(sums, data, weights)
                                           tile_store(tile, first element, bytes from row to row), tile_end(as begin)

All loads of a step come before its products: where two threads of a core share its tiles, loads and products hardly
overlap, and go fastest in runs. Rows are those of a matrix, or pixels of one or more lines of a map: of lines that
follow each other in memory as if they were one, else each line in a tile of its own. To set the shapes of tiles takes
as long as two steps, so where fewer rows are left than a block has, the second of its tiles begins further up, and
gives some sums anew; where fewer lines are left, it stays empty. Only less than one tile is given another shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relay.arith.expr import (
    Comparison,
    IntExpr,
    Symbol,
    add,
    free_symbols,
    linear_parts,
    linear_sum,
    multiply,
    substitute,
)
from relay.arith.simplify import simplify
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.te.operation import scalar_indices
from relay.te.tensorize import Block, BlockIntrinsic, refused_block
from relay.tir.buffer import Buffer
from relay.tir.expr import Call, Holds, IndexValue, Load, Value, imm
from relay.tir.stmt import Evaluate, For, If, Sequence, Stmt

NAME = "product_by_tiles"
MOST_ROWS = MOST_COLUMNS = 32
STEP_WORDS = 16
TILE_ROWS = 16
_TILE_COLUMNS = 16  # of 32 bits
_ITEM_BYTES = 4
_DATA, _WEIGHTS = 4, 6


@frozen
class Operand:
    """A buffer at indices in terms of the block's loops."""

    buffer: Buffer
    indices: tuple[IntExpr, ...]

    def at(self, values: Mapping[Symbol, IntExpr]) -> Load:
        return Load(self.buffer, tuple(substitute(index, values) for index in self.indices))

    def step_bytes(self, loop: Symbol) -> int | None:
        """How far it is from one iteration of a loop to the next; None where that is not one number."""
        total, stride = 0, 1
        offset: IntExpr = 0
        for index, extent in reversed(list(zip(self.indices, self.buffer.shape, strict=True))):
            offset = add(offset, multiply(index, stride))
            stride = multiply(stride, extent)
        for term, factor in linear_parts(simplify(offset, {}))[1]:
            if term is loop:
                total = factor
            elif loop in free_symbols(term):
                return None
        return total * self.buffer.dtype.item_bytes


@frozen
class Rows:
    """Rows of one tile of data: `count` from number `first` on."""

    first: IntExpr
    count: IntExpr


@frozen
class Product:
    """What a block multiplies. Loops: `line` (of extent 1 where there is one line) and `row` over rows, `column`, and
    those that are summed over, of which the last, `depth`, is over the words of a step."""

    sums: Operand
    data: Operand
    weights: Operand
    dot: str
    line: tuple[Symbol, int]
    row: tuple[Symbol, int]
    column: tuple[Symbol, int]
    around: tuple[tuple[Symbol, IntExpr], ...]
    depth: tuple[Symbol, int]
    apart: bool
    """Whether a line does not begin where the one before it ends."""
    limit: IntExpr | None
    """How many rows there may be, where that is not known to be all."""
    ahead: Mapping[Symbol, tuple[Stmt, ...]]

    @property
    def column_counts(self) -> tuple[int, ...]:
        """The columns of each tile."""
        columns = self.column[1]
        return (columns,) if columns <= _TILE_COLUMNS else (_TILE_COLUMNS, columns - _TILE_COLUMNS)

    @property
    def tiles(self) -> tuple[Rows, ...]:
        """One or two tiles of rows, as even as can be."""
        lines, pixels = self.line[1], self.row[1]
        if self.apart:
            return tuple(Rows(line * pixels, pixels) for line in range(lines))
        if lines * pixels <= TILE_ROWS:
            return (Rows(0, lines * pixels),)
        upper = (lines * pixels + 1) // 2
        return Rows(0, upper), Rows(upper, lines * pixels - upper)

    def at(self, operand: Operand, rows: Rows, column: int) -> Load:
        line, row = (0, rows.first) if self.line[1] == 1 else (rows.first // self.row[1], rows.first % self.row[1])
        return operand.at({self.line[0]: line, self.row[0]: row, self.column[0]: column, self.depth[0]: 0})

    def row_bytes(self, operand: Operand) -> int:
        return operand.step_bytes((self.row if self.row[1] > 1 else self.line)[0]) or STEP_WORDS * _ITEM_BYTES


def product_by_tiles(block: Block) -> Stmt:
    """The statement that does a block. Raises `RelayError` (`schedule-tensorize`)."""
    product = _product(block)
    whole = _by_tiles(product, product.tiles)
    if product.limit is None:
        return whole
    rows = product.line[1] * product.row[1]
    return _where(rows, product.limit, whole, _part(product, product.limit))


PRODUCT_BY_TILES = BlockIntrinsic(NAME, product_by_tiles, sets=True)


def _part(product: Product, limit: IntExpr) -> Stmt:
    """The rows that there are, fewer than a block has."""
    first, *second = product.tiles
    if product.apart:
        return _by_tiles(product, (first,))
    some = _where(1, limit, _by_tiles(product, (Rows(0, limit),)))
    if not second:
        return some
    shifted = Rows(add(limit, multiply(second[0].count, -1)), second[0].count)
    return _where(first.count, limit, _by_tiles(product, (first, shifted)), some)


def _where(least: IntExpr, limit: IntExpr, then: Stmt, otherwise: Stmt | None = None) -> Stmt:
    """Where there are at least so many rows."""
    return If(Holds(Comparison(least, "<=", limit)), then, otherwise)


def _by_tiles(product: Product, rows: tuple[Rows, ...]) -> Stmt:
    columns = product.column_counts
    sums = [(2 * i + j, each, j * _TILE_COLUMNS) for i, each in enumerate(rows) for j in range(len(columns))]
    shape = _shape(product, rows)
    apart = _number(product.row_bytes(product.sums))
    parts = [
        _call("tile_begin", *shape),
        *(_call("tile_zero", _number(tile)) for tile, _, _ in sums),
        _accumulated(product, rows),
        *(
            _call("tile_store", _number(tile), product.at(product.sums, each, column), apart)
            for tile, each, column in sums
        ),
        _call("tile_end", *shape),
    ]
    return Sequence(tuple(parts))


def _accumulated(product: Product, rows: tuple[Rows, ...]) -> Stmt:
    """The loops over what is summed up."""
    data_apart = _number(product.row_bytes(product.data))
    weights_apart = _number(product.weights.step_bytes(product.depth[0]) or _TILE_COLUMNS * _ITEM_BYTES)
    pairs = [(i, j) for j in range(len(product.column_counts)) for i in range(len(rows))]
    body = [
        *(
            _call(
                "tile_load",
                _number(_WEIGHTS + j),
                product.at(product.weights, rows[0], j * _TILE_COLUMNS),
                weights_apart,
            )
            for j in range(len(product.column_counts))
        ),
        *(
            _call("tile_load", _number(_DATA + i), product.at(product.data, each, 0), data_apart)
            for i, each in enumerate(rows)
        ),
        *(_call(f"tile_{product.dot}", *map(_number, (2 * i + j, _DATA + i, _WEIGHTS + j))) for i, j in pairs),
    ]
    steps: Stmt = Sequence((*product.ahead.get(product.depth[0], ()), *body))
    for symbol, extent in reversed(product.around):
        steps = For(symbol, extent, Sequence((*product.ahead.get(symbol, ()), steps)))
    return steps


def _shape(product: Product, rows: tuple[Rows, ...]) -> tuple[Value, ...]:
    """The shape of tiles: those of the block, also where some are not used."""
    is_of_block = rows[0].count == product.tiles[0].count
    counts = [each.count for each in (product.tiles if is_of_block else rows)]
    columns = product.column_counts
    numbers = (*counts, *(0,) * (2 - len(counts)), *columns, *(0,) * (2 - len(columns)), product.depth[1])
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
    *around, depth = reduced
    if not isinstance(depth[1], int) or depth[1] > STEP_WORDS:
        raise refuse(f"a last loop that sums up to {STEP_WORDS} words", str(depth[1]))
    none = (Symbol("none"), 1)
    column = next((loop for loop in fixed if weights.step_bytes(loop[0])), none)
    rows = [loop for loop in fixed if loop is not column]
    if len(rows) > 2:
        raise refuse("rows, or lines of rows", ", ".join(str(extent) for _, extent in rows))
    line, row = [*[none] * (2 - len(rows)), *rows]
    apart = any(each.step_bytes(line[0]) != _times(each.step_bytes(row[0]), row[1]) for each in (sums, known))
    apart = apart and line[1] > 1
    fits = line[1] <= 2 and row[1] <= TILE_ROWS if apart else line[1] * row[1] <= MOST_ROWS
    if not fits or column[1] > MOST_COLUMNS:
        raise refuse(f"up to {MOST_ROWS} rows, in up to 2 lines, by {MOST_COLUMNS} columns", str(fixed))
    _check_distances(refuse, sums, known, weights, row, column, (depth[0], depth[1]))
    limit = _limit(refuse, block.guards, line, row, column)
    return Product(
        sums, known, weights, dot, line, row, column, tuple(around), (depth[0], depth[1]), apart, limit, block.ahead
    )


def _times(distance: int | None, count: int) -> int | None:
    return None if distance is None else distance * count


def _check_distances(
    refuse: Callable[[str, str], Exception], sums: Operand, data: Operand, weights: Operand,
    row: tuple[Symbol, int], column: tuple[Symbol, int], depth: tuple[Symbol, int],
) -> None:  # fmt: skip
    """Words follow each other in data, columns in weights and sums; all other distances are known."""
    if depth[1] != 1 and (data.step_bytes(depth[0]) != _ITEM_BYTES or weights.step_bytes(depth[0]) is None):
        raise refuse("data whose words lie together", str(data.indices))
    if column[1] != 1 and (weights.step_bytes(column[0]), sums.step_bytes(column[0])) != (_ITEM_BYTES, _ITEM_BYTES):
        raise refuse("weights and sums whose columns lie together", str(weights.indices))
    if any(operand.step_bytes(row[0]) is None for operand in (sums, data)):
        raise refuse("rows at known distances", str(data.indices))


def _limit(
    refuse: Callable[[str, str], Exception], guards: tuple[Comparison, ...], line: tuple[Symbol, int],
    row: tuple[Symbol, int], column: tuple[Symbol, int],
) -> IntExpr | None:  # fmt: skip
    """How many of the rows there are by a guard on their loop, or that of lines. Guards on columns are none: weights
    are padded to whole blocks, and sums have room for them."""
    limit = None
    for guard in guards:
        constant, terms = linear_parts(guard.left)
        factors = dict(terms)
        if column[0] in factors:
            continue
        counted = next((loop for loop in (line, row) if factors.get(loop[0]) == 1), None)
        split = counted is row and line[1] > 1  # rows of some lines only
        if counted is None or split or guard.op != "<" or limit is not None:
            raise refuse("at most one guard on rows", str(guard))
        rest = linear_sum(constant, [(term, factor) for term, factor in terms if term is not counted[0]])
        limit = add(guard.right, multiply(rest, -1))
        if counted is line:
            limit = multiply(limit, row[1])
    return limit
