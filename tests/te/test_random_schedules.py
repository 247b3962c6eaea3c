"""Any schedule that is accepted gives what the unscheduled program gives."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from relay import te
from relay.base.diagnostics import RelayError
from relay.tir.hierarchy import Hierarchy
from relay.tir.verification.queue_checks import queue_violations
from relay.tir.verification.thread_checks import thread_violations

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
    scopes = [scope.name for scope in state.hierarchy.all_scopes]
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
            data.draw(st.sampled_from(sources)),
            data.draw(st.sampled_from([scope for scope in scopes if scope != "register"])),
            (name,),
        )
    if kind in (te.CacheWrite, te.SetScope):
        return kind(name, data.draw(st.sampled_from(scopes)))
    if kind in (te.ComputeInline, te.ComputeRoot, te.DoubleBuffer):
        return kind(name)
    if kind is te.LeaveGap:
        return te.LeaveGap(name, data.draw(SIZES))
    if kind is te.Bind:
        threads = [axis.name for axis in state.hierarchy.threads] or ["threadIdx.x"]
        return te.Bind(name, data.draw(loop), data.draw(st.sampled_from(threads)))
    if kind is te.IssueTo:
        queues = [queue.name for queue in state.hierarchy.queues] or ["load"]
        return te.IssueTo(name, data.draw(st.sampled_from(queues)), data.draw(st.just("") | loop))
    if kind is te.Pragma:
        return te.Pragma(name, data.draw(loop), "hint")
    if kind in (te.Tensorize, te.Prefetch):
        return te.Pragma(name, data.draw(loop), "hint")
    return kind(name, data.draw(loop))


def random_schedule(data: st.DataObject, program, hierarchy: Hierarchy, first: tuple[te.Step, ...] = ()):
    """Steps of which every one is accepted, behind those of `first`."""
    state = te.apply(program.outputs, first, hierarchy)
    steps: list[te.Step] = list(first)
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
    return steps


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_random_schedule_keeps_the_result(name, programs, hierarchies, data):
    program = programs[name]()
    steps = random_schedule(data, program, hierarchies["plain"])
    assert te.parse_steps(te.print_steps(steps)) == tuple(steps)
    program.check(steps)


@pytest.mark.parametrize("machine", ["gpu", "subgroups", "shuffles"])
@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
)
@given(data=st.data())
def test_random_threads_keep_the_result(name, machine, programs, hierarchies, data):
    """Stages in all scopes, loops bound to all kinds of threads: barriers are where they must be."""
    program, hierarchy = programs[name](), hierarchies[machine]
    stage = te.initial_state(program.outputs).stages[-1]
    bindings = st.sampled_from([axis.name for axis in hierarchy.threads])
    first = tuple(te.Bind(stage.name, loop.name, data.draw(bindings)) for loop in stage.loops[:1] if stage.roots)
    steps = random_schedule(data, program, hierarchy, () if stage.loops[0].is_reduction else first)
    for seed in range(3):
        func = program.check(steps, hierarchy, seed)
    violations = (*thread_violations(func), *queue_violations(func))
    assert not [found for found in violations if found.rule != "scope-capacity"]


@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
)
@given(data=st.data())
def test_random_queues_keep_the_result(name, programs, hierarchies, data):
    """Stages on all kinds of queues, ahead of their readers or not: what is under way is awaited."""
    program, hierarchy = programs[name](), hierarchies["core"]
    steps = random_schedule(data, program, hierarchy)
    for seed in range(3):
        func = program.check(steps, hierarchy, seed)
    assert not [found for found in queue_violations(func) if found.rule != "queue-scope"]
