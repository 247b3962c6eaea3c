"""Long campaigns: many generated programs, in batches with a progress bar, up to the first that fails."""

from __future__ import annotations

import argparse
from collections.abc import Callable
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
) -> None:
    """The command line of a campaign that checks `count` examples unless told otherwise. `report(console, examples)`
    says at the end what else there is to say, and may fail."""
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=description)
    parser.add_argument("count", nargs="?", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0, help="programs of another seed are others")
    parser.add_argument("--repro", type=Path, default=Path(".repro"), help="where a failing program is written")
    options = parser.parse_args()
    ran, start = 0, process_time()
    for batch in track(range(-(-options.count // BATCH)), description=f"batches of {BATCH} programs"):
        seed = options.seed * 1_000_000 + batch
        ran += _batch(examples, lambda example: check(example, options.repro), seed, min(BATCH, options.count - ran))
    console = Console()
    console.print(f"{ran} examples, no disagreement, {ran / (process_time() - start):.1f} a second of processor time")
    report(console, ran)


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
