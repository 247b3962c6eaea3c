"""Images read at computed places: which elements count at a place, and how much, is computed once for all channels.

Few channels: rows of the result, the taps of a row first, then each channel of it in vectors that gather their
elements. Many channels: the data are turned so that channels lie together, a place takes vectors of them, and the
results are turned back. Samples of regions are loops of the operator's own between the two turns.
"""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.ir.expr import Op
from relay.targets.cpu.schedules.elementwise import schedule_formula
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.plan import Plan
from relay.te.schedule.space import Decider
from relay.tir.buffer import Scope

_OPERATORS = ("grid_sample", "crop_and_resize", "roi_align")


@frozen
class Sampled:
    """The stage that reads at places, with its loops: of instances, of channels, and along the result. `operator`
    begins the names of all stages."""

    operator: str
    stage: str
    batch: str = ""
    channel: str = ""
    space: tuple[str, ...] = ()

    @property
    def is_turned(self) -> bool:
        return self.stage == f"{self.operator}_mixed"


def _operator(plan: Plan) -> str:
    names = (call.op.name.rpartition(".")[2] for call, _ in plan.group.anchors if isinstance(call.op, Op))
    return next((name for name in names if name in _OPERATORS), "")


def is_sampling(plan: Plan) -> bool:
    return _operator(plan) != ""


def read(plan: Plan) -> Sampled:
    """`..[n, c, ..]`, with what is elementwise behind it fused, or `.._mixed[n, .., c]`, or loops without a name."""
    operator = _operator(plan)
    plan.inline_formulas(keep=frozenset(f"{operator}_{stage}" for stage in ("taps", "data", "mixed")))
    mixed = plan.stage_named(f"{operator}_mixed")
    if mixed is None:
        batch, channel, *space = plan.steps.loops(plan.output_name)
        return Sampled(operator, plan.output_name, batch, channel, tuple(space))
    if not mixed.loops:
        return Sampled(operator, mixed.name)
    batch, *space, channel = plan.steps.loops(mixed.name)
    return Sampled(operator, mixed.name, batch, channel, tuple(space))


def decide(plan: Plan, _: Sampled, pick: Decider) -> int:
    return pick("lanes", plan.vector_lanes, (plan.vector_lanes, 2 * plan.vector_lanes), "a vector")


def build(plan: Plan, found: Sampled, lanes: int) -> None:
    if found.is_turned:
        _build_turned(plan, found, lanes)
        return
    s, taps = plan.steps, f"{found.operator}_taps"
    work = plan.iterations(found.stage)
    *rows, last = found.space
    outer, inner = plan.tile(found.stage, last, lanes)
    s.reorder(found.stage, found.batch, *rows, found.channel, *outer, inner)
    s.vectorize(found.stage, inner)
    row = plan.parallelize(found.stage, [found.batch, *rows], work)
    _, lane = plan.tile(taps, s.loops(taps)[-1], lanes)
    s.vectorize(taps, lane)
    if row is not None:
        s.compute_at(taps, found.stage, row)


def _build_turned(plan: Plan, found: Sampled, lanes: int) -> None:
    s, taps, data = plan.steps, f"{found.operator}_taps", f"{found.operator}_data"
    if found.channel:
        work = plan.iterations(found.stage)
        _, inner = plan.tile(found.stage, found.channel, lanes)
        s.vectorize(found.stage, inner)
        place = plan.parallelize(found.stage, [found.batch, *found.space], work)
        if place is not None:
            s.compute_at(taps, found.stage, place)
        s.set_scope(taps, Scope.REGISTER)
    if plan.stage_named(data) is not None:
        schedule_formula(plan, data)
    if plan.output_name != found.stage:
        schedule_formula(plan, plan.output_name)


SAMPLING = Family("sampling", "an image is read at computed places", is_sampling, read, decide, build)
