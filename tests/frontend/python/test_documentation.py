"""The page on Python as a front end: its examples run, as one file, and its table is what the reader's tables have."""

import os

from tests.frontend.python.subset_table import BEGIN, END, PAGE, page_with
from tests.pages import run_page


def test_the_examples_run(tmp_path, capsys):
    run_page("python_front_end.md", tmp_path)
    assert "error[python-subset]" in capsys.readouterr().out


def test_the_table_is_what_the_reader_has():
    """With UPDATE_GOLDEN=1 it is written anew."""
    text = PAGE.read_text(encoding="utf-8")
    assert BEGIN in text
    assert END in text
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(page_with(text), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page_with(text)
