"""The page on Python as a front end: its examples run, as one file."""

import re
import runpy
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python_front_end.md"


def test_the_examples_run(tmp_path, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    script = tmp_path / "page.py"
    script.write_text("\n\n".join(blocks))
    runpy.run_path(str(script))
    assert "error[python-subset]" in capsys.readouterr().out
