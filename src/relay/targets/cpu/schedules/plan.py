"""What every schedule of this target starts from: the builder, the machine, and the shape of the group's stages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from relay.arith.expr import IntExpr, Symbol, free_symbols, substitute
from relay.base.frozen import frozen
from relay.lower.kernels.group import Group
from relay.targets.cpu.core import Core, core_of
from relay.targets.cpu.target import CpuTarget
from relay.te.extents import loop_extents
from relay.te.operation import Compute, Reduction, scalar_indices
from relay.te.schedule.builder import ScheduleBuilder
from relay.te.state import FuseRelation, Stage
from relay.te.tensor import Tensor
from relay.tir.buffer import Scope
from relay.tir.expr import Unary, UnaryOp
from relay.tir.traversal import walk_value

_LARGE_TO_LOSE_A_TAIL = 8  # times what is computed together
_POLYNOMIALS = frozenset({UnaryOp.EXP, UnaryOp.LOG, UnaryOp.TANH, UnaryOp.ERF, UnaryOp.SIGMOID})


@frozen
class Plan:
    """A schedule being written for one group on one machine."""

    group: Group
    target: CpuTarget
    core: Core
    steps: ScheduleBuilder

    @staticmethod
    def of(group: Group, target: CpuTarget) -> Plan:
        """A schedule without steps for a group on a resolved target."""
        return Plan(group, target, core_of(target), ScheduleBuilder(group.outputs))

    def fork(self) -> Plan:
        """Another schedule that goes on from here."""
        return Plan(self.group, self.target, self.core, self.steps.fork())

    @property
    def vector_lanes(self) -> int:
        """float32 elements of one vector register."""
        return self.core.vector_lanes

    def lanes_at_a_time(self, stage: Stage, extent: IntExpr) -> int:
        """How many elements of a formula along a loop of this extent are computed together.

        A polynomial is a chain of dependent instructions: several vectors hide their latency. Several results go to
        memory some vectors at a time, so that stores that share a line of the cache meet. Of bytes, four times as many
        fit one vector.
        """
        many = is_costly(stage) or len(stage.outputs) > 1 or is_of_bytes(stage)
        together = self.core.vectors_in_flight * self.vector_lanes
        fits = isinstance(extent, int) and (extent % together == 0 or extent >= _LARGE_TO_LOSE_A_TAIL * together)
        return together if many and fits and extent else self.vector_lanes

    @property
    def output(self) -> Stage:
        """The stage of the group's last output: the one that others are attached to."""
        return self.steps.state.stage(self.output_name)

    @property
    def output_name(self) -> str:
        results = self.steps.state.outputs
        return next(stage.name for stage in self.steps.state.stages if results[-1] in stage.outputs)

    @property
    def has_apart_outputs(self) -> bool:
        """Whether results have loops of their own, or are several results of one reduction: not those that formulas
        give side by side."""
        stages = [stage for stage in self.steps.state.stages if self.is_output(stage)]
        return len(stages) > 1 or (is_reduction(stages[0]) and len(self.group.outputs) > 1)

    def is_output(self, stage: Stage) -> bool:
        return any(buffer in self.steps.state.outputs for buffer in stage.outputs)

    def reductions(self) -> list[Stage]:
        return [stage for stage in self.steps.state.stages if is_reduction(stage)]

    def stage_named(self, stem: str) -> Stage | None:
        """The stage whose name is `stem`, or `stem` with a suffix that made it unique."""
        for stage in self.steps.state.stages:
            if stage.name == stem:
                return stage
        return None

    def inline_formulas(self, keep: frozenset[str] = frozenset()) -> None:
        """Inline every stage that is a plain formula, but for outputs and those named in `keep`."""
        formulas = [
            stage.name for stage in self.steps.state.stages
            if isinstance(stage.operation, Compute) and not is_reduction(stage)
            and not self.is_output(stage) and stage.name not in keep
        ]  # fmt: skip
        if formulas:
            self.steps.compute_inline(*formulas)

    def formulas_read_by(self, stage: str) -> tuple[str, ...]:
        """The stages, plain formulas, whose results a stage reads."""
        state = self.steps.state
        producers = [state.producer(buffer) for buffer in state.sources(state.stage(stage))]
        return tuple(each.name for each in producers if each is not None and not is_reduction(each))

    def reduce_together(self) -> None:
        """One nest of loops for reductions over the same elements, where neither needs results of the other."""
        kept: list[str] = []
        for stage in self.reductions():
            partner = next((name for name in kept if self._go_together(name, stage.name)), None)
            if partner is None:
                kept.append(stage.name)
            else:
                self.steps.reduce_together(partner, stage.name)

    def _go_together(self, name: str, other: str) -> bool:
        state = self.steps.state
        first, second = state.stage(name), state.stage(other)
        if state.depends_on(first, second) or state.depends_on(second, first):
            return False
        return _space(first) is not None and _space(first) == _space(second)

    def tile(self, stage: str, loop: str, factor: int) -> tuple[tuple[str, ...], str]:
        """Split a loop by `factor`: the outer loop, and the inner one. A loop no longer than that stays whole, and then
        the first tuple is empty: `(*batch, *outer)` are the loops that there are."""
        if not exceeds(self.extent(stage, loop), factor):
            return (), loop
        outer, inner = self.steps.split(stage, loop, factor=factor)
        return (outer,), inner

    def extent(self, stage: str, loop: str) -> IntExpr:
        """The extent of a loop of a stage that is computed whole."""
        state = self.steps.state.stage(stage)
        roots = {root.symbol: root.axis.extent for root in state.roots}
        return loop_extents(state.relations, roots)[state.loop(loop).symbol]

    def innermost_over(self, stage: str, loop: str) -> str | None:
        """The loop that goes over what `loop` went over, innermost: that itself, or what it was fused into as the inner
        one. None where it was fused with what is inside it."""
        state = self.steps.state.stage(stage)
        into = {each.inner.name: each.fused.name for each in state.relations if isinstance(each, FuseRelation)}
        names = {each.name for each in state.loops}
        found: str | None = loop
        while found is not None and found not in names:
            found = into.get(found)
        return found

    def compute(self, stage: str) -> Compute:
        """What a stage computes: groups are made of nothing else."""
        operation = self.steps.state.stage(stage).operation
        assert isinstance(operation, Compute)
        return operation

    def iterations(self, stage: str) -> IntExpr:
        """How often a stage computes its formula: for each result, as often as something is reduced into it. Of a
        product, its multiply-adds."""
        operation = self.compute(stage)
        return product(tuple(axis.extent for axis in (*operation.axes, *operation.reduce_axes)))

    def vectorize_columns(self, stage: str, loop: str, lanes: int) -> None:
        """The innermost `loop` as whole vectors: split by `lanes`, the inner loop vectorised, the outer unrolled."""
        outer, inner = self.tile(stage, loop, lanes)
        self.steps.vectorize(stage, inner)
        self.unroll(stage, outer)

    def unroll(self, stage: str, loops: Iterable[str]) -> None:
        """Each of `loops`, if any, written out."""
        for loop in loops:
            self.steps.unroll(stage, loop)

    def parallelize(
        self, stage: str, outer: Sequence[str], work: IntExpr, per_nanosecond: int | None = None
    ) -> str | None:
        """Share the `outer` loops (outermost, in order) out among the threads, if there is enough to do: `work`, of
        which one thread does so much `per_nanosecond` (elements of formulas, where that is not given).

        As many of them are fused as give every thread its part. The innermost of the loops that are then there is
        given back, to compute other stages at: that must wait until loops are fused.
        """
        if not outer:
            return None
        if not self.pays_in_parallel(work, per_nanosecond):
            return outer[-1]
        fused, *rest = outer
        while rest and self.extent(stage, fused) == 1:
            fused = rest.pop(0)
        while rest and not self.shares_out(self.extent(stage, fused)):
            fused = self.steps.fuse(stage, fused, rest.pop(0))
        self.steps.parallel(stage, fused)
        return rest[-1] if rest else fused

    def pays_in_parallel(self, work: IntExpr, per_nanosecond: int | None = None) -> bool:
        """Whether `work`, of which one thread does so much `per_nanosecond`, is enough to share out."""
        rate = self.core.elements if per_nanosecond is None else per_nanosecond
        short = isinstance(work, int) and work < self.core.shortest_parallel * rate
        return self.target.num_threads != 1 and not short

    def prefetch_stores(self, stage: str, tile: str) -> None:
        """Ask for the lines that an iteration of loop `tile` writes, where they cannot all be in the second-level cache
        already; in what a result is a part of they seldom are."""
        written = self.steps.state.stage(stage).outputs[0]
        is_large = least(product(written.shape)) * written.dtype.item_bytes > self.core.l2_bytes // 2
        if is_large or (isinstance(written, Tensor) and written.gap is not None):
            self.steps.prefetch_stores(stage, tile)

    @property
    def threads(self) -> int:
        """Threads to share loops out among; a likely number where the run decides."""
        return self.target.num_threads or self.core.likely_threads

    def shares_out(self, iterations: IntExpr) -> bool:
        """Whether no thread waits long for another when so many iterations are shared out."""
        threads, fewest = max(2, self.target.num_threads), least(iterations)
        parts = fewest // threads
        return parts >= self.core.many_parts or (parts >= self.core.even_parts and fewest % threads == 0)


