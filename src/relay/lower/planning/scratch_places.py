"""Where kernels have what they work in: in the arena of their region, for as long as a call takes. The places of values
are planned before: what a kernel works in is known when its loops are, and then has the lowest room that is free.

    before: arena[0] = dense(*%0)                          after: arena[0] = dense(*%0) using arena[512]
            *%1 = softmax(arena[0])                               *%1 = softmax(arena[0]) using arena[512]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from relay.arith.expr import IntExpr, add, maximum
from relay.lower.planning.scratch import Scratch
from relay.lower.planning.storage import aligned, lowest_gap
from relay.lower.program.place import ArenaPlace
from relay.lower.program.procedure import Block, Procedure, ProcedureInstruction
from relay.lower.program.program import Program
from relay.lower.program.region import SCRATCH, CallKernel, RegionInstruction, RunRegion
from relay.runtime.artefact.work import ArenaBuffer

ScratchOf: TypeAlias = Callable[[str], Scratch]
"""What a kernel works in, by its name."""


def with_scratch(program: Program, scratch_of: ScratchOf) -> Program:
    """The program, each kernel of the host's in which has a place to work in."""

    def in_instruction(instruction: ProcedureInstruction) -> ProcedureInstruction:
        return region_with_scratch(instruction, scratch_of) if isinstance(instruction, RunRegion) else instruction

    def in_block(block: Block) -> Block:
        return replace(block, instructions=tuple(map(in_instruction, block.instructions)))

    def in_procedure(procedure: Procedure) -> Procedure:
        return replace(procedure, blocks=tuple(map(in_block, procedure.blocks)))

    return replace(program, procedures=tuple(map(in_procedure, program.procedures)))


def region_with_scratch(region: RunRegion, scratch_of: ScratchOf) -> RunRegion:
    """The same of one region."""
    instructions: list[RegionInstruction] = []
    rooms: list[ArenaBuffer] = []
    end, time = region.arena_bytes, 0
    waiting, alive = deque(sorted(region.arena, key=_first)), list[ArenaBuffer]()
    for each in region.instructions:
        if isinstance(each, CallKernel):
            while waiting and waiting[0].first <= time:
                alive.append(waiting.popleft())
            alive = [value for value in alive if value.last >= time]
            sizes = () if each.on_device else scratch_of(each.kernel).of_call(each.extents)
            made = _rooms(alive, sizes, time, region.arena_bytes)
            rooms += made
            instructions.append(replace(each, scratch=tuple(ArenaPlace(room.offset_bytes) for room in made)))
            time += 1
        else:
            instructions.append(each)
    for room_end in dict.fromkeys(map(_end, rooms)):
        end = maximum(end, room_end)
    arena = tuple(sorted((*region.arena, *rooms), key=_first))
    return replace(region, instructions=tuple(instructions), arena_bytes=end, arena=arena)


def _rooms(alive: Sequence[ArenaBuffer], sizes: Sequence[IntExpr], time: int, behind: IntExpr) -> list[ArenaBuffer]:
    """Room for blocks while call number `time` runs: beside the values that are alive then, where numbers tell their
    places, else `behind` all."""
    made: list[ArenaBuffer] = []
    for size in sizes:
        room, taken = aligned(size), [(each.offset_bytes, _end(each)) for each in (*alive, *made)]
        known = [(begin, end) for begin, end in taken if isinstance(begin, int) and isinstance(end, int)]
        offset = lowest_gap(room, sorted(known)) if isinstance(room, int) and len(known) == len(taken) else behind
        made.append(ArenaBuffer(SCRATCH, offset, size, time, time))
        behind = maximum(behind, _end(made[-1]))
    return made


def _first(buffer: ArenaBuffer) -> int:
    return buffer.first


def _end(buffer: ArenaBuffer) -> IntExpr:
    return add(buffer.offset_bytes, aligned(buffer.size_bytes))
