"""The C face of an exported library. The library is linked with the model's name in place of `relay` in front.

    int32_t relay_run(void *const *buffers, const int64_t *symbols);

runs `main` on the addresses of its inputs, then outputs; `symbols` holds the extents that its types leave open (NULL
when there are none). It gives 0, the number of a failed check, -1 when memory ran out, or -4 when it needs the tiles of
AMX and the system does not permit them. Where `main` works on values
of a heap it is

    int32_t relay_run(relay_arena *arena, void *const *buffers, const int64_t *symbols, relay_value *result);

and the arena owns the result. Values that are handed in stay the caller's. The functions that make and read values are
those of `support/heap/values.c`.

    int32_t relay_connect_device(const char *name, const struct relay_device *device);

gives a library a device that it uses, by a name such as "gpu:0" (`support/device/connect.c`).

A shared library has one symbol more, `relay_library`: a table by which Python loads it
(`runtime/call/shared_library.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.runtime.artefact.device_spec import DeviceSpec, slot_symbol
from relay.runtime.artefact.manifest import EntrySpec, HeapResult, Manifest, ValueSpec
from relay.runtime.artefact.status import NO_TILES
from relay.runtime.call.shared_library import TABLE_SYMBOL, library_symbols
from relay.runtime.values.heap import ONCE_OFFSET_BYTES, OUTPUTS_OFFSET_BYTES, RESULT_OFFSET_BYTES
from relay.targets.cpu.emit.context import Emitter, Machine
from relay.targets.cpu.emit.index import emit_index
from relay.targets.cpu.emit.kernels.value import emit_value
from relay.targets.cpu.emit.text import FunctionText, ModuleText
from relay.targets.cpu.support.library import device_connect_text, tiles_text, values_text
from relay.targets.cpu.target import CpuTarget

MANIFEST_SYMBOL, CONSTANTS_SYMBOL = "relay_manifest", "relay_constants"
"""Data that a library is linked with."""

C_FUNCTIONS = (
    "run", "set_num_threads", "arena_new", "arena_free", "tensor", "cell", "kind", "field", "data", "extents",
    "connect_device", "devices_close",
)  # fmt: skip
"""What programs in C call, behind the name of the model."""


def exported_names(name: str) -> dict[str, str]:
    """The names of what a library of this name shows, by their symbols in its objects."""
    return {**{f"relay_{each}": f"{name}_{each}" for each in C_FUNCTIONS}, TABLE_SYMBOL: TABLE_SYMBOL}


def emit_library_table(manifest: Manifest) -> str:
    """LLVM text of `relay_library`: its manifest, its constants, and the addresses of what Python calls."""
    module = ModuleText("library_table")
    symbols = library_symbols(manifest)
    for each in (MANIFEST_SYMBOL, CONSTANTS_SYMBOL, *symbols):
        module.globals.append(f"@{each} = external global i8")
    addresses = ", ".join(f"ptr @{each}" for each in symbols)
    size, count = len(manifest.to_json().encode()), len(symbols)
    module.globals.append(
        f"@{TABLE_SYMBOL} = constant {{ ptr, i64, ptr, i64, [{count} x ptr] }} "
        f"{{ ptr @{MANIFEST_SYMBOL}, i64 {size}, ptr @{CONSTANTS_SYMBOL}, i64 {count}, [{count} x ptr] [{addresses}] }}"
    )
    return module.render()


def emit_shared_entry(manifest: Manifest, target: CpuTarget) -> str:
    """LLVM text of `relay_run`, and of what else programs in C call."""
    module = ModuleText("shared_entry")
    module.functions.append(f"@{CONSTANTS_SYMBOL} = external constant i8, align 64")
    if target.has("amx-tile"):
        module.functions.append(tiles_text())
    entry = manifest.entry("main")
    if isinstance(entry.result, HeapResult):
        module.functions.append(values_text())
        module.functions.append(_run_on_heap(entry, target, module))
    else:
        module.declare("relay_alloc", "ptr @relay_alloc(i64)")
        module.declare("relay_free", "void @relay_free(ptr)")
        module.functions.append(_run(entry, target, module))
    if manifest.devices:
        module.functions.append(device_connect_text())
        _connect(manifest.devices, module)
    return module.render()


def _connect(devices: Sequence[DeviceSpec], module: ModuleText) -> None:
    """`relay_connect_device`, by the names of the devices."""
    listed: list[str] = []
    for position, device in enumerate(devices):
        name = f"{device}\0".encode()
        module.globals.append(f'@device_name{position} = internal constant [{len(name)} x i8] c"{device}\\00"')
        module.globals.append(f"@{slot_symbol(position)} = external global i8")
        listed.append(f"{{ ptr, ptr }} {{ ptr @device_name{position}, ptr @{slot_symbol(position)} }}")
    module.globals.append(f"@devices = internal constant [{len(listed)} x {{ ptr, ptr }}] [{', '.join(listed)}]")
    text = FunctionText(module)
    given = f"ptr @devices, i64 {len(listed)}, ptr %name, ptr %device"
    text.effect(f"ret i32 {text.impure(f'call i32 @relay_device_connect({given})')}")
    module.functions.append(text.render("define i32 @relay_connect_device(ptr %name, ptr %device) nounwind"))


def _run(entry: EntrySpec, target: CpuTarget, module: ModuleText) -> str:
    text, size = _begin(entry, entry.native_symbol, target, module)
    workspace = text.impure(f"call ptr @relay_alloc(i64 {size})")
    _give_up_without(text, workspace)
    status = _call(text, entry.native_symbol, workspace)
    text.effect(f"call void @relay_free(ptr {workspace})")
    text.effect(f"ret i32 {status}")
    return text.render("define i32 @relay_run(ptr %buffers, ptr %symbols) nounwind")


def _run_on_heap(entry: EntrySpec, target: CpuTarget, module: ModuleText) -> str:
    text, size = _begin(entry, entry.heap_symbol, target, module)
    heap = text.impure(f"call ptr @relay_arena_block(ptr %arena, i64 {size})")
    _give_up_without(text, heap)
    for offset in (ONCE_OFFSET_BYTES, OUTPUTS_OFFSET_BYTES):
        text.effect(f"store i64 0, ptr {text.impure(f'getelementptr i8, ptr {heap}, i64 {offset}')}")
    for position, spec in enumerate(entry.inputs):
        if isinstance(spec, ValueSpec):
            slot = text.impure(f"getelementptr i64, ptr %buffers, i64 {position}")
            text.effect(f"call void @relay_value_keep(i64 {text.impure(f'load i64, ptr {slot}, align 8')})")
    status = _call(text, entry.heap_symbol, heap)
    text.effect(f"call void @relay_arena_take(ptr %arena, ptr {heap})")
    word = text.impure(f"load ptr, ptr {text.impure(f'getelementptr i8, ptr {heap}, i64 {RESULT_OFFSET_BYTES}')}")
    good = text.impure(f"icmp eq i32 {status}, 0")
    text.effect(f"store ptr {text.impure(f'select i1 {good}, ptr {word}, ptr null')}, ptr %result")
    text.effect(f"ret i32 {status}")
    return text.render("define i32 @relay_run(ptr %arena, ptr %buffers, ptr %symbols, ptr %result) nounwind")


def _begin(entry: EntrySpec, native: str, target: CpuTarget, module: ModuleText) -> tuple[FunctionText, str]:
    """The text of a function that calls a native one, and how many bytes of workspace that needs."""
    text = FunctionText(module)
    if target.has("amx-tile"):
        refused, permitted = text.label("refused"), text.label("permitted")
        text.branch(text.impure("call i1 @relay_ask_for_tiles()"), permitted, refused)
        text.start_block(refused)
        text.effect(f"ret i32 {NO_TILES}")
        text.start_block(permitted)
    e = Emitter(text, Machine.of(target, contract=False), "relay_run", emit_value)
    for position, symbol in enumerate(entry.symbols):
        address = text.op_at(0, f"getelementptr i64, ptr %symbols, i64 {position}")
        e.symbols[symbol] = (text.op_at(0, f"load i64, ptr {address}, align 8"), 0)
    module.declare(native, f"i32 @{native}(ptr, ptr, ptr, ptr)")
    return text, text.op(f"add i64 {emit_index(e, entry.workspace_bytes)}, 1")  # never 0: NULL means no memory


def _give_up_without(text: FunctionText, memory: str) -> None:
    missing, ready = text.label("missing"), text.label("ready")
    text.branch(text.op(f"icmp eq ptr {memory}, null"), missing, ready)
    text.start_block(missing)
    text.effect("ret i32 -1")
    text.start_block(ready)


def _call(text: FunctionText, native: str, workspace: str) -> str:
    arguments = f"ptr %buffers, ptr %symbols, ptr {workspace}, ptr @{CONSTANTS_SYMBOL}"
    return text.impure(f"call i32 @{native}({arguments})")
