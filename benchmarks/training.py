"""Training steps (forward, backward, update) against PyTorch's and JAX's; what a step needs of memory, and what it
takes to compile.

Everyone starts from the same weights. Before anything is timed, the gradients of the first step are compared with those
in float64: ours may be twice as far from them as those of the peer that is farthest. A unit near its corner may be on
the other side when anything before it is rounded in another way: where weights and images of MobileNet-V2 are moved by
a unit in the last place, its gradients in float64 move by 2e-3 to 9e-3 of their length, and where its units have no
corners all are within 3e-6.
PyTorch runs eagerly (images in its better layout, too) and by its own compiler, always with a fused optimiser; JAX runs
one jitted step with donation. Its threads are set when it starts: it has a row where it may use all processors.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import statistics
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.progress import track

import relay
from benchmarks import fresh, training_pytorch
from benchmarks.figures import RELAY, Failure, Quantity, Record
from benchmarks.training_programs import TRAININGS, Training
from benchmarks.workloads import measure_calls, told
from relay.testing.measuring.measure import quartiles

ROUNDS = 3
SMALL_ERROR = 1e-5
"""Of gradients, over their length: less is never too much."""
Steps = dict[str, Any]
"""By name, who has a step to call and can tell the gradients of the first."""


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """A record a training, thread count and peer; bytes and seconds of each."""
    names = [name for name in TRAININGS if name.startswith(tuple(options.only or ("",)))]
    for name in track(names[:1] if options.quick else names, "training", transient=True):
        training = TRAININGS[name]()
        try:
            executable = training.build()
        except Exception as error:
            yield from (Failure(name, threads, RELAY, told(error)) for threads in options.threads)
            continue
        for threads in options.threads:
            yield from _timed(name, training, executable, threads, options)
        yield from _in_fresh_processes(name, options)


def _timed(
    name: str, training: Training, executable: relay.Executable, threads: int, options: argparse.Namespace
) -> Iterator[Record]:
    relay.set_num_threads(threads)
    torch.set_num_threads(threads)
    step = training.call(executable)
    calls: dict[str, Callable[[], Any]] = {RELAY: lambda: step()[0]}
    _, *after = step()
    exact = training_pytorch.exact_gradients(name, training)
    ours, others = _distance(training.gradients(after), exact), list[float]()
    for peer, make in _peers(name, training, threads, options):
        try:
            steps = make()
            for who, theirs in steps.items():
                theirs()
                others.append(_distance(theirs.gradients(), exact))
                calls[who] = theirs
        except Exception as error:
            yield Failure(name, threads, peer, told(error))
    if others and ours > max(2 * max(others), SMALL_ERROR):
        yield Failure(name, threads, RELAY, f"its gradients are off by {ours:.1e}, those of peers {max(others):.1e}")
    yield from measure_calls(name, threads, calls, options)


def _distance(found: Sequence[NDArray[Any]], exact: Sequence[NDArray[Any]]) -> float:
    """Between gradients, over the length of the exact one."""
    squares = [(np.sum((a - b) ** 2), np.sum(b**2)) for a, b in zip(found, exact, strict=True)]
    return float(np.sqrt(sum(each for each, _ in squares) / sum(each for _, each in squares)))


def _peers(
    name: str, training: Training, threads: int, options: argparse.Namespace
) -> Iterator[tuple[str, Callable[[], Steps]]]:
    """Who else takes this step, and how it is made."""
    wanted = options.peers or ("pytorch", "torch-compile", "jax")
    if "pytorch" in wanted:
        yield "pytorch", lambda: training_pytorch.steps(name, training, compiled=False)
    if "torch-compile" in wanted:
        yield "torch compile", lambda: _compiled(name, training)
    is_whole = threads == len(os.sched_getaffinity(0))
    if "jax" in wanted and is_whole and importlib.util.find_spec("jax") is not None:
        yield "jax", lambda: _jax_steps(name, training)


def _compiled(name: str, training: Training) -> Steps:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return training_pytorch.steps(name, training, compiled=True)


def _jax_steps(name: str, training: Training) -> Steps:
    training_jax: Any = importlib.import_module("benchmarks.training_jax")
    return {"jax": training_jax.Step(name, training)} if name in training_jax.LOSSES else {}


def _in_fresh_processes(name: str, options: argparse.Namespace) -> Iterator[Record]:
    """Peak memory of a step, and seconds of compiling it and the loss alone, with nothing kept before."""
    samples: dict[tuple[str, str], list[float]] = {}
    for _ in range(1 if options.quick else ROUNDS):
        with tempfile.TemporaryDirectory() as path:
            for quantity, action in (("compile, forward", "training-loss"), ("compile, step", "training-step")):
                environment = fresh.environment(Path(path, action))
                found = fresh.run(action, name, path, environment=environment)
                samples.setdefault((quantity, RELAY), []).append(found["compile"])
            for who in (RELAY, "torch eager"):
                found = fresh.run("training-memory", name, path, who, environment=fresh.environment(None))
                samples.setdefault(("memory of a step", who), []).append(found["memory"] / 1e6)
    for (quantity, who), values in samples.items():
        unit = "MB" if quantity.startswith("memory") else "s"
        yield Quantity(name, quantity, who, statistics.median(values), unit, quartiles(values))
    forward, step = (statistics.median(samples[f"compile, {what}", RELAY]) for what in ("forward", "step"))
    yield Quantity(name, "compile, step ÷ forward", RELAY, step / forward, "")
