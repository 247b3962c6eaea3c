"""Calls by which a target's own instructions are given, and which elements they touch.

`evaluate call("toy.gemm", float32, sums[0, 0], a[k, 0, 0], b[k, 0, 0]);` names three blocks by their first elements.
The target's record of the instruction (`hierarchy.Instruction`) says how large they are, and that `sums` is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from relay.arith.expr import IntExpr, add
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.expr import Call, Index, Load, Ramp, Value
from relay.tir.hierarchy import Hierarchy, Instruction, Operand
from relay.tir.stmt import Evaluate, Stmt


@frozen(eq=False)
class Block:
    """The elements of `operand`, from the one at `first` on."""

    buffer: Buffer
    first: tuple[IntExpr, ...]
    operand: Operand

    @property
    def indices(self) -> tuple[Index, ...]:
        """The indices of all elements: a vector of them along each of the last axes."""
        return (*self.first[: self._outer], *(Ramp(index, 1, extent) for index, extent in self._inner))

    @property
    def last(self) -> tuple[IntExpr, ...]:
        """The indices of the last element."""
        return (*self.first[: self._outer], *(add(index, extent - 1) for index, extent in self._inner))

    @property
    def _outer(self) -> int:
        return len(self.first) - len(self.operand.extents)

    @property
    def _inner(self) -> Iterator[tuple[IntExpr, int]]:
        return zip(self.first[self._outer :], self.operand.extents, strict=True)


@frozen(eq=False)
class InstructionCall:
    """The blocks among the arguments of a call, and the others."""

    instruction: Instruction
    blocks: tuple[Block, ...]
    values: tuple[Value, ...]

    @property
    def has_all(self) -> bool:
        """Whether the arguments are what the instruction works on."""
        operands = self.instruction.operands
        wanted = sum(not operand.is_value for operand in operands)
        return len(self.blocks) >= wanted and len(self.blocks) + len(self.values) == len(operands)


def called_instruction(statement: Stmt, hierarchy: Hierarchy) -> InstructionCall | None:
    """The instruction that a statement gives; None for one that gives none which the target knows.

    >>> from relay.base.dtypes import DType
    >>> from relay.tir.hierarchy import AccessKind
    >>> clear = Instruction("clear", (Operand(AccessKind.WRITE, (8,)),))
    >>> row = Load(Buffer("t", (4, 8), DType.INT32), (2, 0))
    >>> machine = Hierarchy(("device", "core"), instructions=(clear,))
    >>> called_instruction(Evaluate(Call("clear", (row,), DType.INT32)), machine).blocks[0].indices
    (2, Ramp(base=0, stride=1, lanes=8))
    """
    match statement:
        case Evaluate(Call(name, arguments)) if (instruction := hierarchy.instruction(name)) is not None:
            pass
        case _:
            return None
    blocks: list[Block] = []
    values = list(arguments[len(instruction.operands) :])
    for argument, operand in zip(arguments, instruction.operands, strict=False):
        block = _block(argument, operand)
        if block is None:
            values.append(argument)
        else:
            blocks.append(block)
    return InstructionCall(instruction, tuple(blocks), tuple(values))


def _block(argument: Value, operand: Operand) -> Block | None:
    """The block that an argument names; None for one that is no single element, or of too few axes."""
    if not isinstance(argument, Load) or argument.mask is not None:
        return None
    first = tuple(index for index in argument.indices if not isinstance(index, Ramp))
    return (
        Block(argument.buffer, first, operand) if len(operand.extents) <= len(first) == len(argument.indices) else None
    )
