"""What changed from one commit to another, or to the files of this tree: our own side of the other suites.

Every measurement is a fresh process (`benchmarks.fresh`) that runs what this tree's benchmarks describe on the relay of
one of the commits. Processes of the old one, the new one, and the old one again take turns: what the old one differs
from itself is the noise of a row. A quantity below 0.97 is measured again, with twice the rounds.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import fresh, startup
from benchmarks.figures import LEAST_CHANGE, Change, Failure, Quantity, Record, from_json, geometric_mean
from benchmarks.network_programs import NETWORKS, SMALL
from benchmarks.operator_programs import OPERATORS
from benchmarks.operators import QUICK
from benchmarks.recurrent_programs import RECURRENT
from benchmarks.showing import Bar, failures_of, plot_bars
from benchmarks.updates import UPDATES
from benchmarks.workloads import Workload, told
from relay.testing.measuring.measure import Timing, ratio

ROUNDS, ROUNDS_OF_STARTS = 5, 3
LARGE = ("deep", 10_000, 3)  # a program of `growing_programs`, its operators and level
WIDTH = 150


@dataclass(frozen=True, slots=True)
class Side:
    """One who is measured: a tree, and a folder for its caches, which nobody else writes to."""

    name: str
    tree: Path
    folder: Path

    def environment(self, caches: Path) -> dict[str, str]:
        return fresh.environment(caches, self.tree / "src")


Run = Callable[[Side], Iterable[Quantity]]


@dataclass(frozen=True, slots=True)
class Row:
    """What is measured in one go: `run` gives quantities of a side, of processes that it starts."""

    suite: str
    name: str
    prepare: Callable[[Path], Run]
    rounds: int


class _CannotRun(RuntimeError):
    """A side has no figure: its name, and why."""


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """A record a quantity. Who cannot run a row is recorded with the reason."""
    with tempfile.TemporaryDirectory() as path:
        old = _tree(options.old, Path(path))
        new = _tree(options.new, Path(path)) if options.new else fresh.ROOT
        for tree in (old, new):  # bytecode as an installed package has it
            subprocess.run([sys.executable, "-m", "compileall", "-q", str(tree / "src")], check=True)
        for row in track(list(_rows(options)), "commits", transient=True):
            with tempfile.TemporaryDirectory(dir=path) as folder:
                before = Side(options.old, old, Path(folder, "old"))
                after = Side(options.new or "this tree", new, Path(folder, "new"))
                yield from compared(row, before, after, Path(folder))


def _tree(commit: str, folder: Path) -> Path:
    """The files of a commit, in a folder of their own. Raises `SystemExit` where git knows no such commit."""
    done = subprocess.run(["git", "archive", commit], cwd=fresh.ROOT, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"git archive {commit}: {done.stderr.decode().strip()}")
    tree = folder / commit.replace("/", "_")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(tree, filter="data")
    return tree


# ---------------------------------------------------------------------------------------------------------------- rows


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    """Names may be given by their beginnings; with `--quick` there are a few of each suite that need little time."""
    encoder = ("encoder_s16",)
    quick = {"networks": encoder, "operators": QUICK[:1], "recurrent": ("a call",), "startup": encoder}
    for row in _all_rows(",".join(map(str, options.threads)), options.rounds):
        beginnings = options.only or (quick.get(row.suite, ()) if options.quick else ("",))
        is_spare = row.name in SMALL and not (options.quick or options.only)
        is_wanted = row.suite in (options.suites or (row.suite,))
        if is_wanted and row.name.startswith(tuple(beginnings)) and not is_spare:
            yield row


def _all_rows(threads: str, rounds: int | None) -> Iterator[Row]:
    calls, starts = rounds or ROUNDS, rounds or ROUNDS_OF_STARTS
    for suite, makers in {"networks": {**NETWORKS, **SMALL}, "operators": OPERATORS}.items():
        for name, make in makers.items():
            yield Row(suite, name, _calls_of_model(name, make, threads), calls)
    for suite, names in {"recurrent": RECURRENT, "updates": UPDATES}.items():
        for name in names:
            yield Row(suite, name, _calls_of_program(suite, name, threads), calls)
    for name in (*startup.MODELS, *SMALL):
        yield Row("startup", name, _start(name, {**NETWORKS, **SMALL}[name]), starts)
    yield Row("startup", "relay", lambda _: _import, startup.IMPORT_ROUNDS)
    yield Row("startup", f"{LARGE[1]:,} operators", lambda _: _compile_large, starts)
    yield Row("memory", "plans", lambda _: _plans, 1)


def _calls_of_model(name: str, make: Callable[[], Workload], threads: str) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        model = startup.write_model(make(), folder)
        return lambda side: _calls(side, name, threads, "model", str(model))

    return prepare


def _calls_of_program(suite: str, name: str, threads: str) -> Callable[[Path], Run]:
    return lambda _: lambda side: _calls(side, name, threads, suite, name)


def _calls(side: Side, name: str, threads: str, *words: str) -> Iterator[Quantity]:
    """Seconds by numbers of threads. What the first process of a side compiled, later ones take from its folder."""
    found = fresh.run("call", threads, str(side.folder), *words, environment=side.environment(side.folder))
    for quantity, seconds in found.items():
        yield Quantity(name, quantity, side.name, seconds, "s")


def _start(name: str, make: Callable[[], Workload]) -> Callable[[Path], Run]:
    def prepare(folder: Path) -> Run:
        model = startup.write_model(make(), folder)

        def run(side: Side) -> Iterator[Quantity]:
            with tempfile.TemporaryDirectory(dir=folder) as empty:
                found = startup.our_start(model, Path(empty), side.environment(Path(empty, "cache")))
            for quantity, value in found.items():
                yield Quantity(name, quantity, side.name, value, startup.unit_of(quantity))

        return run

    return prepare


def _import(side: Side) -> Iterator[Quantity]:
    found = fresh.run("import", "relay", environment=side.environment(side.folder))
    yield Quantity("relay", "import", side.name, found["import"], "s")


def _compile_large(side: Side) -> Iterator[Quantity]:
    with tempfile.TemporaryDirectory() as empty:
        found = fresh.run("program", *map(str, LARGE), environment=side.environment(Path(empty)))
    for quantity, seconds in found.items():
        yield Quantity(f"{LARGE[0]}, {LARGE[1]:,} operators", quantity, side.name, seconds, "s")


def _plans(side: Side) -> Iterator[Quantity]:
    """By the suite of the tree itself: a plan is read in the form that the tree gives it."""
    kept = side.folder / "memory.json"
    kept.parent.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "memory", "--output", str(kept)],
        cwd=side.tree, env=side.environment(side.folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return (each for each in from_json(kept.read_text()) if isinstance(each, Quantity) and each.unit)


# ------------------------------------------------------------------------------------------------------------- changes


def compared(row: Row, old: Side, new: Side, folder: Path) -> Iterator[Record]:
    try:
        run = row.prepare(folder)
        changes = _changes(row, run, old, new, row.rounds)
        if any(each.ratio < LEAST_CHANGE for each in changes):
            again = {(each.workload, each.quantity): each for each in _changes(row, run, old, new, 2 * row.rounds)}
            changes = [again[each.workload, each.quantity] if each.ratio < LEAST_CHANGE else each for each in changes]
        yield from changes
    except _CannotRun as error:
        side, reason = error.args
        yield Failure(row.name, len(os.sched_getaffinity(0)), side, reason)


def _changes(row: Row, run: Run, old: Side, new: Side, rounds: int) -> list[Change]:
    """Of so many rounds, each of which begins with another side."""
    again = Side(old.name, old.tree, old.folder.with_name("again"))
    sides = [old, new, again]
    samples: dict[tuple[str, str, str], dict[Side, list[float]]] = {}
    for number in range(rounds):
        first = number % len(sides)
        for side in sides[first:] + sides[:first]:
            try:
                for each in run(side):
                    of_sides = samples.setdefault((each.workload, each.quantity, each.unit), {})
                    of_sides.setdefault(side, []).append(each.value)
            except RuntimeError as error:
                raise _CannotRun(side.name, told(error)) from error
    return [
        _change(row.suite, *what, *(_timing(of_sides[side]) for side in sides))
        for what, of_sides in samples.items()
        if len(of_sides) == len(sides)
    ]


def _timing(values: Sequence[float]) -> Timing:
    return Timing(median(values), min(values), tuple(values))


def _change(suite: str, workload: str, quantity: str, unit: str, old: Timing, new: Timing, again: Timing) -> Change:
    change, itself = ratio(old, new), ratio(old, again)
    quartiles, of_old = ((each.low, each.high) for each in (change, itself))
    return Change(
        suite, workload, quantity, change.median, quartiles, change.of_minima, of_old, old.median_s, new.median_s, unit,
        len(old.samples_s),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- showing


def show(records: Sequence[Record]) -> None:
    """A row a quantity, losses in red; geometric means of each suite."""
    changes = [each for each in records if isinstance(each, Change)]
    columns = "suite", "workload", "quantity", "old", "new", "old ÷ new", "quartiles", "minima", "old ÷ old", "rounds"
    table = Table(*columns)
    for each in changes:
        colour = "red" if each.is_loss else "green" if each.ratio >= 1 else "yellow"
        ranges = (f"{low:.2f}–{high:.2f}" for low, high in (each.quartiles, each.of_old))
        quartiles, of_old = ranges
        table.add_row(
            each.suite, each.workload, each.quantity, _amount(each.old, each.unit), _amount(each.new, each.unit),
            f"[{colour}]{each.ratio:.2f}", quartiles, f"{each.ratio_of_minima:.2f}", of_old, str(each.rounds),
        )  # fmt: skip
    for suite, found in _by_suite(changes).items():
        table.add_row(suite, "geometric mean", "", "", "", f"{_mean(found):.3f}", style="italic")
    console = Console(width=WIDTH)
    console.print(table)
    if (failures := failures_of(records)) is not None:
        console.print(failures)


def draw(records: Sequence[Record], path: Path) -> None:
    """A column a suite, its geometric mean above."""
    changes = [each for each in records if isinstance(each, Change)]
    groups = {
        f"{suite}: {_mean(found):.3f}": [
            Bar(f"{each.workload}, {each.quantity}", each.ratio, *each.quartiles) for each in found
        ]
        for suite, found in _by_suite(changes).items()
    }
    if groups:
        plot_bars(groups, path.with_suffix(".png"), "commits", "old ÷ new")


def _by_suite(changes: Iterable[Change]) -> dict[str, list[Change]]:
    found: dict[str, list[Change]] = {}
    for each in changes:
        found.setdefault(each.suite, []).append(each)
    return found


def _mean(changes: Iterable[Change]) -> float:
    return geometric_mean([each.ratio for each in changes if each.ratio > 0])


def _amount(value: float, unit: str) -> str:
    """
    >>> _amount(0.0025, "s")
    '2.5 ms'
    """
    return f"{value * 1e3:.4g} ms" if unit == "s" else f"{value:.4g} {unit}"
