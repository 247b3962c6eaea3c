"""Pages of the documentation whose examples run."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


def run_page(name: str, folder: Path) -> None:
    """Run the Python of the page `docs/<name>` as one file in `folder`: functions are read from their source."""
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    script = folder / "page.py"
    script.write_text("\n\n".join(blocks), encoding="utf-8")
    runpy.run_path(str(script))
