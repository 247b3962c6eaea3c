"""Padding as a pass of its own, in front of windows: rows in parallel, the innermost axis as vectors."""

from __future__ import annotations

from relay.targets.cpu.schedules.plan import Plan, product

STAGE = "data_pad"
PADDING = frozenset({STAGE})
_SHORTEST_VECTOR = 8


def pad(plan: Plan) -> None:
    """Schedule the padding stage, if the group has one."""
    s = plan.steps
    if plan.stage_named(STAGE) is None:
        return
    loops = [loop.name for loop in s.state.stage(STAGE).loops]
    extents = tuple(plan.extent(STAGE, loop) for loop in loops)
    innermost = extents[-1]
    if isinstance(innermost, int) and innermost >= _SHORTEST_VECTOR:
        _, inner = plan.tile(STAGE, loops[-1], plan.vector_lanes)
        s.vectorize(STAGE, inner)
    plan.parallelize(STAGE, loops[:-1], product(extents))
