"""Procedures while they are being written: fresh registers, open blocks."""

from __future__ import annotations

from dataclasses import field

from relay.arith.expr import Symbol
from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.base.frozen import mutable
from relay.lower.code.representation import Boxed, Representation, Unboxed, leaves
from relay.lower.program.place import Address, Buffer, Held, Kind, Register, Scalar
from relay.lower.program.procedure import Block, Procedure, ProcedureInstruction, Terminator


@mutable
class OpenBlock:
    """A block that takes instructions until it is closed by a terminator."""

    number: int
    parameters: tuple[Held, ...] = ()
    instructions: list[ProcedureInstruction] = field(default_factory=list)
    terminator: Terminator | None = None

    def add(self, instruction: ProcedureInstruction) -> None:
        self.instructions.append(instruction)

    def close(self, terminator: Terminator) -> None:
        if self.terminator is not None:
            raise CompilerBug("lower", f"block {self.number} ends twice")
        self.terminator = terminator

    def closed(self) -> Block:
        if self.terminator is None:
            raise CompilerBug("lower", f"block {self.number} does not end")
        return Block(self.number, self.parameters, tuple(self.instructions), self.terminator)


@mutable
class OpenProcedure:
    """The registers and blocks of a procedure, in the order in which they were asked for."""

    name: str
    parameters: tuple[Held | Address, ...] = ()
    blocks: list[OpenBlock] = field(default_factory=list)
    results: tuple[Kind, ...] = ("word",)
    symbols: tuple[Symbol, ...] = ()
    is_flat: bool = False
    _registers: int = 0

    def register(self) -> Register:
        self._registers += 1
        return Register(self._registers - 1)

    def array(self) -> Register:
        """One more parameter: the address of an array of the caller's."""
        address = Address(self.register())
        self.parameters = (*self.parameters, address)
        return address.register

    def words(self, count: int) -> tuple[Register, ...]:
        return tuple(self.register() for _ in range(count))

    def scalar(self, dtype: DType) -> Scalar:
        return Scalar(self.register(), dtype)

    def held(self, how: Representation) -> tuple[Held, ...]:
        """Fresh registers for a value."""
        return tuple(self.scalar(each.dtype) if isinstance(each, Unboxed) else self._word(each) for each in leaves(how))

    def _word(self, how: Boxed) -> Held:
        return self.register() if how.device is None else Buffer(self.register(), how.device)

    def block(self, parameters: tuple[Held, ...] = ()) -> OpenBlock:
        self.blocks.append(OpenBlock(len(self.blocks), parameters))
        return self.blocks[-1]

    def closed(self) -> Procedure:
        blocks = tuple(block.closed() for block in self.blocks)
        return Procedure(self.name, self.parameters, blocks, self.results, self.symbols, self.is_flat)
