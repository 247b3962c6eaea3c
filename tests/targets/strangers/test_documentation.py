"""The page about writing a target runs."""

from __future__ import annotations

from tests.pages import run_page


def test_writing_a_target(tmp_path):
    run_page("writing_a_target.md", tmp_path)
