"""Memory stays flat: programs that are loaded, called and dropped, and programs that are compiled and dropped.

`python -m tests.endurance.memory [count]` loads ten times `count` programs and compiles three times as many, each after
as much again to warm up. The suite runs a slice of it.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import relay

MOST_GROWTH_BYTES, BETWEEN_COLLECTIONS = 1 << 20, 10
DATA = np.linspace(-1, 1, 64, dtype=np.float32).reshape(4, 16)


def program() -> relay.Function:
    x = relay.var("x", shape=("n", 16))
    weight = relay.const(np.eye(16, dtype=np.float32))
    return relay.Function([x], relay.nn.softmax(relay.nn.dense(x, weight)))


def load_and_call(path: Path) -> Callable[[], None]:
    relay.build(program()).save(path)

    def cycle() -> None:
        assert np.asarray(relay.load(path)(DATA)).shape == (4, 16)

    return cycle


def compile_and_drop() -> None:
    """A program as large as any other, which no cache holds."""
    assert np.asarray(relay.build(program())(DATA)).shape == (4, 16)


def growth_bytes(cycle: Callable[[], None], warm_up: int, count: int) -> int:
    """How much more memory the process has after `count` cycles than before them."""
    _repeat(cycle, warm_up)
    before = own_bytes()
    _repeat(cycle, count)
    return own_bytes() - before


def own_bytes() -> int:
    """What the process has written to, in memory or swapped out. Pages of files come and go as the system likes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("RssAnon:", "VmSwap:")))


def _repeat(cycle: Callable[[], None], count: int) -> None:
    """Compilations leave cycles of objects, which are memory until Python next looks for those: it is told to."""
    for number in range(count):
        cycle()
        if (number + 1) % BETWEEN_COLLECTIONS == 0:
            gc.collect()
    gc.collect()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        cycles = {"load, call, drop": (load_and_call(Path(folder, "model.rlx")), 10 * count)}
        cycles["compile, drop"] = compile_and_drop, 3 * count
        grown = {name: growth_bytes(cycle, times // 2, times) for name, (cycle, times) in cycles.items()}
    for name, (_, times) in cycles.items():
        sys.stdout.write(f"{times} times {name}: {grown[name]} bytes more\n")
    if max(grown.values()) > MOST_GROWTH_BYTES:
        sys.exit("memory grows")


if __name__ == "__main__":
    main()
