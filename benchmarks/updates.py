"""Updates in place: loops that write a tensor again and again, and calls that are given one, against NumPy and PyTorch
in place.

`descent` takes 50 steps `w := w - 0.1 g` over 8 MiB in one call, `step` one in a call that takes the array of `w`;
`rows` writes 1,000 rows of a cache of so many, one after another, and `sparse` adds to 1,000 rows of such a table at
once. Gradients are zero, so that all calls give the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

import relay
from benchmarks.figures import RELAY, Failure, Record
from benchmarks.workloads import measure_calls, told
from relay.testing.measuring.libraries import library
from relay.testing.measuring.peers import Call

STEPS, WEIGHTS, WIDTH, WRITTEN = 50, 1 << 21, 1024, 1000
CACHES = (1024, 16384)
_RATE = np.float32(0.1)

_DESCENT = f"""#[version = "0.0.5"]
def @descend(%w: ref(Tensor[({WEIGHTS}), float32]), %g: Tensor[({WEIGHTS}), float32], %n: int32) -> () {{
  if (equal(%n, 0)) {{ () }} else {{
    %w := %w^ - 0.1f * %g;
    @descend(%w, %g, %n - 1)
  }}
}}
def @main(%start: Tensor[({WEIGHTS}), float32], %g: Tensor[({WEIGHTS}), float32], %n: int32)
    -> Tensor[({WEIGHTS}), float32] {{
  let %w = ref(%start);
  @descend(%w, %g, %n);
  %w^
}}"""


def _weights_and_gradient() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Both are written once: pages that never were are all one, which is quicker to read than any memory."""
    return np.full(WEIGHTS, 1, np.float32), np.full(WEIGHTS, 0, np.float32)


def _descent(who: str, _: int) -> Call:
    w, g = _weights_and_gradient()
    if who == RELAY:
        executable = relay.build(relay.parse(_DESCENT), opt_level=3, donate=("start",))
        return lambda: executable(w, g, np.int32(STEPS))
    step = _step(who, 0)

    def steps() -> object:
        result = None
        for _ in range(STEPS):
            result = step()
        return result

    return steps


def _step(who: str, _: int) -> Call:
    w, g = _weights_and_gradient()
    if who == RELAY:
        x, y = relay.var("w", shape=w.shape), relay.var("g", shape=g.shape)
        body = relay.subtract(x, relay.multiply(relay.const(_RATE), y))
        executable = relay.build(relay.Function((x, y), body), opt_level=3, donate=("w",))
        return lambda: executable(w, g)
    if who == "pytorch":
        torch = library("torch")
        weights, gradient = torch.from_numpy(w), torch.from_numpy(g)
        return lambda: weights.sub_(gradient, alpha=0.1)

    def step() -> object:
        nonlocal w
        w -= _RATE * g
        return w

    return step


def _rows(who: str, count: int) -> Call:
    cache, row = np.zeros((count, WIDTH), np.float32), np.ones((1, WIDTH), np.float32)
    if who == RELAY:
        executable = relay.build(_writing_rows(count), opt_level=3, donate=("cache",))
        return lambda: executable(cache, row, np.int64(WRITTEN))
    torch = library("torch") if who == "pytorch" else None
    to, of = (cache, row) if torch is None else (torch.from_numpy(cache), torch.from_numpy(row))

    def write() -> object:
        for i in range(WRITTEN):
            to[i : i + 1] = of
        return to

    return write


def _writing_rows(count: int) -> relay.IRModule:
    """@write(cache, row, n): row n - 1, then those before it."""
    write = relay.GlobalVar("write")
    n, before = (relay.var(name, shape=(), dtype="int64") for name in ("n", "before"))
    cache, row = relay.var("cache", shape=(count, WIDTH)), relay.var("row", shape=(1, WIDTH))
    begin, end = (relay.reshape(each, (1,)) for each in (before, n))
    again = relay.Call(write, (relay.strided_set(cache, row, begin, end), row, before))
    less = relay.Let(before, relay.subtract(n, relay.const(1, "int64")), again)
    body = relay.If(relay.equal(n, relay.const(0, "int64")), cache, less)
    given = [relay.var(each.name_hint, each.type_annotation) for each in (cache, row, n)]
    return relay.IRModule(
        {
            write: relay.Function((cache, row, n), body, relay.TensorType((count, WIDTH), "float32")),
            relay.GlobalVar("main"): relay.Function(given, relay.Call(write, given)),
        }
    )


def _sparse(who: str, count: int) -> Call:
    table, changes = np.zeros((count, WIDTH), np.float32), np.zeros((WRITTEN, WIDTH), np.float32)
    numbers = np.random.default_rng(0).integers(0, count, WRITTEN)
    if who == RELAY:
        to, of = relay.var("table", shape=table.shape), relay.var("changes", shape=changes.shape)
        at = relay.var("numbers", shape=(1, WRITTEN), dtype="int64")
        function = relay.Function((to, of, at), relay.scatter_nd(to, at, of, mode="add"))
        executable, rows = relay.build(function, opt_level=3, donate=("table",)), numbers[np.newaxis]
        return lambda: executable(table, changes, rows)
    if who == "pytorch":
        torch = library("torch")
        weights, updates, index = (torch.from_numpy(each) for each in (table, changes, numbers))
        return lambda: weights.index_add_(0, index, updates)

    def add() -> object:
        np.add.at(table, numbers, changes)
        return table

    return add


UPDATES: Mapping[str, tuple[Callable[[str, int], Call], int]] = MappingProxyType(
    {
        "step_8MiB": (_step, 0),
        "descent_8MiB": (_descent, 0),
        **{f"rows_{count}": (_rows, count) for count in CACHES},
        **{f"sparse_{count}": (_sparse, count) for count in CACHES},
    }
)
QUICK = ("step_8MiB", "rows_1024")
PEERS = (RELAY, "numpy", "pytorch")


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """A record an update, thread count and peer."""
    beginnings = tuple(options.only or (QUICK if options.quick else ("",)))
    for name, (make, count) in UPDATES.items():
        for threads in options.threads if name.startswith(beginnings) else ():
            yield from _measure(name, make, count, threads, options)


def _measure(
    name: str, make: Callable[[str, int], Call], count: int, threads: int, options: argparse.Namespace
) -> Iterator[Record]:
    relay.set_num_threads(threads)
    calls: dict[str, Call] = {}
    for who in PEERS:
        if who == RELAY or options.peers is None or who in options.peers:
            try:
                if who == "pytorch":
                    library("torch").set_num_threads(threads)
                calls[who] = make(who, count)
            except Exception as error:
                yield Failure(name, threads, who, told(error))
    yield from measure_calls(name, threads, calls, options)
