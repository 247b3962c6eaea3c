"""Pages of the documentation whose examples run."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


def blocks(name: str, language: str) -> list[str]:
    """The blocks of the page `docs/<name>` that are in a language."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run_page(name: str, folder: Path) -> str:
    """What the Python of the page `docs/<name>` prints, run as one file in `folder`: functions are read from their
    source."""
    script = folder / "page.py"
    script.write_text("\n\n".join(blocks(name, "python")), encoding="utf-8")
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(script))
    finally:
        sys.stdout.write(printed.getvalue())  # for tests that read it as it comes
    return printed.getvalue()


def check_printed(name: str, printed: str) -> None:
    """The blocks of text of a page stand in what the page prints, in their order; `…` is anything within a line."""
    for block in blocks(name, "text"):
        pattern = ".*?".join(map(re.escape, block.rstrip("\n").split("…")))
        found = re.search(pattern, printed)
        assert found, f"docs/{name} shows what it does not print:\n{block}\nprinted:\n{printed}"
        printed = printed[found.end() :]
