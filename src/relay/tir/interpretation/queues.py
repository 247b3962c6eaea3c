"""The queues of one thread while it runs: what it has issued is done at some time, which a seed repeats, between its
issue and where the thread awaits it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import TypeAlias

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.tir.hierarchy import Hierarchy

Operation: TypeAlias = Callable[[], None]


@frozen(eq=False)
class GivenSignal:
    """An entry of a queue that does nothing but count."""

    name: str


class Queues:
    """What a thread has issued and is not done, and the signals that it has not taken."""

    def __init__(self, hierarchy: Hierarchy, random: Random) -> None:
        self._ordered = {queue.name: queue.ordered for queue in hierarchy.queues}
        self._entries: dict[str, list[Operation | GivenSignal]] = {name: [] for name in self._ordered}
        self._signals: Counter[str] = Counter()
        self._random = random

    def issue(self, queue: str, entry: Operation | GivenSignal) -> None:
        """Raises `RelayError` (`queue-unknown`)."""
        if queue not in self._entries:
            raise RelayError(
                rule="queue-unknown",
                message=f"there is no queue `{queue}`",
                expected="one of " + (", ".join(self._entries) or "none: the hierarchy has no queues"),
                found=queue,
            )
        self._entries[queue].append(entry)
        self._do_some()

    def take(self, name: str, count: int) -> None:
        """Wait for `count` signals. Raises `RelayError` (`await-forever`) where nobody gives so many."""
        self._do_some()
        while self._signals[name] < count:
            giver = next((queue for queue, entries in self._entries.items() if _gives(entries, name)), None)
            if giver is None:
                raise RelayError(
                    rule="await-forever",
                    message=f"a thread waits for {count} `{name}`, and nobody gives so many",
                    expected=f"{count} signals `{name}`",
                    found=str(self._signals[name]),
                    remedy="signal behind what is to be awaited, in the same queue",
                )
            self._do_one(giver)
        self._signals[name] -= count

    def finish(self) -> None:
        """The thread ends. Raises `RelayError` (`not-awaited`) where something may not be done."""
        queue = next((queue for queue, entries in self._entries.items() if entries), None)
        if queue is not None or self._signals.total():
            raise RelayError(
                rule="not-awaited",
                message="a thread ends, and has not awaited all that it has issued",
                found=f"something in queue `{queue}`" if queue is not None else "signals that nobody took",
                remedy="await its signal",
            )

    def _do_some(self) -> None:
        for queue, entries in self._entries.items():
            while entries and self._random.random() < 0.5:
                self._do_one(queue)

    def _do_one(self, queue: str) -> None:
        """The first entry, or in a queue without order any operation: a signal waits for all before it, and nothing
        waits for a signal."""
        entries = self._entries[queue]
        position = 0
        if not self._ordered[queue]:
            free = [at for at, each in enumerate(entries) if at == 0 or not isinstance(each, GivenSignal)]
            position = self._random.choice(free)
        entry = entries.pop(position)
        if isinstance(entry, GivenSignal):
            self._signals[entry.name] += 1
        else:
            entry()


def _gives(entries: list[Operation | GivenSignal], name: str) -> bool:
    return any(isinstance(each, GivenSignal) and each.name == name for each in entries)
