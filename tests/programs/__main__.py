"""The long campaign: `python -m tests.programs [count]` runs that many programs, up to the first disagreement."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from tests.programs import campaign, differential
from tests.programs.generate import Program, programs


def check(example: tuple[Program, int], repro: Path) -> None:
    program, opt_level = example
    differential.check(program, opt_level, repro)


if __name__ == "__main__":
    campaign.run("tests.programs", __doc__, st.tuples(programs(functions_cross=True), st.integers(0, 3)), check, 20_000)
