"""Messages kept as files: what a user reads when something is wrong."""

from __future__ import annotations

import os
from pathlib import Path

ERRORS = Path(__file__).parent / "golden" / "errors"


def check_message(family: str, name: str, message: object) -> None:
    """Compare a message with `golden/errors/<family>/<name>.txt`, or write that file when UPDATE_GOLDEN is set."""
    text, file = f"{message}\n", ERRORS / family / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
