"""Bound inference: where each stage stands, and which part of its tensor it computes there.

Consumers are placed before producers. A producer attached inside a loop computes what its consumers read in one
iteration of that loop: the loops outside are fixed, the loops inside run (`region`). Loops outside that are bound to
threads run too where these threads share what is computed: it is then what all of them read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, assert_never

from relay.arith.expr import (
    Comparison,
    IntExpr,
    Symbol,
    add,
    floor_divide,
    floor_modulo,
    free_symbols,
    maximum,
    multiply,
    substitute,
)  # fmt: skip
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.te.extents import loop_extents
from relay.te.lowering.dividing import divide_among_threads
from relay.te.lowering.nest_checks import check_ahead
from relay.te.lowering.region import Range, is_below, region_of
from relay.te.operation import Compute, Scan, scalar_indices
from relay.te.state import At, FuseRelation, Loop, SplitRelation, Stage, State
from relay.tir.buffer import Buffer
from relay.tir.hierarchy import Hierarchy, ThreadAxis, lanes_of

_BUFFERS = 2
OUTSIDE = -1
"""The depth of a guard that depends on none of the stage's own loops."""


@frozen(eq=False)
class Enclosing:
    """A loop around a stage, by whose stage and under which name, and the threads that it is bound to."""

    stage: str
    loop: str
    symbol: Symbol
    extent: IntExpr
    axis: ThreadAxis | None


@frozen(eq=False)
class Storage:
    """Where elements of a tensor are kept: `tensor[index]` is `buffer[turn, index - low]`, with a `turn` where several
    iterations keep theirs side by side."""

    buffer: Buffer
    low: tuple[IntExpr, ...]
    turn: tuple[IntExpr, ...] = ()


@frozen(eq=False)
class Guard:
    """A condition for a point to be computed, tested right inside the loop at `depth` of the stage."""

    condition: Comparison
    depth: int
    is_reduction: bool


@frozen(eq=False)
class Placement:
    """A stage with everything that its loop nest is made from.

    `axis_values` gives each axis of the operation in terms of loop symbols; `extents` those of the stage's loops;
    `chain` the loops around it, outermost first; `storage` one entry for each component. `relaxed` are those symbols of
    the chain that count threads which share the result. `thread_guards` are conditions for a point to be computed that
    differ between threads: they are tested right at the store, so that nothing that all threads do together is inside.
    """

    stage: Stage
    chain: tuple[Enclosing, ...]
    extents: Mapping[Symbol, IntExpr]
    axis_values: Mapping[Symbol, IntExpr]
    guards: tuple[Guard, ...]
    thread_guards: tuple[Comparison, ...]
    storage: tuple[Storage, ...]
    relaxed: frozenset[Symbol]
    inside: tuple[Enclosing, ...]
    """The loops around the innermost statement: those outside, then the stage's own."""

    @property
    def is_ahead(self) -> bool:
        """Whether the stage is computed one iteration ahead of its readers."""
        return any(storage.turn for storage in self.storage)


Placements: TypeAlias = dict[str, Placement]


def place_stages(state: State, parameters: Mapping[Buffer, Buffer]) -> tuple[State, Placements]:
    """Every stage placed, and the state with what threads share divided among them. `parameters` maps results to the
    buffers of the function that hold them.

    Raises `RelayError` (`schedule-out-of-reach`, `schedule-scope`).
    """
    placements: Placements = {}
    for stage in reversed(state.stages):
        divided = divide_among_threads(state, stage, thread_counts(state, stage, placements))
        state = state if divided is stage else state.with_stage(divided)
        placements[stage.name] = _place(state, divided, placements, parameters)
    return state, placements


