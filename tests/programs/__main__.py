"""The long campaign: `python -m tests.programs [count]` runs that many programs, up to the first disagreement."""

from __future__ import annotations

import argparse
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis import strategies as st
from rich.console import Console
from rich.progress import track

from tests.programs import differential
from tests.programs.generate import Program, programs

BATCH = 200


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.programs", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="programs of another seed are others")
    parser.add_argument("--repro", type=Path, default=Path(".repro"), help="where a failing program is written")
    options = parser.parse_args()
    ran = 0
    for batch in track(range(-(-options.count // BATCH)), description="batches of 200 programs"):
        ran += _run(options.seed * 1_000_000 + batch, options.repro)
    Console().print(f"{ran} programs, no disagreement")


def _run(seed: int, repro: Path) -> int:
    ran = 0

    @settings(
        max_examples=BATCH, deadline=None, database=None, report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
    )  # fmt: skip
    @given(programs(), st.integers(0, 3))
    def agree(program: Program, opt_level: int) -> None:
        nonlocal ran
        differential.check(program, opt_level, repro)
        ran += 1

    hypothesis_seed(seed)(agree)()
    return ran


if __name__ == "__main__":
    main()
