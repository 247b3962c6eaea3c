"""What derivatives cost beside the program itself: their time against their multiply-adds at the program's own speed.

The peer is the time of the program times how many of its multiply-adds the derivative has, once optimised: no figure is
to be below 0.91, which is 10 % more time than the count says.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from rich.progress import track

import relay
from benchmarks.figures import RELAY, Failure, Record, figure
from benchmarks.workloads import LARGEST_ERROR
from relay.analysis.multiply_adds import get_total_mac_number
from relay.infer.infer_type import infer_type
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.testing.measuring.measure import Timing, interleaved
from relay.testing.measuring.peers import relative_error
from relay.transform.framework.passes import Sequential
from relay.transform.pipelines import BEFORE_RULES

COUNTED = "multiply-adds"
HEADER = '#[version = "0.0.5"]\n'
PROGRAMS: Mapping[str, str] = MappingProxyType(
    {
        "perceptrons_256x1024": """
def @main(%x: Tensor[(256, 1024), float32], %w: Tensor[(1024, 1024), float32], %v: Tensor[(1024, 1024), float32]) {
  sum(tanh(nn.dense(tanh(nn.dense(%x, %w)), %v)))
}""",
        "perceptrons_64x512": """
def @main(%x: Tensor[(64, 512), float32], %w: Tensor[(512, 512), float32], %v: Tensor[(512, 512), float32]) {
  sum(tanh(nn.dense(tanh(nn.dense(%x, %w)), %v)))
}""",
    }
)
"""By name: a scalar of products of matrices. Weights are drawn small, so that nothing saturates."""


def _along(module: IRModule) -> IRModule:
    """A program of forward mode without its value."""
    main = infer_type(module)["main"]
    return module.with_function("main", relay.Function(main.params, relay.TupleGetItem(main.body, 1)))


DERIVATIVES: Mapping[str, Callable[[IRModule], IRModule]] = MappingProxyType(
    {
        "gradient": relay.value_and_grad,
        "tangent_by_input": lambda module: relay.jvp(module, wrt="x"),
        "tangent_by_all": relay.jvp,
        "hessian_vector_product": lambda module: _along(relay.jvp(relay.grad(module))),
    }
)


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """A record a derivative and thread count."""
    chosen = [name for name in PROGRAMS if name.startswith(tuple(options.only or ("",)))]
    wanted = [(name, threads) for name in (chosen[-1:] if options.quick else chosen) for threads in options.threads]
    for name, threads in track(wanted, "derivatives", transient=True):
        yield from _compare(name, threads, options)


def _compare(name: str, threads: int, options: argparse.Namespace) -> Iterator[Record]:
    module = relay.parse(HEADER + PROGRAMS[name])
    once = _multiply_adds(module)
    for title, derive in DERIVATIVES.items():
        derived = derive(module)
        calls = {RELAY: _call(derived, threads), COUNTED: _call(module, threads)}
        error = relative_error(calls[RELAY](), _call(derived, threads, opt_level=0)())
        if error > LARGEST_ERROR:
            yield Failure(f"{name}_{title}", threads, COUNTED, f"its result is another one: relative error {error:.1e}")
            continue
        timings = interleaved(calls, options.seconds, rounds=options.rounds, rests=threads > 1)
        times = _multiply_adds(derived) / once
        alone = timings[COUNTED]
        samples_s = tuple(each * times for each in alone.samples_s)
        counted = Timing(alone.median_s * times, alone.minimum_s * times, samples_s)
        yield figure(f"{name}_{title}", threads, COUNTED, timings[RELAY], counted, error=error, work=None)


def _multiply_adds(module: IRModule) -> int:
    """Those of a program that is optimised as far as it is plain operators."""
    count = get_total_mac_number(infer_type(Sequential(BEFORE_RULES)(module)))
    assert isinstance(count, int)
    return count


def _call(module: IRModule, threads: int, opt_level: int = 3) -> Callable[[], Any]:
    """A call of a program with seeded arrays."""
    run = relay.build(module, f"llvm -mcpu=native -num-threads={threads}", opt_level=opt_level)
    random = np.random.default_rng(0)
    types = [each.checked_type for each in infer_type(module)["main"].params]
    arrays = [
        random.standard_normal([each for each in type_.shape if isinstance(each, int)], np.float32) / 32
        for type_ in types
        if isinstance(type_, TensorType)
    ]
    return lambda: run(*arrays)
