"""What schedules work on: the stages of a program, each with its loops and its place.

A `State` is a value: steps give a new one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias, Union, assert_never

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.names.fresh_names import FreshNames
from relay.base.names.named import find_named
from relay.te.operation import (
    Compute,
    Extern,
    Named,
    Scan,
)  # fmt: skip
from relay.te.tensor import Axis, Gap, Tensor
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Load
from relay.tir.hierarchy import PLAIN, Hierarchy
from relay.tir.stmt import THREAD_NAME, LoopKind


@frozen(eq=False)
class Loop:
    """One loop of a stage. Its extent follows from the stage's region."""

    name: str
    symbol: Symbol
    is_reduction: bool
    kind: LoopKind = LoopKind.SERIAL
    annotations: tuple[tuple[str, str | int], ...] = ()

    @property
    def thread(self) -> str | None:
        """The name of the thread axis that the loop is bound to."""
        return str(dict(self.annotations)[THREAD_NAME]) if self.kind is LoopKind.THREAD else None


@frozen(eq=False)
class SplitRelation:
    """`parent = outer * extent of inner + inner`; `factor` is the extent of inner, or `parts` that of outer."""

    parent: Symbol
    outer: Symbol
    inner: Symbol
    factor: int | None
    parts: int | None


@frozen(eq=False)
class FuseRelation:
    """`fused = outer * extent of inner + inner`."""

    outer: Symbol
    inner: Symbol
    fused: Symbol


Relation: TypeAlias = Union[SplitRelation, FuseRelation]


@frozen
class AtRoot:
    """A loop nest of its own."""


@frozen
class At:
    """At the start of the body of `loop` of stage `stage`, computing what is read there."""

    stage: str
    loop: str


Place: TypeAlias = Union[AtRoot, At]


@frozen(eq=False)
class Root:
    """An axis of the operation and the symbol that stands for it in this stage's loops, counted from the region."""

    axis: Axis
    symbol: Symbol
    is_reduction: bool


@frozen(eq=False)
class Intrinsic:
    """What the loops from `loop` inwards are replaced by."""

    loop: str
    name: str


@frozen(eq=False)
class Prefetching:
    """In `loop`, what the next iteration of loop `ahead` of stage `target` reads of `buffer` is asked for."""

    loop: str
    buffer: Buffer
    target: str
    ahead: str


@frozen(eq=False, repr=False)
class Stage(Named):
    """An operation, the buffers it fills, its loops from outermost to innermost, and where it stands."""

    name: str
    operation: Compute | Scan | Extern
    outputs: tuple[Buffer, ...]
    roots: tuple[Root, ...]
    loops: tuple[Loop, ...]
    relations: tuple[Relation, ...] = ()
    place: Place = AtRoot()
    scope: Scope = Scope.GLOBAL
    intrinsic: Intrinsic | None = None
    prefetches: tuple[Prefetching, ...] = ()
    claims: tuple[str, ...] = ()
    """Loops each iteration of which asks for what it writes."""
    queue: str | None = None
    """What the stage is issued to,"""
    issued_at: str = ""
    """the loop each iteration of which is an operation of its own; empty where all of it is one."""
    double_buffered: bool = False
    """Whether an iteration of the loop that it is computed at finds it computed, and computes it for the next one."""
    gap: Gap | None = None
    """What the buffers have more room for; those of results have what their callers say."""

    def loop(self, name: str) -> Loop:
        """The loop of that name. Raises `RelayError` (`schedule-unknown-loop`)."""
        return self.loops[self.position(name)]

    def position(self, name: str) -> int:
        for position, loop in enumerate(self.loops):
            if loop.name == name:
                return position
        raise RelayError(
            rule="schedule-unknown-loop",
            message=f"stage `{self.name}` has no loop `{name}`",
            expected="one of " + ", ".join(loop.name for loop in self.loops),
            found=name,
            remedy="loops that were split or fused are known by their new names",
        )

    def reads(self) -> tuple[Load, ...]:
        """The loads of a compute; scans and externs read whole tensors (see `State.sources`)."""
        return self.operation.reads if isinstance(self.operation, Compute) else ()


