"""What a procedure runs in: where constants and the arena are, and how a call ends that fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from relay.arith.expr import IntExpr, Symbol
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.lower.program.place import Address, Held, Register, register_of
from relay.lower.program.procedure import Procedure
from relay.lower.program.region import RunRegion
from relay.runtime.values.heap import INDEX_OFFSET_BYTES
from relay.targets.cpu.emit.context import Emitter
from relay.targets.cpu.emit.index import emit_index
from relay.targets.cpu.emit.programs.passing import take_arguments
from relay.targets.cpu.emit.programs.words import at, name

ENTRY_PARAMETERS = "ptr %buffers, ptr %symbols, ptr %workspace, ptr %constants"
"""What an entry is called with, and hands on under the same names."""

_MOST_ELEMENTS = 1 << 40
"""How many elements a tensor of unknown extents may have along them."""

_REFUSED_BYTES = 1 << 62
"""More than any heap gives."""


class Frame(Protocol):
    """Emits what depends on where a procedure runs."""

    def begin(self, procedure: Procedure) -> str:
        """Emit what a procedure begins with; gives what stands before its body."""
        ...

    def give(self, values: tuple[Held, ...]) -> None:
        """Return to whoever called the procedure."""
        ...

    def array(self, address: Register) -> str:
        """The address that a parameter of a flat procedure holds."""
        ...

    def constants(self) -> str:
        """The address of the program's constants."""
        ...

    def arena(self, region: RunRegion) -> str:
        """The address of the memory that a region works in."""
        ...

    def refused_index(self) -> str:
        """Where an index that is refused is told."""
        ...

    def fail(self, failure: int | str) -> None:
        """End the entry's call with a status: a number, or an operand that holds one."""
        ...


@frozen(eq=False)
class FlatFrame:
    """A call without a heap: its arena is what its caller gave it to work in, and it gives a status."""

    e: Emitter
    parameters: tuple[Held | Address, ...]

    def begin(self, procedure: Procedure) -> str:
        read_symbols(self.e, procedure.symbols)
        return f"define internal i32 @{procedure_symbol(procedure.name)}({ENTRY_PARAMETERS}) nounwind"

    def give(self, values: tuple[Held, ...]) -> None:  # noqa: ARG002
        self.e.function.effect("ret i32 0")

    def array(self, address: Register) -> str:
        text = self.e.function
        slot = text.impure(f"getelementptr ptr, ptr %buffers, i64 {self.parameters.index(Address(address))}")
        return text.impure(f"load ptr, ptr {slot}, align 8")

    def constants(self) -> str:
        return "%constants"

    def arena(self, region: RunRegion) -> str:  # noqa: ARG002
        return "%workspace"

    def refused_index(self) -> str:
        return "%workspace"

    def fail(self, failure: int | str) -> None:
        self.e.function.effect(f"ret i32 {failure}")


@frozen(eq=False)
class HeapFrame:
    """A call that owns a heap. Arenas of known size lie `arena_offset_bytes` behind it. `is_deep`: the stack may not
    suffice."""

    e: Emitter
    arena_offset_bytes: int
    is_deep: bool

    def begin(self, procedure: Procedure) -> str:
        text, kind = self.e.function, result_type(procedure.results)
        parameters = take_arguments(text, list(map(argument, procedure.parameters)))
        if self.is_deep:
            text.effect("call void @relay_heap_check_stack(ptr %heap)")
        return f"define internal tailcc {kind} @{procedure_symbol(procedure.name)}({parameters}) nounwind"

    def give(self, values: tuple[Held, ...]) -> None:
        text, kind = self.e.function, result_type(values)
        if len(values) == 1:
            text.effect(f"ret i64 {name(values[0])}")
            return
        whole = "poison"
        for position, value in enumerate(values):
            whole = text.impure(f"insertvalue {kind} {whole}, i64 {name(value)}, {position}")
        text.effect(f"ret {kind} {whole}")

    def array(self, address: Register) -> str:
        raise CompilerBug("emit", f"{address} is taken for an address, where registers hold words")

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

    def fail(self, failure: int | str) -> None:
        self.e.function.effect(f"call void @relay_heap_fail(ptr %heap, i32 {failure})")
        self.e.function.effect("unreachable")


def procedure_symbol(name: str) -> str:
    return f"relay_procedure_{name}"


def result_type(results: Sequence[object]) -> str:
    """What a procedure that has a heap gives back."""
    return "i64" if len(results) == 1 else f"{{ {', '.join(['i64'] * len(results))} }}"


def argument(parameter: Held | Address) -> str:
    """What a parameter is called before the first block, to which a procedure may come back with other arguments."""
    return f"%a{register_of(parameter).number}"


def read_symbols(e: Emitter, symbols: Sequence[Symbol]) -> None:
    """Define the extents that an entry is called with."""
    for position, symbol in enumerate(symbols):
        address = e.function.op_at(0, f"getelementptr i64, ptr %symbols, i64 {position}")
        e.symbols[symbol] = (e.function.op_at(0, f"load i64, ptr {address}, align 8"), 0)


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
