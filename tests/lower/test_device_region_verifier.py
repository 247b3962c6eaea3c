"""The verifier names what breaks a rule of a region for a device; what is compiled it accepts (see `verifying`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

import relay
from relay.arith.expr import Symbol
from relay.base.diagnostics import CompilerBug
from relay.driver.build import compile_stages
from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.place import AddressPlace, ArenaPlace, ConstantPlace, Place, Register
from relay.lower.program.program import Program
from relay.lower.program.program_verifier import verify_program
from relay.lower.program.region import CallKernel, CheckIndex, CopyBytes, RegionInstruction, RunRegion
from tests.native.test_device_regions import KIND, FrameKernels, FrameKind, network


@pytest.fixture
def compiled() -> Iterator[tuple[Program, dict[str, tuple[int, ...]]]]:
    """One region: a copy there, three kernels with a constant, a copy back."""
    relay.register_target(FrameKind(FrameKernels()))
    stages = compile_stages(network(), KIND)
    yield stages.program, {each.info.name: each.info.in_place for each in stages.kernels}
    relay.unregister_target(KIND)


Instructions = tuple[RegionInstruction, ...]
Change = Callable[[DeviceRegion], DeviceRegion]
ELSEWHERE = AddressPlace(Register(9))


def ordered(change: Callable[[Instructions], Instructions]) -> Change:
    def changed(region: DeviceRegion) -> DeviceRegion:
        return replace(region, region=replace(region.region, instructions=change(region.region.instructions)))

    return changed


def first_call(change: Callable[[CallKernel], CallKernel]) -> Change:
    def changed(instructions: Instructions) -> Instructions:
        at = next(i for i, each in enumerate(instructions) if isinstance(each, CallKernel))
        call = instructions[at]
        assert isinstance(call, CallKernel)
        return (*instructions[:at], change(call), *instructions[at + 1 :])

    return ordered(changed)


def with_input(place: Place) -> Change:
    return first_call(lambda call: replace(call, inputs=(place, *call.inputs[1:])))


def region_with(change: Callable[[RunRegion], RunRegion]) -> Change:
    return lambda region: replace(region, region=change(region.region))


def all_at_one_place(region: RunRegion) -> RunRegion:
    return replace(region, arena=tuple(replace(each, offset_bytes=0) for each in region.arena))


FAULTS: dict[str, tuple[Change, str]] = {
    "what is read comes after the kernel": (
        ordered(lambda each: (*each[1:-1], each[0], each[-1])),
        "stands behind a kernel",
    ),
    "nothing is brought": (ordered(lambda each: each[1:]), r"nothing is alive at arena\[256\]"),
    "a result is taken before it is made": (
        ordered(lambda each: (each[0], each[-1], *each[1:-1])),
        "stands behind a copy",
    ),
    "a kernel reads the host's array": (
        with_input(AddressPlace(Register(0))),
        r"a kernel of a device cannot read \*%0",
    ),
    "a kernel writes a constant": (
        first_call(lambda call: replace(call, outputs=(ConstantPlace(0),))),
        r"a kernel of a device cannot write constant\[0\]",
    ),
    "a copy on the host": (
        ordered(lambda each: (CopyBytes(AddressPlace(Register(0)), AddressPlace(Register(1)), 4), *each)),
        "copies are between an array of the host's and the arena",
    ),
    "a copy from nowhere": (
        ordered(lambda each: (replace(each[0], source=ELSEWHERE), *each[1:])),
        r"\*%9 is no parameter of the region",
    ),
    "a copy to nowhere": (
        ordered(lambda each: (*each[:-1], replace(each[-1], destination=ELSEWHERE))),
        r"\*%9 is no parameter of the region",
    ),
    "a check": (
        ordered(lambda each: (*each[:-1], CheckIndex(ArenaPlace(0), 1), each[-1])),
        "a device tells of no failures",
    ),
    "a region in a region": (first_call(lambda call: replace(call, on_device=True)), "a device calls no regions"),
    "a constant behind the others": (
        first_call(lambda call: replace(call, inputs=(call.inputs[0], ConstantPlace(9999), *call.inputs[2:]))),
        r"constant\[9999\] lies behind the constants",
    ),
    "a small arena": (region_with(lambda each: replace(each, arena_bytes=4)), "it ends behind the arena"),
    "values over each other": (region_with(all_at_one_place), "which is needed at the same time"),
    "an extent that nobody tells": (
        region_with(lambda each: replace(each, arena_bytes=Symbol("n"))),
        "nobody tells it `n`",
    ),
}


def test_what_is_compiled_is_accepted(compiled):
    verify_program(*compiled)


@pytest.mark.parametrize(("change", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_named(compiled, change: Change, message: str):
    program, may_overwrite = compiled
    (region,) = program.device_regions
    with pytest.raises(CompilerBug, match=message):
        verify_program(replace(program, device_regions=(change(region),)), may_overwrite)


@pytest.mark.parametrize(
    "change",
    [
        lambda region: replace(region, name="other"),
        lambda region: replace(region, parameters=(*region.parameters, Register(2))),
    ],
    ids=["name", "arguments"],
)
def test_a_region_is_called_as_it_is(compiled, change: Change):
    program, may_overwrite = compiled
    (region,) = program.device_regions
    with pytest.raises(CompilerBug, match="there is no such region for a device"):
        verify_program(replace(program, device_regions=(change(region),)), may_overwrite)