@frozen(eq=False)
class State:
    """Stages, producers before consumers, the tensors that are the program's results, and what the target's threads and
    scopes are."""

    stages: tuple[Stage, ...]
    outputs: tuple[Tensor, ...]
    hierarchy: Hierarchy = PLAIN

    def stage(self, name: str) -> Stage:
        """The stage of that name. Raises `RelayError` (`schedule-unknown-stage`)."""
        return find_named(
            self.stages,
            name,
            rule="schedule-unknown-stage",
            message=f"there is no stage `{name}`",
            remedy="stages are named after their computes; inlined ones are gone",
        )

    def with_stage(self, stage: Stage) -> State:
        """This state with the stage of the same name replaced."""
        return replace(self, stages=tuple(stage if old.name == stage.name else old for old in self.stages))

    def producer(self, buffer: Buffer) -> Stage | None:
        return next((stage for stage in self.stages if buffer in stage.outputs), None)

    def name_of(self, buffer: Buffer) -> str:
        """The name by which steps know a tensor: that of the stage that makes it, or its own if it is an input."""
        producer = self.producer(buffer)
        return buffer.name if producer is None else producer.name

    def is_output(self, stage: Stage) -> bool:
        return any(buffer in self.outputs for buffer in stage.outputs)

    def sources(self, stage: Stage) -> tuple[Buffer, ...]:
        """The buffers a stage reads, each once."""
        match stage.operation:
            case Compute():
                return tuple(dict.fromkeys(load.buffer for load in stage.reads()))
            case Scan(init=init, update=update):
                return (*init, *update)
            case Extern(inputs=inputs):
                return inputs
            case _:
                assert_never(stage.operation)

    def consumers(self, stage: Stage) -> tuple[Stage, ...]:
        """The stages that read what `stage` fills."""
        return tuple(other for other in self.stages if any(buffer in stage.outputs for buffer in self.sources(other)))

    def root_of(self, stage: Stage) -> Stage:
        """The root stage that a stage is computed inside, or is."""
        while isinstance(stage.place, At):
            stage = self.stage(stage.place.stage)
        return stage

    def row_of_scan(self, buffer: Buffer) -> Stage | None:
        """The scan whose rows a buffer is an update of, and which therefore has the memory for it."""
        return next((x for x in self.stages if isinstance(x.operation, Scan) and buffer in x.operation.update), None)

    def attached(self, stage: Stage, loop: Loop) -> tuple[Stage, ...]:
        """The stages computed at the start of the body of `loop`, in order."""
        place = At(stage.name, loop.name)
        return tuple(other for other in self.stages if other.place == place)

    def depends_on(self, stage: Stage, producer: Stage) -> bool:
        """Does `stage` read, directly or through other stages, what `producer` fills?"""
        reached = {producer.name}
        for other in self.stages:  # producers come first
            if any(self.name_of(buffer) in reached for buffer in self.sources(other) if self.producer(buffer)):
                reached.add(other.name)
        return stage.name in reached and stage.name != producer.name

    def scan_around(self, stage: Stage) -> Stage | None:
        """The scan that `stage` is a part of: it is an update, or needs earlier rows to make one."""
        for scan in self.stages:
            if isinstance(scan.operation, Scan) and self.depends_on(scan, stage):
                is_update = any(tensor in stage.outputs for tensor in scan.operation.update)
                if is_update or self._reaches(stage, set(scan.operation.state)):
                    return scan
        return None

    def _reaches(self, stage: Stage, buffers: set[Buffer]) -> bool:
        """Does `stage` read one of `buffers`, directly or through other stages?"""
        reached = set(buffers)
        for other in self.stages:  # producers come first
            if not reached.isdisjoint(self.sources(other)):
                reached.update(other.outputs)
                if other is stage:
                    return True
        return False

    def fresh_name(self, wanted: str) -> str:
        """A name for one stage more: `wanted`, or with the first of _1, _2, … that is free."""
        return FreshNames({stage.name for stage in self.stages}.__contains__, "_", first=1).take(wanted)
