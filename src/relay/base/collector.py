"""Python's collector of cycles, paused: it looks through all that a compiler builds, over and over, for cycles that
trees do not have. What is no longer used is freed all the same, as nothing refers to it."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Generator[None]:
    """No collection of cycles in the `with` block, in any thread.

    >>> with collection_paused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            _make_all_old()
            gc.enable()


def _make_all_old() -> None:
    """Put what lives into the oldest generation: else the next collection of what is young looks through all that was
    made in the pause."""
    if not gc.get_freeze_count():  # what somebody has frozen stays so
        gc.freeze()
        gc.unfreeze()
