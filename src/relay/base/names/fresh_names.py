"""Names that nothing has yet."""

from __future__ import annotations

from collections.abc import Callable


def _nothing(_: str) -> bool:
    return False


class FreshNames:
    """Gives every name once: the wanted one, or the first of it with a number that is free, counted from `first` on.

    Each stem remembers its number, so that n names cost O(n). What `is_taken` has must stay taken.

    >>> names = FreshNames({"f2"}.__contains__)
    >>> names.take("f"), names.take("f"), names.take("f"), names.take("f2")
    ('f', 'f3', 'f4', 'f22')
    >>> "f3" in names, "f5" in names
    (True, False)
    """

    __slots__ = ("_first", "_given", "_is_taken", "_next", "_separator")

    def __init__(self, is_taken: Callable[[str], bool] = _nothing, separator: str = "", first: int = 2) -> None:
        self._is_taken = is_taken
        self._separator = separator
        self._first = first
        self._given: set[str] = set()
        self._next: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._given or self._is_taken(name)

    def take(self, wanted: str) -> str:
        """`wanted` if it is free, else the first of its numbered names that is."""
        if wanted in self:
            return self.take_numbered(wanted)
        self._given.add(wanted)
        return wanted

    def take_numbered(self, stem: str) -> str:
        """The first free one of `stem` and a number.

        >>> names = FreshNames(separator="_", first=0)
        >>> names.take_numbered("part"), names.take_numbered("part")
        ('part_0', 'part_1')
        """
        number = self._next.get(stem, self._first)
        while (name := f"{stem}{self._separator}{number}") in self:
            number += 1
        self._next[stem] = number + 1
        self._given.add(name)
        return name
