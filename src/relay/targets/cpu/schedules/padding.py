"""Copies of the data in front of windows: padded, and in the layout that is wanted; what is read across is turned in
registers. Each is a pass of its own, or made for a part of the result."""

from __future__ import annotations

from relay.targets.cpu.schedules.plan import Plan, is_reduction, product
from relay.targets.cpu.schedules.turning import schedule_turning, turned_loads

STAGE = "data_pad"
_SHORTEST_VECTOR = 8


def pad(plan: Plan) -> None:
    """Inline the group's formulas, but what pads or turns data in front of padding; that is a pass of its own."""
    copies = copies_of_data(plan) if plan.stage_named(STAGE) is not None else ()
    plan.inline_formulas(keep=frozenset(copies))
    schedule_copies(plan, copies)


def copies_of_data(plan: Plan) -> tuple[str, ...]:
    """The formulas in front of the group's reduction that copy: they pad, or read across. In order."""
    state = plan.steps.state
    formulas = (stage for stage in state.stages if not is_reduction(stage) and not plan.is_output(stage))
    before = [each for each in formulas if any(state.depends_on(reduction, each) for reduction in plan.reductions())]
    return tuple(each.name for each in before if each.name == STAGE or turned_loads(plan, each) is not None)


def schedule_copies(plan: Plan, copies: tuple[str, ...], store: str | None = None, loop: str | None = None) -> None:
    """Copies at the root, rows in parallel; or of what is read in an iteration of `loop` of `store`."""
    s = plan.steps
    for name in copies:
        if store is not None and loop is not None:
            s.compute_at(name, store, loop)
        turned = turned_loads(plan, s.state.stage(name))
        if turned is not None:
            schedule_turning(plan, name, turned, is_part=loop is not None)
            continue
        loops = [each.name for each in s.state.stage(name).loops]
        extents = tuple(plan.extent(name, each) for each in loops)
        innermost = extents[-1]
        if isinstance(innermost, int) and innermost >= _SHORTEST_VECTOR:
            _, inner = plan.tile(name, loops[-1], plan.vector_lanes)
            s.vectorize(name, inner)
        if loop is None:
            plan.parallelize(name, loops[:-1], product(extents))
