"""Memory that loops read and write."""

from __future__ import annotations

from typing import ClassVar

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen

OUTERMOST = "outermost"
INNERMOST = "innermost"
"""The first and the last level of any hierarchy, whatever a target calls them."""


@frozen
class Scope:
    """A kind of memory. There is one of it in each unit of `level` (each block, each thread), which all threads inside
    that unit see.

    `capacity_bytes` is how much of it a unit has (None: no limit is known), `alignment_bytes` where buffers begin.
    `word_bytes` is what is written at once: two threads that write neighbours in one word lose one of them. `readers`
    are the calls that may read it; where there are none, everything may.

    >>> print(Scope("shared", level="block", capacity_bytes=49152))
    shared
    """

    name: str
    level: str
    capacity_bytes: int | None = None
    alignment_bytes: int = 1
    word_bytes: int = 1
    readers: tuple[str, ...] = ()

    GLOBAL: ClassVar[Scope]
    """Visible to every thread: a parameter, or what the kernel works in when allocated inside a PrimFunc."""
    LOCAL: ClassVar[Scope]
    """Private to one thread, on its stack."""
    REGISTER: ClassVar[Scope]
    """Private to one thread, indexed by constants once loops are unrolled; becomes SSA values."""

    def __str__(self) -> str:
        return self.name


Scope.GLOBAL = Scope("global", OUTERMOST)
Scope.LOCAL = Scope("local", INNERMOST)
Scope.REGISTER = Scope("register", INNERMOST)


@frozen(eq=False)
class Buffer:
    """A dense row-major array `name[shape]` of `dtype`. Compared by identity: two buffers never overlap."""

    name: str
    shape: tuple[IntExpr, ...]
    dtype: DType
    scope: Scope = Scope.GLOBAL

    def __repr__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.shape))}]"
