"""Scheduled programs, compiled: native code gives what the interpreter gives for the unscheduled program."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relay import te
from relay.arith.expr import evaluate
from relay.base.diagnostics import RelayError
from relay.base.target import Target
from relay.lower.planning.scratch import kernel_scratch
from relay.runtime.cpython.workspaces import aligned_bytes
from relay.runtime.memory.objects import load_objects, load_support
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.emit import emit_kernel
from relay.targets.cpu.host import resolve
from relay.targets.cpu.support import support_object
from relay.tir.pipeline import lower
from relay.tir.stmt import PrimFunc

from .test_random_schedules import one_step

SCHEDULES = Path(__file__).parent.parent / "golden" / "schedule"
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
]
NATIVE = resolve(Target.parse("llvm -num-threads=2"))


def run_native(program, func: PrimFunc) -> list[np.ndarray]:
    """The outputs of `func` compiled, on the numbers that `program.run` takes."""
    source = np.random.default_rng(0)
    extents = dict(program.symbols)

    def filled(tensor: te.Tensor) -> np.ndarray:
        shape, dtype = tuple(evaluate(extent, extents) for extent in tensor.shape), tensor.dtype.numpy
        return (source.integers(0, 4, shape) if dtype.kind in "iu" else source.uniform(-1, 1, shape)).astype(dtype)

    arrays = [filled(tensor) for tensor in program.inputs]
    results = [np.zeros(tuple(evaluate(e, extents) for e in t.shape), t.dtype.numpy) for t in program.outputs]
    support = load_support(support_object(NATIVE))
    lowered = lower(func)
    module = emit_kernel(lowered, NATIVE)
    image = emit_object(module.text, NATIVE, module.optimization_level)
    loaded = load_objects([image], [func.name], support.addresses)
    scratch = [aligned_bytes(evaluate(size, extents)) for size in kernel_scratch(lowered).sizes_bytes]
    addresses = [array.ctypes.data for array in (*arrays, *results, *scratch)]
    kinds = [ctypes.c_void_p] * len(addresses) + [ctypes.c_int64] * len(func.symbols)
    ctypes.CFUNCTYPE(None, *kinds)(loaded.address(func.name))(*addresses, *(extents[s] for s in func.symbols))
    return results


def check(program, func: PrimFunc) -> None:
    for found, expected in zip(run_native(program, func), program.run(program.lower()), strict=True):
        np.testing.assert_allclose(
            found.astype(np.float64), expected.astype(np.float64), rtol=1e-4, atol=1e-5, equal_nan=True
        )


@pytest.mark.parametrize(
    "name", ["micro_kernel", "convolution", "rfactor", "softmax", "cache_write", "compute_at", "parallel"]
)
def test_documented_schedules(programs, name):
    head, *rest = (SCHEDULES / f"{name}.txt").read_text().splitlines()
    program = programs[head.removeprefix("# program: ")]()
    check(program, program.lower(te.parse_steps("\n".join(rest[: rest.index("----- before")]))))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_random_schedules(name, programs, data):
    program = programs[name]()
    state = te.initial_state(program.outputs)
    steps: list[te.Step] = []
    for _ in range(data.draw(st.integers(1, 12))):
        step = one_step(data, state)
        if isinstance(step, te.Bind):
            continue  # threads of an accelerator
        try:
            changed = step.apply(state)
            te.lower_state(changed, program.inputs)
        except RelayError:
            continue
        state = changed
        steps.append(step)
    try:
        func = program.lower(steps)
        lower(func)
    except RelayError:
        return  # registers under loops that stay: refused with a reason
    check(program, func)
