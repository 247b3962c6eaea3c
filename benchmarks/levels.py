"""Whether a higher level of optimization is ever slower: programs at -O3 against the same at each lower level, in turn.

Heads of networks for segmentation and depth (a resize in front of a convolution, or behind one), rows that read what
they computed more than once, and programs that are drawn by a number (`tests/levels/programs.py`). The peers are the
lower levels: no figure is to be below 0.9 by more than 50 µs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np
from rich.progress import track
from tests.levels.programs import program

import relay
from benchmarks.figures import RELAY, Failure, Record, figure
from benchmarks.workloads import LARGEST_ERROR
from relay import nn
from relay.ir.expr import Expr, Function
from relay.testing.measuring.measure import interleaved
from relay.testing.measuring.peers import relative_error

HIGHEST, LOWER = 3, (0, 1, 2)
GENERATED = 24
_SHARE = 1 / 10  # of the seconds that a workload of other suites has
_FEWEST_ROUNDS = 9


def _head(channels: int, taps: int, extent: int) -> Function:
    """A resize to [1, 64, extent, extent], and a convolution to so many channels."""
    x = relay.var("x", shape=(1, 64, extent // 2, extent // 2))
    kernel = np.random.default_rng(0).standard_normal((channels, 64, taps, taps)).astype(np.float32)
    resized = relay.image.resize2d(x, size=(extent, extent))
    return Function([x], nn.conv2d(resized, relay.const(kernel), padding=(taps // 2, taps // 2)))


def _resized(channels: int, taps: int, extent: int) -> Function:
    """A convolution of [1, 64, extent, extent] to so many channels, and a resize of its result to twice the size."""
    x = relay.var("x", shape=(1, 64, extent, extent))
    kernel = np.random.default_rng(0).standard_normal((channels, 64, taps, taps)).astype(np.float32)
    convolved = nn.conv2d(x, relay.const(kernel), padding=(taps // 2, taps // 2))
    return Function([x], relay.image.resize2d(convolved, size=(2 * extent, 2 * extent)))


def _rows(of: Callable[[Expr], Expr]) -> Function:
    x = relay.var("x", shape=(512, 512))
    return Function([x], of(x))


PROGRAMS: Mapping[str, Callable[[], Function]] = MappingProxyType(
    {
        "resize_conv1x1_64": lambda: _head(64, 1, 64),
        "resize_conv3x3_64": lambda: _head(64, 3, 64),
        "resize_conv1x1_21": lambda: _head(21, 1, 128),
        "conv3x3_3_resize": lambda: _resized(3, 3, 56),
        "conv1x1_21_resize": lambda: _resized(21, 1, 56),
        "softmax_of_tanh": lambda: _rows(lambda x: nn.softmax(relay.tanh(x))),
        "gated_rows": lambda: _rows(lambda x: x * relay.sigmoid(x) - relay.mean(x, axis=-1, keepdims=True)),
        **{f"generated_{seed}": lambda seed=seed: program(seed) for seed in range(GENERATED)},
    }
)


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """A record a program, thread count and lower level."""
    chosen = [name for name in PROGRAMS if name.startswith(tuple(options.only or ("",)))]
    wanted = [(name, threads) for name in (chosen[:1] if options.quick else chosen) for threads in options.threads]
    for name, threads in track(wanted, "levels", transient=True):
        yield from _compare(name, threads, options)


def _compare(name: str, threads: int, options: argparse.Namespace) -> Iterator[Record]:
    function, random = PROGRAMS[name](), np.random.default_rng(0)
    arrays = [random.uniform(0.1, 1, each.checked_type.shape).astype(np.float32) for each in function.params]
    target = f"llvm -mcpu=native -num-threads={threads}"
    built = {level: relay.build(function, target, opt_level=level) for level in (*LOWER, HIGHEST)}
    names = {level: RELAY if level == HIGHEST else f"-O{level}" for level in built}
    errors = {level: relative_error([built[HIGHEST](*arrays)], [built[level](*arrays)]) for level in LOWER}
    calls = {names[level]: lambda run=run: run(*arrays) for level, run in built.items()}
    timings = interleaved(calls, options.seconds * _SHARE, rounds=options.rounds)
    if options.rounds is None and len(timings[RELAY].samples_s) < _FEWEST_ROUNDS:
        timings = interleaved(calls, rounds=_FEWEST_ROUNDS)
    for level, error in errors.items():
        if error > LARGEST_ERROR:
            yield Failure(name, threads, names[level], f"its result is another one: relative error {error:.1e}")
        else:
            yield figure(name, threads, names[level], timings[RELAY], timings[names[level]], error=error, work=None)
