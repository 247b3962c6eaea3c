"""Networks in bfloat16, as `ToMixedPrecision` makes them, against the same in float32, and against peers in bfloat16.

The error is the largest difference from our float32 of any output, over the largest magnitude of that output: ours in
the row against `relay-float32`, the peer's in the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import relay
from benchmarks.figures import RELAY, Failure, Record, figure
from benchmarks.network_programs import NETWORKS, SMALL
from benchmarks.workloads import Workload, told
from relay.testing.measuring.libraries import library
from relay.testing.measuring.measure import interleaved
from relay.testing.measuring.peers import Arrays, Call, MakeCall, openvino_call, pytorch_call, relative_error

FLOAT32 = "relay-float32"
CHOSEN = ("resnet18", "resnet50", "mobilenet_v2", "bert_base_s128", "gpt2_decode_p127")
LARGEST_ERROR = 0.1
"""Of the largest magnitude of a result. Who is farther away computes something else, and is not timed."""


def _openvino(model: Path | bytes, inputs: Arrays, threads: int) -> Call:
    return openvino_call(model, inputs, threads, precision="bf16")


def _autocast(model: Path | bytes, inputs: Arrays, threads: int) -> Call:
    torch = library("torch")
    plain = pytorch_call(model, inputs, threads)

    def call() -> object:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return [each.float() for each in _tensors(plain())]

    return call


def _tensors(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


PEERS: Mapping[str, MakeCall] = MappingProxyType({"openvino": _openvino, "pytorch": _autocast})


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """A record a network, thread count and peer."""
    chosen = SMALL if options.quick else {name: NETWORKS[name] for name in CHOSEN}
    beginnings = tuple(options.only or ("",))
    for name, make in chosen.items():
        if name.startswith(beginnings):
            yield from _measure(name, make, options)


def _measure(name: str, make: Callable[[], Workload], options: argparse.Namespace) -> Iterator[Record]:
    try:
        workload = make()
        ours = {RELAY: compiled(workload, "bfloat16"), FLOAT32: compiled(workload, "float32")}
    except Exception as error:
        yield from (Failure(name, threads, RELAY, told(error)) for threads in options.threads)
        return
    for threads in options.threads:
        relay.set_num_threads(threads)
        calls, exact = dict(ours), ours[FLOAT32]()
        errors = {FLOAT32: relative_error(ours[RELAY](), exact)}
        for peer, make_call in PEERS.items():
            if options.peers is not None and peer not in options.peers:
                continue
            try:
                call = make_call(workload.model, workload.inputs, threads)
                errors[peer] = relative_error(call(), exact)
            except Exception as error:
                yield Failure(name, threads, peer, told(error))
                continue
            if errors[peer] > LARGEST_ERROR:
                yield Failure(name, threads, peer, f"its result is another one: relative error {errors[peer]:.1e}")
            else:
                calls[peer] = call
        timings = interleaved(calls, options.seconds, rounds=options.rounds, rests=threads > 1)
        for peer in calls:
            if peer != RELAY:
                yield figure(name, threads, peer, timings[RELAY], timings[peer], error=errors[peer], work=None)


def compiled(workload: Workload, precision: str) -> Call:
    """A call of a network, computed in float32 or bfloat16; inputs and outputs are float32 in any case."""
    module, params = relay.frontend.from_onnx(workload.model)
    if precision == "bfloat16":
        passes = relay.transform
        prepare = passes.Sequential((passes.SimplifyInference(), passes.FoldConstant()))
        module = passes.ToMixedPrecision(precision)(prepare(module))
    executable = relay.build(module, params=params, opt_level=3)
    arguments = tuple(workload.inputs.values())
    return lambda: executable(*arguments)
