"""What all entries do, and those that need no heap: they check extents, and run a procedure on the caller's arrays."""

from __future__ import annotations

from collections.abc import Sequence

from relay.lower.program.place import CheckExtents
from relay.lower.program.program import Entry
from relay.runtime.artefact.manifest import entry_symbol
from relay.targets.cpu.emit.context import Emitter, Machine
from relay.targets.cpu.emit.index import emit_comparison
from relay.targets.cpu.emit.kernels.value import emit_value
from relay.targets.cpu.emit.programs.frame import ENTRY_PARAMETERS, procedure_symbol, read_symbols
from relay.targets.cpu.emit.stop import emit_stop_begin
from relay.targets.cpu.emit.text import FunctionText, ModuleText


def emit_flat_entry(entry: Entry, machine: Machine, module: ModuleText) -> str:
    """The text of an entry that runs a flat procedure."""
    text = FunctionText(module)
    e = Emitter(text, machine, entry.name, emit_value)
    emit_stop_begin(text)
    read_symbols(e, entry.symbols)
    refuse_extents(e, entry.checks)
    text.effect(f"ret i32 {text.impure(f'call i32 @{procedure_symbol(entry.procedure)}({ENTRY_PARAMETERS})')}")
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
