"""The campaign: programs at each level of optimization, by what they compute and by the time that they take.

`python -m tests.levels [count] [--seed seed] [--timed]` tells which programs compute more at a higher level than at a
lower one, and with `--timed` which are slower there: by more than 10 % and 50 µs, three times over. The suite runs a
slice, by arithmetic.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from rich.console import Console

import relay
from relay.ir.expr import Function
from relay.targets.cpu.schedules.rows import LARGEST_REPETITION
from relay.testing.measuring.measure import interleaved
from relay.transform.fusion.evaluations import FREE_OPERATIONS
from tests.arithmetic import kernel_works
from tests.levels.programs import program

LEVELS = (0, 1, 2, 3)
TOLERANCE = 1.1
SLOWER, SLOWER_SECONDS, TIMES_OVER = 1.1, 50e-6, 3
ROUNDS = 15
REDUCTIONS = ("mean", "sum", "max", "variance", "softmax")


def repeats(function: Function) -> str:
    """What a level computes beyond a lower one; nothing if all is well."""
    least = float("inf")
    for level in LEVELS:
        works = kernel_works(relay.driver.compile_stages(function, opt_level=level))
        operations = sum(work.operations for _, work in works)
        repeated = FREE_OPERATIONS * len(works)
        rows = max((sum(name.count(word) for word in REDUCTIONS) for name, _ in works), default=0)
        if operations > (LARGEST_REPETITION if rows > 1 else TOLERANCE) * least + repeated:
            return f"-O{level} computes {operations:,.0f} operations, a lower level {least:,.0f}"
        least = min(least, operations)
    return ""


def slower_levels(function: Function, times_over: int = TIMES_OVER) -> Iterator[str]:
    """The levels that are slower than a lower one, each time of so many."""
    random = np.random.default_rng(0)
    shapes = [parameter.checked_type.shape for parameter in function.params]
    arrays = [random.uniform(0.1, 1, shape).astype(np.float32) for shape in shapes]
    built = {level: relay.build(function, opt_level=level) for level in LEVELS}
    suspects = {(low, high) for high in LEVELS for low in LEVELS if low < high}
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for _ in range(times_over):
        timings = interleaved(
            {str(level): lambda call=call: call(*arrays) for level, call in built.items()}, rounds=ROUNDS
        )
        medians = {level: timings[str(level)].median_s for level in LEVELS}
        minima = {level: timings[str(level)].minimum_s for level in LEVELS}
        suspects = {
            pair
            for pair in suspects
            if _is_slower(*(medians[x] for x in pair)) and _is_slower(*(minima[x] for x in pair))
        }
        if not suspects:
            return
        found |= {pair: (minima[pair[0]], minima[pair[1]]) for pair in suspects}
    for low, high in sorted(suspects):
        before, after = found[low, high]
        yield f"-O{high} takes {after * 1e6:.0f} µs, -O{low} {before * 1e6:.0f}"


def _is_slower(before: float, after: float) -> bool:
    return after > SLOWER * before and after - before > SLOWER_SECONDS


def main() -> None:
    parser = argparse.ArgumentParser("tests.levels", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--timed", action="store_true")
    options = parser.parse_args()
    told, console = 0, Console()
    for seed in range(options.seed, options.seed + options.count):
        function = program(seed)
        more = [text for text in (repeats(function),) if text]
        more += slower_levels(function) if options.timed else ()
        told += bool(more)
        for text in more:
            console.print(f"program({seed}): {text}")
    console.print(f"{options.count} programs, {told} of them with something to look at")


if __name__ == "__main__":
    main()