def _space(stage: Stage) -> tuple[tuple[IntExpr, ...], ...] | None:
    """The extents of what a reduction gives and of what it runs over; None where it takes only some of that."""
    operation = stage.operation
    if not isinstance(operation, Compute) or not isinstance(operation.body, Reduction) or operation.ranks:
        return None
    if operation.body.where is not None:
        return None
    return tuple(axis.extent for axis in operation.axes), tuple(axis.extent for axis in operation.reduce_axes)


def is_costly(stage: Stage) -> bool:
    """Whether a formula has a transcendental function in it."""
    operation = stage.operation
    if not isinstance(operation, Compute) or isinstance(operation.body, Reduction):
        return False
    nodes = (node for value in operation.body for node in walk_value(value))
    return any(isinstance(node, Unary) and node.op in _POLYNOMIALS for node in nodes)


def is_of_bytes(stage: Stage) -> bool:
    """Whether a formula reads, computes and gives nothing wider than 8 bits."""
    operation = stage.operation
    if not isinstance(operation, Compute) or isinstance(operation.body, Reduction):
        return False
    return all(node.dtype.bits <= 8 for value in operation.body for node in walk_value(value))


def is_reduction(stage: Stage) -> bool:
    return isinstance(stage.operation, Compute) and isinstance(stage.operation.body, Reduction)


