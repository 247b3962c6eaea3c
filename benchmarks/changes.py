"""`python -m benchmarks compare`: figures against older ones; without files, against those of the last commit.

Times of two days are not comparable, ratios to a peer of the same run are: a change is marked where the quartiles of
the two ratios do not meet.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.figures import Failure, Figure, Quantity, Record, best_figures, from_json, geometric_mean

WIDTH = 130


def compare_files(old: Path, new: Path) -> None:
    _show(new.stem, old.read_text(), new.read_text())


def compare_with_last_commit(results: Path) -> None:
    """Every file of results that differs from that of the last commit."""
    for path in sorted(results.glob("*.json")):
        new, old = path.read_text(), _committed(path)
        if old is None:
            print(f"{path.stem}: nothing was committed before")
        elif old == new:
            print(f"{path.stem}: as committed")
        else:
            _show(path.stem, old, new)


def _committed(path: Path) -> str | None:
    done = subprocess.run(
        ["git", "show", f"HEAD:./{path.name}"], cwd=path.parent, capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode == 0 else None


def _show(title: str, old: str, new: str) -> None:
    try:
        rows = changes(from_json(old), from_json(new))
    except ValueError as error:
        print(f"{title}: {error}")
        return
    table = Table("workload", "of", "old", "new", "new ÷ old", "", title=title)
    for row in rows:
        table.add_row(*row)
    Console(width=WIDTH).print(table)


def changes(old: Sequence[Record], new: Sequence[Record]) -> list[tuple[str, ...]]:
    """Rows of: workload, what, old, new, new ÷ old, and a mark for better, worse, gone, new and failing."""
    rows = [*_ratio_changes(old, new), *_quantity_changes(old, new)]
    rows += _failures(old, new)
    return rows


def _ratio_changes(old: Sequence[Record], new: Sequence[Record]) -> list[tuple[str, ...]]:
    before = {_key(each): each for each in old if isinstance(each, Figure)}
    rows: list[tuple[str, ...]] = []
    gains: list[float] = []
    for (workload, threads), now in best_figures(new).items():
        label, was = f"{workload}, {threads} T", before.get(_key(now))
        if was is None:
            rows.append((label, now.peer, "", f"{now.ratio:.2f}", "", "new"))
            continue
        gains.append(now.ratio / was.ratio)
        mark = _mark(now.quartiles, was.quartiles, "better", "worse")
        rows.append((label, now.peer, f"{was.ratio:.2f}", f"{now.ratio:.2f}", f"{gains[-1]:.2f}", mark))
    gone = best_figures(old).keys() - best_figures(new).keys()
    rows += [(f"{workload}, {threads} T", "", "", "", "", "gone") for workload, threads in sorted(gone)]
    if gains:
        rows.append(("geometric mean", "", "", "", f"{geometric_mean(gains):.3f}", ""))
    return rows


def _key(each: Figure) -> tuple[str, int, str]:
    return each.workload, each.threads, each.peer


def _quantity_changes(old: Sequence[Record], new: Sequence[Record]) -> list[tuple[str, ...]]:
    """Of ours. Less is better."""
    before = {(each.workload, each.quantity): each for each in _ours(old)}
    rows: list[tuple[str, ...]] = []
    for now in _ours(new):
        was = before.get((now.workload, now.quantity))
        if was is None:
            rows.append((now.workload, now.quantity, "", f"{now.value:.4g} {now.unit}", "", "new"))
            continue
        spread, old_spread = (each.quartiles or (each.value, each.value) for each in (now, was))
        mark = _mark(spread, old_spread, "worse", "better")
        change = f"{now.value / was.value:.2f}" if was.value else ""
        texts = (f"{each.value:.4g} {each.unit}" for each in (was, now))
        rows.append((now.workload, now.quantity, *texts, change, mark))
    return rows


def _mark(now: tuple[float, float], was: tuple[float, float], above: str, below: str) -> str:
    """A word where two spreads do not meet."""
    return above if now[0] > was[1] else below if now[1] < was[0] else ""


def _ours(records: Iterable[Record]) -> list[Quantity]:
    return [each for each in records if isinstance(each, Quantity) and each.peer == "relay"]


def _failures(old: Sequence[Record], new: Sequence[Record]) -> list[tuple[str, ...]]:
    known = {(each.workload, each.threads, each.peer) for each in old if isinstance(each, Failure)}
    return [
        (f"{each.workload}, {each.threads} T", each.peer, "", each.failure, "", "fails")
        for each in new
        if isinstance(each, Failure) and (each.workload, each.threads, each.peer) not in known
    ]
