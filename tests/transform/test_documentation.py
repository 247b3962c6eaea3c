"""The page on writing a pass: its examples run, as one file. The page on passes has all of them."""

import inspect
import re
from pathlib import Path

import relay
from relay.transform import PassFactory, level
from tests.pages import run_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "passes.md"


def test_the_examples_run(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    run_page("writing_a_pass.md", tmp_path)
    printed = capsys.readouterr().out
    assert "DoubleToShift (from -O1)  Write integer multiplications by two as shifts." in printed
    assert "+++ after DoubleToShift" in printed
    assert "compiler bug in Careless on @main: KeyError: 'no such key'" in printed


def test_every_pass_has_a_row_with_its_level_or_its_options():
    rows = PAGE.read_text()
    levels = {each.name: each.level for each in level(4).passes}
    for name, each in relay.transform.PASSES.items():
        options = f"({', '.join(inspect.signature(each).parameters)})" if isinstance(each, PassFactory) else ""
        start = f"| `{name}{options}` |"
        if name in levels:
            start = f"| `{name}` | {f'-O{levels[name]}' if levels[name] else 'always'} |"
        assert start in rows, f"docs/passes.md has no row that begins with {start}"


def test_no_row_is_of_a_pass_that_is_gone():
    rows = PAGE.read_text().partition("## Passes over loops")[0]
    assert set(re.findall(r"^\| `(\w+)[(`]", rows, flags=re.MULTILINE)) == set(relay.transform.PASSES)
