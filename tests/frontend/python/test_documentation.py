"""The page on Python as a front end: its examples run, as one file."""

from tests.pages import run_page


def test_the_examples_run(tmp_path, capsys):
    run_page("python_front_end.md", tmp_path)
    assert "error[python-subset]" in capsys.readouterr().out
