"""Campaigns: what a state keeps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.programs import campaign


def _drawn(arguments: list[str], failing: bool = False) -> tuple[list[int], Counter[str]]:
    """What a campaign of numbers draws, the last of which may fail, and its counts."""
    drawn: list[int] = []
    counts: Counter[str] = Counter()

    def check(number: int, folder: Path) -> None:
        counts["odd"] += number % 2
        drawn.append(number)
        assert not failing or len(drawn) <= campaign.BATCH

    campaign.run("numbers", None, st.integers(0, 1 << 30), check, 1, counts=counts, arguments=arguments)
    return drawn, counts


def test_a_campaign_goes_on_where_it_was_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    state = ["--seed", "3", "--state", str(tmp_path / "state.json")]
    at_once, counts = _drawn(["600", "--seed", "3"])
    assert len(at_once) == 600
    first, _ = _drawn(["250", *state])
    rest, counted = _drawn(["600", *state])
    assert first == at_once[:250]
    assert rest == at_once[200:]
    assert counted == counts
    assert "600 examples" in capsys.readouterr().out


def test_a_batch_that_failed_is_drawn_again(tmp_path: Path):
    state = ["600", "--state", str(tmp_path / "state.json")]
    with pytest.raises(AssertionError):
        _drawn(state, failing=True)
    rest, counts = _drawn(state)
    assert len(rest) == 400
    assert counts == _drawn(["600"])[1]
