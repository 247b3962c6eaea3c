"""From scheduled loops to instructions: loops over tiles are gone over here, those over the elements of a tile are one
instruction each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from relay.arith.expr import COMPARISON_OPERATORS, IntExpr, Symbol, add, evaluate, linear_parts, multiply, substitute
from relay.base.dtypes import DType
from relay.base.graph import post_order
from relay.tir import expr, stmt
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import BinaryOp, Index, Ramp, Value
from relay.tir.stmt import PrimFunc, Stmt
from relay.tir.threads.synchronization import awaited, signal_name
from relay.tir.traversal import ValueIndex, value_children
from toy_accelerator.instructions import (
    ACCUMULATOR_TILES,
    INPUT_TILES,
    MOST_INSTRUCTIONS,
    TILE,
    Alu,
    AluOp,
    Await,
    Fetch,
    Fill,
    Gemm,
    Instruction,
    Load,
    Place,
    Signal,
    Store,
    TileProgram,
)
from toy_accelerator.schedules import GEMM, INPUTS, refused

_OPS = {
    BinaryOp.ADD: AluOp.ADD,
    BinaryOp.SUBTRACT: AluOp.SUBTRACT,
    BinaryOp.MULTIPLY: AluOp.MULTIPLY,
    BinaryOp.MINIMUM: AluOp.MINIMUM,
    BinaryOp.MAXIMUM: AluOp.MAXIMUM,
}


def written(function: PrimFunc, extents: Mapping[Symbol, int]) -> TileProgram:
    """The program of a kernel whose symbols have these values. Raises `RelayError` for what it cannot do."""
    elements: list[int] = []
    for buffer in function.parameters:
        shape = [each for extent in buffer.shape if isinstance(each := substitute(extent, extents), int)]
        if buffer.dtype is not DType.FLOAT32 or len(shape) < len(buffer.shape):
            raise refused(f"it takes float32 of known extents, and `{buffer.name}` is of {buffer.dtype}")
        elements.append(prod(shape))
    writer = _Writer({buffer: number for number, buffer in enumerate(function.parameters)})
    writer.write(function.body, extents)
    return TileProgram(tuple(elements), tuple(writer.instructions))


@dataclass(slots=True)
class _Writer:
    """`tiles` are where buffers in the accelerator's own memories begin, inputs first."""

    buffers: Mapping[Buffer, int]
    tiles: dict[Buffer, int] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)

    def write(self, body: Stmt, extents: Mapping[Symbol, int]) -> None:
        stack: list[tuple[Stmt, Mapping[Symbol, int]]] = [(body, extents)]
        while stack:
            statement, known = stack.pop()
            match statement:
                case stmt.Sequence(statements):
                    stack += [(each, known) for each in reversed(statements)]
                case stmt.Allocate(buffer, inner):
                    self._allocate(buffer)
                    stack.append((inner, known))
                case stmt.For(row, 8, stmt.For(column, 8, stmt.Store(mask=None) as store)):
                    self._tile(store, row, column, known)
                case stmt.For(variable, extent, inner) if isinstance(count := substitute(extent, known), int):
                    stack += [(inner, {**known, variable: i}) for i in reversed(range(count))]
                case stmt.If(expr.Holds(condition), then, None):
                    sides = evaluate(condition.left, known), evaluate(condition.right, known)
                    if COMPARISON_OPERATORS[condition.op](*sides):
                        stack.append((then, known))
                case stmt.Evaluate(expr.Call(name, arguments)) if name == GEMM:
                    self._add(Gemm(*(self._tile_of(each, known) for each in arguments)))
                case stmt.Evaluate() if wanted := awaited(statement):
                    self._add(Await(evaluate(wanted.count, known)))
                case stmt.Issue() if signal_name(statement):
                    self._add(Signal())
                case stmt.Issue(body=stmt.For(row, 8, stmt.For(column, 8, stmt.Store(mask=None) as store))):
                    self._fetch(store, row, column, known)
                case _:
                    raise refused(f"it has no instruction for {type(statement).__name__}")

    def _allocate(self, buffer: Buffer) -> None:
        if buffer in self.tiles:
            return
        inputs = buffer.scope.name == INPUTS
        first, room = (0, INPUT_TILES) if inputs else (INPUT_TILES, ACCUMULATOR_TILES)
        taken = self._taken(inputs=inputs)
        if buffer.scope is Scope.GLOBAL or buffer.shape[-2:] != (TILE, TILE) or taken + _tiles(buffer) > room:
            raise refused(f"it has no room for {buffer} in {buffer.scope}")
        self.tiles[buffer] = first + taken

    def _taken(self, *, inputs: bool) -> int:
        return sum(_tiles(each) for each in self.tiles if (each.scope.name == INPUTS) is inputs)

    def _tile_of(self, value: Value, known: Mapping[Symbol, int]) -> int:
        """The tile whose first element is read."""
        match value:
            case expr.Load(buffer, (*turn, 0, 0)) if buffer in self.tiles:
                return self._tile_at(buffer, _flat(buffer, (*turn, 0, 0), known), "it multiplies whole tiles")
            case _:
                raise refused("it multiplies whole tiles")

    def _tile_at(self, buffer: Buffer, first: IntExpr, otherwise: str) -> int:
        if not isinstance(first, int) or first % (TILE * TILE):
            raise refused(otherwise)
        return self.tiles[buffer] + first // (TILE * TILE)

    def _fetch(self, store: stmt.Store, row: Symbol, column: Symbol, known: Mapping[Symbol, int]) -> None:
        """A copy by the queue."""
        match store.value:
            case expr.Load(source, indices, None) if source in self.buffers and store.buffer in self.tiles:
                first, *steps = _strides(store.buffer, store.indices, row, column, known)
                if steps != [TILE, 1]:
                    raise refused("its queue fetches whole tiles")
                place = Place(self.buffers[source], *_strides(source, indices, row, column, known))
                self._add(Fetch(self._tile_at(store.buffer, first, "its queue fetches whole tiles"), place))
            case _:
                raise refused("its queue does nothing but copies")

    def _tile(self, store: stmt.Store, row: Symbol, column: Symbol, known: Mapping[Symbol, int]) -> None:
        """`store` for all rows and columns of a tile."""

        def strides(buffer: Buffer, indices: Sequence[Index]) -> tuple[int, int, int]:
            return _strides(buffer, indices, row, column, known)

        def tile_of_access(buffer: Buffer, indices: Sequence[Index]) -> int:
            first, *steps = strides(buffer, indices)
            if steps != [TILE, 1]:
                raise refused("its ALU works on whole tiles")
            return self._tile_at(buffer, first, "its ALU works on whole tiles")

        target = tile_of_access(store.buffer, store.indices) if store.buffer in self.tiles else None
        spare = INPUT_TILES + self._taken(inputs=False)
        tile_of: dict[int, int] = {}
        for part in post_order((store.value,), value_children):
            wanted = target if part is store.value else None
            into = tile_of[id(part)] = spare if wanted is None else wanted
            match part:
                case expr.Load(buffer, indices, None) if buffer in self.tiles and wanted is None:
                    tile_of[id(part)] = tile_of_access(buffer, indices)
                    continue
                case expr.Load(buffer, indices, None) if buffer in self.buffers:
                    self._add(Load(into, Place(self.buffers[buffer], *strides(buffer, indices))))
                case expr.Imm(number):
                    self._add(Fill(into, float(number)))
                case expr.Binary(op, left, right) if op in _OPS:
                    self._add(Alu(_OPS[op], into, tile_of[id(left)], tile_of[id(right)]))
                case _:
                    raise refused(f"its ALU has no {getattr(part, 'op', type(part).__name__)}")
            spare += wanted is None
        if spare > INPUT_TILES + ACCUMULATOR_TILES:
            raise refused(f"it has {ACCUMULATOR_TILES} tiles for sums and formulas, and this formula needs more")
        if store.buffer in self.buffers:
            place = Place(self.buffers[store.buffer], *strides(store.buffer, store.indices))
            self._add(Store(tile_of[id(store.value)], place))

    def _add(self, instruction: Instruction) -> None:
        if len(self.instructions) == MOST_INSTRUCTIONS:
            raise refused(f"its programs have at most {MOST_INSTRUCTIONS} instructions")
        self.instructions.append(instruction)


def _tiles(buffer: Buffer) -> int:
    """How many tiles a buffer has."""
    return prod(extent for extent in buffer.shape[:-2] if isinstance(extent, int))


def _flat(buffer: Buffer, indices: Sequence[Index], known: Mapping[Symbol, int]) -> IntExpr:
    """The position of an element in row-major order."""
    flat: IntExpr = 0
    for index, extent in zip(indices, buffer.shape, strict=True):
        if isinstance(index, Ramp | ValueIndex):
            raise refused("its copies go by even steps")
        flat = add(multiply(flat, extent), index)
    return substitute(flat, known)


def _strides(
    buffer: Buffer, indices: Sequence[Index], row: Symbol, column: Symbol, known: Mapping[Symbol, int]
) -> tuple[int, int, int]:
    """The first element, and how far it is from row to row and from column to column."""
    first, terms = linear_parts(_flat(buffer, indices, known))
    steps = {row: 0, column: 0}
    for term, factor in terms:
        if not isinstance(term, Symbol) or term not in steps:
            raise refused("its copies go by even steps")
        steps[term] += factor
    if min(first, *steps.values()) < 0:
        raise refused("its copies do not go backwards")
    return first, steps[row], steps[column]
