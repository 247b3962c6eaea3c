"""Native calls that end before they are done: Ctrl-C, calls whose time is up, and limits of steps and memory."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen

STOP_SYMBOLS = ("relay_stop_on_interrupt", "relay_stop_thread", "relay_stop_forget", "relay_stop_act_for")
"""What a support library is asked to stop calls by. Programs call the others."""

LIMIT_SYMBOLS = ("relay_stop_limit", "relay_stop_unlimit")
"""What sets limits to the calls of a thread, and takes them back."""

_LIMIT = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_int64, ctypes.c_int64)
_NO_LIMIT = (1 << 63) - 1
_ACTING = threading.local()
_OF_THREAD = ctypes.CFUNCTYPE(None, ctypes.c_uint64)


def add_stops(address: Callable[[str], int]) -> None:
    """Have the calls of a support library, whose symbols are at these addresses, end for Ctrl-C where Python handles
    that signal, and when the time of `time_limit` is up."""
    _deadlines().add(_Stops(*(_OF_THREAD(address(symbol)) for symbol in STOP_SYMBOLS)))
    stop_on_interrupts()


def stop_on_interrupts() -> None:
    """See to it that Ctrl-C ends native calls, where Python handles it: who sets a handler takes that back."""
    if callable(signal.getsignal(signal.SIGINT)):
        for library in _deadlines().libraries:
            library.interrupt(threading.main_thread().ident or 0)


@contextmanager
def time_limit(seconds: object) -> Generator[None]:
    """End calls that this thread makes in the block when their time is up; inside another such block, when the time of
    either is. Raises `RelayError` (rule `bad-timeout`)."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= threading.TIMEOUT_MAX:
        raise RelayError(
            rule="bad-timeout",
            message="a time limit is a number of seconds",
            expected="more than 0",
            found=repr(seconds),
        )
    deadlines, deadline = _deadlines(), _Deadline(owner())
    timer = threading.Timer(seconds, deadlines.expire, (deadline,))
    timer.daemon = True
    try:  # Ctrl-C may come at any time, and what it leaves open would end other calls
        deadlines.open(deadline)
        timer.start()
        yield
    finally:
        timer.cancel()
        deadlines.close(deadline)


def owner() -> int:
    """The thread that the calling one works for: itself, or the one that waits for a call which runs on a stack of its
    own. Limits are those of that thread."""
    return getattr(_ACTING, "owner", 0) or threading.get_ident()


def act_for(thread: int) -> None:
    """Python is called back by a call of this thread, maybe on another one: what that calls works for the same."""
    if thread != threading.get_ident():
        _ACTING.owner = thread
        for library in _deadlines().libraries:
            library.act_for(thread)


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


@frozen
class _Stops:
    """What `STOP_SYMBOLS` are in one support library."""

    interrupt: Callable[[int], None]
    stop: Callable[[int], None]
    forget: Callable[[int], None]
    act_for: Callable[[int], None]


@frozen(eq=False)
class _Deadline:
    """A thread's; one more of the same thread is another."""

    thread: int


class _Deadlines:
    """Deadlines that are open, and those of them that have passed. Calls of a thread end in every support library as
    long as any of its deadlines has passed: in those that are loaded meanwhile, too."""

    def __init__(self) -> None:
        self.libraries: list[_Stops] = []
        self._open: set[_Deadline] = set()
        self._passed: set[_Deadline] = set()
        self._lock = threading.RLock()  # a handler of signals may call programs, too

    def add(self, library: _Stops) -> None:
        with self._lock:
            self.libraries.append(library)
            if owner() != threading.get_ident():
                library.act_for(owner())
            for thread in {each.thread for each in self._passed}:
                library.stop(thread)

    def open(self, deadline: _Deadline) -> None:
        with self._lock:
            self._open.add(deadline)

    def expire(self, deadline: _Deadline) -> None:
        with self._lock:
            if deadline in self._open:
                if not self._is_overdue(deadline.thread):
                    for library in self.libraries:
                        library.stop(deadline.thread)
                self._passed.add(deadline)

    def close(self, deadline: _Deadline) -> None:
        with self._lock:
            self._open.discard(deadline)
            if deadline in self._passed:
                self._passed.remove(deadline)
                if not self._is_overdue(deadline.thread):
                    for library in self.libraries:
                        library.forget(deadline.thread)

    def _is_overdue(self, thread: int) -> bool:
        return any(each.thread == thread for each in self._passed)


@cache
def _deadlines() -> _Deadlines:
    """Those of the process."""
    return _Deadlines()
