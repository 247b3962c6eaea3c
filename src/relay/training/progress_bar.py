"""How far a training is, on a terminal; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

Report: TypeAlias = Callable[[str, int, "int | None"], None]
"""Told what is being done, how many batches of the epoch are done, and of how many, if that is known."""


@contextmanager
def progress_bar(quiet: bool) -> Generator[Report]:
    """A report that draws one bar on standard error. Without a terminal, or with `quiet`, it draws nothing."""
    if quiet or not sys.stderr.isatty():
        yield _draw_nothing
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task("compiled", total=None)
        yield lambda what, done, total: bars.update(task, description=what, completed=done, total=total)


def _draw_nothing(what: str, done: int, total: int | None) -> None:  # noqa: ARG001
    return
