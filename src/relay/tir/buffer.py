"""Memory that loops read and write."""

from __future__ import annotations

from enum import StrEnum

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen


class Scope(StrEnum):
    """Where a buffer lives. A target says which it knows."""

    GLOBAL = "global"  # visible to every thread: a parameter, or from the allocator when allocated inside a PrimFunc
    LOCAL = "local"  # private to one thread, on its stack
    REGISTER = "register"  # indexed by constants once loops are unrolled; becomes SSA values
    SHARED = "shared"  # of one block of an accelerator


@frozen(eq=False)
class Buffer:
    """A dense row-major array `name[shape]` of `dtype`. Compared by identity: two buffers never overlap."""

    name: str
    shape: tuple[IntExpr, ...]
    dtype: DType
    scope: Scope = Scope.GLOBAL

    def __repr__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.shape))}]"
