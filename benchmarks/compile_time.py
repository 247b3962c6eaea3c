"""What compilation costs for each operator, as programs grow: flat lines are what is wanted.

Each program is compiled in a fresh process (`benchmarks.fresh`) with nothing kept from before; `optimize` is the part
before kernels are made, which does not profit from kernels that are the same.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.progress import track

from benchmarks import fresh
from benchmarks.figures import RELAY, Failure, Quantity, Record
from benchmarks.growing_programs import PROGRAMS
from benchmarks.workloads import told
from relay.testing.measuring.libraries import library

SIZES = (100, 1_000, 10_000)
LEVELS = (0, 3)


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """Milliseconds for each operator: of all stages, and of the optimizer, by program, size and level."""
    sizes = (30, 100) if options.quick else SIZES
    names = [name for name in PROGRAMS if name.startswith(tuple(options.only or ("",)))]
    runs = [(name, size, level) for name in names for level in LEVELS for size in sizes]
    for name, size, level in track(runs, "compiling", transient=True):
        workload = f"{name}, {size} operators, -O{level}"
        try:
            with tempfile.TemporaryDirectory() as folder:
                found = fresh.run("program", name, str(size), str(level), environment=fresh.environment(Path(folder)))
        except RuntimeError as error:
            yield Failure(workload, len(os.sched_getaffinity(0)), RELAY, told(error))
            continue
        for stage in ("compile", "optimize"):
            yield Quantity(workload, stage, RELAY, found[stage] / size * 1e3, "ms an operator")


def draw(records: Sequence[Record], path: Path) -> None:
    """A line a program: milliseconds for each operator over their number."""
    library("matplotlib").use("Agg")
    plt = library("matplotlib.pyplot")
    figure, plots = plt.subplots(1, len(LEVELS), figsize=(5.5 * len(LEVELS), 4), sharey=True, squeeze=False)
    for level, axes in zip(LEVELS, plots[0], strict=True):
        for name in PROGRAMS:
            points = _points(records, name, level)
            if points:
                axes.plot(*zip(*points, strict=True), marker="o", label=name)
        axes.set(title=f"-O{level}", xlabel="operators", xscale="log", yscale="log")
        axes.grid(alpha=0.3)
    plots[0][0].set_ylabel("compile time, ms an operator")
    plots[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path.with_suffix(".png"), dpi=120)
    plt.close(figure)


def _points(records: Sequence[Record], name: str, level: int) -> list[tuple[int, float]]:
    found: list[tuple[int, float]] = []
    for each in records:
        if isinstance(each, Quantity) and each.quantity == "compile":
            program, size, optimized = each.workload.split(", ")
            if program == name and optimized == f"-O{level}":
                found.append((int(size.split()[0]), each.value))
    return found
