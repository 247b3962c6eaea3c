"""Random schedules of random kernels, compiled for several machines: what a step lets through, LLVM survives.

`python -m tests.targets.cpu.schedule_campaign [count] [--seed seed]` makes that many. The suite runs a slice of it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

import relay
from relay import te
from relay.base.diagnostics import RelayError
from relay.driver.build import compile_stages
from relay.driver.targets import targets_for
from relay.targets.cpu import object_code
from relay.targets.cpu.codegen import machine_words
from relay.targets.cpu.emit import emit_kernel
from relay.targets.cpu.emit.text import LlvmModule
from relay.targets.cpu.workers import Worker
from relay.te.schedule.step import apply
from relay.tir.pipeline import lower
from tests.programs import campaign
from tests.targets.cpu.emulated import AARCH64
from tests.targets.cpu.groups import KINDS, programs
from tests.te.test_random_schedules import one_step

NATIVE = "llvm -num-threads=2"
AVX2, BASELINE = "llvm -mattr=+avx,+avx2,+fma,-avx512f -num-threads=2", "llvm -mcpu=x86-64 -num-threads=1"
TARGETS = (NATIVE, AVX2, AVX2, BASELINE, AARCH64)
MOST_STEPS = 8
LONGEST_TEXT = 200_000
"""Unrolled code of more characters keeps LLVM for minutes, and shows nothing that shorter code does not."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A kernel by its text, and steps that were not refused."""

    kernel: str
    target: str
    steps: tuple[te.Step, ...]
    module: LlvmModule | None

    def __repr__(self) -> str:
        return f"{self.target}\n{self.kernel}\n{te.print_steps(self.steps)}"


def padding(draw: st.DrawFn) -> relay.Function:
    """Room around a matrix: the program with masks that are known when it is compiled."""
    extents, room = st.sampled_from((1, 3, 4, 7, 16, 20)), st.integers(0, 3)
    x = relay.var("x", shape=(draw(extents), draw(extents)))
    return relay.Function([x], relay.nn.pad(x, tuple((draw(room), draw(room)) for _ in range(2))))


@st.composite
def examples(draw: st.DrawFn) -> Example:
    kind = draw(st.sampled_from((*KINDS, "padding", "padding")))
    function = padding(draw) if kind == "padding" else draw(programs(kind))
    target = draw(st.sampled_from(TARGETS))
    stages = compile_stages(function, target, opt_level=draw(st.sampled_from((0, 2, 3))))
    kernels = [kernel for kernel in stages.called_kernels if not kernel.is_external]
    if not kernels:
        return Example("", target, (), None)
    kernel = draw(st.sampled_from(kernels))
    group = kernel.group()
    begin = list(kernel.schedule(group)) if draw(st.booleans()) else []
    state, steps = apply(group.outputs, begin), begin
    for _ in range(draw(st.integers(1, MOST_STEPS))):
        step = _step(draw, state)
        try:
            changed = step.apply(state)
            te.lower_state(changed, group.inputs, kernel.info.name, stages.targets.kernels.intrinsics)
        except RelayError:
            continue
        state, steps = changed, [*steps, step]
    try:
        loops = te.lower_state(state, group.inputs, kernel.info.name, stages.targets.kernels.intrinsics)
        module = emit_kernel(lower(loops), targets_for(target).host.target)
    except RelayError:
        module = None  # refused with a reason
    return Example(kernel.text, target, tuple(steps), module)


def _step(draw: st.DrawFn, state: te.State) -> te.Step:
    """Any step; more often than the others those that make vectors."""
    stage = state.stage(draw(st.sampled_from([stage.name for stage in state.stages])))
    if stage.loops and draw(st.booleans()):
        last = stage.loops[-1].name
        number = draw(st.sampled_from((2, 3, 4, 5, 8, 12, 16, 24)))
        splits = (te.Split(stage.name, last, factor=number), te.Split(stage.name, last, parts=number))
        return draw(st.sampled_from((*splits, te.Vectorize(stage.name, last), te.Vectorize(stage.name, last))))
    return one_step(_Drawing(draw), state)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What `one_step` draws from."""

    draw: st.DrawFn


@cache
def _worker() -> Worker:
    return Worker((sys.executable, "-P", object_code.__file__), 120.0)


@cache
def _words(target: str) -> tuple[str, str, str]:
    return machine_words(targets_for(target).host.target)


def check(example: Example) -> None:
    """Raises where LLVM refuses the text, or does not survive it."""
    if example.module is not None and len(example.module.text) <= LONGEST_TEXT:
        taken, reply = _worker().compile(example.module, _words(example.target))
        assert taken, f"{reply.decode()}\n{example!r}"


def _check_and_keep(example: Example, folder: Path) -> None:
    try:
        check(example)
    except Exception:
        _worker().stop()
        _worker.cache_clear()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "schedule.txt").write_text(repr(example))
        (folder / "kernel.ll").write_text("" if example.module is None else example.module.text)
        raise


if __name__ == "__main__":
    campaign.run("tests.targets.cpu.schedule_campaign", __doc__, examples(), _check_and_keep, 5_000)
