"""The page of what is trusted names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_what_it_says_is_tested():
    named = re.findall(r"`(tests/[\w/.]+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    assert len(named) >= 8
    assert [each for each in named if not (ROOT / each).is_file()] == []
