"""The glossary speaks of what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([a-z_]+/[\w/]*(?:\.py|\.md|/))`", PAGE))))
def test_a_place_is_there(path: str):
    assert (ROOT / "src" / "relay" / path).exists() or (ROOT / path).exists()
