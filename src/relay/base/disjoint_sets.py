"""Sets that are joined and never taken apart, found by path halving (Tarjan and van Leeuwen, "Worst-case analysis of
set union algorithms", 1984, section 2)."""

from __future__ import annotations

from dataclasses import field
from typing import Self

from relay.base.frozen import mutable


@mutable
class DisjointSet:
    """A member of a set, alone at first. What a subclass knows of a set it keeps at the root.

    >>> one, other = DisjointSet(), DisjointSet()
    >>> one.join(other)
    >>> other.root() is one.root()
    True
    """

    parent: Self | None = field(default=None, init=False)

    def root(self) -> Self:
        """The member that stands for the set."""
        found = self
        while found.parent is not None:
            if found.parent.parent is not None:
                found.parent = found.parent.parent
            found = found.parent
        return found

    def join(self, other: Self) -> None:
        """Make one set of two. The root of this one stands for it."""
        root, joined = self.root(), other.root()
        if root is not joined:
            joined.parent = root