def accumulators_of(plan: Plan, reduction: str, scope: Scope = Scope.REGISTER) -> tuple[str, str]:
    """`(accumulating stage, storing stage)`: the reduction in registers, and the stage that stores its results.

    When formulas follow the reduction the output stage stores; else a copy is made that does.
    """
    stage = plan.steps.state.stage(reduction)
    if plan.is_output(stage):
        return plan.steps.cache_write(reduction, scope), reduction
    plan.steps.set_scope(reduction, scope)
    return reduction, plan.output_name


def loops_as_read(plan: Plan, store: str, accumulated: str) -> list[str]:
    """The loops of a stage that stores, in the order of the axes of the accumulators that it reads; as they are, where
    it has loops for other axes too."""
    stage = plan.steps.state.stage(store)
    buffers = plan.steps.state.stage(accumulated).outputs
    load = next(load for load in stage.reads() if load.buffer in buffers)
    named: dict[Symbol, Symbol] = {root.axis: root.symbol for root in stage.roots}
    loops = {loop.symbol: loop.name for loop in stage.loops}
    read = [loops[named[index]] if isinstance(index, Symbol) else None for index in scalar_indices(load)]
    others = [name for name in loops.values() if name not in read]  # of axes of extent 1
    if len(others) != read.count(None):
        return list(loops.values())
    return [name or others.pop(0) for name in read]


def least(extent: IntExpr) -> int:
    """An extent in the smallest of calls, where each symbol is 1: what is worth it then always is.

    >>> n = Symbol("n")
    >>> least(56), least(n * 56), least(n // 4), least(n * 56 // (n // 4))
    (56, 56, 1, 1)
    """
    try:
        smallest = substitute(extent, dict.fromkeys(free_symbols(extent), 1))
    except ZeroDivisionError:  # the smallest call that has this extent is larger
        return 1
    return max(1, smallest) if isinstance(smallest, int) else 1


def exceeds(extent: IntExpr, size: int) -> bool:
    """Whether an extent may be larger than `size`."""
    return not isinstance(extent, int) or extent > size


def even_tile(extent: IntExpr, largest: int) -> int:
    """The tile of at most `largest` that cuts `extent` into equal parts as nearly as can be: no thin tails.

    >>> even_tile(57, 14), even_tile(56, 14), even_tile(5, 14)
    (12, 14, 5)
    """
    if not isinstance(extent, int):
        return largest
    parts = -(-extent // largest)
    return max(1, -(-extent // max(1, parts)))


def largest_share(extent: int, part: int, threads: int, times: int = 1) -> float:
    """Of `extent` iterations, cut into parts and done `times` over: what the thread with most of them has, as a
    multiple of what it had if they could be cut at will.

    >>> largest_share(14, 7, threads=2), round(largest_share(14, 4, threads=2), 2)
    (1.0, 1.14)
    """
    parts = -(-extent // part)
    starts = (divmod(thread * parts * times // threads, parts) for thread in range(threads + 1))
    done = [whole * extent + min(rest * part, extent) for whole, rest in starts]
    return threads * max(end - begin for begin, end in pairwise(done)) / (extent * times)


def dividing_tile(extent: IntExpr, largest: int) -> int:
    """The largest tile down to half of `largest` that divides `extent`, so that no tail is left; else an even one.

    >>> dividing_tile(64, 6), dividing_tile(49, 8), dividing_tile(13, 8)
    (4, 7, 7)
    """
    exact = [tile for tile in range(largest, largest // 2, -1) if isinstance(extent, int) and extent % tile == 0]
    return exact[0] if exact else even_tile(extent, largest)


def product(extents: tuple[IntExpr, ...]) -> IntExpr:
    total: IntExpr = 1
    for extent in extents:
        total = total * extent
    return total
