"""How many threads native code uses, process-wide: there is one pool, whatever is loaded."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from relay.base.diagnostics import RelayError
from relay.runtime.objects import limit_own_threads, set_pool_threads


def set_num_threads(count: int) -> None:
    """Let parallel regions use at most `count` threads (never more than the processors this process may run on).

    Raises `RelayError` (rule `bad-threads`) when `count` is not positive.
    """
    _check(count)
    set_pool_threads(count)


@contextmanager
def num_threads(count: int) -> Generator[None]:
    """Calls that this thread makes in the block use at most `count` threads; those of other threads are not concerned.

    Raises `RelayError` (rule `bad-threads`) when `count` is not positive.

    >>> with num_threads(1):
    ...     pass  # executable(x)
    """
    _check(count)
    before = limit_own_threads(count)
    try:
        yield
    finally:
        limit_own_threads(before)


def _check(count: object) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise RelayError(
            rule="bad-threads", message="a thread count is at least 1", expected="1 or more", found=repr(count)
        )
