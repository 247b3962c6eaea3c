"""Campaigns of independent trials, which go on where they were left.

A trial is told by the seed and its number alone. `--state FILE` keeps the seed, the number of the next trial and the
counts so far; the next run with the same file goes on there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

Trial = Callable[[np.random.Generator], str]
"""Gives what came of it, in a word or two. An assertion that fails ends the campaign."""

_BETWEEN_NOTES = 100


def run(description: str, trial: Trial, count: int, arguments: Sequence[str] | None = None) -> None:
    """Run the trials that the command line asks for, and print how many came to what."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("count", type=int, nargs="?", default=count, help="how many trials")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, help="a file to go on from, and to leave for the next run")
    options = parser.parse_args(arguments)
    seed, first, counts = _kept(options.state, options.seed)
    for number in range(first, first + options.count):
        sys.stdout.write(f"trial {number} of seed {seed}\r")
        sys.stdout.flush()
        counts[trial(trial_random(seed, number))] += 1
        if options.state is not None and (number + 1) % _BETWEEN_NOTES == 0:
            _keep(options.state, seed, number + 1, counts)
    if options.state is not None:
        _keep(options.state, seed, first + options.count, counts)
    shown = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    sys.stdout.write(f"seed {seed}, trials 0 to {first + options.count - 1}: {shown}\n")


def trial_random(seed: int, number: int) -> np.random.Generator:
    """What a trial draws from."""
    return np.random.default_rng((seed, number))


def _kept(state: Path | None, seed: int) -> tuple[int, int, Counter[str]]:
    if state is None or not state.exists():
        return seed, 0, Counter()
    kept = json.loads(state.read_text(encoding="utf-8"))
    return kept["seed"], kept["position"], Counter(kept["counts"])


def _keep(state: Path, seed: int, position: int, counts: Counter[str]) -> None:
    draft = state.with_suffix(".draft")
    draft.write_text(json.dumps({"seed": seed, "position": position, "counts": counts}), encoding="utf-8")
    os.replace(draft, state)
