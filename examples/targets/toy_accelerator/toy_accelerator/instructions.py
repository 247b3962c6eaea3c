"""What the accelerator executes, and how it is encoded.

    program     ::= "TACC", how many buffers, the elements of each, instructions              in 32 bits, low byte first
    instruction ::= load tile, place          a tile from a buffer
                  | fetch tile, place         the same by the queue, into the memory that `gemm` multiplies
                  | signal                    by the queue, when all that it was given before is done
                  | await count               the core waits for so many signals, and takes them
                  | fill tile, number         the same number everywhere
                  | gemm sums, left, right    sums += left · rightᵀ
                  | alu op, tile, left, right
                  | store tile, place         a tile to a buffer
    place       ::= buffer, first element, elements from row to row, elements from column to column

A tile is 8 × 8 numbers of float32. The first `INPUT_TILES` are the memory that `gemm` multiplies, the others that
in which it sums up, and on which the ALU works. The core does one instruction after another; what is for the queue it
hands over, and goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from struct import Struct, error
from typing import TypeAlias, Union, assert_never

from relay.base.frozen import frozen

FORMAT = "toy-accelerator-1"
TILE = 8
TILE_BYTES = TILE * TILE * 4
INPUT_TILES = 4
ACCUMULATOR_TILES = 8
MOST_INSTRUCTIONS = 4096
_MAGIC = b"TACC"
_COUNT = Struct("<I")
_PLACED, _FILLED, _OPERANDS = Struct("<BBxx4I"), Struct("<BBxxf12x"), Struct("<5B15x")  # all of one size
_COUNTED = Struct("<BxxxI12x")
_INSTRUCTION_BYTES = _PLACED.size


class Code(IntEnum):
    LOAD = 1
    FILL = 2
    GEMM = 3
    ALU = 4
    STORE = 5
    FETCH = 6
    SIGNAL = 7
    AWAIT = 8


class AluOp(IntEnum):
    ADD = 1
    SUBTRACT = 2
    MULTIPLY = 3
    MINIMUM = 4
    MAXIMUM = 5


@frozen
class Place:
    """The elements of a tile in a buffer; where a step is 0, all rows or columns are the same."""

    buffer: int
    first: int
    row_step: int
    column_step: int

    @property
    def last(self) -> int:
        return self.first + (TILE - 1) * (self.row_step + self.column_step)


@frozen
class Load:
    tile: int
    place: Place


@frozen
class Fetch:
    tile: int
    place: Place


@frozen
class Signal:
    pass


@frozen
class Await:
    count: int


@frozen
class Fill:
    tile: int
    number: float


@frozen
class Gemm:
    sums: int
    left: int
    right: int


@frozen
class Alu:
    op: AluOp
    tile: int
    left: int
    right: int


@frozen
class Store:
    tile: int
    place: Place


Instruction: TypeAlias = Union[Load, Fill, Gemm, Alu, Store, Fetch, Signal, Await]


@frozen
class TileProgram:
    """A program: the elements of each of its buffers, and what is done with them."""

    elements: tuple[int, ...]
    instructions: tuple[Instruction, ...]


def encode(program: TileProgram) -> bytes:
    head = [_MAGIC, *map(_COUNT.pack, (len(program.elements), *program.elements))]
    return b"".join([*head, *map(_encoded, program.instructions)])


def _encoded(instruction: Instruction) -> bytes:
    match instruction:
        case Load(tile, place):
            return _PLACED.pack(Code.LOAD, tile, place.buffer, place.first, place.row_step, place.column_step)
        case Store(tile, place):
            return _PLACED.pack(Code.STORE, tile, place.buffer, place.first, place.row_step, place.column_step)
        case Fetch(tile, place):
            return _PLACED.pack(Code.FETCH, tile, place.buffer, place.first, place.row_step, place.column_step)
        case Signal():
            return _COUNTED.pack(Code.SIGNAL, 1)
        case Await(count):
            return _COUNTED.pack(Code.AWAIT, count)
        case Fill(tile, number):
            return _FILLED.pack(Code.FILL, tile, number)
        case Gemm(sums, left, right):
            return _OPERANDS.pack(Code.GEMM, sums, left, right, 0)
        case Alu(op, tile, left, right):
            return _OPERANDS.pack(Code.ALU, tile, left, right, op)
        case _:
            assert_never(instruction)


def decode(data: bytes) -> TileProgram:
    """The program, each of whose places lies in its buffer, each of whose tiles is where its instruction needs it, and
    whose awaits end and leave nothing to the queue.

    Raises `ValueError` for any other bytes.
    """
    try:
        (count,) = _COUNT.unpack_from(data, len(_MAGIC))
        head = len(_MAGIC) + _COUNT.size * (1 + count)
        elements = tuple(number for (number,) in _COUNT.iter_unpack(data[len(_MAGIC) + _COUNT.size : head]))
    except error as wrong:
        raise ValueError("the program ends within its head") from wrong
    body = data[head:]
    if data[: len(_MAGIC)] != _MAGIC or len(elements) != count or len(body) % _INSTRUCTION_BYTES:
        raise ValueError("this is no program of a toy accelerator, or not all of it")
    starts = range(0, len(body), _INSTRUCTION_BYTES)
    instructions = tuple(_decoded(body[start : start + _INSTRUCTION_BYTES]) for start in starts)
    for number, instruction in enumerate(instructions):
        _check(number, instruction, elements)
    _check_awaits(instructions)
    return TileProgram(elements, instructions)


def _decoded(data: bytes) -> Instruction:
    match Code(data[0]):
        case Code.LOAD | Code.STORE | Code.FETCH as code:
            _, tile, *place = _PLACED.unpack(data)
            return {Code.LOAD: Load, Code.STORE: Store, Code.FETCH: Fetch}[code](tile, Place(*place))
        case Code.FILL:
            _, tile, number = _FILLED.unpack(data)
            return Fill(tile, number)
        case Code.GEMM:
            _, tile, left, right, _ = _OPERANDS.unpack(data)
            return Gemm(tile, left, right)
        case Code.ALU:
            _, tile, left, right, op = _OPERANDS.unpack(data)
            return Alu(AluOp(op), tile, left, right)
        case Code.SIGNAL:
            return Signal()
        case Code.AWAIT:
            return Await(_COUNTED.unpack(data)[1])
        case code:
            assert_never(code)


def _check(number: int, instruction: Instruction, elements: Sequence[int]) -> None:
    """Raises `ValueError` for a place outside of its buffer, and a tile in the wrong memory."""
    match instruction:
        case Load(tile, place):
            inputs, sums, places = (), (), (place,)
            inside = 0 <= tile < INPUT_TILES + ACCUMULATOR_TILES
        case Fetch(tile, place):
            inputs, sums, places, inside = (tile,), (), (place,), True
        case Signal() | Await():
            inputs, sums, places, inside = (), (), (), True
        case Fill(tile):
            inputs, sums, places, inside = (), (tile,), (), True
        case Store(tile, place):
            inputs, sums, places, inside = (), (tile,), (place,), True
        case Gemm(tile, left, right):
            inputs, sums, places, inside = (left, right), (tile,), (), True
        case Alu(_, tile, left, right):
            inputs, sums, places, inside = (), (tile, left, right), (), True
        case _:
            assert_never(instruction)
    inside &= all(each < INPUT_TILES for each in inputs)
    inside &= all(INPUT_TILES <= each < INPUT_TILES + ACCUMULATOR_TILES for each in sums)
    if not inside:
        raise ValueError(f"instruction {number} names a tile that is not in its memory: {instruction}")
    for place in places:
        if place.buffer >= len(elements) or place.last >= elements[place.buffer]:
            raise ValueError(f"instruction {number} leaves its buffer: {instruction}")


def _check_awaits(instructions: Sequence[Instruction]) -> None:
    """Raises `ValueError` for an await that never ends, and for what nobody awaits."""
    signals = under_way = 0  # signals that nobody took, and fetches behind the last signal
    for number, instruction in enumerate(instructions):
        match instruction:
            case Fetch():
                under_way += 1
            case Signal():
                signals, under_way = signals + 1, 0
            case Await(count) if count > signals:
                raise ValueError(f"instruction {number} awaits {count} signals, and {signals} are given")
            case Await(count):
                signals -= count
            case _:
                pass
    if signals or under_way:
        raise ValueError("the program ends before its queue")
