"""Measuring what this machine can do at most, by kernels made for that: they compute nothing of use.

The peak is that of fused multiply-adds on registers, in chains enough to hide their latency. A level of memory is
measured by reading an array that fits it, and not the one before, again and again; each thread reads its own part.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from relay.base.dtypes import DType
from relay.runtime.call.lone_kernels import LoneKernels
from relay.runtime.cpython.array_layout import data_address
from relay.runtime.cpython.workspaces import aligned_bytes
from relay.runtime.memory.objects import load_objects, load_support, pool_threads
from relay.runtime.memory.threads import set_num_threads
from relay.runtime.profile.roofline import MemoryLevel, Roofline, keep_roofline, kept_roofline
from relay.targets.cpu.codegen import kept_object
from relay.targets.cpu.emit.kernels.kernel import emit_kernel
from relay.targets.cpu.host import resolve
from relay.targets.cpu.support import support_object
from relay.targets.cpu.target import CpuTarget
from relay.tir.pipeline import lower
from relay.tir.stmt import PrimFunc
from relay.tir.text.parser import parse_primfunc

CHAINS = 12
"""Independent sums: more than latency times units of any processor so far (5 · 2), and they fit 16 registers."""

PEAK_STEPS = 200_000
READ_BYTES = 128 << 20
"""How much all threads read in a round, at least. Rounds last about a millisecond: long enough for sleeping threads to
come, and short enough for some not to be disturbed."""

ROUNDS, ROUNDS_S = 10, 0.4
"""How often to measure, at least, and for how many seconds."""

LEAST_SHARE = 0.85
"""A thread that had less of its processor was disturbed."""

MEMORY_FACTOR, MOST_MEMORY_BYTES = 4, 512 << 20
"""An array in main memory is so many times the last cache, and no larger than that."""

_PEAK = """primfunc roofline_peak_{dtype}(given: {dtype}[2, {lanes}])
    -> (sums: {dtype}[{threads}, {chains}, {lanes}]) {{
  parallel t in {threads} {{
    alloc chain: {dtype}[{chains}, {lanes}] register {{
      unrolled c.init in {chains} {{
        vectorized l.init in {lanes} {{
          chain[c.init, l.init] = given[0, l.init];
        }}
      }}
      serial step in {steps} {{
        unrolled c in {chains} {{
          vectorized l in {lanes} {{
            chain[c, l] = (given[1, l] + (chain[c, l] * given[0, l]));
          }}
        }}
      }}
      unrolled c.end in {chains} {{
        vectorized l.end in {lanes} {{
          sums[t, c.end, l.end] = chain[c.end, l.end];
        }}
      }}
    }}
  }}
}}
"""

_READ = """primfunc roofline_read_{blocks}(data: float32[{threads}, {blocks}, {chains}, {lanes}])
    -> (sums: float32[{threads}, {chains}, {lanes}]) {{
  parallel t in {threads} {{
    alloc chain: float32[{chains}, {lanes}] register {{
      unrolled c.init in {chains} {{
        vectorized l.init in {lanes} {{
          chain[c.init, l.init] = float32(0.0);
        }}
      }}
      serial again in {rounds} {{
        serial block in {blocks} {{
          unrolled c in {chains} {{
            vectorized l in {lanes} {{
              chain[c, l] = (chain[c, l] + data[t, block, c, l]);
            }}
          }}
        }}
      }}
      unrolled c.end in {chains} {{
        vectorized l.end in {lanes} {{
          sums[t, c.end, l.end] = chain[c.end, l.end];
        }}
      }}
    }}
  }}
}}
"""


def machine_roofline(threads: int) -> Roofline:
    """The limits of this machine with so many threads: what is kept of them, or measured now (about 3 s) and kept. What
    was measured while the machine was busy is measured again."""
    known = kept_roofline(threads)
    if known is None or known.is_disturbed:
        known = _measured(resolve(CpuTarget()), threads)
        keep_roofline(known)
    return known


def measure_roofline(threads: int | None = None) -> Roofline:
    """Measure what this machine can do at most, and keep it for profiles of programs that are loaded without the
    compiler. `threads`: how many the kernels may use (default: all there are).

    Raises `RelayError` (rule `bad-threads`).
    """
    target = resolve(CpuTarget())
    load_support(support_object(target))
    before = pool_threads()
    if threads is not None:
        set_num_threads(threads)
    try:
        measured = _measured(target, pool_threads() if threads is None else threads)
    finally:
        set_num_threads(before)
    keep_roofline(measured)
    return measured


def _measured(target: CpuTarget, threads: int) -> Roofline:
    load_support(support_object(target))
    shares: list[float] = []

    def rate(amount: float, run: Callable[[], None]) -> float:
        seconds, share = _quickest(run)
        shares.append(share / threads)
        return amount / seconds

    peaks = {dtype: rate(*_peak(target, dtype, threads)) for dtype in (DType.FLOAT32, DType.FLOAT64)}
    levels: list[MemoryLevel] = []
    inner = target.l1_bytes * threads
    for name, size in (("L2", target.l2_bytes * threads), ("L3", target.l3_bytes)):
        if size > 2 * inner:  # else there is nothing that fits it and not the one before
            levels.append(MemoryLevel(name, size, rate(*_read(target, max(size // 4, 2 * inner), threads))))
            inner = size
    memory = min(max(MEMORY_FACTOR * inner, 64 << 20), MOST_MEMORY_BYTES)
    levels.append(MemoryLevel("memory", 0, rate(*_read(target, memory, threads))))
    return Roofline(threads, MappingProxyType(peaks), tuple(levels), min(shares) < LEAST_SHARE)


def _peak(target: CpuTarget, dtype: DType, threads: int) -> tuple[float, Callable[[], None]]:
    """How many operations, and what does them."""
    lanes = target.register_bits // dtype.bits
    text = _PEAK.format(dtype=dtype, lanes=lanes, threads=threads, chains=CHAINS, steps=PEAK_STEPS)
    given = np.full((2, lanes), 0.5, dtype.numpy)
    sums = np.zeros((threads, CHAINS, lanes), dtype.numpy)
    run = _loaded(target, parse_primfunc(text))
    return 2 * CHAINS * lanes * PEAK_STEPS * threads, lambda: run(given, sums)


def _read(target: CpuTarget, size_bytes: int, threads: int) -> tuple[float, Callable[[], None]]:
    """How many bytes, and what reads them."""
    lanes = target.register_bits // DType.FLOAT32.bits
    block_bytes = CHAINS * lanes * DType.FLOAT32.item_bytes
    blocks = max(1, size_bytes // (threads * block_bytes))
    rounds = max(1, READ_BYTES // (threads * blocks * block_bytes))
    text = _READ.format(lanes=lanes, threads=threads, chains=CHAINS, blocks=blocks, rounds=rounds)
    data = aligned_bytes(threads * blocks * block_bytes)
    data[:] = 0
    sums = np.zeros((threads, CHAINS, lanes), np.float32)
    run = _loaded(target, parse_primfunc(text))
    return data.nbytes * rounds, lambda: run(data, sums)


def _loaded(target: CpuTarget, function: PrimFunc) -> Callable[..., None]:
    """A kernel as a function of arrays."""
    lowered = lower(function)
    module = emit_kernel(lowered, target)
    image = kept_object(module.text, target, module.optimization_level)
    support = load_support(support_object(target))
    code = load_objects([image], [function.name], support.addresses)
    native = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address(function.name))
    stops = LoneKernels(support.address)

    def run(*arrays: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
        stops.begin()
        native(*map(data_address, arrays))
        stops.check(function.name)
        _ = code  # it must live as long as it may be called

    return run


def _quickest(run: Callable[[], None]) -> tuple[float, float]:
    """The seconds of the quickest of several runs, since others who use the machine only make it slower, and how many
    processors it had in these seconds."""
    run()
    found: list[tuple[float, float]] = []
    begun = time.perf_counter()
    while len(found) < ROUNDS or time.perf_counter() - begun < ROUNDS_S:
        started, used = time.perf_counter(), time.process_time()
        run()
        seconds = time.perf_counter() - started
        found.append((seconds, (time.process_time() - used) / seconds))
    return min(found)
