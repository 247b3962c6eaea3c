"""Slices of the campaigns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.driver.processes import SOURCE, environment
from tests.endurance import slices
from tests.endurance.kills import Kills
from tests.endurance.mutated import Mutated

ROOT = SOURCE.parent


def test_compilations_that_are_killed(tmp_path: Path) -> None:
    kills = Kills(tmp_path)
    for number in range(3):
        assert kills.trial(slices.trial_random(1, number))


def test_programs_that_are_dropped_keep_nothing() -> None:
    """In a process that does nothing else: what thousands of tests have left moves on its own."""
    command = [sys.executable, "-m", "tests.endurance.memory", "6"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment({}), cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # of PyTorch, where it copies its own
def test_damaged_inputs(tmp_path: Path) -> None:
    mutated = Mutated(tmp_path)
    outcomes = {mutated.trial(slices.trial_random(1, number)) for number in range(100)}
    assert outcomes == {"read", "refused"}


def test_campaigns_go_on_where_they_were_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn: list[int] = []

    def trial(random: np.random.Generator) -> str:
        drawn.append(int(random.integers(1 << 30)))
        return "drawn"

    slices.run("", trial, 5, ["--seed", "3"])
    at_once = drawn.copy()
    drawn.clear()
    for count in ("2", "3"):
        slices.run("", trial, 0, [count, "--seed", "3", "--state", str(tmp_path / "state.json")])
    assert drawn == at_once
    assert capsys.readouterr().out.endswith("seed 3, trials 0 to 4: 5 drawn\n")
