"""Writing schedules step by step, with each step checked at the line that asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from relay.te.initial_state import initial_state
from relay.te.schedule.loop_steps.alternate import Alternate
from relay.te.schedule.loop_steps.bind import Bind
from relay.te.schedule.loop_steps.fuse import Fuse
from relay.te.schedule.loop_steps.parallel import Parallel
from relay.te.schedule.loop_steps.pragma import Pragma
from relay.te.schedule.loop_steps.reorder import Reorder
from relay.te.schedule.loop_steps.split import Split
from relay.te.schedule.loop_steps.tile import Tile
from relay.te.schedule.loop_steps.unroll import Unroll
from relay.te.schedule.loop_steps.vectorize import Vectorize
from relay.te.schedule.loop_steps.virtual_thread import VirtualThread
from relay.te.schedule.stage_steps.cache_read import CacheRead
from relay.te.schedule.stage_steps.cache_write import CacheWrite
from relay.te.schedule.stage_steps.compute_at import ComputeAt
from relay.te.schedule.stage_steps.compute_inline import ComputeInline
from relay.te.schedule.stage_steps.compute_root import ComputeRoot
from relay.te.schedule.stage_steps.double_buffer import DoubleBuffer
from relay.te.schedule.stage_steps.issue_to import IssueTo
from relay.te.schedule.stage_steps.leave_gap import LeaveGap
from relay.te.schedule.stage_steps.prefetch import Prefetch
from relay.te.schedule.stage_steps.prefetch_stores import PrefetchStores
from relay.te.schedule.stage_steps.reduce_together import ReduceTogether
from relay.te.schedule.stage_steps.rfactor import RFactor
from relay.te.schedule.stage_steps.set_scope import SetScope
from relay.te.schedule.stage_steps.tensorize import Tensorize
from relay.te.schedule.step import Step
from relay.te.state import State
from relay.te.tensor import Tensor
from relay.tir.buffer import Scope
from relay.tir.hierarchy import PLAIN, Hierarchy


class ScheduleBuilder:
    """Records steps and keeps the state that they lead to; new loops and stages are given back by name.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> s = ScheduleBuilder(te.compute((64,), lambda i: a[i] + 1.0, name="b"))
    >>> outer, inner = s.split("b", "i", factor=16)
    >>> s.vectorize("b", inner)
    >>> s.steps
    (Split(stage='b', loop='i', factor=16, parts=None), Vectorize(stage='b', loop='i.inner'))
    """

    def __init__(
        self,
        outputs: Tensor | Sequence[Tensor],
        hierarchy: Hierarchy = PLAIN,
        begin: tuple[State, Sequence[Step]] | None = None,
    ) -> None:
        self.outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
        state, steps = begin or (initial_state(self.outputs, hierarchy), ())
        self.state: State = state
        self._steps: list[Step] = list(steps)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The schedule so far."""
        return tuple(self._steps)

    def fork(self) -> ScheduleBuilder:
        """Another builder that goes on from here."""
        return ScheduleBuilder(self.outputs, begin=(self.state, self.steps))

    def add(self, step: Step) -> None:
        """Any step. Raises `RelayError` when it is refused, and then does not record it."""
        self.state = step.apply(self.state)
        self._steps.append(step)

    def loops(self, stage: str) -> tuple[str, ...]:
        """The names of the stage's loops now, outermost first."""
        return tuple(loop.name for loop in self.state.stage(stage).loops)

    def split(self, stage: str, loop: str, factor: int | None = None, parts: int | None = None) -> tuple[str, str]:
        self.add(Split(stage, loop, factor, parts))
        return f"{loop}.outer", f"{loop}.inner"

    def fuse(self, stage: str, outer: str, inner: str) -> str:
        self.add(Fuse(stage, outer, inner))
        return f"{outer}.{inner}.fused"

    def reorder(self, stage: str, *loops: str) -> None:
        self.add(Reorder(stage, loops))

    def tile(
        self, stage: str, rows: str, columns: str, row_factor: int, column_factor: int
    ) -> tuple[str, str, str, str]:
        self.add(Tile(stage, rows, columns, row_factor, column_factor))
        return f"{rows}.outer", f"{columns}.outer", f"{rows}.inner", f"{columns}.inner"

    def vectorize(self, stage: str, loop: str) -> None:
        self.add(Vectorize(stage, loop))

    def unroll(self, stage: str, loop: str) -> None:
        self.add(Unroll(stage, loop))

    def parallel(self, stage: str, loop: str) -> None:
        self.add(Parallel(stage, loop))

    def alternate(self, stage: str, loop: str) -> None:
        self.add(Alternate(stage, loop))

    def compute_at(self, stage: str, target: str, loop: str) -> None:
        self.add(ComputeAt(stage, target, loop))

    def compute_inline(self, stage: str, *others: str) -> None:
        self.add(ComputeInline(stage, others))

    def compute_root(self, stage: str) -> None:
        self.add(ComputeRoot(stage))

    def cache_read(self, tensor: str, scope: str | Scope, readers: Sequence[str]) -> str:
        return self._adding(CacheRead(tensor, str(scope), tuple(readers)))

    def cache_write(self, stage: str, scope: str | Scope) -> str:
        return self._adding(CacheWrite(stage, str(scope)))

    def set_scope(self, stage: str, scope: str | Scope) -> None:
        self.add(SetScope(stage, str(scope)))

    def rfactor(self, stage: str, loop: str) -> str:
        return self._adding(RFactor(stage, loop))

    def reduce_together(self, stage: str, other: str) -> None:
        self.add(ReduceTogether(stage, other))

    def bind(self, stage: str, loop: str, thread: str) -> None:
        self.add(Bind(stage, loop, thread))

    def virtual_thread(self, stage: str, loop: str) -> None:
        self.add(VirtualThread(stage, loop))

    def issue_to(self, stage: str, queue: str, loop: str = "") -> None:
        self.add(IssueTo(stage, queue, loop))

    def double_buffer(self, stage: str) -> None:
        self.add(DoubleBuffer(stage))

    def tensorize(self, stage: str, loop: str, intrinsic: str) -> None:
        self.add(Tensorize(stage, loop, intrinsic))

    def pragma(self, stage: str, loop: str, key: str, value: str | int = 1) -> None:
        self.add(Pragma(stage, loop, key, value))

    def prefetch(self, stage: str, loop: str, tensor: str, target: str, ahead: str) -> None:
        self.add(Prefetch(stage, loop, tensor, target, ahead))

    def leave_gap(self, stage: str, elements: int) -> None:
        self.add(LeaveGap(stage, elements))

    def prefetch_stores(self, stage: str, loop: str) -> None:
        self.add(PrefetchStores(stage, loop))

    def _adding(self, step: Step) -> str:
        """The name of the stage that `step` adds."""
        before = {stage.name for stage in self.state.stages}
        self.add(step)
        return next(stage.name for stage in self.state.stages if stage.name not in before)
