"""Golden texts of the importer's errors: run with UPDATE_GOLDEN=1 to write them anew, and read the difference."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "golden" / "errors" / "onnx"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """`golden(file name, text)` fails unless the file holds the text."""

    def compare(name: str, text: str) -> None:
        path = FOLDER / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
        assert text + "\n" == path.read_text()

    return compare
