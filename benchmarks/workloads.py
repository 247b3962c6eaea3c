"""Programs as ONNX files, timed by relay and by every peer in one interleaved run, once their results were compared."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import relay
from benchmarks.figures import RELAY, Failure, Record, Work, figure
from relay.testing.measuring.measure import interleaved
from relay.testing.measuring.peers import PEERS, Call, MakeCall, installed_peers, relative_error

LARGEST_ERROR = 1e-3
"""Of the largest magnitude of a result: who is farther from us computes something else, and is not timed."""


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """An ONNX file and what it is called with. `natural` are calls of peers that have a better way than its operators;
    `without` are peers to which it is not natural; `unread_bytes` of its weights no call looks at."""

    model: bytes
    inputs: Mapping[str, NDArray[Any]]
    natural: Mapping[str, MakeCall] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    unread_bytes: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """Ours, and the least that a call has to do."""

    call: Call
    work: Work


def measure_workloads(makers: Mapping[str, Callable[[], Workload]], options: argparse.Namespace) -> Iterator[Record]:
    """A record a workload, thread count and peer. Who fails is recorded with the reason."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, transient=True) as bars:
        task = bars.add_task("", total=len(makers))
        for name, make in makers.items():
            bars.update(task, description=name)
            yield from _measure(name, make, options)
            bars.advance(task)


def _measure(name: str, make: Callable[[], Workload], options: argparse.Namespace) -> Iterator[Record]:
    try:
        workload = make()
        compiled = compile_workload(workload)
    except Exception as error:
        yield from (Failure(name, threads, RELAY, told(error)) for threads in options.threads)
        return
    for threads in options.threads:
        relay.set_num_threads(threads)
        calls: dict[str, Call] = {RELAY: compiled.call}
        for peer in options.peers or installed_peers():
            if peer not in workload.without and PEERS[peer].runs_with(threads):
                try:
                    make = workload.natural.get(peer, PEERS[peer].make_call)
                    calls[peer] = make(workload.model, workload.inputs, threads)
                    calls[peer]()
                except Exception as error:
                    calls.pop(peer, None)
                    yield Failure(name, threads, peer, told(error))
        yield from measure_calls(name, threads, calls, options, compiled.work)


def measure_calls(
    name: str,
    threads: int,
    calls: Mapping[str, Call],
    options: argparse.Namespace,
    work: Work | None = None,
    largest_error: float = LARGEST_ERROR,
) -> Iterator[Record]:
    """A record each of the others than relay: they must give what relay gives."""
    try:
        ours = calls[RELAY]()
    except Exception as error:
        yield Failure(name, threads, RELAY, told(error))
        return
    errors = {peer: relative_error(ours, call()) for peer, call in calls.items() if peer != RELAY}
    for peer, error in errors.items():
        if error > largest_error:
            yield Failure(name, threads, peer, f"its result is another one: relative error {error:.1e}")
    agreeing = {peer: call for peer, call in calls.items() if errors.get(peer, 0.0) <= largest_error}
    timings = interleaved(agreeing, options.seconds, rounds=options.rounds, rests=threads > 1)
    for peer, theirs in timings.items():
        if peer != RELAY:
            yield figure(name, threads, peer, timings[RELAY], theirs, error=errors[peer], work=work)


def compile_workload(workload: Workload) -> Compiled:
    module, params = relay.frontend.from_onnx(workload.model)
    executable = relay.build(module, params=params, opt_level=3)
    products = relay.analysis.get_total_mac_number(relay.transform.infer_type(module))
    arguments = tuple(workload.inputs.values())
    results = executable(*arguments)
    arrays = (*params.values(), *arguments, *(results if isinstance(results, tuple) else (results,)))
    moved = sum(np.asarray(each).nbytes for each in arrays) - workload.unread_bytes
    return Compiled(lambda: executable(*arguments), Work(2.0 * products, float(moved)))


def told(error: Exception) -> str:
    """An error in a line."""
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"[:200]
