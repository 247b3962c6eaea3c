"""Regions that run on a device, as LLVM text: what they do is data, which `support/device/run.c` reads.

    @relay_device_0 = global …                                          where the loader puts the table of the device
    define internal i32 @relay_device_region_name(ptr …, i64 …, ptr constants)          0, or the status of a failure

An array of the host's is handed over by its address, a tensor on the device by that of its `relay_buffer`. All that may
differ from call to call (extents of grids, sizes, offsets) is computed by the host, into an array of *scalars*; data
speaks of positions in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from relay.arith.expr import IntExpr, Symbol, substitute
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import mutable
from relay.lower.program.device import Device
from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.launch import AXES, Access, BufferArgument, KernelModule, Launch, ScalarArgument
from relay.lower.program.place import (
    Address,
    AddressPlace,
    ArenaPlace,
    Buffer,
    ConstantPlace,
    DataPlace,
    Place,
    Register,
)
from relay.lower.program.program import Program
from relay.lower.program.region import CallKernel, CopyBytes
from relay.runtime.artefact.device_spec import CLOSE_SYMBOL, slot_symbol
from relay.targets.cpu.emit.context import Emitter, Machine
from relay.targets.cpu.emit.index import emit_index
from relay.targets.cpu.emit.kernels.value import emit_value
from relay.targets.cpu.emit.programs.device_tensors import BUFFER_OFFSET_BYTES
from relay.targets.cpu.emit.programs.words import at
from relay.targets.cpu.emit.text import FunctionText, ModuleText

ARENA, CONSTANTS, FIRST_ARGUMENT = range(3)
"""The buffers of every submission; then come those that the region is given."""

_BUFFER = "{ i64, i64 }"
_SLOT = f"{{ ptr, ptr, {_BUFFER}, {_BUFFER}, ptr, i64, i64, i32, i32 }}"
_MODULE = "{ i64, ptr, ptr, i64 }"
_COMMAND = "{ i64, ptr, [3 x i32], [3 x i32], i32, i32, ptr }"
_ARGUMENT = "{ i32, i32, i32, i32, i32 }"
_TRANSFER = "{ i32, i32, i32, i32 }"
_COPY = "{ i32, i32, i32, i32, i32 }"
_CONSTANT = "{ i64, i64, i64 }"


def devices_of(program: Program) -> tuple[Device, ...]:
    """The devices that a program uses, in the order of their slots."""
    return tuple(dict.fromkeys(each.device for each in program.device_regions))


def device_region_symbol(name: str) -> str:
    return f"relay_device_region_{name}"


def emit_device_regions(program: Program, machine: Machine, module: ModuleText) -> None:
    """All regions for devices of a program, and what closes them."""
    devices = devices_of(program)
    sizes = {each.offset_bytes: each.array.nbytes for each in program.constants}
    for index, device in enumerate(devices):
        regions = [each for each in program.device_regions if each.device == device]
        places = dict.fromkeys(place for each in regions for place in each.constants)
        offsets, end = {}, 0
        for place in places:
            offsets[place] = end
            end += -(-sizes[place.offset_bytes] // 64) * 64
        constants = [
            f"{_CONSTANT} {{ i64 {each.offset_bytes}, i64 {offsets[each]}, i64 {sizes[each.offset_bytes]} }}"
            for each in places
        ]
        listed = f"{slot_symbol(index)}.constants"
        emit_data(module, listed, "constant", _CONSTANT, constants)
        module.globals.append(
            f"@{slot_symbol(index)} = global {_SLOT} {{ ptr null, ptr null, {_BUFFER} zeroinitializer, "
            f"{_BUFFER} zeroinitializer, ptr @{listed}, i64 {len(constants)}, i64 {end}, i32 0, i32 0 }}, align 16"
        )
        for each in regions:
            _RegionText(each, devices, offsets, machine, module).emit()
    listed = ", ".join(f"ptr @{each.name}.region" for each in program.device_regions)
    count = len(program.device_regions)
    module.globals.append(f"@relay_device_regions = internal constant [{count} x ptr] [{listed}]")
    closing = f"call void @relay_device_close(ptr @relay_device_regions, i64 {count})"
    module.functions.append(f"define void @{CLOSE_SYMBOL}() nounwind {{\n  {closing}\n  ret void\n}}\n")


@mutable
class _RegionText:
    """The data of one region, and the function that runs it. `devices`: those of the program. `offsets`: where
    constants are in the device's buffer of constants."""

    region: DeviceRegion
    devices: Sequence[Device]
    offsets: Mapping[ConstantPlace, int]
    machine: Machine
    module: ModuleText
    scalars: dict[IntExpr, int] = field(default_factory=dict)
    uploads: list[str] = field(default_factory=list)
    downloads: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    command_modules: list[str] = field(default_factory=list)
    modules: dict[str, int] = field(default_factory=dict)

    def emit(self) -> None:
        region = self.region
        for each in region.region.instructions:
            match each:
                case CopyBytes(AddressPlace() as source, target, size_bytes):
                    self.uploads.append(self._transfer(source, target, size_bytes))
                case CopyBytes(source, AddressPlace() as target, size_bytes):
                    self.downloads.append(self._transfer(target, source, size_bytes))
                case CopyBytes(source, target, size_bytes):
                    self.copies.append(self._copy(source, target, size_bytes))
                case CallKernel():
                    self._call(each)
                case _:
                    raise CompilerBug("emit", f"a region of a device holds `{each}`")
        self._data(self._position(region.region.arena_bytes))
        self._function()

    def _position(self, number: IntExpr) -> int:
        """Where a number is among the scalars."""
        return self.scalars.setdefault(number, len(self.scalars))

    def _transfer(self, array: AddressPlace, place: Place, size_bytes: IntExpr) -> str:
        argument = self.region.parameters.index(Address(array.array))
        numbers = argument, *self._place(place), self._position(size_bytes)
        return _fields(_TRANSFER, numbers)

    def _copy(self, source: Place, target: Place, size_bytes: IntExpr) -> str:
        return _fields(_COPY, (*self._place(target), *self._place(source), self._position(size_bytes)))

    def _place(self, place: Place) -> tuple[int, int]:
        """The buffer of a place on the device, and the position of its offset."""
        buffer, offset = self._buffer(place)
        return buffer, self._position(offset)

    def _call(self, call: CallKernel) -> None:
        """The launches of a kernel, in terms of the region's symbols."""
        module = (self.region.modules or {})[call.kernel]
        number = self.modules.setdefault(call.kernel, len(self.modules))
        here = dict(zip(module.symbols, call.extents, strict=True))
        for launch in module.launches:
            self._launch(launch, call.arguments, here)
            self.command_modules.append(f"i32 {number}")

    def _launch(self, launch: Launch, places: Sequence[Place], here: Mapping[Symbol, IntExpr]) -> None:
        def position(number: IntExpr) -> int:
            return self._position(substitute(number, here))

        arguments: list[str] = []
        for each in launch.arguments:
            match each:
                case BufferArgument(parameter, access):
                    arguments.append(_argument(0, access, *self._place(places[parameter]), 0))
                case ScalarArgument(value, dtype):
                    arguments.append(_argument(1, Access.READ, 0, position(value), dtype.item_bytes))
        name = f"{self.region.name}.arguments{len(self.commands)}"
        self._global(name, "constant", _ARGUMENT, arguments)
        entry = self._text(f"{self.region.name}.entry{len(self.commands)}", launch.entry.encode() + b"\0")
        grid, group = (
            ", ".join(f"i32 {position(each)}" for each in (*extents, *[1] * (AXES - len(extents))))
            for extents in (launch.grid, launch.group)
        )
        memory = position(launch.group_memory_bytes)
        self.commands.append(
            f"{_COMMAND} {{ i64 0, ptr {entry}, [3 x i32] [{grid}], [3 x i32] [{group}], i32 {memory}, "
            f"i32 {len(arguments)}, ptr @{name} }}"
        )

    @property
    def _buffers(self) -> dict[Register, int]:
        """The parameters that are on a device, and their positions among all."""
        given = enumerate(self.region.parameters)
        return {each.register: position for position, each in given if isinstance(each, Buffer)}

    def _buffer(self, place: Place) -> tuple[int, IntExpr]:
        match place:
            case ArenaPlace(offset_bytes):
                return ARENA, offset_bytes
            case ConstantPlace():
                return CONSTANTS, self.offsets[place]
            case DataPlace(tensor, offset_bytes):
                return FIRST_ARGUMENT + list(self._buffers).index(tensor), offset_bytes
            case _:
                raise CompilerBug("emit", f"a kernel on a device is given {place}")

    # ------------------------------------------------------------------------------------------------------ the text

    def _data(self, arena_position: int) -> None:
        name, made = self.region.name, self.region.modules or {}
        modules = [self._module(made[kernel], number) for kernel, number in self.modules.items()]
        self._global(f"{name}.modules", "global", _MODULE, modules)
        self._global(f"{name}.commands", "global", _COMMAND, self.commands)
        self._global(f"{name}.command_modules", "constant", "i32", self.command_modules)
        self._global(f"{name}.uploads", "constant", _TRANSFER, self.uploads)
        self._global(f"{name}.downloads", "constant", _TRANSFER, self.downloads)
        self._global(f"{name}.copies", "constant", _COPY, self.copies)
        parts = ("modules", "commands", "command_modules", "uploads", "downloads", "copies")
        told = self._text(f"{name}.name", name.encode() + b"\0")
        pointers = [f"ptr @{name}.{each}" for each in parts]
        counts = [
            len(modules), len(self.commands), len(self.uploads), len(self.downloads), len(self.copies), arena_position,
            len(self.scalars), FIRST_ARGUMENT + len(self._buffers),
        ]  # fmt: skip
        fields = [
            f"ptr {told}", self._slot(self.region.device), self._slot(self.region.source), *pointers, "i64 0",
            *(f"i32 {each}" for each in counts),
        ]  # fmt: skip
        kinds = ", ".join(each.split(" ", 1)[0] for each in fields)
        self.module.globals.append(
            f"@{name}.region = internal global {{ {kinds} }} {{ {', '.join(fields)} }}, align 16"
        )  # fmt: skip

    def _slot(self, device: Device | None) -> str:
        return "ptr null" if device is None else f"ptr @{slot_symbol(self.devices.index(device))}"

    def _module(self, module: KernelModule, number: int) -> str:
        name = f"{self.region.name}.module{number}"
        form = self._text(f"{name}.format", module.format.encode() + b"\0")
        data = self._text(f"{name}.data", module.data)
        return f"{_MODULE} {{ i64 0, ptr {form}, ptr {data}, i64 {len(module.data)} }}"

    def _global(self, name: str, kind: str, element: str, values: Sequence[str]) -> None:
        emit_data(self.module, name, kind, element, values)

    def _text(self, name: str, data: bytes) -> str:
        """The address of constant bytes."""
        text = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in data)
        self.module.globals.append(f'@{name} = internal constant [{len(data)} x i8] c"{text}", align 16')
        return f"@{name}"

    def _function(self) -> None:
        region = self.region
        text = FunctionText(self.module)
        e = Emitter(text, self.machine, region.name, emit_value)
        for position, symbol in enumerate(region.symbols):
            e.symbols[symbol] = (f"%extent{position}", 0)
        arguments = text.alloca(8 * max(1, len(region.parameters)), alignment=16)
        for position in range(len(region.parameters)):
            slot = text.impure(f"getelementptr ptr, ptr {arguments}, i64 {position}")
            text.effect(f"store ptr %array{position}, ptr {slot}, align 8")
        scalars = text.alloca(8 * max(1, len(self.scalars)), alignment=16)
        for number, position in self.scalars.items():
            slot = text.impure(f"getelementptr i64, ptr {scalars}, i64 {position}")
            text.effect(f"store i64 {emit_index(e, number)}, ptr {slot}, align 8")
        buffers = self._given_buffers(text)
        given = f"ptr @{region.name}.region, ptr {arguments}, ptr {buffers}, ptr {scalars}, ptr %constants"
        text.effect(f"ret i32 {text.impure(f'call i32 @relay_device_run({given})')}")
        arrays = [f"ptr %array{position}" for position in range(len(region.parameters))]
        extents = [f"i64 %extent{position}" for position in range(len(region.symbols))]
        parameters = ", ".join([*arrays, *extents, "ptr %constants"])
        header = f"define internal i32 @{device_region_symbol(region.name)}({parameters}) nounwind"
        self.module.functions.append(text.render(header))

    def _given_buffers(self, text: FunctionText) -> str:
        """The buffers of a submission, those of the program still to be filled in."""
        buffers = text.alloca(16 * (FIRST_ARGUMENT + len(self._buffers)), alignment=16)
        for number, position in enumerate(self._buffers.values(), start=FIRST_ARGUMENT):
            slot = at(text, f"%array{position}", BUFFER_OFFSET_BYTES)
            buffer = text.impure(f"load {_BUFFER}, ptr {slot}, align 8")
            text.effect(f"store {_BUFFER} {buffer}, ptr {at(text, buffers, 16 * number)}, align 8")
        return buffers


def emit_data(module: ModuleText, name: str, kind: str, element: str, values: Sequence[str]) -> None:
    """An array of the program's, `constant` or `global`."""
    whole = ", ".join(each if each.startswith(element) else f"{element} {each}" for each in values)
    module.globals.append(f"@{name} = internal {kind} [{len(values)} x {element}] [{whole}], align 16")


def _fields(kind: str, numbers: Sequence[int]) -> str:
    return f"{kind} {{ {', '.join(f'i32 {each}' for each in numbers)} }}"


def _argument(kind: int, access: Access, buffer: int, scalar: int, scalar_bytes: int) -> str:
    return _fields(_ARGUMENT, (kind, access.value, buffer, scalar, scalar_bytes))