def _place(state: State, stage: Stage, placements: Placements, parameters: Mapping[Buffer, Buffer]) -> Placement:
    chain = _chain(stage, placements)
    relaxed = _relaxed(state, stage, chain, placements)
    region = _region(state, stage, {x.symbol for x in chain} - relaxed, placements)
    extents, axis_values, splits = _indices(stage, region)
    everything = {enclosing.symbol: enclosing.extent for enclosing in chain} | dict(extents)
    inside = (*chain, *(_enclosing(state, stage, loop, extents[loop.symbol]) for loop in stage.loops))
    threads = {x.symbol for x in inside if x.axis is not None}
    guards: list[Guard] = []
    thread_guards: list[Comparison] = []
    for condition in _conditions(stage, region, axis_values, splits, everything):
        if threads & (free_symbols(condition.left) | free_symbols(condition.right)):
            thread_guards.append(condition)
        else:
            guards.append(_guard(stage, condition))
    storage = _storage(state, stage, region, placements, parameters, _turn(state, stage, chain))
    return Placement(
        stage, chain, extents, axis_values, tuple(guards), tuple(thread_guards), storage, frozenset(relaxed), inside
    )


def _enclosing(state: State, stage: Stage, loop: Loop, extent: IntExpr) -> Enclosing:
    axis = state.hierarchy.thread(loop.thread) if loop.thread is not None else None
    return Enclosing(stage.name, loop.name, loop.symbol, extent, axis)


def thread_counts(state: State, stage: Stage, placements: Placements) -> dict[ThreadAxis, IntExpr]:
    """How many threads there are along each axis by what was placed beside and around a stage."""
    counts: dict[ThreadAxis, IntExpr] = {}
    root = state.root_of(stage)
    for placed in placements.values():
        if state.root_of(placed.stage) is root:
            for x in placed.inside:
                if x.axis is not None:
                    counts[x.axis] = maximum(counts.get(x.axis, 1), x.extent)
    return counts


def _relaxed(state: State, stage: Stage, chain: tuple[Enclosing, ...], placements: Placements) -> set[Symbol]:
    """The symbols of the loops around a stage that count threads which share what it computes, or what is computed of
    the stage that it is in."""
    inherited = placements[stage.place.stage].relaxed if isinstance(stage.place, At) else frozenset[Symbol]()
    shares = state.hierarchy.shares
    return {x.symbol for x in chain if x.symbol in inherited or (x.axis is not None and shares(stage.scope, x.axis))}


def _chain(stage: Stage, placements: Placements) -> tuple[Enclosing, ...]:
    if not isinstance(stage.place, At):
        return ()
    target = placements.get(stage.place.stage)
    if target is None:
        raise RelayError(
            rule="schedule-out-of-reach",
            message=f"`{stage.name}` is computed at `{stage.place.stage}`, which does not come after it",
            remedy="compute it at one of its consumers",
        )
    own = target.stage.position(stage.place.loop)
    return target.inside[: len(target.chain) + own + 1]


def _region(state: State, stage: Stage, fixed: set[Symbol], placements: Placements) -> tuple[Range, ...]:
    shape = _region_shape(stage)
    whole = tuple(Range(0, add(extent, -1)) for extent in shape)
    if not isinstance(stage.place, At) or not isinstance(stage.operation, Compute):
        return whole
    scanned = _scanned_row(state, stage, placements)
    if scanned is not None:
        return (Range(scanned, 0), *whole[1:])
    inner: dict[Symbol, IntExpr] = {}
    reads: list[tuple[IntExpr, ...]] = []
    for consumer in state.consumers(stage):
        placed = placements[consumer.name]
        _check_reach(stage, stage.place, placed)
        if not isinstance(consumer.operation, Compute):
            return whole
        inner |= {loop.symbol: loop.extent for loop in placed.inside if loop.symbol not in fixed}
        for load in consumer.reads():
            if load.buffer in stage.outputs:
                reads.append(tuple(substitute(index, placed.axis_values) for index in scalar_indices(load)))
    found = region_of(reads, shape, inner)
    return found if lanes_of(stage.scope) is None else (*found[:-1], whole[-1])  # every lane takes part


