"""The long campaign of Python functions: `python -m tests.frontend.python.campaign [count]` holds that many of the
documented subset against CPython and NumPy, up to the first difference. One in ten is compiled too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from rich.console import Console

from tests.frontend.python.generated.differential import Difference, Tally, check
from tests.frontend.python.generated.functions import PythonProgram, python_programs
from tests.programs import campaign

COMPILED_ONE_IN = 10
MOST_REFUSED = 0.1


def main(count: int = 5_000) -> None:
    tally = Tally()

    def each(example: tuple[PythonProgram, int], folder: Path) -> None:
        check(example[0], folder, tally, native=example[1] == 0)

    def report(console: Console, ran: int) -> None:
        console.print(f"{tally} ({ran} drawn)")
        if sum(tally.refused.values()) > MOST_REFUSED * tally.judged:
            raise Difference("more functions are refused than should be")

    examples: Any = st.tuples(python_programs(), st.integers(0, COMPILED_ONE_IN - 1))
    campaign.run("tests.frontend.python.campaign", __doc__, examples, each, count, report)


if __name__ == "__main__":
    main()
