"""Images read at computed places: which elements count at a place, and how much, is computed once for all channels.

Few channels: rows of the result, the taps of a row first, then each channel of it in vectors that gather their
elements. Many channels: the data are turned so that channels lie together, a place takes vectors of them, and the
results are turned back.
"""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.ops.vision.grid_sample import GridSampleAttributes
from relay.targets.cpu.schedules.elementwise import schedule_formula
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.plan import Plan
from relay.te.schedule.space import Decider
from relay.tir.buffer import Scope

_TAPS, _DATA, _MIXED = "grid_sample_taps", "grid_sample_data", "grid_sample_mixed"


@frozen
class Sampled:
    """The stage that reads at places, with its loops: of instances, of channels, and along the result."""

    stage: str
    batch: str
    channel: str
    space: tuple[str, ...]


def is_sampling(plan: Plan) -> bool:
    return any(isinstance(call.attrs, GridSampleAttributes) for call, _ in plan.group.anchors)


def read(plan: Plan) -> Sampled:
    """`grid_sample[n, c, ..]`, with what is elementwise behind it fused, or `grid_sample_mixed[n, .., c]`."""
    plan.inline_formulas(keep=frozenset({_TAPS, _DATA, _MIXED}))
    if plan.stage_named(_MIXED) is None:
        batch, channel, *space = plan.steps.loops(plan.output_name)
        return Sampled(plan.output_name, batch, channel, tuple(space))
    batch, *space, channel = plan.steps.loops(_MIXED)
    return Sampled(_MIXED, batch, channel, tuple(space))


def decide(plan: Plan, _: Sampled, pick: Decider) -> int:
    return pick("lanes", plan.vector_lanes, (plan.vector_lanes, 2 * plan.vector_lanes), "a vector")


def build(plan: Plan, found: Sampled, lanes: int) -> None:
    s = plan.steps
    work = plan.iterations(found.stage)
    if found.stage == _MIXED:
        outer, inner = plan.tile(_MIXED, found.channel, lanes)
        s.vectorize(_MIXED, inner)
        place = plan.parallelize(_MIXED, [found.batch, *found.space], work)
        schedule_formula(plan, _DATA)
        schedule_formula(plan, plan.output_name)
        if place is not None:
            s.compute_at(_TAPS, _MIXED, place)
        s.set_scope(_TAPS, Scope.REGISTER)
        return
    *rows, last = found.space
    outer, inner = plan.tile(found.stage, last, lanes)
    s.reorder(found.stage, found.batch, *rows, found.channel, *outer, inner)
    s.vectorize(found.stage, inner)
    row = plan.parallelize(found.stage, [found.batch, *rows], work)
    _, taps = plan.tile(_TAPS, s.loops(_TAPS)[-1], lanes)
    s.vectorize(_TAPS, taps)
    if row is not None:
        s.compute_at(_TAPS, found.stage, row)


SAMPLING = Family("sampling", "an image is read at computed places", is_sampling, read, decide, build)
