"""The threads in which a root stage and all that is computed inside it run.

Loops of these stages that are bound to one thread axis are one loop, around everything: of the largest extent. So that
each stage does what it did, threads beyond its own extent are idle for it, and of threads that share its result but
that it binds no loop to, only the first takes part.
"""

from __future__ import annotations

from collections.abc import Mapping

from relay.arith.expr import Comparison, IntExpr, Symbol, maximum
from relay.base.frozen import frozen
from relay.te.lowering.placement import Enclosing, Placement, Placements
from relay.te.schedule.step import refused
from relay.te.state import At, AtRoot, State
from relay.tir.buffer import Buffer, Scope
from relay.tir.hierarchy import Hierarchy, ThreadAxis
from relay.tir.stmt import THREAD_NAME, Allocate, For, LoopKind, Stmt


@frozen(eq=False)
class LaunchAxis:
    """A thread axis, the symbol that counts its threads, and how many there are."""

    axis: ThreadAxis
    symbol: Symbol
    extent: IntExpr


@frozen(eq=False)
class Launch:
    """What the threads around a root stage are.

    `symbols` says which of them a loop of a stage stands for, `working` under which conditions a stage has work for a
    thread, `shared` are the buffers that several threads see.
    """

    axes: tuple[LaunchAxis, ...]
    symbols: Mapping[Symbol, Symbol]
    working: Mapping[str, tuple[Comparison, ...]]
    shared: tuple[Buffer, ...]

    def shares(self, hierarchy: Hierarchy, scope: Scope) -> bool:
        """Whether several threads see one buffer of a scope."""
        return any(hierarchy.shares(scope, x.axis) for x in self.axes)

    def around(self, body: Stmt, hierarchy: Hierarchy) -> Stmt:
        """`body` in the loops over threads, outer levels first, with each buffer at the level of its scope."""
        for level in reversed(hierarchy.levels):
            for buffer in self.shared:
                if hierarchy.depth(buffer.scope.level) == hierarchy.depth(level):
                    body = Allocate(buffer, body)
            for x in self.axes:
                if x.axis.level == level:
                    body = For(x.symbol, x.extent, body, LoopKind.THREAD, ((THREAD_NAME, x.axis.name),))
        return body


def launches(state: State, placements: Placements) -> dict[str, Launch]:
    """The launch that each stage is in, by the name of the stage; none for those without threads."""
    _check_scopes(state, placements)
    found: dict[str, Launch] = {}
    for root in state.stages:
        if isinstance(root.place, AtRoot):
            members = [stage for stage in state.stages if state.root_of(stage) is root]
            launch = _launch(state, [placements[stage.name] for stage in members])
            if launch.axes:
                found.update(dict.fromkeys((stage.name for stage in members), launch))
    return found


def _launch(state: State, members: list[Placement]) -> Launch:
    hierarchy = state.hierarchy
    own = [enclosing for placed in members for enclosing in own_threads(placed)]
    axes = tuple(
        LaunchAxis(axis, Symbol(axis.name), _longest([x.extent for x in own if x.axis is axis]))
        for axis in hierarchy.threads
        if any(x.axis is axis for x in own)
    )
    by_axis = {x.axis: x for x in axes}
    symbols = {x.symbol: by_axis[x.axis].symbol for x in own if x.axis is not None}
    working = {placed.stage.name: _working(state, placed, by_axis) for placed in members}
    shared = tuple(
        storage.buffer
        for placed in members
        for buffer, storage in zip(placed.stage.outputs, placed.storage, strict=True)
        if isinstance(placed.stage.place, At)
        and state.row_of_scan(buffer) is None
        and any(hierarchy.shares(placed.stage.scope, x.axis) for x in axes)
    )
    return Launch(axes, symbols, working, shared)


def _check_scopes(state: State, placements: Placements) -> None:
    """Threads share what they compute together, and memory of a unit lasts no longer than its threads."""
    hierarchy = state.hierarchy
    threads = {placed.stage.name: own_threads(placed) for placed in placements.values()}
    for stage in state.stages:
        for x in threads[stage.name]:
            if x.axis is not None and not hierarchy.shares(stage.scope, x.axis):
                raise refused(
                    f"cannot divide `{stage.name}` among threads along {x.axis.name}: each has {stage.scope} memory of "
                    "its own",
                    remedy=f"put it in a scope that they share, or do not bind loop `{x.loop}`",
                )
        if isinstance(stage.place, AtRoot) and hierarchy.depth(stage.scope.level) > 0 and any(threads.values()):
            raise refused(
                f"`{stage.name}` is in {stage.scope} scope, and computed at the root, where there is none",
                remedy="compute it at a loop of the stage that reads it, or leave it in global scope",
            )


def own_threads(placed: Placement) -> list[Enclosing]:
    """The stage's own loops that are bound to threads."""
    return [enclosing for enclosing in placed.inside[len(placed.chain) :] if enclosing.axis is not None]


def _longest(extents: list[IntExpr]) -> IntExpr:
    longest = extents[0]
    for extent in extents[1:]:
        longest = maximum(longest, extent)
    return longest


def _working(state: State, placed: Placement, axes: Mapping[ThreadAxis, LaunchAxis]) -> tuple[Comparison, ...]:
    """When a thread has work in a stage."""
    needed = list(placed.thread_guards)
    bound = [x for x in placed.inside if x.axis is not None and x.symbol not in placed.relaxed]
    needed += [
        Comparison(x.symbol, "<", x.extent) for x in bound if x.axis is not None and axes[x.axis].extent != x.extent
    ]
    mine = {x.axis for x in bound}
    for axis, launched in axes.items():
        if axis not in mine and state.hierarchy.shares(placed.stage.scope, axis) and launched.extent != 1:
            needed.append(Comparison(launched.symbol, "<", 1))
    return tuple(needed)
