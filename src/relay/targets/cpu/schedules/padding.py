"""Copies of the data in front of windows: padded, and in the layout that is wanted; what is read across is transposed
in registers. Each is a pass of its own, or made for a part of the result."""

from __future__ import annotations

from relay.targets.cpu.schedules.plan import Plan, is_reduction, product
from relay.targets.cpu.schedules.transposing import schedule_transposing, transposed_loads

STAGE = "data_pad"
_SHORTEST_VECTOR = 8


def pad(plan: Plan) -> None:
    """Inline the group's formulas, but what pads or transposes data; that is a pass of its own."""
    copies = copies_of_data(plan) if plan.stage_named(STAGE) is not None else ()
    plan.inline_formulas(keep=frozenset(copies))
    schedule_copies(plan, copies)


def copies_of_data(plan: Plan) -> tuple[str, ...]:
    """The formulas in front of the group's reduction that copy: they pad, or read across. In order."""
    state = plan.steps.state
    formulas = (stage for stage in state.stages if not is_reduction(stage) and not plan.is_output(stage))
    before = [each for each in formulas if any(state.depends_on(reduction, each) for reduction in plan.reductions())]
    return tuple(each.name for each in before if each.name == STAGE or transposed_loads(plan, each) is not None)


def schedule_copies(plan: Plan, copies: tuple[str, ...], store: str | None = None, loop: str | None = None) -> None:
    """Copies at the root, rows in parallel; or of what is read in an iteration of `loop` of `store`. What is
    transposed in front of padding is so a row at a time, for the row that is padded next."""
    s = plan.steps
    for position, name in enumerate(copies):
        across = transposed_loads(plan, s.state.stage(name))
        if across is not None and copies[position + 1 :] == (STAGE,) and across.axis > 0:
            row = _schedule_padding(plan, STAGE, across.axis, store, loop)
            s.compute_at(name, STAGE, row)
            schedule_transposing(plan, name, across, is_part=True)
            return
        if across is None:
            _schedule_padding(plan, name, -1, store, loop)
            continue
        if store is not None and loop is not None:
            s.compute_at(name, store, loop)
        schedule_transposing(plan, name, across, is_part=loop is not None)


def _schedule_padding(plan: Plan, name: str, rows: int, store: str | None, loop: str | None) -> str:
    """A plain copy, in vectors. Gives the innermost of its first `rows` loops, which are shared out."""
    s = plan.steps
    if store is not None and loop is not None:
        s.compute_at(name, store, loop)
    loops = s.loops(name)
    extents = tuple(plan.extent(name, each) for each in loops)
    innermost = extents[-1]
    if isinstance(innermost, int) and innermost >= _SHORTEST_VECTOR:
        _, inner = plan.tile(name, loops[-1], plan.vector_lanes)
        s.vectorize(name, inner)
    outer = loops[:rows]
    return outer[-1] if loop is not None else plan.parallelize(name, outer, product(extents)) or outer[-1]


def maps_of(copies: tuple[str, ...]) -> int:
    """How many of the copies are whole at a time: not what is transposed for one row of padding."""
    return len(copies) - (len(copies) > 1 and copies[-1] == STAGE)
