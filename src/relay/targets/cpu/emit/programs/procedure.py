"""Procedures as LLVM text. A register is an `i64`; every procedure takes the heap of its call first.

    define internal tailcc i64 @relay_procedurename(ptr %heap, i64 %a0, i64 %a1, …)

The calling convention guarantees that a call in tail position is a jump, whatever the two parameter lists are
(`passing`). One of the procedure itself is a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from relay.arith.expr import IntExpr
from relay.lower.program.device import Device
from relay.lower.program.place import Address, CheckExtents, ConstantPlace, Held, Register, Scalar
from relay.lower.program.procedure import (
    Box,
    Branch,
    CallClosure,
    CallHost,
    CallProcedure,
    ComputeScalar,
    Fail,
    Field,
    Immediate,
    Jump,
    NewCell,
    NewClosure,
    NewConstant,
    NewTensor,
    NewView,
    Operand,
    Procedure,
    ProcedureInstruction,
    ReadElement,
    ReadExtent,
    Release,
    Retain,
    Return,
    ScalarConstant,
    StoreField,
    Switch,
    TailCall,
    TailCallClosure,
    Terminator,
    Unbox,
)
from relay.lower.program.region import RunRegion
from relay.runtime.artefact.status import HOST_FAILED
from relay.runtime.values.heap import (
    ANOTHERS_DATA,
    DATA_OFFSET_BYTES,
    EXTENTS_OFFSET_BYTES,
    FIELDS_OFFSET_BYTES,
    HOST_OFFSET_BYTES,
)
from relay.targets.cpu.emit.context import Emitter, Machine
from relay.targets.cpu.emit.index import emit_comparison, emit_index
from relay.targets.cpu.emit.kernels.value import emit_value
from relay.targets.cpu.emit.programs.device_tensors import TENSOR_BYTES, emit_tensor
from relay.targets.cpu.emit.programs.frame import (
    FlatFrame,
    Frame,
    HeapFrame,
    argument,
    bounded,
    procedure_symbol,
    result_type,
)
from relay.targets.cpu.emit.programs.passing import pass_arguments
from relay.targets.cpu.emit.programs.region import emit_region
from relay.targets.cpu.emit.programs.words import (
    at,
    data_address,
    field_slot,
    load_scalar,
    name,
    pointer,
    scalar_slot,
    store_scalar,
)
from relay.targets.cpu.emit.stop import emit_stop_check
from relay.targets.cpu.emit.text import HERE, FunctionText, ModuleText


def scalar_kernel_symbol(kernel: str) -> str:
    """The function that computes a kernel of scalars in place; its inputs and its result stand in memory, until the
    optimizer has put it where it is called."""
    return f"{kernel}.in_place"


def emit_procedure(
    procedure: Procedure, machine: Machine, module: ModuleText, deep: bool, arena_offset_bytes: int,
    devices: Sequence[Device] = (),
) -> str:  # fmt: skip
    """The text of one procedure. Arenas of known size lie `arena_offset_bytes` behind a heap; `deep`: the stack may not
    suffice; `devices` are those of the program, in the order of their slots."""
    e = Emitter(FunctionText(module), machine, procedure.name, emit_value)
    flat = procedure.is_flat
    frame = FlatFrame(e, procedure.parameters) if flat else HeapFrame(e, arena_offset_bytes, deep)
    return _ProcedureText(procedure, e, frame, devices).render()


class _ProcedureText:
    def __init__(self, procedure: Procedure, e: Emitter, frame: Frame, devices: Sequence[Device]) -> None:
        self.procedure = procedure
        self.devices = devices
        self.text = e.function
        self.e = e
        self.frame = frame
        self.merged = () if procedure.is_flat else procedure.parameters
        self.incoming: dict[int, list[tuple[str, list[str]]]] = {}

    def render(self) -> str:
        text = self.text
        header = self.frame.begin(self.procedure)
        self._jump(0, list(map(argument, self.merged)))
        merges: list[tuple[int, tuple[Held | Address, ...], list[str]]] = []
        for block in self.procedure.blocks:
            lines: list[str] = []
            text.start_block(f"block{block.number}")
            text.insert_later(lines)
            merges.append((block.number, block.parameters if block.number else self.merged, lines))
            text.open_region()
            if not block.number:  # loops come back here
                emit_stop_check(text, self.frame.fail)
            for instruction in block.instructions:
                self.instruction(instruction)
            self.terminator(block.terminator)
            text.close_region()
        for number, merged, lines in merges:
            lines.extend(self._merged(number, merged))
        return text.render(header)

    def _merged(self, number: int, parameters: tuple[Held | Address, ...]) -> list[str]:
        lines: list[str] = []
        for position, parameter in enumerate(parameters):
            sources = [f"[ {given[position]}, %{label} ]" for label, given in self.incoming.get(number, [])]
            if sources:
                lines.append(f"  {name(parameter)} = phi i64 {', '.join(sources)}")
            else:
                lines.append(f"  {name(parameter)} = add i64 0, 1")  # no jump leads here
        return lines

    # ----------------------------------------------------------------------------------------------- instructions

    def instruction(self, instruction: ProcedureInstruction) -> None:
        text = self.text
        match instruction:
            case NewTensor():
                self._new_tensor(instruction)
            case NewConstant(result, label, shape, place):
                address = self._header(result, label, len(shape))
                data = at(text, self.frame.constants(), place.offset_bytes)
                text.effect(f"store i64 {ANOTHERS_DATA}, ptr {at(text, address, FIELDS_OFFSET_BYTES)}")
                text.effect(f"store ptr {data}, ptr {at(text, address, DATA_OFFSET_BYTES)}")
                self._extents(address, shape)
            case NewView(result, label, shape, source):
                address = self._header(result, label, len(shape))
                data = data_address(text, source)
                text.effect(f"store i64 {name(source)}, ptr {at(text, address, FIELDS_OFFSET_BYTES)}")
                text.effect(f"store ptr {data}, ptr {at(text, address, DATA_OFFSET_BYTES)}")
                self._extents(address, shape)
            case NewCell(result, label, fields):
                self._cell(result, label, [name(field) for field in fields])
            case NewClosure(result, label, procedure, captures):
                code = text.impure(f"ptrtoint ptr @{procedure_symbol(procedure)} to i64")
                shifted = text.impure(f"shl i64 {code}, 1")
                odd = text.impure(f"or i64 {shifted}, 1")
                self._cell(result, label, [odd, *map(name, captures)])
            case Immediate(result, label):
                text.effect(f"{name(result)} = add i64 0, {2 * label + 1}")
            case Field(result, source, index):
                slot = field_slot(text, source, index)
                text.effect(f"{name(result)} = load i64, ptr {slot}, align 8")
            case StoreField(target, index, value):
                slot = field_slot(text, target, index)
                before = text.impure(f"load i64, ptr {slot}, align 8")
                text.effect(f"store i64 {name(value)}, ptr {slot}, align 8")
                text.effect(f"call void @relay_heap_release(ptr %heap, i64 {before})")
            case Retain(value):
                text.effect(f"call void @relay_heap_retain(i64 {name(value)})")
            case Release(value):
                text.effect(f"call void @relay_heap_release(ptr %heap, i64 {name(value)})")
            case Box() | Unbox() | ScalarConstant() | ComputeScalar():
                self._scalar(instruction)
            case RunRegion():
                emit_region(self.e, instruction, self.frame)
            case CallProcedure():
                self._call(instruction)
            case CallClosure(result, closure, arguments):
                text.effect(f"{name(result)} = call {self._indirect(closure, arguments)}")
            case CallHost():
                self._call_host(instruction)
            case ReadExtent():
                self._read_extent(instruction)
            case ReadElement(symbol, tensor, index):
                slot = at(text, data_address(text, tensor), 8 * index)
                self.e.symbols[symbol] = (text.impure(f"load i64, ptr {slot}, align 8"), HERE)
            case CheckExtents(condition, failure):
                passed, failed = text.label("passed"), text.label("failed")
                text.branch(emit_comparison(self.e, condition), passed, failed)
                text.start_block(failed)
                self.frame.fail(failure)
                text.start_block(passed)
            case _:
                assert_never(instruction)

    def terminator(self, terminator: Terminator) -> None:
        text = self.text
        match terminator:
            case Branch(condition, if_true, if_false):
                text.branch(self._holds(condition), f"block{if_true}", f"block{if_false}")
            case Switch(value, cases, otherwise):
                label = text.impure(f"call i32 @relay_heap_label(i64 {name(value)})")
                table = " ".join(f"i32 {case.label}, label %block{case.block}" for case in cases)
                text.effect(f"switch i32 {label}, label %block{otherwise} [{table}]")
            case Jump(block, arguments):
                self._jump(block, list(map(name, arguments)))
            case Return(values):
                self.frame.give(values)
            case TailCall(procedure, arguments) if procedure == self.procedure.name:
                self._jump(0, list(map(name, arguments)))
            case TailCall(procedure, arguments):
                kind = result_type(self.procedure.results)
                result = text.impure(f"musttail call {self._direct(procedure, arguments, kind)}")
                text.effect(f"ret {kind} {result}")
            case TailCallClosure(closure, arguments):
                text.effect(f"ret i64 {text.impure(f'musttail call {self._indirect(closure, arguments)}')}")
            case Fail(failure):
                self.frame.fail(failure)
            case _:
                assert_never(terminator)

    def _call(self, call: CallProcedure) -> None:
        kind = result_type(call.results)
        made = f"call {self._direct(call.procedure, call.arguments, kind)}"
        if len(call.results) == 1:
            self.text.effect(f"{name(call.results[0])} = {made}")
            return
        whole = self.text.impure(made)
        for position, result in enumerate(call.results):
            self.text.effect(f"{name(result)} = extractvalue {kind} {whole}, {position}")

    def _call_host(self, call: CallHost) -> None:
        """The closure and the arguments are handed over in memory; no word comes back from a failure."""
        text, words = self.text, (call.closure, *call.arguments)
        given = text.alloca(8 * len(words), alignment=16)
        for position, word in enumerate(words):
            text.effect(f"store i64 {name(word)}, ptr {at(text, given, 8 * position)}, align 8")
        host = text.impure(f"load ptr, ptr {at(text, '%heap', HOST_OFFSET_BYTES)}, align 8")
        text.effect(f"{name(call.result)} = call i64 {host}(ptr %heap, ptr {given}, i64 {len(words)})")
        failed, fine = text.label("failed"), text.label("fine")
        text.branch(text.impure(f"icmp eq i64 {name(call.result)}, 0"), failed, fine)
        text.start_block(failed)
        self.frame.fail(HOST_FAILED)
        text.start_block(fine)

    # ---------------------------------------------------------------------------------------------------- scalars

    def _scalar(self, instruction: Box | Unbox | ScalarConstant | ComputeScalar) -> None:
        text = self.text
        match instruction:
            case Box(result, label, source):
                size = source.dtype.item_bytes
                self._object(result, f"call ptr @relay_heap_tensor(ptr %heap, i64 {size}, i64 0, i32 {label})")
                store_scalar(text, source, data_address(text, result))
            case Unbox(result, source):
                load_scalar(text, result, self._read(source))
            case ScalarConstant(result, bits):
                text.effect(f"{name(result)} = add i64 0, {bits}")
            case ComputeScalar(result, kernel, inputs):
                slot = text.alloca(8, alignment=16)
                operands = [f"ptr {self._read(operand)}" for operand in inputs]
                text.effect(f"call void @{scalar_kernel_symbol(kernel)}({', '.join([*operands, f'ptr {slot}'])})")
                load_scalar(text, result, slot)
            case _:
                assert_never(instruction)

    def _holds(self, condition: Operand) -> str:
        if isinstance(condition, Scalar):
            return self.text.impure(f"icmp ne i64 {name(condition)}, 0")
        byte = self.text.impure(f"load i8, ptr {self._read(condition)}, align 1")
        return self.text.impure(f"icmp ne i8 {byte}, 0")

    def _jump(self, block: int, given: list[str]) -> None:
        self.incoming.setdefault(block, []).append((self.text.block, given))
        self.text.jump(f"block{block}")

    # ---------------------------------------------------------------------------------------------------- objects

    def _object(self, result: Register, made: str) -> str:
        """The address of a new object; the register holds it as a word."""
        address = self.text.impure(made)
        self.text.effect(f"{name(result)} = ptrtoint ptr {address} to i64")
        return address

    def _new_tensor(self, new: NewTensor) -> None:
        if new.device is not None:
            self._new_tensor_on_device(new, new.device)
            return
        size = bounded(self.e, new.shape, emit_index(self.e, new.size_bytes))
        wanted = f"ptr %heap, i64 {size}, i64 {len(new.shape)}, i32 {new.label}"
        where: list[str] = []
        if new.over is not None:
            where.append("over")
            wanted += f", i64 {name(new.over)}, i64 {'1' if new.cell is None else name(new.cell)}"
        if new.output is not None:
            where.append("at")
            wanted += f", i64 {new.output}"
        function = "_".join(["relay_heap_tensor", "_or_".join(where)]) if where else "relay_heap_tensor"
        self._extents(self._object(new.result, f"call ptr @{function}({wanted})"), new.shape)

    def _new_tensor_on_device(self, new: NewTensor, device: Device) -> None:
        text = self.text
        size = bounded(self.e, new.shape, emit_index(self.e, new.size_bytes))
        room = f"ptr %heap, i64 {TENSOR_BYTES}, i64 {len(new.shape)}, i32 {new.label}"
        self._extents(self._object(new.result, f"call ptr @relay_heap_tensor_elsewhere({room})"), new.shape)
        status = emit_tensor(text, data_address(text, new.result), self.devices.index(device), size)
        failed, fine = text.label("failed"), text.label("fine")
        text.branch(text.impure(f"icmp ne i32 {status}, 0"), failed, fine)
        text.start_block(failed)
        self.frame.fail(status)
        text.start_block(fine)

    def _header(self, result: Register, label: int, rank: int) -> str:
        bytes_ = EXTENTS_OFFSET_BYTES + 8 * rank
        return self._object(result, f"call ptr @relay_heap_new(ptr %heap, i64 {bytes_}, i32 {label}, i32 1)")

    def _cell(self, result: Register, label: int, words: list[str]) -> None:
        bytes_ = FIELDS_OFFSET_BYTES + 8 * len(words)
        new = f"call ptr @relay_heap_new(ptr %heap, i64 {bytes_}, i32 {label}, i32 {len(words)})"
        address = self._object(result, new)
        for position, word in enumerate(words):
            self.text.effect(
                f"store i64 {word}, ptr {at(self.text, address, FIELDS_OFFSET_BYTES + 8 * position)}, align 8"
            )

    def _extents(self, address: str, shape: tuple[IntExpr, ...]) -> None:
        for axis, extent in enumerate(shape):
            number = emit_index(self.e, extent)
            self.text.effect(
                f"store i64 {number}, ptr {at(self.text, address, EXTENTS_OFFSET_BYTES + 8 * axis)}, align 8"
            )

    def _read(self, operand: Operand) -> str:
        """The address of the data of an operand."""
        match operand:
            case ConstantPlace(offset_bytes):
                return at(self.text, self.frame.constants(), offset_bytes)
            case Scalar():
                return scalar_slot(self.text, operand)
            case Register():
                return data_address(self.text, operand)
            case _:
                assert_never(operand)

    def _read_extent(self, read: ReadExtent) -> None:
        text = self.text
        slot = at(text, pointer(text, read.tensor), EXTENTS_OFFSET_BYTES + 8 * read.axis)
        extent = text.impure(f"load i64, ptr {slot}, align 8")
        if read.offset:
            extent = text.impure(f"sub i64 {extent}, {read.offset}")
        if read.factor != 1:
            extent = text.impure(f"sdiv i64 {extent}, {read.factor}")
        self.e.symbols[read.symbol] = (extent, HERE)

    def _indirect(self, closure: Register, arguments: tuple[Register, ...]) -> str:
        slot = field_slot(self.text, closure, 0)
        odd = self.text.impure(f"load i64, ptr {slot}, align 8")
        code = self.text.impure(f"inttoptr i64 {self.text.impure(f'lshr i64 {odd}, 1')} to ptr")
        return f"tailcc i64 {code}({self._passed((closure, *arguments))})"

    def _direct(self, procedure: str, arguments: tuple[Held, ...], kind: str) -> str:
        return f"tailcc {kind} @{procedure_symbol(procedure)}({self._passed(arguments)})"

    def _passed(self, arguments: tuple[Held, ...]) -> str:
        return pass_arguments(self.text, "%heap", list(map(name, arguments)))