def _region_shape(stage: Stage) -> tuple[IntExpr, ...]:
    if isinstance(stage.operation, Compute):
        return tuple(axis.extent for axis in stage.operation.axes)
    return stage.outputs[0].shape


def _scanned_row(state: State, stage: Stage, placements: Placements) -> IntExpr | None:
    """The row that this stage computes, if it is the update of a scan."""
    for consumer in state.consumers(stage):
        scan = consumer.operation
        if isinstance(scan, Scan) and any(tensor in stage.outputs for tensor in scan.update):
            return add(scan.init[0].shape[0], _time_value(placements[consumer.name]))
    return None


def _time_value(scan: Placement) -> IntExpr:
    return scan.stage.loops[0].symbol


def _check_reach(stage: Stage, place: At, consumer: Placement) -> None:
    if not any(loop.stage == place.stage and loop.loop == place.loop for loop in consumer.inside):
        raise RelayError(
            rule="schedule-out-of-reach",
            message=f"`{stage.name}` is computed at loop `{place.loop}` of `{place.stage}`, "
            f"but `{consumer.stage.name}` reads it outside",
            expected=f"every consumer of `{stage.name}` inside loop `{place.loop}` of `{place.stage}`",
            found=f"`{consumer.stage.name}` elsewhere",
            remedy=f"compute `{consumer.stage.name}` at the same loop or deeper, or `{stage.name}` at the root",
        )


def _indices(
    stage: Stage, region: tuple[Range, ...]
) -> tuple[dict[Symbol, IntExpr], dict[Symbol, IntExpr], list[tuple[IntExpr, IntExpr]]]:
    """Extents of all loops; axes in terms of loops; and, for splits that do not divide, (index, extent) to check."""
    extents: dict[Symbol, IntExpr] = {}
    computed = _parts(stage, region)
    for root in stage.roots:
        extents[root.symbol] = root.axis.extent if root.is_reduction else add(computed[root.axis].width, 1)
    if isinstance(stage.operation, Scan):
        extents[stage.loops[0].symbol] = stage.outputs[0].shape[0] - stage.operation.init[0].shape[0]
    extents = loop_extents(stage.relations, extents)
    values: dict[Symbol, IntExpr] = {
        loop.symbol: 0 if is_single(extents[loop.symbol]) else loop.symbol for loop in stage.loops
    }
    splits: list[tuple[IntExpr, IntExpr]] = []
    for relation in reversed(stage.relations):
        match relation:
            case SplitRelation(parent, outer, inner):
                values[parent] = add(multiply(values[outer], extents[inner]), values[inner])
                if multiply(extents[outer], extents[inner]) != extents[parent]:
                    splits.append((values[parent], extents[parent]))
            case FuseRelation(outer, inner, fused):
                divisor = 1 if extents[inner] == 0 else extents[inner]  # no iteration divides, yet 0 cannot stand there
                values[outer] = 0 if extents[outer] == 1 else floor_divide(values[fused], divisor)
                values[inner] = values[fused] if extents[outer] == 1 else floor_modulo(values[fused], divisor)
            case _:
                assert_never(relation)
    axis_values: dict[Symbol, IntExpr] = {}
    for root in stage.roots:
        low = 0 if root.is_reduction else computed[root.axis].low
        axis_values[root.axis] = add(low, values[root.symbol])
    return extents, axis_values, splits


def _parts(stage: Stage, region: tuple[Range, ...]) -> dict[Symbol, Range]:
    """The part of each axis over results that is computed."""
    axes = stage.operation.axes if isinstance(stage.operation, Compute) else ()
    return dict(zip(axes, region, strict=False))


def is_single(extent: IntExpr) -> bool:
    """A loop of one iteration, which need not be written."""
    return extent == 1


