"""The pages of reference say what the code says. With UPDATE_GOLDEN=1 they are written anew."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contracts.reference_pages import (
    ENVIRONMENT,
    ROOT,
    SOURCE,
    command_line_page,
    errors_page,
    options_page,
    speed_table,
)

PAGES = {"errors.md": errors_page, "command_line.md": command_line_page, "options.md": options_page}
BEGIN, END = "<!-- the figures on record -->\n", "<!-- end of the figures -->"


@pytest.mark.parametrize(("name", "page"), PAGES.items())
def test_a_page_is_what_the_code_says(name: str, page: Callable[[], str]):
    _check(ROOT / "docs" / "reference" / name, page())


@pytest.mark.parametrize("place", ["README.md", "docs/index.md"])
def test_the_table_of_speed_is_what_was_measured(place: str):
    path = ROOT / place
    head, found, rest = re.split(f"({re.escape(BEGIN)}.*?{re.escape(END)})", path.read_text("utf-8"), flags=re.DOTALL)
    assert found
    _check(path, f"{head}{BEGIN}\n{speed_table()}\n{END}{rest}")


def test_the_page_of_options_has_every_variable_that_is_read():
    sources = [path for path in SOURCE.rglob("*.py") if path.parent.name != "support"]  # there: macros of C
    read = {name for path in sources for name in re.findall(r'"(RELAY_[A-Z_]+)"', path.read_text("utf-8"))}
    assert read == set(ENVIRONMENT)


def _check(path: Path, text: str) -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
