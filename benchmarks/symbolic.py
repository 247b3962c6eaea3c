"""What it costs to leave an extent open: networks with a symbolic batch or sequence against the same with a number.

The peer is the program that was compiled for the very extents it is called with: no figure is to be below 0.95.
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
from relay import testing
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.testing.measuring.measure import interleaved
from relay.testing.measuring.peers import relative_error
from relay.testing.workload import Parameters

STATIC = "static extents"
Extent = int | str
Make = Callable[[Extent], tuple[IRModule, Parameters]]


def _encoder(batch: Extent, sequence: Extent, layers: int = 12) -> tuple[IRModule, Parameters]:
    return testing.transformer.get_workload(batch, layers, 768, 12, 3072, sequence)


PROGRAMS: Mapping[str, tuple[Make, str, int]] = MappingProxyType(
    {
        "resnet50_batch_1": (lambda n: testing.resnet.get_workload(n, num_layers=50), "n", 1),
        "resnet18_batch_4": (lambda n: testing.resnet.get_workload(n), "n", 4),
        "mobilenet_v2_batch_1": (lambda n: testing.mobilenet.get_workload(n, version=2), "n", 1),
        "mobilenet_v2_batch_3": (lambda n: testing.mobilenet.get_workload(n, version=2), "n", 3),
        "bert_base_sequence_128": (lambda s: _encoder(1, s), "s", 128),
        "bert_layer_sequence_101": (lambda s: _encoder(1, s, layers=1), "s", 101),
        "bert_layer_sequence_8": (lambda s: _encoder(1, s, layers=1), "s", 8),
        "bert_layer_batch_2": (lambda n: _encoder(n, 64, layers=1), "n", 2),
        "mlp_batch_1": (lambda n: testing.mlp.get_workload(n), "n", 1),
        "mlp_batch_32": (lambda n: testing.mlp.get_workload(n), "n", 32),
    }
)
"""By name: what makes the program of an extent, the symbol that stands in for it, and the number that it is."""


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """A record a program and thread count."""
    chosen = [name for name in PROGRAMS if name.startswith(tuple(options.only or ("",)))]
    wanted = [(name, threads) for name in (chosen[-1:] if options.quick else chosen) for threads in options.threads]
    for name, threads in track(wanted, "symbolic", transient=True):
        yield _compare(name, threads, options)


def _compare(name: str, threads: int, options: argparse.Namespace) -> Record:
    make, symbol, number = PROGRAMS[name]
    calls = {who: _call(make, extent, number, threads) for who, extent in ((RELAY, symbol), (STATIC, number))}
    error = relative_error(calls[RELAY](), calls[STATIC]())
    if error > LARGEST_ERROR:
        return Failure(name, threads, STATIC, f"its result is another one: relative error {error:.1e}")
    timings = interleaved(calls, options.seconds, rounds=options.rounds, rests=threads > 1)
    return figure(name, threads, STATIC, timings[RELAY], timings[STATIC], error=error, work=None)


def _call(make: Make, extent: Extent, number: int, threads: int) -> Callable[[], list[Any]]:
    """A call of the program of an extent with seeded arrays, where a symbol is `number`."""
    module, params = make(extent)
    run = relay.build(module, f"llvm -mcpu=native -num-threads={threads}", params=params, opt_level=3)
    random = np.random.default_rng(0)
    arrays = [
        random.standard_normal([each if isinstance(each, int) else number for each in type_.shape], np.float32)
        for parameter in module["main"].params
        if parameter.name_hint not in params and isinstance(type_ := parameter.type_annotation, TensorType)
    ]
    return lambda: [run(*arrays)]
