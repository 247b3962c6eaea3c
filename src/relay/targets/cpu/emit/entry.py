"""What all entries do, and those that need no heap: they check extents, and run a procedure on the caller's arrays."""

from __future__ import annotations

from collections.abc import Sequence

from relay.lower.program.place import CheckExtents
from relay.lower.program.program import Entry
from relay.runtime.artefact.manifest import entry_symbol
from relay.targets.cpu.emit.context import Emitter, Machine
from relay.targets.cpu.emit.frame import ENTRY_PARAMETERS, procedure_symbol, read_symbols
from relay.targets.cpu.emit.index import emit_comparison
from relay.targets.cpu.emit.text import FunctionText, ModuleText
from relay.targets.cpu.emit.value import emit_value


def emit_flat_entry(entry: Entry, machine: Machine, module: ModuleText) -> str:
    """The text of an entry that runs a flat procedure."""
    text = FunctionText(module)
    e = Emitter(text, machine, entry.name, emit_value)
    read_symbols(e, entry.symbols)
    refuse_extents(e, entry.checks)
    before = allocation_failures(text)
    status = text.impure(f"call i32 @{procedure_symbol(entry.procedure)}({ENTRY_PARAMETERS})")
    give_status(text, before, status)
    return text.render(f"define i32 @{entry_symbol(entry.name)}({ENTRY_PARAMETERS}) nounwind")


def refuse_extents(e: Emitter, checks: Sequence[CheckExtents]) -> None:
    """Return the number of the first check that fails."""
    text = e.function
    for check in checks:
        passed, refused = text.label("passed"), text.label("refused")
        text.branch(emit_comparison(e, check.condition), passed, refused)
        text.start_block(refused)
        text.effect(f"ret i32 {check.failure}")
        text.start_block(passed)


def allocation_failures(text: FunctionText) -> str:
    """How often a kernel had no memory, in the life of the process."""
    text.module.declare("relay_allocation_failures", "i64 @relay_allocation_failures()")
    return text.impure("call i64 @relay_allocation_failures()")


def give_status(text: FunctionText, failures_before: str, status: str) -> None:
    """Return a status, or -1 if a kernel had no memory meanwhile."""
    missing = text.impure(f"icmp ne i64 {failures_before}, {allocation_failures(text)}")
    text.effect(f"ret i32 {text.impure(f'select i1 {missing}, i32 -1, i32 {status}')}")
