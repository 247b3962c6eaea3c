"""What the refs of a program are known to hold.

A ref that only known code can reach keeps its contents over every call and write. When a ref is handed to code that is
not followed, it has *escaped*: from then on a write through an unknown ref, or a call that may write, forgets what it
holds. Whoever forgets the contents of a ref lets what was in it escape, since nobody follows it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from relay.transform.functions.known_values.values import KnownRef, PartialValue

Parts = Callable[[PartialValue], Iterable[PartialValue]]


class Store:
    """`contents` by location; all locations below `unknown_below`, and those in `escaped`, may be reached by others."""

    __slots__ = ("contents", "escaped", "parts", "unknown_below")

    def __init__(self, parts: Parts, unknown_below: int) -> None:
        self.parts = parts
        self.unknown_below = unknown_below
        self.contents: dict[int, PartialValue] = {}
        self.escaped: set[int] = set()

    def copy(self) -> Store:
        new = Store(self.parts, self.unknown_below)
        new.contents.update(self.contents)
        new.escaped.update(self.escaped)
        return new

    def has_escaped(self, location: int) -> bool:
        return location < self.unknown_below or location in self.escaped

    def write(self, location: int, value: PartialValue) -> None:
        self.contents[location] = value
        if self.has_escaped(location):
            self.escape((value,))

    def escape(self, values: Iterable[PartialValue]) -> None:
        """Let go of every ref that these values lead to."""
        waiting = list(values)
        met: set[PartialValue] = set()
        while waiting:
            value = waiting.pop()
            if value.static is None or value in met:
                continue
            met.add(value)
            if isinstance(value.static, KnownRef):
                location = value.static.location
                if location not in self.escaped:
                    self.escaped.add(location)
                    inside = self.contents.get(location)
                    waiting += () if inside is None else (inside,)
            else:
                waiting.extend(self.parts(value))

    def forget_escaped(self) -> None:
        """Something unknown may have written to whatever it reaches. (What those refs held has escaped with them.)"""
        for location in [each for each in self.contents if self.has_escaped(each)]:
            del self.contents[location]


def joined(before: Store, stores: Sequence[Store]) -> Store:
    """What holds after one of several branches: the contents that all of them agree on. What only one branch could
    have written, it made itself: then it must be what was there `before`."""
    first, *others = stores if len(stores) > 1 else (*stores, before)
    result = first.copy()
    for other in others:
        result.escaped |= other.escaped
    forgotten: list[PartialValue] = []
    everything = dict.fromkeys(location for store in (first, *others) for location in store.contents)
    for location in everything:
        found = [store.contents.get(location) for store in (first, *others)]
        if any(each is not found[0] for each in found):
            forgotten += [each for each in found if each is not None]
            result.contents.pop(location, None)
    result.escape(forgotten)
    return result
