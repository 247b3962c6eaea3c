"""The C face of an exported shared library.

    int32_t relay_run(void *const *buffers, const int64_t *symbols);

runs `main` on the addresses of its inputs, then outputs; `symbols` holds the extents that its types leave open (NULL
when there are none). It gives 0, the number of a failed check, or -1 when memory ran out.
"""

from __future__ import annotations

from relay.base.target import Target
from relay.runtime.manifest import EntrySpec, Manifest
from relay.targets.cpu.emit.context import Emitter, Machine
from relay.targets.cpu.emit.index import emit_index
from relay.targets.cpu.emit.text import FunctionText, ModuleText
from relay.targets.cpu.emit.value import emit_value


def emit_shared_entry(manifest: Manifest, target: Target) -> str:
    """LLVM text of `relay_run`, and of what a loader needs to know of the library."""
    module = ModuleText("shared_entry")
    module.declare("relay_alloc", "ptr @relay_alloc(i64)")
    module.declare("relay_free", "void @relay_free(ptr)")
    module.functions.append("@relay_constants = external constant i8, align 64")
    module.functions.append(f"@relay_manifest_bytes = constant i64 {len(manifest.to_json().encode())}\n")
    module.functions.append(_run(manifest.entry("main"), target, module))
    return module.render()


def _run(entry: EntrySpec, target: Target, module: ModuleText) -> str:
    text = FunctionText(module)
    e = Emitter(text, Machine.of(target, contract=False), "relay_run", emit_value)
    for position, symbol in enumerate(entry.symbols):
        address = text.op_at(0, f"getelementptr i64, ptr %symbols, i64 {position}")
        e.symbols[symbol] = (text.op_at(0, f"load i64, ptr {address}, align 8"), 0)
    native = entry.native_symbol
    module.declare(native, f"i32 @{native}(ptr, ptr, ptr, ptr)")
    size = text.op(f"add i64 {emit_index(e, entry.workspace_bytes)}, 1")  # never 0: NULL means no memory
    workspace = text.impure(f"call ptr @relay_alloc(i64 {size})")
    missing, ready = text.label("missing"), text.label("ready")
    text.branch(text.op(f"icmp eq ptr {workspace}, null"), missing, ready)
    text.start_block(missing)
    text.effect("ret i32 -1")
    text.start_block(ready)
    arguments = f"ptr %buffers, ptr %symbols, ptr {workspace}, ptr @relay_constants"
    status = text.impure(f"call i32 @{native}({arguments})")
    text.effect(f"call void @relay_free(ptr {workspace})")
    text.effect(f"ret i32 {status}")
    return text.render("define i32 @relay_run(ptr %buffers, ptr %symbols) nounwind")
