"""What schedules decide, as values: the model's choice, its neighbours, and all there are; each has steps that hold."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import relay
from relay.driver.build import compile_stages
from relay.targets.cpu.kernel_target import CpuKernelTarget
from relay.targets.cpu.schedules.choose import OF_OPERATORS, OF_REDUCTIONS, space_of
from relay.te.lowering.lower import lower
from tests.targets.cpu.campaign import Example, check, choices
from tests.targets.cpu.groups import KINDS
from tests.targets.cpu.machines import MACHINES
from tests.targets.cpu.test_schedules import KINDS as PROGRAMS
from tests.targets.cpu.test_schedules import KINDS_BY_TILES

EXAMPLES = 8  # of each kind: a slice of the campaign
ENUMERATED = 3  # of each space, and as many neighbours


def _kernels(make, machine: str):
    body = make()
    function = relay.Function(relay.analysis.free_vars(body), body)
    return compile_stages(function, str(MACHINES[machine]), opt_level=3).called_kernels


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_mutated_choices_compute_the_same(kind: str) -> None:
    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate,),
    )  # fmt: skip
    @given(example=choices(kind))
    def each(example: Example) -> None:
        check(example)

    each()


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("make", [*PROGRAMS, *KINDS_BY_TILES], ids=lambda make: make.__name__)
def test_every_choice_has_steps_that_lower(make, machine: str) -> None:
    backend, random = CpuKernelTarget(MACHINES[machine]), Random(0)
    for kernel in _kernels(make, machine):
        group = kernel.group()
        space = space_of(group, backend.target)
        model = space.model()
        assert backend.choice(group) == model
        assert backend.steps(group, model) == backend.schedule(group)
        assert all(decision.reason for decision in model.decisions)
        found = list(islice(space.choices(), ENUMERATED))
        assert found[0] == model
        assert len(set(found)) == len(found)
        neighbours = [space.mutate(model, random) for _ in range(ENUMERATED)]
        for choice in (*found, *neighbours):
            assert space.check(choice).values == choice.values
            steps = backend.steps(group, choice)
            assert lower(group.outputs, group.inputs, steps, kernel.info.name, backend.intrinsics).outputs


def test_names_of_families_are_their_own() -> None:
    names = [family.name for family in (*OF_OPERATORS, *OF_REDUCTIONS)]
    assert len(set(names)) == len(names)
