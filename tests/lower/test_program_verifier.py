"""The verifier accepts what is compiled (every test's programs: see `verifying`), and names what breaks a rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.driver.build import compile_stages
from relay.lower.program.place import AddressPlace, ArenaPlace, ConstantPlace, DataPlace, Register, Scalar
from relay.lower.program.procedure import Block, Jump, NewTensor, Procedure, Release, Retain, Return, TailCall
from relay.lower.program.program import Program
from relay.lower.program.region import CallKernel, RunRegion
from relay.lower.program.verification.program_verifier import verify_program
from tests.native.running import module

SOURCE = """
def @main(%x: Tensor[(4, 16), float32], %n: int32) -> Tensor[(4, 16), float32] {
  if (less(%n, 0)) { %x } else {
    let %a = nn.softmax(%x);
    let %b = nn.softmax(transpose(nn.softmax(transpose(%a))));
    @main(nn.softmax(add(%a, %b)), subtract(%n, 1))
  }
}"""
Change = Callable[[Procedure], Procedure]


def compiled() -> tuple[Program, dict[str, tuple[int, ...]]]:
    stages = compile_stages(module(SOURCE), opt_level=1)
    return stages.program, {each.info.name: each.info.in_place for each in stages.kernels}


def in_block(number: int, change: Callable[[Block], Block]) -> Change:
    def changed(procedure: Procedure) -> Procedure:
        blocks = list(procedure.blocks)
        blocks[number] = change(blocks[number])
        return replace(procedure, blocks=tuple(blocks))

    return changed


def in_region(change: Callable[[RunRegion], RunRegion]) -> Change:
    def changed(block: Block) -> Block:
        return replace(
            block,
            instructions=tuple(change(each) if isinstance(each, RunRegion) else each for each in block.instructions),
        )

    return in_block(2, changed)


def ends_with(make: Callable[[Block], object]) -> Change:
    return in_block(2, lambda block: replace(block, terminator=make(block)))


def first_call(change: Callable[[CallKernel], CallKernel]) -> Change:
    def changed(region: RunRegion) -> RunRegion:
        first, *rest = region.instructions
        assert isinstance(first, CallKernel)
        return replace(region, instructions=(change(first), *rest))

    return in_region(changed)


def last_call(change: Callable[[CallKernel], CallKernel]) -> Change:
    def changed(region: RunRegion) -> RunRegion:
        *rest, last = region.instructions
        assert isinstance(last, CallKernel)
        return replace(region, instructions=(*rest, change(last)))

    return in_region(changed)


def moved_buffer(region: RunRegion) -> RunRegion:
    first, second, *rest = region.arena
    return replace(region, arena=(first, replace(second, offset_bytes=first.offset_bytes), *rest))


FAULTS: dict[str, tuple[Change, str]] = {
    "a release is dropped": (
        in_block(2, lambda b: replace(b, instructions=tuple(i for i in b.instructions if not isinstance(i, Release)))),
        r"block2: it ends while it owns %0",
    ),
    "a word is released twice": (
        in_block(2, lambda b: replace(b, instructions=(*b.instructions, Release(Register(0))))),
        r"`release %0`: %0 is given away, which it does not own",
    ),
    "a word is retained for nobody": (
        in_block(1, lambda b: replace(b, instructions=(Retain(Register(0)), *b.instructions))),
        r"block1: it ends while it owns %0",
    ),
    "a register is written twice": (
        in_block(2, lambda b: replace(b, instructions=(b.instructions[0], *b.instructions))),
        r"is written twice",
    ),
    "a register is read before it is written": (
        ends_with(lambda _: TailCall("main", (Register(99), Scalar(Register(1), DType.INT32)))),
        r"`jump @main\(%99, %1:int32\)`: %99 is read before it is written",
    ),
    "a word is handed on as a scalar": (
        ends_with(lambda _: TailCall("main", (Scalar(Register(0), DType.INT32), Scalar(Register(1), DType.INT32)))),
        r"`jump @main\(%0:int32, %1:int32\)`: @main takes word, int32 and gives word",
    ),
    "a scalar is counted": (
        in_block(2, lambda b: replace(b, instructions=(Retain(Register(1)), *b.instructions))),
        r"`retain %1`: %1 is read as word, where int32 is held",
    ),
    "a call lacks an argument": (
        ends_with(lambda _: TailCall("main", (Register(0),))),
        r"@main takes word, int32 and gives word",
    ),
    "a callee is missing": (ends_with(lambda _: TailCall("nobody", ())), r"there is no procedure @nobody to call"),
    "a block is missing": (ends_with(lambda _: Jump(7)), r"`jump block7\(\)`: there is no block7 to go to"),
    "a jump leads to the first block": (ends_with(lambda _: Jump(0)), r"there is no block0 to go to"),
    "a branch leads to a block with parameters": (
        in_block(1, lambda b: replace(b, parameters=(Register(50),))),
        r"block1 takes word",
    ),
    "a result is missing": (ends_with(lambda _: Return(())), r"@main gives word"),
    "a block has another's number": (in_block(1, lambda b: replace(b, number=4)), r"it is number 1 of the blocks"),
    "the arena is too small": (
        in_region(lambda region: replace(region, arena_bytes=64)),
        r"it ends behind the arena, at byte \d+ of 64",
    ),
    "values lie over each other": (in_region(moved_buffer), r"it lies over what `fused_\w+` makes"),
    "what nobody made is read": (
        first_call(lambda call: replace(call, inputs=(ArenaPlace(0), *call.inputs[1:]))),
        r"nothing is alive at arena\[0\]",
    ),
    "what is written over is read meanwhile": (
        last_call(lambda call: replace(call, inputs=(DataPlace(Register(0)), *call.inputs[1:]))),
        r"it reads %0, over which %4 is written",
    ),
    "what is written over is read later": (
        in_block(
            2,
            lambda b: replace(
                b, instructions=(*b.instructions[:-1], Retain(Register(0)), *b.instructions[-1:], Release(Register(0)))
            ),
        ),
        r"`retain %0`: it reads %0, over which %4 was written",
    ),
    "a ref does not get what is written over its contents": (
        in_block(
            2,
            lambda b: replace(
                b,
                instructions=tuple(
                    replace(i, cell=Register(0)) if isinstance(i, NewTensor) else i for i in b.instructions
                ),
            ),
        ),
        r"over %0 of %0`: %0 does not get it",
    ),
    "a constant lies behind the others": (
        first_call(lambda call: replace(call, inputs=(ConstantPlace(640), *call.inputs[1:]))),
        r"constant\[640\] lies behind the constants",
    ),
    "a word is taken for an address": (
        first_call(lambda call: replace(call, inputs=(AddressPlace(Register(0)), *call.inputs[1:]))),
        r"\*%0 is no array of the caller's",
    ),
}


def test_what_is_compiled_is_accepted():
    verify_program(*compiled())


@pytest.mark.parametrize(("change", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_named(change: Change, message: str):
    program, may_overwrite = compiled()
    procedures = tuple(change(each) if each.name == "main" else each for each in program.procedures)
    with pytest.raises(CompilerBug, match=message):
        verify_program(replace(program, procedures=procedures), may_overwrite)


def test_a_result_is_written_only_over_what_its_kernel_permits():
    stages = compile_stages(
        module("def @main(%x: Tensor[(4, 16), float32]) { nn.softmax(tanh(nn.softmax(%x))) }"), opt_level=0
    )
    verify_program(stages.program, {each.info.name: each.info.in_place for each in stages.kernels})
    with pytest.raises(CompilerBug, match="needed at the same time"):
        verify_program(stages.program, {})


def test_an_entry_enters_what_it_can():
    program, may_overwrite = compiled()
    (entry,) = program.entries
    wrong = replace(program, entries=(replace(entry, is_flat=True),))
    with pytest.raises(CompilerBug, match="@boxed_main cannot be entered this way"):
        verify_program(wrong, may_overwrite)
