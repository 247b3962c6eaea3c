"""Where the values of a region are: what outlives it where that was allocated, parts in what they are parts of, all
others in the arena, at offsets that they share with values that are not alive at the same time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from relay.arith.expr import IntExpr, Symbol, substitute
from relay.base.frozen import mutable
from relay.lower.kernels.group import with_gap
from relay.lower.kernels.updates import updated_input
from relay.lower.planning.in_place import results_of
from relay.lower.planning.kernel_calls import KernelInfo, KernelOf, extent_here, extents_of
from relay.lower.planning.storage import Lifetime, plan_storage
from relay.lower.planning.straight_line import KernelStep, Part, Storage
from relay.lower.program.place import ArenaPlace, Place, moved
from relay.lower.program.region import BROUGHT, CallKernel, CheckIndex, CopyBytes, RegionInstruction, RunRegion
from relay.runtime.artefact.work import ArenaBuffer

Result: TypeAlias = tuple[Storage, Place]
"""A storage that outlives the region, and where its contents must be then."""


def placed(
    steps: Sequence[KernelStep], parts: Mapping[Storage, Part], results: Sequence[Result], kernel_of: KernelOf,
    symbols: Mapping[Symbol, IntExpr], brought: Sequence[Result] = (), late: Collection[Place] = (),
) -> RunRegion:  # fmt: skip
    """The calls of kernels, and copies of those results that stand elsewhere too, or whose place is `late`: no kernel
    may write there. `symbols` says which symbol of the procedure stands for one of the types; `brought` are storages of
    the arena whose contents are copied from elsewhere at first."""
    places: dict[Storage, Place] = {}
    copied: list[Result] = []
    for storage, place in results:
        if storage.fixed is not None or storage in places or storage in parts or place in late:
            copied.append((storage, place))
        else:
            places[storage] = place
    kernels = _kernels(steps, kernel_of)
    plan = _Plan(steps, kernels, parts, places)
    arena_bytes, arena, shapes = plan.arena([storage for storage, _ in brought], [storage for storage, _ in copied])
    instructions: list[RegionInstruction] = []
    instructions += (CopyBytes(source, plan.place(storage), storage.size_bytes) for storage, source in brought)
    for step, kernel in zip(steps, kernels, strict=True):
        inputs = tuple(plan.place(each.storage) for each in step.inputs)
        outputs = tuple(map(plan.place, step.outputs))
        extents = extents_given(kernel, step, symbols)
        updates = updated_input(step.function)
        bytes_ = 0 if updates is None else step.outputs[0].size_bytes
        instructions.append(CallKernel(kernel.name, inputs, outputs, extents, kernel.on_device, updates, bytes_))
        if step.failure:
            instructions.append(CheckIndex(outputs[0], step.failure))
    for storage, destination in copied:
        instructions.append(CopyBytes(plan.place(storage), destination, storage.size_bytes))
    return RunRegion(tuple(instructions), arena_bytes, arena, shapes)


def overwritten(
    steps: Sequence[KernelStep], parts: Mapping[Storage, Part], results: Collection[Storage], kernel_of: KernelOf,
    dying: Collection[Place],
) -> dict[Storage, Place]:  # fmt: skip
    """Which results may be written over an input, and where that is: one of as many bytes and axes at least, that is
    read for the last time before anything of the result is written, or by the kernel that makes it, which may write
    over it. `dying` are the places of inputs that nobody reads behind the region."""
    plan = _Plan(steps, _kernels(steps, kernel_of), parts, {})
    first: dict[Storage, int] = {}
    read: dict[Place, tuple[int, Storage]] = {}  # when an input is read last
    for time, step in enumerate(steps):
        for storage in (plan.whole(each.storage) for each in step.inputs):
            if storage.fixed is not None:
                read[storage.fixed] = time, storage
        for storage in map(plan.whole, step.outputs):
            first.setdefault(storage, time)
    kept = {plan.whole(each).fixed for each in results}
    free = {place: read[place] for place in dying if place in read and place not in kept}
    found: dict[Storage, Place] = {}
    for result in sorted((each for each in results if each in first), key=first.__getitem__):
        fitting: list[Place] = []
        for place, (last, source) in free.items():
            fits = source.size_bytes == result.size_bytes and len(source.shape) >= len(result.shape)
            if fits and (last < first[result] or plan.may_overwrite(last, result, source)):
                fitting.append(place)
        if fitting:  # best one that its own kernel reads, for it alone: another result may want the others
            found[result] = min(fitting, key=lambda place: plan.fitness(first[result], result, *free[place]))
            del free[found[result]]
    return found


def _kernels(steps: Sequence[KernelStep], kernel_of: KernelOf) -> list[KernelInfo]:
    return [kernel_of(with_gap(step.function, step.gap)) for step in steps]


def extents_given(kernel: KernelInfo, step: KernelStep, symbols: Mapping[Symbol, IntExpr]) -> tuple[IntExpr, ...]:
    """The extents that a kernel is called with: those of its inputs' shapes, the others as the procedure knows them."""
    known = extents_of(step.function, [each.type for each in step.inputs])

    def given(symbol: Symbol) -> IntExpr:
        extent = known.get(symbol, symbol)
        return extent_here(extent, symbols, step.function) if extent is symbol else extent

    return tuple(substitute(extent, given) for extent in kernel.extents)


