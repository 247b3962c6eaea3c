"""Which value is where in a function's workspace, and when: read off its instructions, whose places are decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from relay.arith.expr import IntExpr
from relay.lower.place import WorkspacePlace
from relay.lower.program import CallKernel, ProgramFunction
from relay.runtime.work import ArenaBuffer

ResultSizes = Callable[[CallKernel], Sequence[IntExpr]]
"""The bytes of each result of a kernel call, in the caller's extents."""


def arena_of(function: ProgramFunction, result_sizes: ResultSizes) -> tuple[ArenaBuffer, ...]:
    """The values in the workspace, in the order in which they are written. Time counts kernel calls."""
    done: list[ArenaBuffer] = []
    alive: dict[IntExpr, int] = {}  # by offset, the position in `done`
    calls = [each for each in function.instructions if isinstance(each, CallKernel)]
    for time, call in enumerate(calls):
        split = len(call.arguments) - call.output_count
        for place in call.arguments[:split]:
            if isinstance(place, WorkspacePlace) and place.offset_bytes in alive:
                position = alive[place.offset_bytes]
                done[position] = replace(done[position], last=time)
        for place, size in zip(call.arguments[split:], result_sizes(call), strict=True):
            if isinstance(place, WorkspacePlace) and size != 0:  # what is empty may stand where others do
                alive[place.offset_bytes] = len(done)
                done.append(ArenaBuffer(call.kernel, place.offset_bytes, size, time, time))
    return tuple(done)
