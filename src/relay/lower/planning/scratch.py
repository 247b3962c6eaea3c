"""What a kernel works in beside its inputs and results: its caller hands it one block of memory, in which buffers lie
one behind another, as they are nested. Those of one thread, inside a parallel loop, lie behind those around the loop;
other threads have as much of their own.

    allocate a[n] { for i in parallel(n) { allocate b[64] { … } … } }        a at byte 0; b behind it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from relay.arith.expr import IntExpr, Symbol, add, free_symbols, maximum, multiply, substitute
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.lower.planning.storage import ALIGNMENT_BYTES, aligned
from relay.tir.buffer import OUTERMOST, Buffer
from relay.tir.stmt import Allocate, For, LetValue, PrimFunc, Stmt
from relay.tir.traversal import statement_children


@frozen
class Scratch:
    """The blocks that each call of a kernel works in, in terms of its `symbols`."""

    symbols: tuple[Symbol, ...] = ()
    sizes_bytes: tuple[IntExpr, ...] = ()

    def of_call(self, extents: Sequence[IntExpr]) -> tuple[IntExpr, ...]:
        """The bytes of each block, for these extents."""
        known: Mapping[Symbol, IntExpr] = dict(zip(self.symbols, extents, strict=True))
        return tuple(substitute(each, known) for each in self.sizes_bytes)


def kernel_scratch(function: PrimFunc) -> Scratch:
    """What a kernel of the host works in: one block, if any."""
    size = scratch_bytes(function.body)
    if not free_symbols(size) <= set(function.symbols):
        raise CompilerBug("lower", f"{function.name} works in {size} bytes, which those who call it cannot tell")
    return Scratch(function.symbols, () if size == 0 else (size,))


def scratch_bytes(statement: Stmt) -> IntExpr:
    """The bytes that a statement works in."""
    outside: IntExpr = 0
    while isinstance(statement, Allocate | For | LetValue):
        if isinstance(statement, Allocate) and is_scratch(statement.buffer):
            outside = add(outside, buffer_bytes(statement.buffer))
        statement = statement.body
    inside = [size for each in statement_children(statement) if (size := scratch_bytes(each)) != 0]
    return add(outside, reduce(maximum, inside)) if inside else outside


def is_scratch(buffer: Buffer) -> bool:
    """Whether a buffer that is allocated lies in the block: all that is not a thread's alone, or a register."""
    return buffer.scope.level == OUTERMOST


def buffer_bytes(buffer: Buffer) -> IntExpr:
    """What a buffer takes of the block."""
    total: IntExpr = buffer.dtype.item_bytes
    for extent in buffer.shape:
        total = multiply(total, extent)
    return ALIGNMENT_BYTES if total == 0 else aligned(total)
