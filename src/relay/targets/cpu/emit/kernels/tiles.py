"""Tiles of AMX, by their numbers: what `intrinsics/product_by_tiles.py` is written with.

    tile_begin(rows, rows, columns, columns, words)    the shape of what follows, up to `tile_end` with the same
    tile_zero(tile)
    tile_load(tile, element, bytes) · tile_store(tile, element, bytes)     rows so many bytes apart
    tile_dot4(sums, data, weights) · tile_dot2(sums, data, weights)        tdpbusd, tdpbf16ps

Tiles belong to a thread, and to set their shapes takes longer than a product. The first shape of a function, known when
it is compiled, is set where the function begins; another is set for as long as it is used. The function gives its tiles
back where it ends.
"""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug
from relay.targets.cpu.emit.context import Emitter
from relay.targets.cpu.emit.index import emit_address
from relay.tir.expr import Call, Imm, Load, Value

_BYTES_AT, _ROWS_AT, _CONFIGURATION_BYTES = 16, 48, 64
_TILE = 16
_ITEM_BYTES = 4
_NONE_AT_HOME = "none"
_DOTS = {"tile_dot4": "tdpbusd", "tile_dot2": "tdpbf16ps"}


def emit_tile_call(e: Emitter, call: Call) -> str:
    """Write an instruction on tiles; the empty string, since it gives no value."""
    match call.name:
        case "tile_begin":
            _begin(e, call)
        case "tile_end":
            _end(e, call)
        case "tile_load" | "tile_store":
            _move(e, call)
        case "tile_zero":
            _instruction(e, "tilezero", call.arguments)
        case "tile_dot4" | "tile_dot2":
            e.flushes = e.flushes or call.name == "tile_dot2"
            _instruction(e, _DOTS[call.name], call.arguments)
        case _:
            raise CompilerBug("emit", f"`{call.name}` is no instruction on tiles")
    return ""


def emit_return(e: Emitter) -> None:
    """The end of a kernel's function."""
    if e.stopped:
        e.function.jump(e.stopped)
        e.function.start_block(e.stopped)
    if e.tiles:
        e.module.declare("llvm.x86.tilerelease", "void @llvm.x86.tilerelease()")
        e.function.effect("call void @llvm.x86.tilerelease()")
    e.function.effect("ret void")


def _numbers(arguments: tuple[Value, ...]) -> list[int]:
    return [int(each.value) for each in arguments if isinstance(each, Imm)]


def _instruction(e: Emitter, name: str, arguments: tuple[Value, ...]) -> None:
    full = f"llvm.x86.{name}"
    e.module.declare(full, f"void @{full}({', '.join(['i8'] * len(arguments))})")
    tiles = ", ".join(f"i8 {tile}" for tile in _numbers(arguments))
    e.function.effect(f"call void @{full}({tiles})")


def _move(e: Emitter, call: Call) -> None:
    tile, element, distance = call.arguments
    if not isinstance(element, Load):
        raise CompilerBug("emit", "a tile is loaded from where an element is, and stored there")
    name = "llvm.x86.tileloadd64" if call.name == "tile_load" else "llvm.x86.tilestored64"
    e.module.declare(name, f"void @{name}(i8, ptr, i64)")
    pointer = emit_address(e, element.buffer, element.indices).pointer
    number, apart = _numbers((tile, distance))
    e.function.effect(f"call void @{name}(i8 {number}, ptr {pointer}, i64 {apart})")
    if call.name == "tile_store":
        e.function.forget_loads(e.places[element.buffer].load_key)


def _begin(e: Emitter, call: Call) -> None:
    configuration = _configuration(e, call)
    if not e.tiles:
        e.tiles = _NONE_AT_HOME if configuration is None else configuration
        if configuration is not None:
            e.function.regions[0].prologue.append(f"  {_load_configuration(e, configuration)}")
    if configuration != e.tiles:
        e.function.effect(_load_configuration(e, configuration or _of_some_rows(e, call)))


def _end(e: Emitter, call: Call) -> None:
    if e.tiles != _NONE_AT_HOME and _configuration(e, call) != e.tiles:
        e.function.effect(_load_configuration(e, e.tiles))


def _load_configuration(e: Emitter, address: str) -> str:
    e.module.declare("llvm.x86.ldtilecfg", "void @llvm.x86.ldtilecfg(ptr)")
    return f"call void @llvm.x86.ldtilecfg(ptr {address})"


def _configuration(e: Emitter, call: Call) -> str | None:
    """The name of the constant that describes the tiles; None where rows are not known."""
    shape = _numbers(call.arguments)
    return _constant(e, shape) if len(shape) == len(call.arguments) else None


def _constant(e: Emitter, shape: list[int]) -> str:
    """The operand of ldtilecfg (Intel SDM volume 1, table 18-1): palette 1, then bytes of a row, then rows of each."""
    upper, lower, left, right, words = shape
    rows = (upper, upper if right else 0, lower, lower if right else 0, upper, lower, words, words if right else 0)
    columns = (left, right, left if lower else 0, right if lower else 0, words, words if lower else 0, left, right)
    data = bytearray(_CONFIGURATION_BYTES)
    data[0] = 1
    for tile in range(8):
        data[_BYTES_AT + 2 * tile], data[_ROWS_AT + tile] = columns[tile] * _ITEM_BYTES, rows[tile]
    name = f"@tiles.{'.'.join(map(str, shape))}"
    numbers = ", ".join(f"i8 {byte}" for byte in data)
    text = f"{name} = private unnamed_addr constant [{_CONFIGURATION_BYTES} x i8] [{numbers}], align 64"
    e.module.helpers.setdefault(name, text)
    return name


def _of_some_rows(e: Emitter, call: Call) -> str:
    """The address of a description with one tile of rows, as many as there are then."""
    rows, *rest = call.arguments
    base = _constant(e, [_TILE, *_numbers(tuple(rest))])
    count = e.emit_value(e, rows)
    number = e.function.op(f"trunc i64 {count} to i8")
    place = e.function.alloca(_CONFIGURATION_BYTES)
    e.function.effect(
        f"store [{_CONFIGURATION_BYTES} x i8] {e.function.impure(f'load [{_CONFIGURATION_BYTES} x i8], ptr {base}')}, "
        f"ptr {place}"
    )
    right = _numbers(tuple(rest))[2]
    for tile in (0, 1, 4) if right else (0, 4):
        at = e.function.op(f"getelementptr i8, ptr {place}, i64 {_ROWS_AT + tile}")
        e.function.effect(f"store i8 {number}, ptr {at}")
    return place
