"""Whether every word has one owner at a time: what a procedure owns it gives away or releases once, on every path.

Scalars and addresses have no owner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field

from relay.base.frozen import mutable
from relay.lower.program.place import Address, Buffer, Held, Register, register_of
from relay.lower.program.procedure import (
    CallProcedure,
    Fail,
    Procedure,
    ProcedureInstruction,
    TailCall,
    Terminator,
)
from relay.lower.program.program import Program
from relay.lower.program.registers import given, taken, targets


def broken_ownership(program: Program) -> Iterator[tuple[str, str]]:
    """Where the rule is broken, and how."""
    borrowing = {each.name: each.borrowed_count for each in program.procedures}
    for procedure in program.procedures:
        if not procedure.is_flat:
            yield from _Counts(procedure, borrowing).check()


@mutable
class _Counts:
    """How often a procedure owns each word, block by block."""

    procedure: Procedure
    borrowing: dict[str, int]
    owned: dict[int, Counter[Register]] = field(default_factory=dict)  # at the beginning of each block

    def check(self) -> Iterator[tuple[str, str]]:
        parameters = self.procedure.parameters
        first = parameters[: len(parameters) - self.procedure.borrowed_count]
        self.owned[0] = Counter(_words(first))
        waiting = [0]
        while waiting:
            block = self.procedure.blocks[waiting.pop()]
            where = f"@{self.procedure.name}, block{block.number}"
            counts = self.owned[block.number] + Counter(_words(block.parameters))
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
        for register in _words(handed):
            counts[register] -= 1
            if counts[register] < 0:
                yield f"{register} is given away, which it does not own"
        if not isinstance(each, Terminator):
            counts.update(_words(given(each)))


def _words(held: Sequence[Held | Address]) -> list[Register]:
    return [register_of(each) for each in held if isinstance(each, Register | Buffer)]


def _shown(counts: Counter[Register]) -> str:
    shown = [str(each) if times == 1 else f"{each} {times} times" for each, times in counts.items()]
    return ", ".join(shown) or "nothing"
