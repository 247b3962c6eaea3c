"""Calls that fill a field of a new cell become jumps."""

from __future__ import annotations

import pytest

from relay.lower.procedures.destinations import with_destinations
from relay.lower.program.procedure import Block as ProcedureBlock
from relay.lower.program.procedure import CallProcedure, Immediate, NewCell, Procedure, Register, Return, TailCall

A, B, C, D, E = map(Register, range(5))


def procedure(*instructions: object, given: Register = D) -> Procedure:
    return Procedure("f", (A,), (ProcedureBlock(0, (), instructions, Return((given,))),))  # type: ignore[arg-type]


CALL = CallProcedure((C,), "f", (B,))


def test_the_cell_is_made_before_the_call() -> None:
    entering, filling = with_destinations([procedure(Immediate(B, 1), CALL, NewCell(D, 2, (A, C)))], hole_label=0)
    assert (
        str(entering)
        == """procedure @f(%0)
  block0():
    %1 = label1
    %2 = label0
    %3 = cell label2 (%0, %2)
    jump @"f.into"(%1, %3, %3)"""
    )
    assert (
        str(filling)
        == """procedure @"f.into"(%0, %4, borrowed %5)
  block0():
    %1 = label1
    %2 = label0
    %3 = cell label2 (%0, %2)
    %5.1 := %3
    jump @"f.into"(%1, %4, %3)"""
    )


def test_cells_around_the_cell_are_made_too() -> None:
    instructions = (Immediate(B, 1), CALL, NewCell(D, 2, (A, C)), NewCell(E, 2, (A, D)))
    entering, _ = with_destinations([procedure(*instructions, given=E)], hole_label=0)
    assert entering.blocks[0].terminator == TailCall("f.into", (B, E, D))


@pytest.mark.parametrize("instructions", [
    (Immediate(B, 1), CALL, NewCell(D, 2, (C, C))),
    (Immediate(B, 1), CALL, CallProcedure((D,), "g", (C,))),
    (Immediate(B, 1), CALL, NewCell(E, 2, (A, C)), CallProcedure((D,), "g", (E,))),
    (Immediate(B, 1), CallProcedure((C,), "g", (B,)), NewCell(D, 2, (A, C))),
])  # fmt: skip
def test_what_else_is_done_with_the_result_needs_the_call(instructions: tuple[object, ...]) -> None:
    only = procedure(*instructions)
    assert with_destinations([only], hole_label=0) == [only]


def test_each_block_has_a_register_of_its_own_for_what_another_procedure_gives() -> None:
    makes = ProcedureBlock(0, (), (Immediate(B, 1), CALL, NewCell(D, 2, (A, C))), Return((D,)))
    others = [ProcedureBlock(number, (), (), TailCall("g", (A,))) for number in (1, 2)]
    _, filling = with_destinations([Procedure("f", (A,), (makes, *others))], hole_label=0)
    results = [block.instructions[0].results for block in filling.blocks[1:]]  # type: ignore[union-attr]
    assert len(set(results)) == 2
