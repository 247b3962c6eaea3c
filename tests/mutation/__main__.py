"""`python -m tests.mutation [--folders infer arith] [--count 200] [--seed 1] [--only TEXT …]`: which mistakes in the
language's foundations their nearest tests find."""

from __future__ import annotations

import argparse
import sys

from tests.mutation.campaign import FOLDERS, SOURCES, campaign, population, sample


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--folders", nargs="+", default=FOLDERS, choices=SOURCES)
    parser.add_argument("--count", type=int, default=100, help="how many mutants are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", help="the mutants whose names contain one of these texts, all of them")
    options = parser.parse_args()
    everything = population(options.folders)
    only = [mutant for mutant in everything if any(text in mutant.name for text in options.only or ())]
    chosen = only if options.only else sample(everything, options.count, options.seed)
    report = campaign(chosen, lambda line: print(line, file=sys.stderr, flush=True))  # noqa: T201
    print(report)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
