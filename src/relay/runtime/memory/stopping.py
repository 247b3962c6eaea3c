"""Native calls that end before they are done: Ctrl-C, calls whose time is up, and limits of steps and memory."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache

from relay.base.diagnostics import RelayError

STOP_SYMBOLS = ("relay_stop_on_interrupt", "relay_stop_thread", "relay_stop_forget")
"""What a support library is asked to stop calls by. Programs call the others."""

LIMIT_SYMBOLS = ("relay_stop_limit", "relay_stop_unlimit")
"""What sets limits to the calls of a thread, and takes them back."""

_LIMIT = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_int64, ctypes.c_int64)
_NO_LIMIT = (1 << 63) - 1
_OF_THREAD = ctypes.CFUNCTYPE(None, ctypes.c_uint64)


def add_stops(address: Callable[[str], int]) -> None:
    """Have the calls of a support library, whose symbols are at these addresses, end for Ctrl-C where Python handles
    that signal, and when the time of `time_limit` is up."""
    interrupt, stop, forget = (_OF_THREAD(address(symbol)) for symbol in STOP_SYMBOLS)
    _stops().append((interrupt, stop, forget))
    stop_on_interrupts()


def stop_on_interrupts() -> None:
    """See to it that Ctrl-C ends native calls, where Python handles it: who sets a handler takes that back."""
    if callable(signal.getsignal(signal.SIGINT)):
        for interrupt, _, _ in _stops():
            interrupt(threading.main_thread().ident or 0)


@contextmanager
def time_limit(seconds: object) -> Generator[None]:
    """End calls that this thread makes in the block when their time is up. Raises `RelayError` (rule `bad-timeout`)."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= threading.TIMEOUT_MAX:
        raise RelayError(
            rule="bad-timeout",
            message="a time limit is a number of seconds",
            expected="more than 0",
            found=repr(seconds),
        )
    thread, stops, lock = threading.get_ident(), tuple(_stops()), threading.Lock()
    is_over = False

    def stop() -> None:
        with lock:
            if not is_over:
                for _, ask, _ in stops:
                    ask(thread)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            is_over = True
            for _, _, forget in stops:
                forget(thread)


@contextmanager
def limits(address: Callable[[str], int], steps: int | None, memory_bytes: int | None) -> Generator[None]:
    """End calls that this thread makes in the block after so many steps, or when they ask for more memory than so many
    bytes. `address` gives symbols of the support library of who is called.

    Raises `RelayError` (rule `too-many-limits`) where 64 threads have limits already.
    """
    limit, unlimit = _LIMIT(address(LIMIT_SYMBOLS[0])), _OF_THREAD(address(LIMIT_SYMBOLS[1]))
    place = limit(_NO_LIMIT if steps is None else steps, _NO_LIMIT if memory_bytes is None else memory_bytes)
    if not place:
        raise RelayError(
            rule="too-many-limits",
            message="no call can be given limits",
            expected="at most 64 calls at a time with `step_limit` or `memory_limit_bytes`, on a system with threads",
        )
    try:
        yield
    finally:
        unlimit(place)


@cache
def _stops() -> list[tuple[Callable[[int], None], Callable[[int], None], Callable[[int], None]]]:
    """What `STOP_SYMBOLS` are in each support library of the process."""
    return []
