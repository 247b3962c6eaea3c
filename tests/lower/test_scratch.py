"""What kernels work in has room in the arena of their region, while their call runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from relay.arith.expr import evaluate
from relay.base.diagnostics import CompilerBug
from relay.driver.build import build, compile_stages
from relay.lower.planning.scratch import Scratch
from relay.lower.planning.scratch_places import with_scratch
from relay.lower.program.parser import parse_program
from relay.lower.program.place import ArenaPlace
from relay.lower.program.procedure import Block, Procedure
from relay.lower.program.program import Program
from relay.lower.program.region import SCRATCH, CallKernel, RegionInstruction, RunRegion
from relay.lower.program.verification.program_verifier import verify_program
from tests.lower.test_regions import shown
from tests.native.running import check, module

SORTED = "def @main(%x: Tensor[(n, 200), float32]) { argsort(nn.softmax(%x, axis=0)) }"
SOURCE = """
def @main(%x: Tensor[(n, 200), float32], %times: int32) -> Tensor[(n, 200), float32] {
  if (less(%times, 1)) { %x } else {
    @main(cast(argsort(nn.softmax(%x, axis=0)), dtype="float32"), subtract(%times, 1))
  }
}"""
X = np.random.default_rng(0).standard_normal((4, 200)).astype("float32")


def region(program: Program) -> RunRegion:
    (found,) = (each for procedure in program.procedures for each in procedure.regions())
    return found


def compiled(source: str, opt_level: int = 1) -> Program:
    return compile_stages(module(source), opt_level=opt_level).program


def test_a_call_has_room_beside_what_is_alive():
    found = region(compiled("def @main(%x: Tensor[(4, 200), float32]) { argsort(nn.softmax(%x, axis=0)) }"))
    (room,) = (each for each in found.arena if each.kernel == SCRATCH)
    (made,) = (each for each in found.arena if each.kernel != SCRATCH)
    assert (room.first, room.last) == (1, 1)
    assert made.first <= 1 <= made.last
    assert (room.offset_bytes, found.arena_bytes) == (3200, 3200 + 64 * -(-room.size_bytes // 64))


def test_in_a_recursion_with_open_extents():
    program = compiled(SOURCE)
    text = shown(region(program))
    assert "using arena[" in text
    assert "bytes of scratch, calls 1 to 1" in text
    check(SOURCE, X, np.int32(3), opt_level=1)


def test_what_is_kept_tells_as_much_as_the_loops(monkeypatch: pytest.MonkeyPatch, tmp_path: object):
    """A kernel whose object is found in the cache is not lowered again."""
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path))
    told: list[str] = []
    for _ in range(2):
        stages = compile_stages(module(SOURCE), opt_level=1)
        _ = stages.artefact
        told.append(str(stages.program))
    assert told == [str(compiled(SOURCE))] * 2


TEXT = """\
flat entry main(x: Tensor[(8,), float32]) -> (output: Tensor[(8,), float32]) as 0 runs @main

flat procedure @main(%0:address, %1:address) -> ()
  block0():
    region, arena 128 bytes
      arena[64] 32 bytes of first, calls 0 to 1
      arena[64] = first(*%0)
      *%1 = second(arena[64])
    return

constants 0 bytes
"""


def test_several_blocks_of_one_call_lie_apart():
    """As kernels have them that are several launches."""
    sizes = {"first": (), "second": (30, 70)}
    program = with_scratch(parse_program(TEXT), lambda name: Scratch((), sizes[name]))
    assert str(region(program)).splitlines()[2:] == [
        "  arena[0] 30 bytes of scratch, calls 1 to 1",
        "  arena[128] 70 bytes of scratch, calls 1 to 1",
        "  arena[64] = first(*%0)",
        "  *%1 = second(arena[64]) using arena[0], arena[128]",
    ]
    assert region(program).arena_bytes == 256


def moved(offset_bytes: int) -> Callable[[RunRegion], RunRegion]:
    """The region whose kernel works there."""

    def changed(call: RegionInstruction) -> RegionInstruction:
        return (
            replace(call, scratch=(ArenaPlace(offset_bytes),))
            if isinstance(call, CallKernel) and call.scratch
            else call
        )

    def change(region: RunRegion) -> RunRegion:
        values, rooms = without_room(region).arena, (each for each in region.arena if each.kernel == SCRATCH)
        arena = (*values, *(replace(each, offset_bytes=offset_bytes) for each in rooms))
        return replace(region, arena=arena, instructions=tuple(map(changed, region.instructions)))

    return change


def without_room(region: RunRegion) -> RunRegion:
    return replace(region, arena=tuple(each for each in region.arena if each.kernel != SCRATCH))


@pytest.mark.parametrize(("change", "message"), [
    (moved(0), r"`ArenaBuffer.*scratch.*it lies over what `fused_nn_softmax"),
    (moved(1 << 20), "it ends behind the arena"),
    (without_room, "it has no room at arena"),
], ids=["over a value", "behind the arena", "no room"])  # fmt: skip
def test_a_fault_is_named(change: Callable[[RunRegion], RunRegion], message: str):
    program = compiled("def @main(%x: Tensor[(4, 200), float32]) { argsort(nn.softmax(%x, axis=0)) }")

    def in_block(block: Block) -> Block:
        made = tuple(change(each) if isinstance(each, RunRegion) else each for each in block.instructions)
        return replace(block, instructions=made)

    def in_procedure(procedure: Procedure) -> Procedure:
        return replace(procedure, blocks=tuple(map(in_block, procedure.blocks)))

    with pytest.raises(CompilerBug, match=message):
        verify_program(replace(program, procedures=tuple(map(in_procedure, program.procedures))), {})


def test_no_kernel_asks_for_memory():
    stages = compile_stages(module(SOURCE), opt_level=1)
    assert all("alloc" not in each.source().replace("alloca", "") for each in stages.called_kernels)


def test_the_profile_counts_it():
    executable = build(module(SORTED))
    arena = executable.profile(X, runs=1).arena
    assert arena is not None
    program = compiled(SORTED, 2)
    (symbol,) = program.entry("main").symbols
    told = [each.size_bytes for each in region(program).arena if each.kernel == SCRATCH]
    found = [each.end - each.begin for each in arena.buffers if each.kernel == SCRATCH]
    assert found == [evaluate(each, {symbol: 4}) for each in told] != []
