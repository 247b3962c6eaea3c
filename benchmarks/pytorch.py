"""Imported models of PyTorch against PyTorch's own compiler, which takes weights for constants as we do, and eager.

Batch 1, float32, the same weights, taken in turn in one run. Beside them: what an imported recurrent layer costs over
one written by hand, and what a call through `torch.compile` costs.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from rich.progress import track
from torch import Tensor, nn
from torch._inductor import config as inductor

import relay
import relay.dynamo
from benchmarks.figures import RELAY, Failure, Quantity, Record
from benchmarks.pytorch_models import LARGE, SMALL, First, Made
from benchmarks.workloads import measure_calls, told
from relay.testing.measuring.measure import interleaved
from relay.testing.programs import recurrent_cells

INPUTS, LENGTH = 128, 32
Call = Callable[[], Any]


def measure(options: argparse.Namespace) -> Iterator[Record]:
    if options.quick:
        yield from measure_models({"mlp_256": SMALL["mlp_256"]}, options)
        return
    yield from measure_models(LARGE, options)
    if not options.only:
        yield from _recurrent(options)
        yield from _a_call(options)


def measure_models(models: Mapping[str, Callable[[], Made]], options: argparse.Namespace) -> Iterator[Record]:
    """A record a model, thread count and way to run it."""
    chosen = {name: make for name, make in models.items() if name.startswith(tuple(options.only or ("",)))}
    with torch.no_grad(), inductor.patch(freezing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, make in track(list(chosen.items()), "pytorch", transient=True):
            torch.manual_seed(0)
            module, inputs = make()
            try:
                executable = relay.compile(module, inputs)
            except Exception as error:
                yield from (Failure(name, threads, RELAY, told(error)) for threads in options.threads)
                continue
            arrays = [each.numpy() for each in inputs]
            for threads in options.threads:
                relay.set_num_threads(threads)
                torch.set_num_threads(threads)
                calls = {RELAY: _call(executable, *arrays)}
                try:
                    calls["inductor"] = _frozen(module, inputs)
                except Exception as error:
                    yield Failure(name, threads, "inductor", told(error))
                calls["torch eager"] = _eager(module, inputs)
                yield from measure_calls(name, threads, calls, options)


def _eager(module: nn.Module, inputs: tuple[Tensor, ...]) -> Call:
    return lambda: module(*inputs).numpy()


def _frozen(module: nn.Module, inputs: tuple[Tensor, ...]) -> Call:
    """Compiled by PyTorch for this many threads; the first call compiles."""
    torch.compiler.reset()
    call = _eager(torch.compile(module), inputs)
    call()
    return call


def _recurrent(options: argparse.Namespace) -> Iterator[Record]:
    """One layer: imported, and as a program written by hand."""
    relay.set_num_threads(1)
    for kind, layer in (("lstm", nn.LSTM), ("gru", nn.GRU)):
        for hidden in (128, 256, 512):
            weights = recurrent_cells.parameters(kind, INPUTS, hidden)
            program = getattr(recurrent_cells, kind)(INPUTS, hidden)
            by_hand = relay.build(program.module, params=weights, opt_level=3)
            imported = relay.compile(First(_with(layer(INPUTS, hidden), weights)), (torch.zeros(LENGTH, 1, INPUTS),))
            xs = np.random.default_rng(0).standard_normal((LENGTH, INPUTS), dtype=np.float32)
            state = [np.zeros((1, hidden), np.float32)] * recurrent_cells.STATES[kind]
            calls = {RELAY: _call(imported, xs[:, None]), "by hand": _call(by_hand, xs, *state)}
            for who, timing in interleaved(calls, options.seconds / 2, rounds=options.rounds).items():
                yield Quantity(f"{kind}_h{hidden}, imported", "time", who, timing.median_s * 1e6, "µs")


def _with(layer: nn.Module, weights: Mapping[str, np.ndarray[Any, Any]]) -> nn.Module:
    names = {"w_ih": "weight_ih_l0", "w_hh": "weight_hh_l0", "b_ih": "bias_ih_l0", "b_hh": "bias_hh_l0"}
    layer.load_state_dict({names[name]: torch.from_numpy(each) for name, each in weights.items()})
    return layer


def _call(executable: Any, *arrays: Any) -> Call:
    return lambda: executable(*arrays)


def _a_call(options: argparse.Namespace) -> Iterator[Record]:
    """A small function through `torch.compile`, by the backends that compile, and by the one that only captures."""
    relay.dynamo.register()
    torch.compiler.reset()
    x = torch.ones(4, 4)
    with torch.no_grad():
        calls: dict[str, Call] = {}
        for backend in (RELAY, "inductor", "eager"):
            run = torch.compile(lambda x: x.relu() + 1, backend=backend)
            calls[backend] = lambda run=run: run(x)
            calls[backend]()
        for who, timing in interleaved(calls, options.seconds / 2, rounds=options.rounds).items():
            yield Quantity("a call through torch.compile", "time", who, timing.median_s * 1e6, "µs")
