"""Fresh Python processes, as a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
TIMEOUT_SECONDS = 120


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """That of this process, with relay to be found, and `extra`."""
    return {**os.environ, "PYTHONPATH": str(SOURCE), **extra}


def python(code: str, *arguments: object, **extra: str) -> str:
    """What a script printed. It must end well."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False, env=environment(extra),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def relay_command(*arguments: object, folder: Path | None = None, **extra: str) -> subprocess.CompletedProcess[str]:
    """`relay ...`, as from the shell."""
    return subprocess.run(
        [sys.executable, "-m", "relay", *map(str, arguments)],
        capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False, env=environment(extra), cwd=folder,
    )  # fmt: skip
