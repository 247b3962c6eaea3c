"""What a procedure runs in: where constants and the arena are, and how a call ends that fails."""

from __future__ import annotations

from typing import Protocol

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.lower.region import RunRegion
from relay.runtime.heap import INDEX_OFFSET_BYTES
from relay.targets.cpu.emit.context import Emitter
from relay.targets.cpu.emit.index import emit_index
from relay.targets.cpu.emit.words import at

_MOST_ELEMENTS = 1 << 40
"""How many elements a tensor of unknown extents may have along them."""

_REFUSED_BYTES = 1 << 62
"""More than any heap gives."""


class Frame(Protocol):
    """Emits what depends on where a procedure runs."""

    def constants(self) -> str:
        """The address of the program's constants."""
        ...

    def arena(self, region: RunRegion) -> str:
        """The address of the memory that a region works in."""
        ...

    def refused_index(self) -> str:
        """Where an index that is refused is told."""
        ...

    def fail(self, failure: int) -> None:
        """End the entry's call."""
        ...


@frozen(eq=False)
class HeapFrame:
    """A call that owns a heap. Arenas of known size lie `arena_offset_bytes` behind the heap."""

    e: Emitter
    arena_offset_bytes: int

    def constants(self) -> str:
        return self.e.function.impure("load ptr, ptr %heap, align 8")

    def arena(self, region: RunRegion) -> str:
        if isinstance(region.arena_bytes, int):
            return at(self.e.function, "%heap", self.arena_offset_bytes)
        size = emit_index(self.e, region.arena_bytes)
        for shape in region.shapes:
            size = bounded(self.e, shape, size)
        return self.e.function.impure(f"call ptr @relay_heap_arena(ptr %heap, i64 {size})")

    def refused_index(self) -> str:
        return at(self.e.function, "%heap", INDEX_OFFSET_BYTES)

    def fail(self, failure: int) -> None:
        self.e.function.effect(f"call void @relay_heap_fail(ptr %heap, i32 {failure})")
        self.e.function.effect("unreachable")


def bounded(e: Emitter, shape: tuple[IntExpr, ...], size: str) -> str:
    """A number of bytes in which a tensor of a shape has part; where that is too large for any memory, one that is
    refused."""
    text = e.function
    unknown = [extent for extent in shape if not isinstance(extent, int)]
    if not unknown:
        return size
    if len(unknown) == 1:
        too_large = text.impure(f"icmp ugt i64 {emit_index(e, unknown[0])}, {_MOST_ELEMENTS}")
        return text.impure(f"select i1 {too_large}, i64 {_REFUSED_BYTES}, i64 {size}")
    total = text.impure(f"sitofp i64 {emit_index(e, unknown[0])} to double")
    for extent in unknown[1:]:
        factor = text.impure(f"sitofp i64 {emit_index(e, extent)} to double")
        total = text.impure(f"fmul double {total}, {factor}")
    too_large = text.impure(f"fcmp ogt double {total}, {float(_MOST_ELEMENTS)!r}")
    return text.impure(f"select i1 {too_large}, i64 {_REFUSED_BYTES}, i64 {size}")
