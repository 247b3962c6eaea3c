"""What schedules work on: the stages of a program, each with its loops and its place.

A `State` is a value: steps give a new one. It starts with every compute as a loop nest of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, Union, assert_never

from relay.arith.expr import IntExpr, Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.fresh_names import FreshNames
from relay.base.frozen import frozen
from relay.base.graph import post_order
from relay.base.named import find_named
from relay.te.operation import (
    Compute,
    Extern,
    Named,
    Operation,
    Placeholder,
    Scan,
    input_tensors,
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

    def __str__(self) -> str:
        """The loops of every stage where it stands, without their extents: what a schedule has done so far."""
        roots = [stage for stage in self.stages if isinstance(stage.place, AtRoot)]
        return "\n".join(line for stage in roots for line in self._lines(stage, ""))

    def _lines(self, stage: Stage, indent: str) -> Iterator[str]:
        for loop in stage.loops:
            if stage.intrinsic is not None and stage.intrinsic.loop == loop.name:
                break
            words = [] if loop.kind is LoopKind.SERIAL else [str(loop.kind)]
            words += [f"{key}={value}" for key, value in loop.annotations]
            yield f"{indent}for {loop.name}" + (f": {', '.join(words)}" if words else "")
            indent += "  "
            if loop.name in stage.claims:
                yield f"{indent}prefetch {stage.outputs[0].name} to write"
            for prefetching in stage.prefetches:
                if prefetching.loop == loop.name:
                    yield f"{indent}prefetch {prefetching.buffer.name} of the next {prefetching.ahead}"
            for other in self.attached(stage, loop):
                yield from self._lines(other, indent)
        scope = "" if stage.scope is Scope.GLOBAL else f" in {stage.scope}"
        gap = "" if stage.gap is None else f", {stage.gap}"
        yield f"{indent}{stage.name}{scope}{gap}" + (f" by {stage.intrinsic.name}" if stage.intrinsic else "")

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


def plain_stage(name: str, operation: Compute, outputs: tuple[Buffer, ...], scope: Scope = Scope.GLOBAL) -> Stage:
    """A compute as written: a loop for each axis, then one for each reduced axis.

    Axes that only some of its components have come last.
    """
    roots: list[Root] = []
    loops: list[Loop] = []
    shared, own = operation.axes[: operation.shared_rank], operation.axes[operation.shared_rank :]
    labels = FreshNames(separator="_", first=1)
    for axis in (*shared, *operation.reduce_axes, *own):
        label = labels.take(axis.name)
        symbol = Symbol(label)
        is_reduction = axis in operation.reduce_axes
        roots.append(Root(axis, symbol, is_reduction))
        loops.append(Loop(label, symbol, is_reduction))
    return Stage(name, operation, outputs, tuple(roots), tuple(loops), scope=scope)


def initial_state(outputs: Sequence[Tensor], hierarchy: Hierarchy = PLAIN) -> State:
    """The program that computes `outputs`, every compute at the root, for a target with the threads of `hierarchy`.

    Raises `RelayError` (`te-output`) for an output that is a placeholder or stands twice.
    """
    _check_outputs(outputs)
    operations = post_order([tensor.operation for tensor in outputs], _producers)
    buffers = _buffers_by_operation(outputs, operations)
    names = FreshNames(separator="_", first=1)
    stages: list[Stage] = []
    for operation in operations:
        if isinstance(operation, Placeholder):
            continue
        stages.append(_initial_stage(names.take(operation.name), operation, buffers[operation]))
    return _with_scans(State(tuple(stages), tuple(outputs), hierarchy))


def _producers(operation: Operation) -> list[Operation]:
    return [tensor.operation for tensor in input_tensors(operation)]


def _check_outputs(outputs: Sequence[Tensor]) -> None:
    for position, tensor in enumerate(outputs):
        if isinstance(tensor.operation, Placeholder) or tensor in outputs[:position]:
            raise RelayError(
                rule="te-output",
                message=f"output {position}, `{tensor.name}`, is not computed by this program",
                expected="outputs that are computed, each once",
                found="a placeholder" if isinstance(tensor.operation, Placeholder) else "an output given twice",
                remedy="copy it with a compute of its own",
            )


def _buffers_by_operation(
    outputs: Sequence[Tensor], operations: Sequence[Operation]
) -> dict[Operation, tuple[Buffer, ...]]:
    """The tensors that are known of each operation; components that nobody names get a buffer."""
    known: dict[tuple[Operation, int], Tensor] = {}
    for tensor in (*outputs, *(tensor for operation in operations for tensor in input_tensors(operation))):
        known.setdefault((tensor.operation, tensor.component), tensor)
    return {
        operation: tuple(
            known.get((operation, component)) or Buffer(f"{operation.name}.{component}", shape, dtype)
            for component, (shape, dtype) in enumerate(_components(operation))
        )
        for operation in operations
    }


def _components(operation: Operation) -> list[tuple[tuple[IntExpr, ...], DType]]:
    match operation:
        case Placeholder():
            return []
        case Compute(axes=axes, dtypes=dtypes):
            extents = tuple(axis.extent for axis in axes)
            return [(extents[: operation.rank(component)], dtype) for component, dtype in enumerate(dtypes)]
        case Scan(state=state):
            return [(tensor.shape, tensor.dtype) for tensor in state]
        case Extern(shapes=shapes, dtypes=dtypes):
            return list(zip(shapes, dtypes, strict=True))
        case _:
            assert_never(operation)


def _initial_stage(name: str, operation: Compute | Scan | Extern, outputs: tuple[Buffer, ...]) -> Stage:
    match operation:
        case Compute():
            return plain_stage(name, operation, outputs)
        case Scan():
            return Stage(name, operation, outputs, (), (Loop("time", Symbol("time"), False),))
        case Extern():
            return Stage(name, operation, outputs, (), ())
        case _:
            assert_never(operation)


def _with_scans(state: State) -> State:
    """What a scan's update needs of earlier rows is computed inside the scan's loop."""
    for stage in state.stages:
        scan = state.scan_around(stage)
        if scan is not None:
            state = state.with_stage(replace(stage, place=At(scan.name, "time")))
    for scan in state.stages:
        if isinstance(scan.operation, Scan):
            _check_updates(state, scan, scan.operation)
    return state


def _check_updates(state: State, scan: Stage, operation: Scan) -> None:
    """Updates are written straight into the scan's result, so nothing outside may want them."""
    inside = At(scan.name, "time")
    for tensor in operation.update:
        update = state.producer(tensor)
        outside = [x.name for x in state.consumers(update) if x is not scan and x.place != inside] if update else []
        if update is None or not isinstance(update.operation, Compute) or tensor in state.outputs or outside:
            raise RelayError(
                rule="scan-update",
                message=f"`{tensor.name}` is not an update of scan `{scan.name}` alone",
                expected="a compute that only the scan, and other parts of its update, read",
                found=f"read by {outside[0]} too" if outside else "an input or a result of the program",
                remedy="read the rows of the scan's result instead",
            )
