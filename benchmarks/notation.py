"""What the Python notation costs: compiling a function of a hundred lines, finding that nothing changed, and a call.

Compilations are fresh processes whose compiler is loaded (`startup` has the imports): one with nothing kept, one where
the same function was compiled before; each asks for a second function of the same text, as a notebook does that runs a
cell again. Calls are compared with those of the same executable, in turns, by their fastest repetitions.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.progress import track

from benchmarks import fresh
from benchmarks.figures import RELAY, Quantity, Record
from benchmarks.notation_program import small
from relay.testing.measuring.measure import quartiles

ROUNDS, CALL_ROUNDS, CALLS = 5, 200, 200
NANOSECONDS = 1e9


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """Seconds of compiling and of finding, nanoseconds of a call beyond those of its executable."""
    samples: dict[str, list[float]] = {}
    for _ in track(range(1 if options.quick else ROUNDS), "notation", transient=True):
        with tempfile.TemporaryDirectory() as folder:
            environment = fresh.environment(Path(folder))
            for state in ("nothing kept", "unchanged"):
                for quantity, seconds in fresh.run("notation", environment=environment).items():
                    samples.setdefault(f"{quantity}, {state}", []).append(seconds)
    for quantity, values in samples.items():
        yield Quantity("hundred_lines", quantity, RELAY, statistics.median(values), "s", quartiles(values))
    for quantity, nanoseconds in _calls(10 if options.quick else CALL_ROUNDS).items():
        yield Quantity("small", quantity, RELAY, nanoseconds, "ns")


def _calls(rounds: int) -> dict[str, float]:
    """What a call of the function costs beyond the same call of its executable, by how arguments are given."""
    x, y, run = np.ones(4, np.float32), np.ones(4, np.float32), small.executable
    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "by position": (lambda: small(x, y, 2.0), lambda: run(x, y, 2.0)),
        "by name": (lambda: small(x=x, y=y, factor=2.0), lambda: run(x=x, y=y, factor=2.0)),
        "a default": (lambda: small(x, y), lambda: run(x, y, factor=2.0)),
    }
    fastest: dict[tuple[str, int], float] = {}
    for _ in range(rounds):
        for name, pair in pairs.items():
            for position, call in enumerate(pair):
                fastest[name, position] = min(fastest.get((name, position), 1.0), _seconds(call))
    return {f"call over executable, {name}": NANOSECONDS * (fastest[name, 0] - fastest[name, 1]) for name in pairs}


def _seconds(call: Callable[[], Any]) -> float:
    started = perf_counter()
    for _ in range(CALLS):
        call()
    return (perf_counter() - started) / CALLS
