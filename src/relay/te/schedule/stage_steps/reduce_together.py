"""ReduceTogether: two reductions over the same elements in one nest of loops."""

from __future__ import annotations

from dataclasses import replace

from relay.arith.expr import IntExpr, Symbol, substitute
from relay.base.frozen import frozen
from relay.te.compute import side_by_side
from relay.te.initial_state import plain_stage
from relay.te.operation import Compute, Reduction, map_body, rewriting
from relay.te.schedule.stage_steps.rewriting import compute_of
from relay.te.schedule.step import refused
from relay.te.state import At, AtRoot, Stage, State


@frozen
class ReduceTogether:
    """Compute the reduction of `other` in `stage`, as further components of its reduction, so that the operands that
    both read are read only once. Class: EXACT.

    >>> from relay import te
    >>> a = te.placeholder((8, 8), "float32", "a")
    >>> k, l = te.reduce_axis(8, "k"), te.reduce_axis(8, "l")
    >>> total = te.compute((8,), lambda i: te.sum(a[i, k], axis=k), name="total")
    >>> top = te.compute((8,), lambda i: te.max(a[i, l], axis=l), name="top")
    >>> print(te.print_loops(te.apply([total, top])))  # before
    serial i in 8 {
      total[i] = float32(0.0);
      serial k in 8 {
        total[i] = (total[i] + a[i, k]);
      }
    }
    serial i_1 in 8 {
      top[i_1] = float32(-inf);
      serial l in 8 {
        top[i_1] = maximum(top[i_1], a[i_1, l]);
      }
    }
    >>> print(te.print_loops(te.apply([total, top], [te.ReduceTogether("total", "top")])))  # after
    serial i in 8 {
      total[i] = float32(0.0);
      top[i] = float32(-inf);
      serial k in 8 {
        let new0: float32 = (total[i] + a[i, k]) {
          let new1: float32 = maximum(top[i], a[i, k]) {
            total[i] = new0;
            top[i] = new1;
          }
        }
      }
    }
    """

    stage: str
    other: str

    def apply(self, state: State) -> State:
        stage, other = state.stage(self.stage), state.stage(self.other)
        first, second = compute_of(stage, "reduce together"), compute_of(other, "reduce together")
        self._check(state, first, second)
        axes = (*second.axes, *second.reduce_axes)
        mapping: dict[Symbol, IntExpr] = dict(zip(axes, (*first.axes, *first.reduce_axes), strict=True))
        moved = map_body(second.body, rewriting(lambda index: substitute(index, mapping)))
        assert isinstance(first.body, Reduction)
        assert isinstance(moved, Reduction)
        both = side_by_side([first.body, replace(moved, axes=first.reduce_axes)], stage.name)
        merged = plain_stage(stage.name, replace(first, body=both), (*stage.outputs, *other.outputs))
        return _with_both(state, stage, other, merged)

    def _check(self, state: State, first: Compute, second: Compute) -> None:
        stage, other = state.stage(self.stage), state.stage(self.other)
        if not isinstance(first.body, Reduction) or not isinstance(second.body, Reduction) or stage is other:
            raise refused(f"cannot reduce `{self.stage}` and `{self.other}` together: these are not two reductions")
        found = [
            [[axis.extent for axis in axes] for axes in (operation.axes, operation.reduce_axes)]
            for operation in (first, second)
        ]
        if found[0] != found[1] or first.body.where is not None or second.body.where is not None:
            raise refused(
                f"cannot reduce `{self.stage}` and `{self.other}` together: they are not over the same elements",
                expected=f"{found[0][0]} results of {found[0][1]} elements, all of them taken",
                found=f"{found[1][0]} results of {found[1][1]} elements",
            )
        if state.depends_on(stage, other) or state.depends_on(other, stage):
            raise refused(f"cannot reduce `{self.stage}` and `{self.other}` together: one needs the other's results")
        if not all(_is_unscheduled(state, each) for each in (stage, other)):
            raise refused(
                f"cannot reduce `{self.stage}` and `{self.other}` together: their loops are scheduled already",
                remedy="make reduce_together the first step on both",
            )


def _is_unscheduled(state: State, stage: Stage) -> bool:
    hosts = any(isinstance(each.place, At) and each.place.stage == stage.name for each in state.stages)
    return not hosts and not stage.relations and isinstance(stage.place, AtRoot)


def _with_both(state: State, stage: Stage, other: Stage, merged: Stage) -> State:
    """`merged` where the later of the two stood, and what reads of the earlier one behind it."""
    positions = sorted(state.stages.index(each) for each in (stage, other))
    earlier = state.stages[positions[0]]
    between = state.stages[positions[0] + 1 : positions[1]]
    readers = tuple(each for each in between if state.depends_on(each, earlier))
    others = tuple(each for each in between if each not in readers)
    before, behind = state.stages[: positions[0]], state.stages[positions[1] + 1 :]
    return replace(state, stages=(*before, *others, merged, *readers, *behind))
