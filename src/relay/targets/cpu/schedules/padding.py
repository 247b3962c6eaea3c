"""Padding in front of windows: a pass of its own, or made for a part of the result; the innermost axis as vectors.

A change of layout in front of it is a pass of its own too: what is read across is turned in registers.
"""

from __future__ import annotations

from relay.targets.cpu.schedules.elementwise import schedule_formula
from relay.targets.cpu.schedules.plan import Plan, is_reduction, product
from relay.targets.cpu.schedules.turning import turned_loads

STAGE = "data_pad"
_SHORTEST_VECTOR = 8


def pad(plan: Plan) -> None:
    """Inline the group's formulas and schedule its padding stage, if it has one, as a pass of its own."""
    inline_but_padding(plan)
    schedule_padding(plan)


def inline_but_padding(plan: Plan) -> None:
    """Inline the group's formulas, but padding and changes of layout in front of it; those are scheduled."""
    if plan.stage_named(STAGE) is None:
        plan.inline_formulas()
        return
    turning = _turning_before(plan)
    plan.inline_formulas(keep=frozenset({STAGE, *turning}))
    for name in turning:
        schedule_formula(plan, name)


def schedule_padding(plan: Plan) -> None:
    """Padding at the root, its rows in parallel."""
    if plan.stage_named(STAGE) is not None:
        schedule_copy(plan, STAGE)


def schedule_copy(plan: Plan, stage: str, store: str | None = None, loop: str | None = None) -> None:
    """A copy of the data at the root, its rows in parallel; or of what is read in an iteration of `loop` of `store`."""
    s = plan.steps
    loops = [loop.name for loop in s.state.stage(stage).loops]
    extents = tuple(plan.extent(stage, loop) for loop in loops)
    innermost = extents[-1]
    if isinstance(innermost, int) and innermost >= _SHORTEST_VECTOR:
        _, inner = plan.tile(stage, loops[-1], plan.vector_lanes)
        s.vectorize(stage, inner)
    if store is not None and loop is not None:
        s.compute_at(stage, store, loop)
    else:
        plan.parallelize(stage, loops[:-1], product(extents))


def _turning_before(plan: Plan) -> list[str]:
    """The formulas that the padding needs and that read across."""
    state = plan.steps.state
    padding = state.stage(STAGE)
    formulas = (stage for stage in state.stages if not is_reduction(stage) and not plan.is_output(stage))
    return [each.name for each in formulas if state.depends_on(padding, each) and turned_loads(plan, each) is not None]
