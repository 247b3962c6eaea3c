"""Any schedule that is accepted gives what the unscheduled program gives."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relay import te
from relay.base.diagnostics import RelayError

NAMES = [
    "elementwise_50",
    "row_sum",
    "matmul",
    "dense_small",
    "conv_small",
    "softmax",
    "blur",
    "clamped",
    "gather",
    "argmax",
    "recurrence",
    "attention",
]
SIZES = st.sampled_from([1, 2, 3, 4, 5, 8, 16])


def one_step(data: st.DataObject, state: te.State) -> te.Step:
    """Some step on stages and loops that exist; it may still be refused."""
    stage = state.stage(data.draw(st.sampled_from([stage.name for stage in state.stages])))
    loop = st.sampled_from([loop.name for loop in stage.loops] or ["none"])
    kind = data.draw(st.sampled_from(te.STEP_TYPES))
    name = stage.name
    if kind is te.Split:
        size = data.draw(SIZES)
        return te.Split(name, data.draw(loop), *data.draw(st.sampled_from([(size, None), (None, size)])))
    if kind is te.Tile:
        return te.Tile(name, data.draw(loop), data.draw(loop), data.draw(SIZES), data.draw(SIZES))
    if kind is te.Fuse:
        position = data.draw(st.integers(0, max(len(stage.loops) - 2, 0)))
        pair = [loop.name for loop in stage.loops[position : position + 2]] or ["none"]
        return te.Fuse(name, pair[0], pair[-1])
    if kind is te.Reorder:
        return te.Reorder(name, tuple(data.draw(st.permutations([loop.name for loop in stage.loops]))))
    if kind is te.ComputeAt:
        target = data.draw(st.sampled_from([consumer.name for consumer in state.consumers(stage)] or [name]))
        places = [loop.name for loop in state.stage(target).loops] or ["none"]
        return te.ComputeAt(name, target, data.draw(st.sampled_from(places)))
    if kind is te.CacheRead:
        sources = [source.name for source in state.sources(stage)] or [name]
        return te.CacheRead(
            data.draw(st.sampled_from(sources)), data.draw(st.sampled_from(["global", "local"])), (name,)
        )
    if kind in (te.CacheWrite, te.SetScope):
        return kind(name, data.draw(st.sampled_from(["global", "local", "register"])))
    if kind in (te.ComputeInline, te.ComputeRoot):
        return kind(name)
    if kind is te.LeaveGap:
        return te.LeaveGap(name, data.draw(SIZES))
    if kind is te.Bind:
        return te.Bind(name, data.draw(loop), "threadIdx.x")
    if kind is te.Pragma:
        return te.Pragma(name, data.draw(loop), "hint")
    if kind in (te.Tensorize, te.Prefetch):
        return te.Pragma(name, data.draw(loop), "hint")
    return kind(name, data.draw(loop))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_random_schedule_keeps_the_result(name, programs, data):
    program = programs[name]()
    state = te.initial_state(program.outputs)
    steps: list[te.Step] = []
    for _ in range(data.draw(st.integers(1, 12))):
        step = one_step(data, state)
        try:
            changed = step.apply(state)
            te.lower_state(changed, program.inputs)
        except RelayError as error:
            assert error.rule.startswith("schedule-")  # noqa: PT017 - a refusal is one of the two right answers
            continue
        state = changed
        steps.append(step)
    assert te.parse_steps(te.print_steps(steps)) == tuple(steps)
    program.check(steps)
