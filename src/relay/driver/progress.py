"""What users hear while a program is compiled, and what their own function raises meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]
"""Told what is being done, how many units of it are done, and of how many."""


def silent(stage: str, done: int, total: int) -> None:  # noqa: ARG001
    """Tells nobody."""
    return


class _RaisedByUser(BaseException):
    """Carries an error of the user's function past those who name the stage or the plug-in at fault for others."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def carried(progress: Progress) -> Progress:
    """`progress`, of which `users_errors` gives what it raises."""

    def tell(stage: str, done: int, total: int) -> None:
        try:
            progress(stage, done, total)
        except Exception as error:
            raise _RaisedByUser(error) from error

    return tell


@contextmanager
def users_errors() -> Generator[None]:
    """Raises what a `carried` function raises inside, as it was raised."""
    try:
        yield
    except _RaisedByUser as carrier:
        raise carrier.error from carrier.error.__cause__
