"""Whether every word has one owner at a time: what a procedure owns it gives away or releases once, on every path.

Which registers hold words follows from what is done with them: an instruction that reads or writes a scalar says so,
and what a call hands over is on both sides the same. Registers of which nothing tells are only handed on, and count
as scalars.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from relay.lower.program.place import Register
from relay.lower.program.procedure import (
    Block,
    CallProcedure,
    Fail,
    Jump,
    Procedure,
    ProcedureInstruction,
    Return,
    TailCall,
    Terminator,
)
from relay.lower.program.program import Program
from relay.lower.program.registers import borrowed, given, scalars, taken, targets, written

_Slot: TypeAlias = tuple[str, int]
"""A register of a procedure, or, with a negative number, one of its results."""


def broken_ownership(program: Program) -> Iterator[tuple[str, str]]:
    """Where the rule is broken, and how."""
    words = _Words()
    for procedure in program.procedures:
        words.see(procedure, program)
    borrowing = {each.name: each.borrowed_count for each in program.procedures}
    for procedure in program.procedures:
        if not procedure.is_flat:
            yield from _Counts(procedure, words, borrowing).check()


@dataclass(slots=True, eq=False)
class _Words:
    """Slots that hold the same, joined; and those of which an instruction says that they hold words."""

    same: dict[_Slot, _Slot] = field(default_factory=dict)
    words: set[_Slot] = field(default_factory=set)

    def holds(self, procedure: Procedure, register: Register) -> bool:
        return self._root((procedure.name, register.number)) in self.words

    def see(self, procedure: Procedure, program: Program) -> None:
        name = procedure.name
        for block in procedure.blocks:
            for each in block.instructions:
                told = {scalar.register for scalar in scalars(each)}
                handed = isinstance(each, CallProcedure)
                sure = borrowed(each) if handed else (*borrowed(each), *taken(each), *written(each))
                for register in sure:
                    if register not in told:
                        self._word((name, register.number))
                if isinstance(each, CallProcedure):
                    self._call(name, each.procedure, each.arguments, program)
                    for position, result in enumerate(each.results):
                        self._join((name, result.number), (each.procedure, -1 - position))
            self._end(procedure, block, program)

    def _end(self, procedure: Procedure, block: Block, program: Program) -> None:
        name, terminator = procedure.name, block.terminator
        match terminator:
            case Jump(target, arguments):
                for argument, parameter in zip(arguments, procedure.blocks[target].parameters, strict=True):
                    self._join((name, argument.number), (name, parameter.number))
            case Return(values):
                for position, value in enumerate(values):
                    self._join((name, value.number), (name, -1 - position))
            case TailCall(callee, arguments):
                self._call(name, callee, arguments, program)
                for position in range(procedure.result_count):
                    self._join((name, -1 - position), (callee, -1 - position))
            case _:
                for register in (*borrowed(terminator), *taken(terminator)):
                    self._word((name, register.number))

    def _call(self, name: str, callee: str, arguments: Sequence[Register], program: Program) -> None:
        for argument, parameter in zip(arguments, program.procedure(callee).parameters, strict=True):
            self._join((name, argument.number), (callee, parameter.number))

    def _root(self, slot: _Slot) -> _Slot:
        while (above := self.same.get(slot, slot)) != slot:
            self.same[slot] = self.same.get(above, above)
            slot = above
        return slot

    def _join(self, one: _Slot, other: _Slot) -> None:
        root, under = self._root(one), self._root(other)
        self.same[under] = root
        if under in self.words:
            self.words.add(root)

    def _word(self, slot: _Slot) -> None:
        self.words.add(self._root(slot))


@dataclass(slots=True, eq=False)
class _Counts:
    """How often a procedure owns each word, block by block."""

    procedure: Procedure
    words: _Words
    borrowing: dict[str, int]
    owned: dict[int, Counter[Register]] = field(default_factory=dict)  # at the beginning of each block

    def check(self) -> Iterator[tuple[str, str]]:
        parameters = self.procedure.parameters
        first = parameters[: len(parameters) - self.procedure.borrowed_count]
        self.owned[0] = Counter(self._words(first))
        waiting = [0]
        while waiting:
            block = self.procedure.blocks[waiting.pop()]
            where = f"@{self.procedure.name}, block{block.number}"
            counts = self.owned[block.number] + Counter(self._words(block.parameters))
            for each in (*block.instructions, block.terminator):
                yield from ((f"{where}, `{each}`", rule) for rule in self._step(each, counts))
            left, following = +counts, targets(block.terminator)
            for target in following:
                if target not in self.owned:
                    self.owned[target] = left
                    waiting.append(target)
                elif self.owned[target] != left:
                    yield where, f"it owns {_shown(left)} where block{target} expects {_shown(self.owned[target])}"
            if left and not following and not isinstance(block.terminator, Fail):
                yield where, f"it ends while it owns {_shown(left)}"

    def _step(self, each: ProcedureInstruction | Terminator, counts: Counter[Register]) -> Iterator[str]:
        """What an instruction does to the counts, and what is wrong with that."""
        handed = taken(each)
        if isinstance(each, CallProcedure | TailCall):
            handed = handed[: len(handed) - self.borrowing[each.procedure]]
        for register in self._words(handed):
            counts[register] -= 1
            if counts[register] < 0:
                yield f"{register} is given away, which it does not own"
        if not isinstance(each, Terminator):
            counts.update(self._words(given(each)))

    def _words(self, registers: Sequence[Register]) -> list[Register]:
        return [each for each in registers if self.words.holds(self.procedure, each)]


def _shown(counts: Counter[Register]) -> str:
    shown = [str(each) if times == 1 else f"{each} {times} times" for each, times in counts.items()]
    return ", ".join(shown) or "nothing"
