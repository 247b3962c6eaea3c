"""ComputeInline: stages dissolve into their consumers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TypeAlias

from relay.arith.expr import IntExpr, Symbol, substitute
from relay.base.frozen import frozen, mutable
from relay.base.graph import post_order
from relay.te.operation import Compute, Reduction, loads_of, rewriting, scalar_indices
from relay.te.schedule.stage_steps.rewriting import compute_of, reading
from relay.te.schedule.step import refused
from relay.te.state import At, Stage, State
from relay.tir.buffer import Buffer
from relay.tir.expr import Load, Value

Element: TypeAlias = tuple[Buffer, tuple[IntExpr, ...]]


@frozen
class ComputeInline:
    """Replace every read of the stage, and of `others`, by its formula. The loops and the buffers of these stages
    disappear. What is named together is replaced together: in time linear in the formulas, however many there are.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> c = te.compute((64,), lambda i: b[i] + 1.0, name="c")
    >>> print(te.print_loops(te.apply([c])))  # before
    alloc b: float32[64] {
      serial i in 64 {
        b[i] = (a[i] * float32(2.0));
      }
      serial i_1 in 64 {
        c[i_1] = (b[i_1] + float32(1.0));
      }
    }
    >>> print(te.print_loops(te.apply([c], [te.ComputeInline("b")])))  # after
    serial i in 64 {
      c[i] = ((a[i] * float32(2.0)) + float32(1.0));
    }
    """

    stage: str
    others: tuple[str, ...] = ()

    def apply(self, state: State) -> State:
        inlined = {name: _inlined(state.stage(name), state) for name in (self.stage, *self.others)}
        formulas = _Formulas({buffer: each for stages in inlined.values() for buffer, each in stages.items()})
        kept: list[Stage] = []
        for stage in state.stages:
            read = [buffer for buffer in state.sources(stage) if buffer in formulas.operations]
            if read and not isinstance(stage.operation, Compute):
                raise refused(f"cannot inline `{state.name_of(read[0])}`: a scan or extern reads it whole")
            if stage.name not in inlined:
                kept.append(reading(stage, formulas.instead_of) if read else stage)
        return replace(state, stages=tuple(kept))


def _inlined(stage: Stage, state: State) -> dict[Buffer, tuple[Compute, Value]]:
    """The formulas of what a stage fills. Raises `RelayError` (`schedule-refused`) where none can stand for it."""
    operation = compute_of(stage, "inline")
    if isinstance(operation.body, Reduction):
        raise refused(
            f"cannot inline `{stage.name}`: it is a reduction, and a reduction needs loops",
            remedy="compute it at a loop of its consumer instead",
        )
    if state.is_output(stage):
        raise refused(f"cannot inline `{stage.name}`: it is a result of the program")
    attached = next((x for x in state.stages if isinstance(x.place, At) and x.place.stage == stage.name), None)
    if attached is not None:
        raise refused(f"cannot inline `{stage.name}`: `{attached.name}` is computed at its loops")
    return {buffer: (operation, value) for buffer, value in zip(stage.outputs, operation.body, strict=True)}


@mutable
class _Formulas:
    """What stands for loads of stages that are inlined: one value for all that read the same element."""

    operations: Mapping[Buffer, tuple[Compute, Value]]
    made: dict[Element, Value] = field(default_factory=dict)
    _elements: dict[Element, Element] = field(default_factory=dict)
    """Each that is read once, so that it is one node of the graph of those that read each other."""

    def instead_of(self, load: Load) -> Value:
        if load.buffer not in self.operations:
            return load
        element = self._element(load.buffer, scalar_indices(load))
        # what it reads comes first; an element whose place is read from memory is only known when that is replaced
        for each in post_order((element,), lambda each: () if each in self.made else self._read_by(each)):
            if each not in self.made:
                value, at = self._formula(each)
                self.made[each] = rewriting(lambda index, at=at: substitute(index, at), self.instead_of)(value)
        return self.made[element]

    def _read_by(self, element: Element) -> list[Element]:
        """The elements of other inlined stages that the formula of one reads."""
        value, at = self._formula(element)
        return [
            self._element(load.buffer, tuple(substitute(index, at) for index in scalar_indices(load)))
            for load in loads_of((value,)) if load.buffer in self.operations
        ]  # fmt: skip

    def _formula(self, element: Element) -> tuple[Value, dict[Symbol, IntExpr]]:
        """The formula of an element, and what its axes are there."""
        operation, value = self.operations[element[0]]
        return value, dict(zip(operation.axes, element[1], strict=True))

    def _element(self, buffer: Buffer, indices: tuple[IntExpr, ...]) -> Element:
        element = (buffer, indices)
        return self._elements.setdefault(element, element)
