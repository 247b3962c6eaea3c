"""What must hold of stages for their loops to be written."""

from __future__ import annotations

from relay.base.diagnostics import RelayError
from relay.te.operation import Reduction, loads_of
from relay.te.schedule.step import refused
from relay.te.state import At, Stage, State
from relay.tir.stmt import LoopKind


def check_initial(state: State, stage: Stage, reduction: Reduction, first: int) -> None:
    """What a reduction starts from must be there before its reducing loops."""
    inside = [other for loop in stage.loops[first:] for other in state.attached(stage, loop)]
    read = {load.buffer for load in loads_of(reduction.initial or ())}
    late = next((other for other in inside if read & set(other.outputs)), None)
    if late is not None:
        raise RelayError(
            rule="schedule-out-of-reach",
            message=f"`{stage.name}` starts from `{late.name}`, which is computed inside its reducing loops",
            expected=f"`{late.name}` computed outside loop `{stage.loops[first].name}`",
            found=f"`{late.name}` computed at {late.place}",
            remedy="compute it at a loop outside the reduction",
        )


def check_inner(state: State, stage: Stage, inner: int) -> None:
    """What is updated outside the inner loops cannot read what is computed inside them."""
    for loop in stage.loops[inner:]:
        for other in state.attached(stage, loop):
            raise refused(
                f"cannot compute `{other.name}` at loop `{loop.name}` of `{stage.name}`, "
                "which only some of its results have",
                remedy="compute it at a loop outside",
            )


def check_ahead(state: State, stage: Stage) -> None:
    """What is computed for the next iteration of a loop needs nothing of this one."""
    if not isinstance(stage.place, At):
        raise refused(
            f"`{stage.name}` is double-buffered, and computed at the root: there is no iteration to be ahead of",
            remedy="compute it at a loop of the stage that reads it",
        )
    loop = state.stage(stage.place.stage).loop(stage.place.loop)
    if loop.kind is not LoopKind.SERIAL:
        raise refused(
            f"`{stage.name}` is double-buffered, and computed at loop `{loop.name}`, which is {loop.kind}",
            expected="a serial loop, whose next iteration is known",
            found=f"a loop that is {loop.kind}",
            remedy="compute it at a serial loop",
        )
    if state.scan_around(stage) is not None:
        raise refused(f"`{stage.name}` is double-buffered, and a part of a scan, which needs its rows one by one")
    for buffer in state.sources(stage):
        producer = state.producer(buffer)
        if producer is not None and producer.place == stage.place and not producer.double_buffered:
            raise refused(
                f"`{stage.name}` is double-buffered, and reads `{producer.name}`, which is computed at the same loop",
                expected=f"`{producer.name}` one iteration ahead too",
                found=f"`{producer.name}` of this iteration",
                remedy=f"double-buffer `{producer.name}` too, or compute it elsewhere",
            )
