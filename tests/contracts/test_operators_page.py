"""The page of operators says what the records and the importers say. With UPDATE_GOLDEN=1 it is written anew."""

import os
from pathlib import Path

from tests.contracts.operators_page import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operators.md"


def test_the_page_of_operators_is_what_records_and_importers_say():
    text = page()
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(text, encoding="utf-8")
    assert text == PAGE.read_text(encoding="utf-8")
