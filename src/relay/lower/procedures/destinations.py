"""Calls that fill a field of a new cell, as jumps: tail recursion modulo constructors.

    before: procedure @map(%f, %xs)                    after: procedure @map(%f, %xs)
              ...                                               ...
              %4 = call @map(%f, %rest)                         %5 = cell #Cons (%3, #hole)
              %5 = cell #Cons (%3, %4)                          jump @map.into(%f, %rest, %5, %5)
              return %5                                       procedure @map.into(%f, %xs, %first, %last)
                                                                ...
                                                                %5 = cell #Cons (%3, #hole)
                                                                %last.1 := %5
                                                                jump @map.into(%f, %rest, %first, %5)

What a procedure makes of the result of its last call of itself, by doing nothing but to put it into cells, is made
before that call, with a hole; the procedure's second form takes the cell with the hole and puts its result there. So a
list of any length is built in constant stack, front to back, without a second pass (Minamide, "A Functional
Representation of Data Structures with a Hole", POPL 1998). Everything else happens in the order in which it did. Nobody
sees a cell before its hole is filled: a call that fails gives back nothing of its heap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from relay.base.frozen import frozen
from relay.lower.program.place import Held, Register, register_of
from relay.lower.program.procedure import (
    Block,
    Box,
    CallClosure,
    CallProcedure,
    Immediate,
    NewCell,
    NewConstant,
    Procedure,
    ProcedureInstruction,
    Release,
    Retain,
    Return,
    ScalarConstant,
    StoreField,
    TailCall,
    TailCallClosure,
)
from relay.lower.program.registers import written

_INTO = ".into"


@frozen(eq=False)
class _Site:
    """A block that ends with a call of its own procedure, of which it makes cells: the call's arguments, what is done
    before it and what is made of it, the cell and its field that take the result, and what the block gives back."""

    before: tuple[ProcedureInstruction, ...]
    arguments: tuple[Held, ...]
    made: tuple[ProcedureInstruction, ...]
    hole: Register
    cell: Register
    index: int
    given: Register


def with_destinations(procedures: Sequence[Procedure], hole_label: int) -> list[Procedure]:
    """The procedures, with a second form of each that fills cells by its own results. `hole_label` is the label of an
    object without fields."""
    return [each for procedure in procedures for each in _forms(procedure, hole_label)]


def _forms(procedure: Procedure, hole_label: int) -> Iterator[Procedure]:
    sites = {block.number: site for block in procedure.blocks if (site := _site(procedure, block)) is not None}
    if not sites:
        yield procedure
        return
    index = next(iter(sites.values())).index
    sites = {number: site for number, site in sites.items() if site.index == index}
    fresh = 1 + max(register.number for register in _registers(procedure))
    first, last = Register(fresh), Register(fresh + 1)
    blocks = [
        _entering(block, sites[block.number], procedure.name, hole_label) if block.number in sites else block
        for block in procedure.blocks
    ]
    yield replace(procedure, blocks=tuple(blocks))
    filling = _Filling(procedure.name, index, first, last, hole_label)
    yield Procedure(
        procedure.name + _INTO,
        (*procedure.parameters, first, last),
        tuple(filling.block(block, sites.get(block.number)) for block in procedure.blocks),
        borrowed_count=1,
    )


def _site(procedure: Procedure, block: Block) -> _Site | None:
    """What a block does, if it ends with its own call and cells that are made of it."""
    if procedure.results != ("word",) or not isinstance(block.terminator, Return):
        return None
    position = next((i for i in reversed(range(len(block.instructions))) if _calls(block.instructions[i])), None)
    if position is None:
        return None
    call, made = block.instructions[position], block.instructions[position + 1 :]
    if not isinstance(call, CallProcedure) or call.procedure != procedure.name or len(call.results) != 1:
        return None
    (hole,), (given,) = call.results, block.terminator.values
    cells: list[NewCell] = []
    for instruction in made:
        match instruction:
            case NewCell(_, _, fields) if fields.count(hole) == 1:
                cells.append(instruction)
            case NewCell(_, _, fields) if hole not in fields:
                pass
            case Immediate() | NewConstant() | ScalarConstant() | Box():
                pass
            case Retain(value) | Release(value) if value != hole:
                pass
            case _:
                return None
    if len(cells) != 1 or given == hole or not isinstance(hole, Register) or not isinstance(given, Register):
        return None
    (cell,) = cells
    index = cell.fields.index(hole)
    return _Site(block.instructions[:position], call.arguments, made, hole, cell.result, index, given)


def _calls(instruction: ProcedureInstruction) -> bool:
    return isinstance(instruction, CallProcedure | CallClosure)


def _entering(block: Block, site: _Site, name: str, hole_label: int) -> Block:
    """A block that makes the first cell and goes on to fill it."""
    arguments = (*site.arguments, site.given, site.cell)
    made = (*site.before, Immediate(site.hole, hole_label), *site.made)
    return replace(block, instructions=made, terminator=TailCall(name + _INTO, arguments))


@frozen(eq=False)
class _Filling:
    """The second form of a procedure: `last` is the cell whose field `index` it fills, `first` what it gives back."""

    name: str
    index: int
    first: Register
    last: Register
    hole_label: int

    def block(self, block: Block, site: _Site | None) -> Block:
        if site is not None:
            made = (*site.before, Immediate(site.hole, self.hole_label), *site.made, self._fill(site.given))
            return self._again(replace(block, instructions=made), site.arguments, site.cell)
        match block.terminator:
            case Return((Register() as value,)):
                return self._end(block, value)
            case TailCall(procedure, arguments) if procedure == self.name:
                return self._again(block, arguments, self.last)
            case TailCall(procedure, arguments):
                return self._end(
                    block, self._result(block), CallProcedure((self._result(block),), procedure, arguments)
                )
            case TailCallClosure(closure, arguments):
                return self._end(block, self._result(block), CallClosure(self._result(block), closure, arguments))
            case _:
                return block

    def _result(self, block: Block) -> Register:
        """What a block calls another procedure for: a register of its own, since each is written once."""
        return Register(self.last.number + 1 + block.number)

    def _fill(self, value: Register) -> StoreField:
        return StoreField(self.last, self.index, value)

    def _again(self, block: Block, arguments: tuple[Held, ...], last: Register) -> Block:
        return replace(block, terminator=TailCall(self.name + _INTO, (*arguments, self.first, last)))

    def _end(self, block: Block, value: Register, *before: ProcedureInstruction) -> Block:
        instructions = (*block.instructions, *before, self._fill(value))
        return replace(block, instructions=instructions, terminator=Return((self.first,)))


def _registers(procedure: Procedure) -> Iterator[Register]:
    """The registers that a procedure writes."""
    yield from map(register_of, procedure.parameters)
    for block in procedure.blocks:
        yield from map(register_of, block.parameters)
        for instruction in block.instructions:
            yield from map(register_of, written(instruction))
