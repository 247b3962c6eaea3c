"""Maps of objects by what they are, not by what they equal: for arrays, lists and other values without a hash."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class IdentityMap(MutableMapping[Key, Value]):
    """A dictionary whose keys are equal only to themselves. It keeps them alive, so identities stay unique.

    >>> first, second = [1], [1]
    >>> seen = IdentityMap[list[int], str]()
    >>> seen[first] = "first"
    >>> first in seen, second in seen, seen.get(second, "not seen")
    (True, False, 'not seen')
    """

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[int, tuple[Key, Value]] = {}

    def copy(self) -> IdentityMap[Key, Value]:
        """A map of its own with the same entries."""
        made = IdentityMap[Key, Value]()
        made._entries = dict(self._entries)
        return made

    def __getitem__(self, key: Key) -> Value:
        return self._entries[id(key)][1]

    def __setitem__(self, key: Key, value: Value) -> None:
        self._entries[id(key)] = (key, value)

    def __delitem__(self, key: Key) -> None:
        del self._entries[id(key)]

    def __contains__(self, key: object) -> bool:
        return id(key) in self._entries

    def __iter__(self) -> Iterator[Key]:
        return (key for key, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)
