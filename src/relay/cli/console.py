"""What people see while they wait: progress on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from relay.driver.progress import Progress as Report


@contextmanager
def progress_bar(quiet: bool) -> Generator[Report]:
    """A report that draws bars on standard error. Without a terminal, or with `quiet`, it draws nothing."""
    if quiet or not sys.stderr.isatty():
        yield _draw_nothing
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield report


def _draw_nothing(stage: str, done: int, total: int) -> None:  # noqa: ARG001
    return
