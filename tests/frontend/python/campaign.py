"""The long campaign of Python functions: `python -m tests.frontend.python.campaign [count]` holds that many of the
documented subset against CPython and NumPy, up to the first difference, which it makes small. One in ten is compiled.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from random import Random
from time import process_time

from rich.console import Console
from rich.progress import track

from tests.frontend.python.generated.differential import Difference, Tally, check, compare
from tests.frontend.python.generated.functions import PythonProgram, python_program
from tests.frontend.python.generated.shrink import shrunk

MOST_REFUSED = 0.1


def differs(program: PythonProgram) -> bool:
    """Whether Python and the interpreter, or native code, differ."""
    try:
        compare(program, Tally(), native=True)
    except Difference:
        return True
    except Exception as error:  # a crash of ours, or a candidate that is no program
        return not isinstance(error, SyntaxError)
    return False


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.frontend.python.campaign", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=5_000, help="how many functions are to agree")
    parser.add_argument("--seed", type=int, default=0, help="functions of another seed are others")
    parser.add_argument("--compiled", type=int, default=10, help="one in so many is compiled")
    parser.add_argument("--repro", type=Path, default=Path(".repro"), help="where a function that differs is written")
    options = parser.parse_args()
    random, tally, start, console = Random(options.seed), Tally(), process_time(), Console()
    for position in track(range(options.count), description="functions"):
        program = python_program(random.randint)
        try:
            check(program, options.repro, tally, native=position % options.compiled == 0)
        except Difference:
            check(shrunk(program, differs), options.repro, tally, native=True)
            raise
    console.print(f"{tally}; {options.count / (process_time() - start):.1f} a second of processor time")
    if sum(tally.refused.values()) > MOST_REFUSED * tally.judged:
        raise SystemExit("more functions are refused than should be")


if __name__ == "__main__":
    main()
