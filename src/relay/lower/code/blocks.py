"""Procedures while they are being written: fresh registers, open blocks."""

from __future__ import annotations

from dataclasses import dataclass, field

from relay.arith.expr import Symbol
from relay.base.diagnostics import CompilerBug
from relay.lower.program.place import Register
from relay.lower.program.procedure import Block, Procedure, ProcedureInstruction, Terminator


@dataclass(slots=True, eq=False)
class OpenBlock:
    """A block that takes instructions until it is closed by a terminator."""

    number: int
    parameters: tuple[Register, ...] = ()
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


@dataclass(slots=True, eq=False)
class OpenProcedure:
    """The registers and blocks of a procedure, in the order in which they were asked for."""

    name: str
    parameters: tuple[Register, ...] = ()
    blocks: list[OpenBlock] = field(default_factory=list)
    result_count: int = 1
    symbols: tuple[Symbol, ...] = ()
    is_flat: bool = False
    _registers: int = 0

    def register(self) -> Register:
        self._registers += 1
        return Register(self._registers - 1)

    def parameter(self) -> Register:
        """One more parameter."""
        self.parameters = (*self.parameters, self.register())
        return self.parameters[-1]

    def some(self, count: int) -> tuple[Register, ...]:
        return tuple(self.register() for _ in range(count))

    def block(self, parameters: tuple[Register, ...] = ()) -> OpenBlock:
        self.blocks.append(OpenBlock(len(self.blocks), parameters))
        return self.blocks[-1]

    def closed(self) -> Procedure:
        blocks = tuple(block.closed() for block in self.blocks)
        return Procedure(self.name, self.parameters, blocks, self.result_count, self.symbols, self.is_flat)
