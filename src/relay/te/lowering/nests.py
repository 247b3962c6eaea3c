"""Writing the loops of placed stages.

A stage becomes its loops around one store. A reduction is two nests: one that sets the result to its start, placed
right before the first reducing loop, and one that updates it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.arith.bounds import Interval
from relay.arith.expr import Comparison, IntExpr, Symbol, add, multiply, substitute
from relay.arith.simplify import Assumptions
from relay.base.diagnostics import CompilerBug, RelayError
from relay.te.lowering.launches import launches
from relay.te.lowering.nest_checks import check_initial, check_inner
from relay.te.lowering.pipelining import in_first_iteration, in_next_iteration, issued
from relay.te.lowering.placement import OUTSIDE, Placement, Placements, Storage, is_single
from relay.te.lowering.prefetch import claimed, prefetched
from relay.te.lowering.ranks import by_rank, inner_depth
from relay.te.lowering.sharing import named
from relay.te.lowering.statements import (
    copied,
    guarded,
    in_order,
    looped,
    stored_together,
    with_names,
    with_symbols,
    within_lets,
)
from relay.te.operation import Components, Compute, Extern, Reduction, Scan, rewriting, scalar_indices
from relay.te.schedule.step import refused
from relay.te.state import AtRoot, Loop, Stage, State
from relay.te.tensorize import AnyIntrinsic, Block, BlockIntrinsic, tensorized
from relay.tir.buffer import Buffer
from relay.tir.expr import Load, Value
from relay.tir.stmt import Allocate, If, LoopKind, Stmt, Store
from relay.tir.stmt import Sequence as Statements


class Nests:
    """Writes the loops of placed stages."""

    def __init__(
        self,
        state: State,
        placements: Placements,
        storages: Mapping[Buffer, Storage],
        intrinsics: Sequence[AnyIntrinsic],
    ) -> None:
        self.state = state
        self.launches = launches(state, placements)
        self.intrinsics = intrinsics
        self.placements = placements
        self.storages = storages
        # A reduction's start has copies of its loops, so that each symbol is bound once.
        self.copies = {
            loop.symbol: Symbol(f"{loop.name}.init")
            for stage in state.stages
            for loop in stage.loops
            if is_copied(stage, loop)
        }
        self.known = Assumptions(self._ranges())

    def _ranges(self) -> dict[Symbol, Interval]:
        """What is known of every loop."""
        ranges: dict[Symbol, Interval] = {}
        for placed in self.placements.values():
            for symbol, extent in placed.extents.items():
                interval = Interval(0, max(extent - 1, 0) if isinstance(extent, int) else None)
                ranges[symbol] = interval
                if symbol in self.copies:
                    ranges[self.copies[symbol]] = interval
        return ranges

    def program(self, results: set[Buffer]) -> Stmt:
        body: Stmt = Statements(())
        for stage in reversed(self.state.stages):
            if isinstance(stage.place, AtRoot):
                body = self._allocated(stage, in_order(self._launched(stage), body), results)
        return body

    def _launched(self, root: Stage) -> Stmt:
        """The nest of a root stage in its threads, with what they share allocated where they share it."""
        body = self._nest(root)
        launch = self.launches.get(root.name)
        return body if launch is None else launch.around(with_symbols(body, launch.symbols), self.state.hierarchy)

    def _allocated(self, stage: Stage, body: Stmt, results: set[Buffer]) -> Stmt:
        for buffer, storage in zip(stage.outputs, self.placements[stage.name].storage, strict=True):
            if buffer not in results and self.state.row_of_scan(buffer) is None:
                body = Allocate(storage.buffer, body)
        return body

    def _is_shared(self, stage: Stage) -> bool:
        """Whether several threads of a launch see what a stage computes."""
        launch = self.launches.get(stage.name)
        return launch is not None and launch.shares(self.state.hierarchy, stage.scope)

    def _working(self, stage: Stage) -> list[Comparison]:
        """The conditions under which a thread has work in a stage; none without threads."""
        launch = self.launches.get(stage.name)
        return [] if launch is None else [self._simplified(x) for x in launch.working[stage.name]]

    def _simplified(self, condition: Comparison) -> Comparison:
        """A condition as indices are written; that a thread is one of a stage's own is what others rest on."""
        left, right = condition.left, condition.right
        return (
            condition
            if isinstance(left, Symbol)
            else Comparison(self.known.simplify(left), condition.op, self.known.simplify(right))
        )

    def _nest(self, stage: Stage) -> Stmt:
        around = [x for x in self.placements[stage.name].chain if not is_single(x.extent)]
        return issued(stage, [self.state.stage(x.stage).loop(x.loop) for x in around], self._own_nest(stage))

    def _own_nest(self, stage: Stage) -> Stmt:
        placed = self.placements[stage.name]
        match stage.operation:
            case Compute(body=Reduction() as reduction, ranks=ranks):
                return self._ranked_reduction(placed, reduction) if ranks else self._reduction(placed, reduction)
            case Compute(body=tuple() as values):
                inner = self._inner(placed, values, None) or self._formulas(placed, values)
                return self._loops(placed, guarded(inner, self._working(stage)))
            case Scan() as scan:
                stored = zip(scan.init, placed.storage, strict=True)
                rows = in_order(*(copied(self._stored(rows).buffer, at.buffer, rows.shape) for rows, at in stored))
                return in_order(guarded(rows, self._working(stage)), self._loops(placed, Statements(())))
            case Extern(inputs=inputs, emit=emit):
                outputs = tuple(storage.buffer for storage in placed.storage)
                written = emit(tuple(self._stored(tensor).buffer for tensor in inputs), outputs)
                return guarded(written, self._working(stage))
            case _:
                raise CompilerBug("te.lower", f"stage {stage.name} has no loops")

    def _formulas(self, placed: Placement, values: Components) -> Stmt:
        """The stores of formulas."""
        at = placed.axis_values
        return stored_together(self._targets(placed, at), self._translated(values, at), self._is_there)

    def _stored(self, buffer: Buffer) -> Storage:
        storage = self.storages.get(buffer)
        if storage is None:
            raise RelayError(
                rule="te-missing-input",
                message=f"tensor `{buffer.name}` is read, but is neither computed nor given",
                expected="every placeholder among the inputs",
                found=f"no input {buffer!r}",
                remedy="pass it in `inputs`",
            )
        return storage

    # Loops

    def _loops(
        self, placed: Placement, body: Stmt, before: Mapping[int, Stmt] | None = None, depths: range | None = None
    ) -> Stmt:
        """`body` in the loops of the stage that are written, with guards, and attached stages at their loops.

        `before` gives statements that stand in front of the loop at a depth; `depths` are the loops meant, if not all.
        """
        written = range(written_depth(placed.stage)) if depths is None else depths
        for depth in reversed(written):
            loop = placed.stage.loops[depth]
            body = in_order(*self._prefetches(placed, loop), self._with_attached(placed, loop, body))
            body = guarded(body, [guard.condition for guard in placed.guards if guard.depth == depth])
            body = looped(loop, loop.symbol, placed.extents[loop.symbol], body)
            body = self._with_first(placed, loop, body)
            if before is not None and depth in before:
                body = in_order(before[depth], body)
        outside = [guard.condition for guard in placed.guards if guard.depth == OUTSIDE]
        return guarded(body, outside) if written.start == 0 else body

    def _prefetches(self, placed: Placement, loop: Loop) -> list[Stmt]:
        """What an iteration of `loop` asks for ahead of time."""
        made: list[Stmt] = []
        inside = placed.inside
        here = next(depth for depth, x in enumerate(inside) if x.symbol is loop.symbol)
        inner = {x.symbol: x.extent for x in inside[here + 1 :]}
        for wanted in placed.stage.prefetches:
            if wanted.loop != loop.name:
                continue
            ahead = [d for d, x in enumerate(inside[:here]) if (x.stage, x.loop) == (wanted.target, wanted.ahead)]
            if not ahead:
                raise refused(
                    f"cannot prefetch in loop `{loop.name}` of `{placed.stage.name}`: it is not inside "
                    f"loop `{wanted.ahead}` of `{wanted.target}`",
                    remedy="name a loop around it",
                )
            loads = tuple(load for load in placed.stage.reads() if load.buffer is wanted.buffer)
            local = self._translated(loads, placed.axis_values)
            reads = list(dict.fromkeys(scalar_indices(load) for load in local if isinstance(load, Load)))
            buffer = self._stored(wanted.buffer).buffer
            made += prefetched(buffer, reads, inside[ahead[0]], inside[ahead[0] + 1 : here + 1], inner)
        if loop.name in placed.stage.claims:
            for storage, written in zip(placed.storage, self._indices(placed, placed.axis_values), strict=True):
                made += claimed(storage.buffer, written, inner)
        return made

    def _with_attached(self, placed: Placement, loop: Loop, body: Stmt) -> Stmt:
        for other in reversed(self.state.attached(placed.stage, loop)):
            nest = self._nest(other)
            if self.placements[other.name].is_ahead:
                body = in_order(in_next_iteration(nest, loop.symbol, placed.extents[loop.symbol]), body)
            else:
                body = self._with_memory(other, in_order(nest, body))
        return body

    def _with_first(self, placed: Placement, loop: Loop, body: Stmt) -> Stmt:
        """A loop behind the first iteration of what is computed in it one iteration ahead."""
        for other in reversed(self.state.attached(placed.stage, loop)):
            if self.placements[other.name].is_ahead:
                first = in_first_iteration(self._nest(other), loop.symbol, placed.extents[loop.symbol])
                body = self._with_memory(other, in_order(first, body))
        return body

    def _with_memory(self, stage: Stage, body: Stmt) -> Stmt:
        return body if self._is_shared(stage) else self._allocated(stage, body, set())

    def _reduction(self, placed: Placement, reduction: Reduction) -> Stmt:
        loops = placed.stage.loops
        depth = written_depth(placed.stage)
        first = next((position for position in range(depth) if loops[position].is_reduction), depth)
        check_initial(self.state, placed.stage, reduction, first)
        start = self._start(placed, reduction, first)
        update = self._inner(placed, reduction.sources, reduction) or self._update(placed, reduction)
        update = guarded(update, self._working(placed.stage))
        if first == depth:
            return self._loops(placed, update if self._is_set(placed.stage) else in_order(start, update))
        return self._loops(placed, update, {first: start})

    def _ranked_reduction(self, placed: Placement, reduction: Reduction) -> Stmt:
        """A reduction some of whose components have fewer axes: those are updated once for all inner loops.

        Inner loops read what the others were before this step; so new values are bound first, and stored last.
        """
        loops = placed.stage.loops
        inner = inner_depth(placed)
        check_inner(self.state, placed.stage, inner)
        first = next((depth for depth in range(inner) if loops[depth].is_reduction), inner)
        start = self._ranked_start(placed, reduction, first, inner)
        left = self._targets(placed, placed.axis_values)
        right = self._translated(reduction.sources, placed.axis_values)
        new = reduction.combine(left, right)
        narrow, wide = by_rank(placed.stage)
        lets, outside = named(tuple(new[q] for q in narrow), self._is_there)
        variables = with_names(lets, outside)
        row = stored_together(tuple(left[q] for q in wide), tuple(new[q] for q in wide), self._is_there)
        body = in_order(
            self._loops(placed, row, depths=range(inner, len(loops))),
            *(Store(left[q].buffer, left[q].indices, variable) for q, variable in zip(narrow, variables, strict=True)),
        )
        body = within_lets(lets, body)
        body = guarded(self._where(placed, reduction, body), self._working(placed.stage))
        return self._loops(placed, body, {first: start}, range(inner)) if first < inner else in_order(start, body)

    def _ranked_start(self, placed: Placement, reduction: Reduction, first: int, inner: int) -> Stmt:
        loops = placed.stage.loops
        copies = self._copies(loops[first:])
        values = {axis: substitute(value, copies) for axis, value in placed.axis_values.items()}
        stores = self._component_stores(placed, reduction.initial or reduction.identity(), values)
        narrow, wide = by_rank(placed.stage)
        row = self._copied_loops(placed, in_order(*(stores[q] for q in wide)), copies, range(inner, len(loops)))
        both = self._guarded_start(placed, in_order(*(stores[q] for q in narrow), row), copies)
        return self._copied_loops(placed, both, copies, range(first, inner))

    def _copies(self, loops: Sequence[Loop]) -> dict[Symbol, Symbol]:
        return {loop.symbol: self.copies[loop.symbol] for loop in loops if loop.symbol in self.copies}

    def _guarded_start(self, placed: Placement, start: Stmt, copies: Mapping[Symbol, Symbol]) -> Stmt:
        return guarded(start, [condition.substitute(copies) for condition in self._working(placed.stage)])

    def _inner(self, placed: Placement, values: Components, reduction: Reduction | None) -> Stmt | None:
        """What the intrinsic of a tensorized stage does instead of its inner loops; None without one."""
        chosen = placed.stage.intrinsic
        if chosen is None:
            return None
        intrinsic = self._intrinsic(chosen.name)
        if intrinsic is None:
            raise RelayError(
                rule="schedule-tensorize",
                message=f"there is no intrinsic `{chosen.name}`",
                expected="one of " + (", ".join(known.name for known in self.intrinsics) or "none: none was given"),
                found=chosen.name,
                remedy="pass it to lower in `intrinsics`",
            )
        depth = written_depth(placed.stage)
        loops = tuple((x.symbol, placed.extents[x.symbol], x.is_reduction) for x in placed.stage.loops[depth:])
        guards = tuple(guard.condition for guard in placed.guards if guard.depth >= depth)
        targets = self._targets(placed, placed.axis_values)
        sources = self._translated(values, placed.axis_values)
        ahead = {loop.symbol: tuple(self._prefetches(placed, loop)) for loop in placed.stage.loops[depth:]}
        return tensorized(intrinsic, Block(placed.stage.name, loops, targets, sources, reduction, guards, ahead))

    def _intrinsic(self, name: str) -> AnyIntrinsic | None:
        return next((known for known in self.intrinsics if known.name == name), None)

    def _is_set(self, stage: Stage) -> bool:
        """Whether a stage's intrinsic sets what its block gives, and needs no start."""
        intrinsic = None if stage.intrinsic is None else self._intrinsic(stage.intrinsic.name)
        return isinstance(intrinsic, BlockIntrinsic) and intrinsic.sets

    def _start(self, placed: Placement, reduction: Reduction, first: int) -> Stmt:
        """The result set to its start, in copies of the spatial loops from depth `first` inwards."""
        loops = placed.stage.loops
        copies = self._copies(loops[first:])
        values = {axis: substitute(value, copies) for axis, value in placed.axis_values.items()}
        body = self._stores(placed, reduction.initial or reduction.identity(), values)
        body = self._guarded_start(placed, body, copies)
        return self._copied_loops(placed, body, copies, range(first, len(loops)))

    def _copied_loops(self, placed: Placement, body: Stmt, copies: Mapping[Symbol, Symbol], depths: range) -> Stmt:
        for depth in reversed(depths):
            loop = placed.stage.loops[depth]
            if loop.symbol not in copies:
                continue
            conditions = [
                g.condition.substitute(copies) for g in placed.guards if g.depth == depth and not g.is_reduction
            ]
            body = looped(loop, copies[loop.symbol], placed.extents[loop.symbol], guarded(body, conditions))
        return body

    def _update(self, placed: Placement, reduction: Reduction) -> Stmt:
        left = self._targets(placed, placed.axis_values)
        right = self._translated(reduction.sources, placed.axis_values)
        return self._where(placed, reduction, stored_together(left, reduction.combine(left, right), self._is_there))

    def _where(self, placed: Placement, reduction: Reduction, body: Stmt) -> Stmt:
        """`body` for the points that a reduction takes."""
        if reduction.where is None:
            return body
        lets, (where,) = named(self._translated((reduction.where,), placed.axis_values), self._is_there)
        return within_lets(lets, If(where, body))

    def _stores(self, placed: Placement, values: Components, axis_values: Mapping[Symbol, IntExpr]) -> Stmt:
        return in_order(*self._component_stores(placed, values, axis_values))

    def _component_stores(
        self, placed: Placement, values: Components, axis_values: Mapping[Symbol, IntExpr]
    ) -> list[Stmt]:
        targets, translated = self._targets(placed, axis_values), self._translated(values, axis_values)
        return [
            stored_together((target,), (value,), self._is_there)
            for target, value in zip(targets, translated, strict=True)
        ]

    def _targets(self, placed: Placement, axis_values: Mapping[Symbol, IntExpr]) -> tuple[Load, ...]:
        """What a stage stores, one entry for each component."""
        indices = self._indices(placed, axis_values)
        return tuple(Load(storage.buffer, at) for storage, at in zip(placed.storage, indices, strict=True))

    def _is_there(self, load: Load) -> bool:
        """Whether a load is certain to be in bounds, without any condition."""
        places = zip(scalar_indices(load), load.buffer.shape, strict=True)
        return load.mask is None and all(
            self.known.certain(Comparison(0, "<=", index)) and self.known.certain(Comparison(index, "<", extent))
            for index, extent in places
        )

    def _indices(self, placed: Placement, axis_values: Mapping[Symbol, IntExpr]) -> list[tuple[IntExpr, ...]]:
        operation = placed.stage.operation
        axes = operation.axes if isinstance(operation, Compute) else ()
        at = tuple(axis_values[axis] for axis in axes)
        return [self._rebased(at[: len(storage.low)], storage) for storage in placed.storage]

    def _rebased(self, indices: tuple[IntExpr, ...], storage: Storage) -> tuple[IntExpr, ...]:
        """Where elements are in their buffer; what is read under a condition may not tell that it is the only one."""
        extents = storage.buffer.shape[len(storage.turn) :]
        inside = (
            0 if extent == 1 else self.known.simplify(add(index, multiply(low, -1)))
            for index, low, extent in zip(indices, storage.low, extents, strict=True)
        )
        return (*storage.turn, *inside)

    def _translated(self, values: Components, axis_values: Mapping[Symbol, IntExpr]) -> Components:
        """Values of the operation's axes as those of loops, reading tensors where they are kept."""

        def on_load(load: Load) -> Value:
            storage = self._stored(load.buffer)
            return Load(storage.buffer, self._rebased(scalar_indices(load), storage))

        return tuple(map(rewriting(lambda index: self.known.simplify(substitute(index, axis_values)), on_load), values))


def written_depth(stage: Stage) -> int:
    """How many of the stage's loops are written: all, or those outside its intrinsic."""
    return len(stage.loops) if stage.intrinsic is None else stage.position(stage.intrinsic.loop)


def is_copied(stage: Stage, loop: Loop) -> bool:
    """May the start of a reduction need this loop too?"""
    operation = stage.operation
    runs_again = not loop.is_reduction and loop.kind is not LoopKind.THREAD
    return isinstance(operation, Compute) and isinstance(operation.body, Reduction) and runs_again
