"""The verifier names what breaks a rule of a region for a device; what is compiled it accepts (see `verifying`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

import relay
from relay.arith.expr import Symbol
from relay.base.diagnostics import CompilerBug
from relay.driver.build import compile_stages
from relay.driver.compilation import Compilation
from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.interpretation.interpreted import interpreted
from relay.lower.program.parser import parse_program
from relay.lower.program.place import AddressPlace, ArenaPlace, ConstantPlace, Place, Register
from relay.lower.program.program import Program
from relay.lower.program.region import CallKernel, CheckIndex, CopyBytes, RegionInstruction, RunRegion
from relay.lower.program.verification.program_verifier import verify_program
from tests.lower.interpreting import code
from tests.native.test_device_regions import KIND, FrameKernels, FrameKind, between, network


@pytest.fixture
def compiled() -> Iterator[tuple[Program, dict[str, tuple[int, ...]]]]:
    """One region: a copy there, three kernels with a constant, a copy back."""
    relay.register_target(FrameKind(FrameKernels()))
    stages = compile_stages(network(), KIND)
    yield stages.program, {each.info.name: each.info.in_place for each in stages.kernels}
    relay.unregister_target(KIND)


@pytest.fixture
def crossing() -> Iterator[Compilation]:
    """Two regions, and a tensor between them."""
    relay.register_target(FrameKind(FrameKernels(frozenset({"sort"}))))
    yield compile_stages(between(), KIND)
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
        "a copy is from an array of the host to the device, or from there",
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


FAULTS_BETWEEN: dict[str, tuple[str, str]] = {
    "of another kind": (f"{KIND}:0", "quipu:0"),
    "from nowhere": ("  %1 = copy(%0", "  %1 = copy(%7"),
    "from there to there": ("  %1 = copy(%0", "  %0 = copy(%0"),
    "and something else": ("  %1 = copy(%0", "  arena[0] = copy(%0"),
}


@pytest.mark.parametrize(("old", "new"), FAULTS_BETWEEN.values(), ids=FAULTS_BETWEEN)
def test_a_region_copies_from_another_device_of_its_kind(old: str, new: str):
    relay.register_target(FrameKind(FrameKernels()))
    x = relay.var("x", shape=(2, 4))
    there = relay.annotation.on_device(relay.exp(x), f"{KIND}:0")
    source = relay.Function([x], relay.annotation.on_device(relay.tanh(there), f"{KIND}:1"))
    program = compile_stages(source, KIND).program
    assert old in str(program)
    with pytest.raises(CompilerBug, match=r"@copy_between_devices.*copies them from there"):
        verify_program(parse_program(str(program).replace(old, new), {}), {})
    relay.unregister_target(KIND)


CROSSED: dict[str, tuple[str, str, str]] = {
    "a region is given a tensor of the host": (" on counting_frame:0\n", "\n", "it takes address, counting_frame"),
    "the host reads a tensor on the device": ("_sort_X(arena[0])", "_sort_X(%1)", "the host reads and writes"),
    "the host copies to the device": ("%2 = region", "%1 = copy(%2, 4 bytes) %2 = region", "the host reads and writes"),
    "a caller has it": ("return %2", "%3 = call host %2(%1) return %3", "is read as word, where counting_frame:0"),
    "a cell without fields": ("return %2", "%3 = cell label0 () return %3", "what has no fields needs no cell"),
    "a ref's tensor is written over it": (" over %0", " over %1", "is read as word, where counting_frame:0"),
    "its view is not there": ("return %2", "%3 = view label1 [n, 8] of %1 return %3", "%1 is no tensor there"),
    "it is given back": ("return %2", "return %1", "@main gives word"),
    "a region writes what it is not given": ("%1 = fused_nn_", "%7 = fused_nn_", "%7 is no parameter of the region"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), CROSSED.values(), ids=CROSSED)
def test_tensors_on_a_device_are_told_from_others(crossing: Compilation, old: str, new: str, message: str):
    program = crossing.program
    text = re.sub(r"(_sort)_\w{12}", r"\1_X", str(program))
    assert old in text
    constants = {each.offset_bytes: each.array for each in program.constants}
    with pytest.raises(CompilerBug, match=re.escape(message)):
        verify_program(parse_program(text.replace(old, new, 1), constants), {})


def test_the_interpreter_keeps_tensors_apart(crossing: Compilation):
    program = crossing.program
    constants = {each.offset_bytes: each.array for each in program.constants}
    text = re.sub(r"(sort_\w{12}\()arena\[0\]", r"\1%1", str(program))
    kernels = {each.info.name: code(each) for each in crossing.kernels}
    with pytest.raises(CompilerBug, match="data on counting_frame:0 are asked for on the host"):
        interpreted(parse_program(text, constants), kernels)(np.zeros((2, 8), np.float32))
