"""How many threads native code uses: what the process asks for, what a thread allows its own calls, told to every pool.

All artefacts of a process share one pool. A shared library brings a pool of its own, since programs in C have no other.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache

from relay.base.diagnostics import RelayError


def set_num_threads(count: int) -> None:
    """Let parallel regions use at most `count` threads (never more than the processors this process may run on).

    Raises `RelayError` (rule `bad-threads`) when `count` is not positive.
    """
    _check(count)
    _pools().ask_for(count)


@contextmanager
def num_threads(count: int) -> Generator[None]:
    """Calls that this thread makes in the block use at most `count` threads; those of other threads are not concerned.

    Raises `RelayError` (rule `bad-threads`) when `count` is not positive.

    >>> with num_threads(1):
    ...     pass  # executable(x)
    """
    _check(count)
    pools = _pools()
    before = pools.own_limit
    pools.limit(count)
    try:
        yield
    finally:
        pools.limit(before)


POOL_SYMBOLS = ("relay_set_num_threads", "relay_limit_threads", "relay_num_threads")
"""What a pool is asked by."""


def add_pool(address: Callable[[str], int]) -> None:
    """Have the pool of a support library, whose symbols are at these addresses, follow what is asked here, by the
    process and by the calling thread. Limits that other threads have reach it when they are set again."""
    _pools().add(address("relay_set_num_threads"), address("relay_limit_threads"))


class _Pools:
    """The pools of this process, by where their functions stand: one that is found again is the same."""

    def __init__(self) -> None:
        self._asked = 0  # leaves it to the pools
        self._limits = threading.local()  # `count`: what each thread allows its own calls
        self._functions: dict[int, int] = {}  # relay_set_num_threads, relay_limit_threads

    @property
    def own_limit(self) -> int:
        """What the calling thread allows its calls; 0 for as many as there are."""
        return getattr(self._limits, "count", 0)

    def ask_for(self, count: int) -> None:
        self._asked = count
        for ask in tuple(self._functions):
            _COUNT(ask)(count)

    def limit(self, count: int) -> None:
        self._limits.count = count
        for limit in tuple(self._functions.values()):
            _COUNT(limit)(count)

    def add(self, ask: int, limit: int) -> None:
        self._functions[ask] = limit
        if self._asked:
            _COUNT(ask)(self._asked)
        _COUNT(limit)(self.own_limit)


_COUNT = ctypes.CFUNCTYPE(None, ctypes.c_int32)


@cache
def _pools() -> _Pools:
    return _Pools()


def _check(count: object) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise RelayError(
            rule="bad-threads", message="a thread count is at least 1", expected="1 or more", found=repr(count)
        )
