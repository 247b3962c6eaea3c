"""The page about scopes and threads runs."""

from __future__ import annotations

from tests.pages import run_page


def test_scopes_and_threads(tmp_path):
    run_page("scopes_and_threads.md", tmp_path)
