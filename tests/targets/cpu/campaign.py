"""The long campaign: groups of all kinds, at awkward shapes, for several targets, and with values that are no numbers.

Half of them have the schedules that the model takes, half have others of the same space. `python -m
tests.targets.cpu.campaign [count] [--seed seed]` compiles that many and compares each with the reference interpreter,
up to the first that is wrong. The suite runs a slice of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

import relay
from relay.driver.build import compile_stages
from relay.ir.expr import Function
from relay.targets.cpu.schedules.choose import space_of
from relay.te import ScheduleRecord, ScheduleRecords
from tests.programs import campaign
from tests.targets.cpu import emulated
from tests.targets.cpu.emulated import AARCH64
from tests.targets.cpu.groups import KINDS, inputs_of, programs
from tests.targets.cpu.machines import CASCADE_LAKE, ZEN_3, as_far_as_here

NATIVE, BASELINE = "llvm -num-threads=2", "llvm -mcpu=x86-64 -num-threads=1"
TARGETS = (NATIVE, *(str(as_far_as_here(each)) for each in (ZEN_3, CASCADE_LAKE)), BASELINE, AARCH64)
"""This machine, two that are described, one that can do little, and one that is emulated."""
MOST_MUTATIONS = 3
SPECIAL = 0.02
"""The part of elements that are infinite, no numbers, or too small to be normal, where there are such."""
ROUNDING, PERTURBATIONS, AT_MOST = 2**-22, 4, 8
"""By how much inputs are moved, how often, and how many times as far native code may be off."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    function: Function
    opt_level: int
    target: str
    special: float
    schedules: ScheduleRecords = field(default_factory=ScheduleRecords)

    def __repr__(self) -> str:
        text = relay.IRModule.from_expr(self.function).astext()
        choices = "\n".join(str(record.choice) for record in self.schedules.best.values())
        return f"-O{self.opt_level}, {self.target}, {self.special:.0%} special\n{text}\n{choices}"


def examples(kind: str) -> st.SearchStrategy[Example]:
    special = st.sampled_from((0.0, 0.0, SPECIAL))
    return st.builds(Example, programs(kind), st.sampled_from((0, 1, 2, 3)), st.sampled_from(TARGETS), special)


@st.composite
def choices(draw: st.DrawFn, kind: str) -> Example:
    """An example whose kernels have other schedules than the model takes: some fields of their choices are changed."""
    example = draw(examples(kind))
    random = draw(st.randoms(use_true_random=False))
    with relay.PassContext(disabled_pass=_disabled(example)):
        stages = compile_stages(example.function, example.target, opt_level=example.opt_level)
    records: list[ScheduleRecord] = []
    for kernel in stages.called_kernels:
        space = space_of(kernel.group(), kernel.target.target)
        choice = space.model()
        for _ in range(random.randint(1, MOST_MUTATIONS)):
            choice = space.mutate(choice, random)
        records.append(ScheduleRecord(kernel.text, choice=choice))
    return replace(example, schedules=ScheduleRecords.of(records))


def check(example: Example) -> None:
    """Raises when native code gives another result than the interpreter, and rounding does not explain it."""
    arrays, expected, found, tolerance = _results(example)
    if not np.allclose(found, expected, rtol=1e-4, atol=tolerance, equal_nan=True):
        spread = _spread(example.function, arrays, expected)
        with np.errstate(invalid="ignore"):
            same = (found == expected) | (np.isnan(found) & np.isnan(expected))
            off = np.where(same, 0, np.abs(found - expected))
        np.testing.assert_array_less(off, tolerance + spread, err_msg=repr(example))


def _results(example: Example) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, float]:
    """Inputs, what the interpreter and native code make of them, and how far these may be apart."""
    arrays = inputs_of(example.function, special=example.special)
    expected = _meaning(example.function, arrays)
    build = emulated.build if example.target == AARCH64 else relay.build
    with relay.PassContext(disabled_pass=_disabled(example), schedules=example.schedules):
        found = build(example.function, example.target, opt_level=example.opt_level)(*arrays)
    finite = np.abs(expected[np.isfinite(expected)])
    return arrays, expected, found, 2e-5 * max(1.0, float(finite.max(initial=0)))


def _disabled(example: Example) -> tuple[str, ...]:
    """What is not finite may reach more results by Winograd's minimal filtering."""
    return ("Conv2DToWinograd",) if example.special else ()


def _meaning(function: Function, arrays: list[np.ndarray]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return relay.create_executor("interpreter", mod=function).evaluate()(*arrays)


def _spread(function: Function, arrays: list[np.ndarray], expected: np.ndarray) -> np.ndarray:
    """How far results go when inputs are off by a rounding: a root of a sum near zero goes far."""
    spread, random = np.zeros(expected.shape), np.random.default_rng(0)
    for _ in range(PERTURBATIONS):
        moved = [(each * (1 + random.choice((-1, 1), each.shape) * ROUNDING)).astype(np.float32) for each in arrays]
        with np.errstate(all="ignore"):
            spread = np.fmax(spread, np.abs(_meaning(function, moved) - expected))
    return AT_MOST * spread


def _check_and_keep(example: Example, folder: Path) -> None:
    try:
        check(example)
    except Exception:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "group.txt").write_text(repr(example))
        raise


if __name__ == "__main__":
    all_kinds = st.one_of(*map(examples, KINDS), *map(choices, KINDS))
    campaign.run("tests.targets.cpu.campaign", __doc__, all_kinds, _check_and_keep, 10_000)
