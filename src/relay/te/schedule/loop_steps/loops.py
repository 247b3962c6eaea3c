"""What the steps on loops share: loops replaced by others, names kept unique, attached stages kept in place."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from relay.te.operation import Scan
from relay.te.schedule.step import refused
from relay.te.state import Loop, Relation, Stage, State
from relay.tir.stmt import LoopKind


class LoopStep(Protocol):
    """A step on one loop."""

    @property
    def stage(self) -> str: ...

    @property
    def loop(self) -> str: ...


def check_plain(state: State, stage: Stage, loop: Loop, action: str) -> None:
    """Refuse to take apart a loop that has a kind already, or that others are computed at."""
    if loop.kind is not LoopKind.SERIAL:
        raise refused(
            f"cannot {action} loop `{loop.name}` of `{stage.name}`: it is {loop.kind} already",
            expected="a serial loop",
            found=f"a loop that is {loop.kind}",
            remedy=f"{action} it first, and set the kind of the new loop afterwards",
        )
    if loop.name in (*(prefetching.loop for prefetching in stage.prefetches), *stage.claims):
        raise refused(
            f"cannot {action} loop `{loop.name}` of `{stage.name}`: it prefetches",
            remedy=f"{action} it before asking for prefetches in it",
        )
    attached = state.attached(stage, loop)
    if attached:
        raise refused(
            f"cannot {action} loop `{loop.name}` of `{stage.name}`: `{attached[0].name}` is computed at it",
            remedy=f"{action} it before computing other stages at it",
        )


def with_kind(state: State, step: LoopStep, kind: LoopKind, action: str, instead: tuple[str, str] | None) -> State:
    """`state` where the loop of a step, serial so far, is of a kind. `action` says so of a loop ("make {} parallel").
    `instead`: what to do where iterations need each other's results, of a reduction and of a scan; None where they may.
    """
    stage = state.stage(step.stage)
    loop = stage.loop(step.loop)
    cannot = f"cannot {action.format(f'loop `{loop.name}` of `{stage.name}`')}"
    if loop.kind is not LoopKind.SERIAL:
        raise refused(f"{cannot}: it is {loop.kind} already", remedy="give a loop one kind only")
    if instead is not None and (loop.is_reduction or isinstance(stage.operation, Scan)):
        of_reduction, of_scan = instead
        raise refused(
            f"{cannot}: its iterations need each other's results",
            remedy=of_reduction if loop.is_reduction else of_scan,
        )
    return with_loop(state, stage, replace(loop, kind=kind))


def check_unused(stage: Stage, names: tuple[str, ...]) -> None:
    """Refuse a name that another loop of the stage has."""
    for name in names:
        if any(loop.name == name for loop in stage.loops):
            raise refused(
                f"stage `{stage.name}` already has a loop `{name}`", remedy="choose other names for the new loops"
            )


def replaced(stage: Stage, first: int, count: int, loops: tuple[Loop, ...], relation: Relation) -> Stage:
    """`stage` with `count` loops from position `first` replaced by `loops`, which `relation` ties to them."""
    new = (*stage.loops[:first], *loops, *stage.loops[first + count :])
    return replace(stage, loops=new, relations=(*stage.relations, relation))


def with_loop(state: State, stage: Stage, loop: Loop) -> State:
    """`state` with the loop of that name of `stage` replaced."""
    loops = tuple(loop if old.name == loop.name else old for old in stage.loops)
    return state.with_stage(replace(stage, loops=loops))
