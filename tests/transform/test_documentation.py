"""The page on writing a pass: its examples run, as one file."""

from tests.pages import run_page


def test_the_examples_run(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    run_page("writing_a_pass.md", tmp_path)
    printed = capsys.readouterr().out
    assert "DoubleToShift (from -O1)  Write integer multiplications by two as shifts." in printed
    assert "+++ after DoubleToShift" in printed
    assert "compiler bug in Careless on @main: KeyError: 'no such key'" in printed
