"""Generated programs on a device that refuses some operators: it and the interpreter agree, and all is given back."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import relay
from relay.interpret.evaluate import evaluate
from relay.transform.functions.remove_unused_functions import RemoveUnusedFunctions
from tests.native.test_device_regions import KIND, Frame, FrameKernels, FrameKind
from tests.programs.differential import STEP_LIMIT, assert_same, called_with
from tests.programs.generate import Program, programs

OFTEN = ("add", "multiply", "subtract", "maximum", "negative", "tanh", "nn.relu", "sum", "reshape", "concatenate")
"""Operators of generated programs that a device may lack."""


def compare(program: Program, opt_level: int, refused: frozenset[str]) -> None:
    """Raises what differs between a device and the interpreter."""
    device = Frame()
    relay.register_target(FrameKind(FrameKernels(refused)), replace=True)
    relay.register_device(KIND, lambda _: device, replace=True)
    try:
        run = relay.build(RemoveUnusedFunctions(program.module), target=KIND, opt_level=opt_level)
    finally:
        relay.unregister_target(KIND)
    meant = called_with(evaluate(program.module, program.arguments, step_limit=STEP_LIMIT), program.calls)
    held: set[int] = set()
    for _ in range(3):
        found = called_with(run(*program.arguments), program.calls)
        assert_same(found, meant, "the device", "the interpreter")
        held.add(device.held)
    assert len(held) == 1, "each call gives back what it has of the device"


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(functions_cross=True), st.integers(0, 3), st.frozensets(st.sampled_from(OFTEN), max_size=5))
def test_devices_agree_with_the_interpreter(program: Program, opt_level: int, refused: frozenset[str]):
    compare(program, opt_level, refused)
