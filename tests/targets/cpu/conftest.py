"""Compiling a PrimFunc and calling it on NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from relay.arith.expr import evaluate
from relay.base.target import Target
from relay.lower.planning.scratch import kernel_scratch
from relay.runtime.cpython.workspaces import aligned_bytes
from relay.runtime.memory.objects import load_objects, load_support
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.emit import emit_kernel
from relay.targets.cpu.host import resolve, supports
from relay.targets.cpu.support import support_object
from relay.tir.stmt import PrimFunc
from tests.targets.cpu.emulated import AARCH64, run_kernel

Run = Callable[..., None]

AVX2 = "llvm -mattr=+avx,+avx2,+fma,+f16c,+sse4.1,+sse4.2 -num-threads=2"
BASELINE = "llvm -mcpu=x86-64 -num-threads=2"


@pytest.fixture(scope="session")
def native() -> Target:
    return resolve(Target.parse("llvm -num-threads=2"))


@pytest.fixture(scope="session", params=["native", "avx2", "baseline", "aarch64"])
def any_target(request: pytest.FixtureRequest, native: Target) -> Target:
    """The host's own features, AVX2 only, and none; where the host lacks them there is nothing to run. And another
    machine, which is emulated."""
    texts = {"avx2": AVX2, "baseline": BASELINE, "aarch64": AARCH64}
    chosen = resolve(Target.parse(texts[request.param])) if request.param in texts else native
    if request.param != "aarch64" and not supports(chosen):
        pytest.skip("the host cannot run this")
    return chosen


@pytest.fixture(scope="session")
def support(native: Target) -> dict[str, int]:
    """Addresses of the support library's functions."""
    return dict(load_support(support_object(native)).addresses)


@pytest.fixture(scope="session")
def run(support: dict[str, int]) -> Run:
    """`run(func, target, *arrays, symbols=())`: compile, load, call with what it works in."""

    def call(func: PrimFunc, target: Target, *arrays: np.ndarray, symbols: Sequence[int] = ()) -> None:
        module = emit_kernel(func, target)
        image = emit_object(module.text, target, module.optimization_level)
        known = dict(zip(func.symbols, symbols, strict=True))
        arrays += tuple(aligned_bytes(evaluate(size, known)) for size in kernel_scratch(func).sizes_bytes)
        if target.triple.startswith("aarch64"):
            run_kernel([image, support_object(target)], func.name, arrays, symbols)
            return
        loaded = load_objects([image], [func.name], support)
        kinds = [ctypes.c_void_p] * len(arrays) + [ctypes.c_int64] * len(symbols)
        ctypes.CFUNCTYPE(None, *kinds)(loaded.address(func.name))(*(a.ctypes.data for a in arrays), *symbols)

    return call