def _conditions(
    stage: Stage,
    region: tuple[Range, ...],
    axis_values: Mapping[Symbol, IntExpr],
    splits: list[tuple[IntExpr, IntExpr]],
    everything: Mapping[Symbol, IntExpr],
) -> tuple[Comparison, ...]:
    """What must hold for a point to be computed."""
    needed: dict[Comparison, None] = {}
    for index, extent in splits:
        if not is_below(index, extent, everything):
            needed[Comparison(index, "<", extent)] = None
    computed = _parts(stage, region)
    for root in stage.roots:
        index = axis_values[root.axis]
        if root.is_reduction or computed[root.axis] == Range(0, add(root.axis.extent, -1)):
            continue  # the loops cover the axis exactly
        if not is_below(-1, index, everything):
            needed[Comparison(0, "<=", index)] = None
        if not is_below(index, root.axis.extent, everything):
            needed[Comparison(index, "<", root.axis.extent)] = None
    return tuple(needed)


def _guard(stage: Stage, condition: Comparison) -> Guard:
    symbols = free_symbols(condition.left) | free_symbols(condition.right)
    depths = [depth for depth, loop in enumerate(stage.loops) if loop.symbol in symbols]
    return Guard(condition, max(depths, default=OUTSIDE), any(stage.loops[depth].is_reduction for depth in depths))


def _storage(
    state: State,
    stage: Stage,
    region: tuple[Range, ...],
    placements: Placements,
    parameters: Mapping[Buffer, Buffer],
    turn: tuple[IntExpr, ...],
) -> tuple[Storage, ...]:
    made: list[Storage] = []
    for component, buffer in enumerate(stage.outputs):
        zeros: tuple[IntExpr, ...] = (0,) * len(buffer.shape)
        if buffer in parameters:
            made.append(Storage(parameters[buffer], zeros))
            continue
        scanned = _scan_storage(state, buffer, placements)
        if scanned is not None:
            made.append(scanned)
        elif not isinstance(stage.operation, Compute):
            made.append(Storage(Buffer(buffer.name, buffer.shape, buffer.dtype, stage.scope), zeros))
        else:
            kept = region[: stage.operation.rank(component)]
            shape = tuple(_allocated(part.width) for part in kept)
            if stage.gap is not None:
                shape = stage.gap.around(shape)
            _check_scope(state.hierarchy, stage, shape)
            sides = (_BUFFERS,) * len(turn)
            stored = Buffer(buffer.name, (*sides, *shape), buffer.dtype, stage.scope)
            made.append(Storage(stored, tuple(x.low for x in kept), turn))
    return tuple(made)


def _turn(state: State, stage: Stage, chain: tuple[Enclosing, ...]) -> tuple[IntExpr, ...]:
    """Which of its two buffers an iteration of the loop around a double-buffered stage reads."""
    if not stage.double_buffered:
        return ()
    check_ahead(state, stage)
    return () if is_single(chain[-1].extent) else (floor_modulo(chain[-1].symbol, _BUFFERS),)


def _allocated(width: IntExpr) -> IntExpr:
    return add(width, 1)


def _scan_storage(state: State, buffer: Buffer, placements: Placements) -> Storage | None:
    """An update writes straight into the scan's result."""
    for other in state.stages:
        scan = other.operation
        if isinstance(scan, Scan) and buffer in scan.update:
            return placements[other.name].storage[scan.update.index(buffer)]
    return None


def _check_scope(hierarchy: Hierarchy, stage: Stage, shape: tuple[IntExpr, ...]) -> None:
    if hierarchy.depth(stage.scope.level) > 0 and not all(isinstance(extent, int) for extent in shape):
        raise RelayError(
            rule="schedule-scope",
            message=f"`{stage.name}` is in {stage.scope} scope, and what is computed of it has no constant size",
            expected="constant extents",
            found=f"[{', '.join(map(str, shape))}]",
            remedy="compute it at a loop where a constant part of it is read, or leave it in global scope",
        )
