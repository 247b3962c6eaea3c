"""Slices of the campaigns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.endurance import slices
from tests.endurance.kills import Kills
from tests.endurance.memory import MOST_GROWTH_BYTES, growth_bytes, load_and_call
from tests.endurance.mutated import Mutated


def test_compilations_that_are_killed(tmp_path: Path) -> None:
    kills = Kills(tmp_path)
    for number in range(3):
        assert kills.trial(slices.trial_random(1, number))


def test_programs_that_are_loaded_and_dropped(tmp_path: Path) -> None:
    assert growth_bytes(load_and_call(tmp_path / "model.rlx"), 60, 40) < MOST_GROWTH_BYTES


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