@mutable
class _Plan:
    """`places` are those of results, and in the end those of all that is part of nothing else."""

    steps: Sequence[KernelStep]
    kernels: Sequence[KernelInfo]
    parts: Mapping[Storage, Part]
    places: dict[Storage, Place]
    last: dict[Storage, int] = field(default_factory=dict)  # when a storage, or a part of it, is used
    owner: dict[Storage, Storage] = field(default_factory=dict)  # whose bytes a storage of the arena has

    def place(self, storage: Storage) -> Place:
        if storage in self.parts:
            part = self.parts[storage]
            return moved(self.place(part.whole), part.offset)
        return storage.fixed if storage.fixed is not None else self.places[storage]

    def arena(
        self, brought: Sequence[Storage], copied: Sequence[Storage]
    ) -> tuple[IntExpr, tuple[ArenaBuffer, ...], tuple[tuple[IntExpr, ...], ...]]:
        """Give every storage that has no place yet an offset of the arena; `brought` are written before the first step,
        `copied` are read at the end. Gives the bytes that this needs, who is where and when, and the shapes that have
        open extents."""
        for time, step in enumerate(self.steps):
            self.last.update((self.whole(each), time) for each in (*(i.storage for i in step.inputs), *step.outputs))
        self.last.update((self.whole(storage), len(self.steps) - 1) for storage in copied)
        first: dict[Storage, int] = dict.fromkeys(brought, 0)
        self.owner.update((storage, storage) for storage in brought)
        self.last.update((storage, 0) for storage in brought if storage not in self.last)
        for time, step in enumerate(self.steps):
            for storage in map(self.whole, step.outputs):
                if storage not in self.places and storage not in first:
                    first[storage] = time
                    self.owner[storage] = self._overwritten(time, storage) or storage
        begin: dict[Storage, int] = {}
        end: dict[Storage, int] = {}
        for storage, whose in self.owner.items():
            begin.setdefault(whose, first[storage])
            end[whose] = max(end.get(whose, 0), self.last[storage])
        plan = plan_storage([Lifetime(storage.size_bytes, begin[storage], end[storage]) for storage in begin])
        offsets = dict(zip(begin, plan.offsets_bytes, strict=True))
        self.places.update((storage, ArenaPlace(offsets[whose])) for storage, whose in self.owner.items())

        def writer(storage: Storage) -> str:
            return BROUGHT if storage in brought else self.kernels[first[storage]].name

        arena = tuple(
            ArenaBuffer(writer(storage), offsets[whose], storage.size_bytes, first[storage], self.last[storage])
            for storage, whose in self.owner.items()
        )
        shapes = dict.fromkeys(each.shape for each in begin if not isinstance(each.size_bytes, int))
        return plan.total_bytes, arena, tuple(shapes)

    def _overwritten(self, time: int, result: Storage) -> Storage | None:
        """The owner of the bytes of an input that dies here and that the result may be written over, if no other result
        is."""
        taken = {self.owner.get(each) for each in self.steps[time].outputs}
        for each in self.steps[time].inputs:
            storage = each.storage
            dies = storage in self.owner and self.last[storage] == time and self.owner[storage] not in taken
            if dies and storage.size_bytes == result.size_bytes and self.may_overwrite(time, result, storage):
                return self.owner[storage]
        return None

    def may_overwrite(self, time: int, result: Storage, source: Storage) -> bool:
        """Whether step number `time` makes a result which it may write over an input that it reads: neither is in
        parts, of which others may be needed."""
        step = self.steps[time]
        reads = self._reads(step, source)
        return result in step.outputs and bool(reads) and set(reads) <= set(self.kernels[time].in_place)

    def _reads(self, step: KernelStep, source: Storage) -> list[int]:
        """The positions of the inputs of a step that are something, or parts of it."""
        return [position for position, each in enumerate(step.inputs) if self.whole(each.storage) is source]

    def fitness(self, time: int, result: Storage, last: int, source: Storage) -> tuple[int, ...]:
        """How well an input that is read last by step number `last` suits a result of step number `time`: the less, the
        better. Of several results, those made of the input count, and the result itself is best one of them."""
        if last != time:
            return (1,)
        step = self.steps[time]
        made = results_of(step.function, self._reads(step, source)) if len(step.outputs) > 1 else (True,)
        is_made_of_it = made[step.outputs.index(result)] if result in step.outputs else False
        return (0, not is_made_of_it, sum(made))

    def whole(self, storage: Storage) -> Storage:
        while storage in self.parts:
            storage = self.parts[storage].whole
        return storage
