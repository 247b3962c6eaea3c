"""Long campaigns: many generated programs, in batches with a progress bar, up to the first that fails.

`--state FILE` keeps the seed, the examples that have been checked, and what was counted in them. The next run with the
same file goes on there, up to as many examples as are asked for; a batch that failed or was cut short is drawn again.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any, TypeAlias

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis import strategies as st
from rich.console import Console
from rich.progress import track

BATCH = 200

Check: TypeAlias = Callable[[Any, Path], None]
"""Raises for a drawn example that fails, after writing it below the folder."""


def run(
    name: str,
    description: str | None,
    examples: st.SearchStrategy[Any],
    check: Check,
    count: int,
    report: Callable[[Console, int], None] = lambda console, ran: None,
    counts: Counter[str] | None = None,
    arguments: Sequence[str] | None = None,
) -> None:
    """The command line of a campaign that checks `count` examples unless told otherwise. `report(console, examples)`
    says at the end what else there is to say, and may fail. `counts` is what `check` counts."""
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=description)
    parser.add_argument("count", nargs="?", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0, help="programs of another seed are others")
    parser.add_argument("--repro", type=Path, default=Path(".repro"), help="where a failing program is written")
    parser.add_argument("--state", type=Path, help="a file to go on from, and to leave for the next run")
    options = parser.parse_args(arguments)
    counts = Counter() if counts is None else counts
    seed, done, ran = _kept(options.state, options.seed, counts)
    before, start = ran, process_time()
    for batch in track(range(done, -(-options.count // BATCH)), description=f"batches of {BATCH} programs"):
        size = min(BATCH, options.count - batch * BATCH)
        ran += _batch(examples, lambda example: check(example, options.repro), seed * 1_000_000 + batch, size)
        if options.state is not None and size == BATCH:
            _keep(options.state, seed, batch + 1, ran, counts)
    console = Console()
    rate = (ran - before) / (process_time() - start)
    console.print(f"{ran} examples, no disagreement, {rate:.1f} a second of processor time")
    report(console, ran)


def _kept(state: Path | None, seed: int, counts: Counter[str]) -> tuple[int, int, int]:
    """The seed, the batches that are done, and the examples in them, whose counts are added."""
    if state is None or not state.exists():
        return seed, 0, 0
    kept = json.loads(state.read_text(encoding="utf-8"))
    counts.update(kept["counts"])
    return kept["seed"], kept["batches"], kept["examples"]


def _keep(state: Path, seed: int, batches: int, examples: int, counts: Counter[str]) -> None:
    kept = {"seed": seed, "batches": batches, "examples": examples, "counts": counts}
    draft = state.with_suffix(".draft")
    draft.write_text(json.dumps(kept), encoding="utf-8")
    os.replace(draft, state)


def _batch(examples: st.SearchStrategy[Any], check: Callable[[Any], None], seed: int, count: int) -> int:
    ran = 0

    @settings(
        max_examples=count, deadline=None, database=None, report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
    )  # fmt: skip
    @given(examples)
    def holds(example: Any) -> None:
        nonlocal ran
        check(example)
        ran += 1

    hypothesis_seed(seed)(holds)()
    return ran
