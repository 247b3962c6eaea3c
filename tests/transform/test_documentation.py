"""The page on writing a pass: its examples run, as one file."""

import re
import runpy
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "writing_a_pass.md"


def test_the_examples_run(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    script = tmp_path / "page.py"
    script.write_text("\n\n".join(blocks))
    runpy.run_path(str(script))
    printed = capsys.readouterr().out
    assert "DoubleToShift (from -O1)  Write integer multiplications by two as shifts." in printed
    assert "+++ after DoubleToShift" in printed
    assert "compiler bug in Careless on @main: KeyError: 'no such key'" in printed
