"""Running a program on NumPy arrays, slowly and exactly: what emitted code is checked against, and the smallest host.

Counts are checked: what is used after it was freed, or is left when a call has ended well, is an error. Memory that
nobody has written holds a pattern, and so does the arena when a region begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import count
from typing import Any, TypeAlias, assert_never, cast

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Comparison, IntExpr, Symbol, evaluate
from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.frozen import mutable
from relay.lower.program.device import Device
from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.interpretation.frame import SCALAR_BYTES, Frame, Value
from relay.lower.program.interpretation.objects import POISON, Bytes, Heap, Object, Word, fresh_bytes
from relay.lower.program.place import (
    AddressPlace,
    ArenaPlace,
    Buffer,
    CheckExtents,
    ConstantPlace,
    DataPlace,
    Held,
    Place,
    Register,
    Scalar,
    register_of,
)
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
from relay.lower.program.program import Program
from relay.lower.program.region import CallKernel, CheckIndex, CopyBytes, RunRegion
from relay.runtime.artefact.manifest import TensorLabel
from relay.tir.interpretation.interpreter import interpret
from relay.tir.stmt import PrimFunc

KernelCode: TypeAlias = Callable[[Sequence[Bytes], Sequence[int]], None]
"""A kernel: the memory of its inputs and outputs, and its extents. What it works in is its own affair."""

HostCode: TypeAlias = Callable[[Object, Sequence[Word]], Word]
"""What runs a function of the caller's: its closure and arguments, which it borrows."""

_NO_PROCEDURE = Procedure("", (), ())


def kernel_code(function: PrimFunc) -> KernelCode:
    """A kernel that is run by the interpreter of loops."""

    def run(memory: Sequence[Bytes], extents: Sequence[int]) -> None:
        known = dict(zip(function.symbols, extents, strict=True))
        arrays: list[NDArray[Any]] = []
        behind: list[tuple[Bytes, NDArray[Any]]] = []
        for buffer, room in zip(function.parameters, memory, strict=True):
            shape = tuple(evaluate(extent, known) for extent in buffer.shape)
            needed = int(np.prod(shape, dtype=np.int64)) * buffer.dtype.item_bytes
            if needed > len(room):  # the last row of a part leaves no room behind it
                behind.append((room, np.concatenate([room, fresh_bytes(needed - len(room))])))
                room = behind[-1][1]
            arrays.append(room[:needed].view(buffer.dtype.numpy).reshape(shape))
        interpret(function, arrays, known)
        for room, written in behind:
            room[:] = written[: len(room)]

    return run


@mutable
class Machine:
    """Runs procedures of a program on a heap. Scalars are held as their bits."""

    program: Program
    kernels: Mapping[str, KernelCode]
    host: HostCode
    heap: Heap = field(default_factory=Heap)
    constants: Bytes = field(init=False)
    _procedures: dict[str, Procedure] = field(init=False)
    _in_place: dict[str, KernelCode] = field(init=False)
    _on_devices: dict[str, DeviceRegion] = field(init=False)

    def __post_init__(self) -> None:
        self.constants = fresh_bytes(self.program.constant_bytes)
        for each in self.program.constants:
            flat = np.ascontiguousarray(each.array).reshape(-1).view(np.uint8)
            self.constants[each.offset_bytes : each.offset_bytes + len(flat)] = flat
        self._procedures = {each.name: each for each in self.program.procedures}
        self._on_devices = {each.name: each for each in self.program.device_regions}
        self._in_place = {each.name: kernel_code(each) for each in self.program.scalar_kernels}

    def call(self, name: str, arguments: Sequence[Value], extents: Sequence[int] = ()) -> tuple[Value, ...]:
        """What a procedure gives. Raises `RelayError` (rule `check-failed`) where the program fails."""
        frames = [self._entered(name, arguments)]
        frames[0].symbols.update(zip(frames[0].procedure.symbols, extents, strict=True))
        while True:
            frame = frames[-1]
            block = frame.procedure.blocks[frame.block]
            if frame.position < len(block.instructions):
                instruction = block.instructions[frame.position]
                frame.position += 1
                called = self._instruction(frame, instruction)
                if called is not None:
                    frames.append(called)
                continue
            terminator = block.terminator
            if isinstance(terminator, Return):
                given = frame.read_all(terminator.values)
                frames.pop()
                if not frames:
                    return given
                frames[-1].write_all(frame.results, given)
            else:
                following = self._terminator(frame, terminator)
                if following is not None:
                    following.results = frame.results
                    frames[-1] = following

    def _entered(self, name: str, arguments: Sequence[Value], results: Sequence[Held] = ()) -> Frame:
        procedure = self._procedures[name]
        frame = Frame(procedure, {}, {}, results)
        for parameter, argument in zip(procedure.parameters, arguments, strict=True):
            frame.values[register_of(parameter).number] = argument
        return frame

    # ------------------------------------------------------------------------------------------------ instructions

    def _instruction(self, frame: Frame, instruction: ProcedureInstruction) -> Frame | None:
        """Do what an instruction says; a call gives the frame that runs next."""
        heap = self.heap
        match instruction:
            case NewTensor(result, label, shape, size_bytes, device=device):
                data = fresh_bytes(frame.number(size_bytes))
                self._make(frame, result, Object(label, [], data, frame.shape(shape), device=device))
            case NewConstant(result, label, shape, place):
                extents = frame.shape(shape)
                size = int(np.prod(extents, dtype=np.int64)) * self._item_bytes(label)
                data = self.constants[place.offset_bytes : place.offset_bytes + size]
                self._make(frame, result, Object(label, [], data, extents))
            case NewView(result, label, shape, source, device):
                word = frame.word(source)
                data = heap.data(word, device)
                self._make(frame, result, Object(label, [word], data, frame.shape(shape), device=device))
            case NewCell(result, label, fields):
                self._make(frame, result, Object(label, [frame.word(each) for each in fields]))
            case NewClosure(result, label, procedure, captures):
                self._make(frame, result, Object(label, [procedure, *(frame.word(each) for each in captures)]))
            case Immediate(result, label):
                frame.values[result.number] = label
            case Field(result, source, index):
                frame.values[result.number] = cast("Word", heap.used(frame.word(source)).fields[index])
            case StoreField(target, index, value):
                fields = heap.used(frame.word(target)).fields
                before, fields[index] = fields[index], frame.word(value)
                heap.release(cast("Word", before))
            case Retain(value):
                heap.retain(frame.word(value))
            case Release(value):
                heap.release(frame.word(value))
            case Box() | Unbox() | ScalarConstant() | ComputeScalar():
                self._on_scalars(frame, instruction)
            case RunRegion():
                self._region(frame, instruction)
            case CallProcedure(results, procedure, arguments):
                return self._entered(procedure, frame.read_all(arguments), results)
            case CallClosure(result, closure, arguments):
                return self._entered(*self._applied(frame, closure, arguments), (result,))
            case CallHost(result, closure, arguments):
                words = [frame.word(each) for each in arguments]
                frame.values[result.number] = self.host(heap.used(frame.word(closure)), words)
            case ReadExtent(symbol, tensor, axis, factor, offset):
                extent = heap.used(frame.word(tensor)).shape[axis]
                frame.symbols[symbol] = int((extent - offset) / factor)
            case ReadElement(symbol, tensor, index):
                frame.symbols[symbol] = int(heap.data(frame.word(tensor))[8 * index :][:8].view(np.int64)[0])
            case CheckExtents():
                self.check(instruction, frame.symbols)
            case _:
                assert_never(instruction)
        return None

    def _on_scalars(self, frame: Frame, instruction: Box | Unbox | ScalarConstant | ComputeScalar) -> None:
        match instruction:
            case Box(result, label, source):
                self._make(frame, result, Object(label, [], frame.scalar(source)[: source.dtype.item_bytes]))
            case Unbox(result, source):
                frame.hold(result, self._operand(frame, source))
            case ScalarConstant(result, bits):
                frame.values[result.register.number] = bits
            case ComputeScalar(result, kernel, inputs):
                memory = [*(frame.scalar(each) for each in inputs), fresh_bytes(SCALAR_BYTES)]
                self._in_place[kernel](memory, ())
                frame.hold(result, memory[-1])
            case _:
                assert_never(instruction)

    def _terminator(self, frame: Frame, terminator: Terminator) -> Frame | None:
        """Go on at another block, or give the frame that takes this one's place."""
        match terminator:
            case Branch(condition, if_true, if_false):
                frame.block = if_true if self._operand(frame, condition)[0] else if_false
            case Switch(value, cases, otherwise):
                label = self.heap.label(frame.word(value))
                frame.block = next((each.block for each in cases if each.label == label), otherwise)
            case Jump(block, arguments):
                given = frame.read_all(arguments)
                frame.block = block
                frame.write_all(frame.procedure.blocks[block].parameters, given)
            case TailCall(procedure, arguments):
                return self._entered(procedure, frame.read_all(arguments))
            case TailCallClosure(closure, arguments):
                return self._entered(*self._applied(frame, closure, arguments))
            case Fail(failure):
                raise self.failure(failure)
            case Return():
                raise CompilerBug("interpret program", "a return is no jump")
            case _:
                assert_never(terminator)
        frame.position = 0
        return None

    def _applied(self, frame: Frame, closure: Register, arguments: Sequence[Register]) -> tuple[str, tuple[Value, ...]]:
        """The code of a closure, and what it is called with."""
        given = frame.read_all((closure, *arguments))
        return cast("str", self.heap.used(frame.word(closure)).fields[0]), given

    # ----------------------------------------------------------------------------------------------------- regions

    def _region(self, frame: Frame, region: RunRegion) -> None:
        arena = fresh_bytes(frame.number(region.arena_bytes))
        written = {scalar: fresh_bytes(SCALAR_BYTES) for scalar in region.scalars}

        def memory(place: Place, device: Device | None = None) -> Bytes:
            match place:
                case AddressPlace(array, offset_bytes):
                    return cast("Bytes", frame.values[array.number])[offset_bytes:]
                case ConstantPlace(offset_bytes):
                    return self.constants[offset_bytes:]
                case ArenaPlace(offset_bytes):
                    return arena[frame.number(offset_bytes) :]
                case DataPlace(tensor, offset_bytes):
                    held = frame.values[tensor.number]
                    return (held if isinstance(held, np.ndarray) else self.heap.data(held, device))[offset_bytes:]
                case Scalar():
                    return written[place] if place in written else frame.scalar(place)
                case _:
                    assert_never(place)

        numbers = count()
        for each in region.instructions:
            match each:
                case CallKernel(kernel, extents=extents, on_device=True):
                    found = self._on_devices[kernel]
                    given = [
                        memory(place, parameter.device if isinstance(parameter, Buffer) else None)
                        for place, parameter in zip(each.arguments, found.parameters, strict=True)
                    ]
                    next(numbers)
                    self._run_on_device(found, given, frame.shape(extents))
                case CallKernel(kernel, inputs, outputs, extents):
                    if each.updates is not None:
                        self._copy(frame, memory(inputs[each.updates]), memory(outputs[0]), each.updated_bytes)
                    for room in region.rooms_of_call(next(numbers)):
                        memory(ArenaPlace(room.offset_bytes))[: frame.number(room.size_bytes)] = POISON
                    self.kernels[kernel](list(map(memory, (*inputs, *outputs))), frame.shape(extents))
                case CopyBytes(source, destination, size_bytes):
                    self._copy(frame, memory(source), memory(destination), size_bytes)
                case CheckIndex(place, failure):
                    index, extent = memory(place)[:16].view(np.int64)
                    if not -extent <= index < extent:
                        raise self.failure(failure, f"{index}, of {extent}")
                case _:
                    assert_never(each)
        for scalar, room in written.items():
            frame.hold(scalar, room)

    def _copy(self, frame: Frame, source: Bytes, target: Bytes, size_bytes: IntExpr) -> None:
        size = frame.number(size_bytes)
        target[:size] = source[:size]

    def _run_on_device(self, region: DeviceRegion, memory: Sequence[Bytes], extents: Sequence[int]) -> None:
        """A region of a device, whose memory is its own arena, and what it is given."""
        values: dict[int, Value] = {
            each.register.number: room for each, room in zip(region.parameters, memory, strict=True)
        }
        symbols = dict(zip(region.symbols, extents, strict=True))
        self._region(Frame(_NO_PROCEDURE, values, symbols), region.region)

    # ------------------------------------------------------------------------------------------------------ values

    def check(self, check: CheckExtents, symbols: Mapping[Symbol, int]) -> None:
        """End the call unless a statement about extents holds."""
        if not _holds(check.condition, symbols):
            raise self.failure(check.failure)

    def failure(self, number: int, found: str = "") -> RelayError:
        return RelayError(rule="check-failed", message=str(self.program.failures[number - 1]), found=found)

    def _make(self, frame: Frame, result: Register, made: Object) -> None:
        frame.values[result.number] = self.heap.new(made)

    def _operand(self, frame: Frame, operand: Operand) -> Bytes:
        match operand:
            case Scalar():
                return frame.scalar(operand)
            case Register():
                return self.heap.data(frame.word(operand))
            case ConstantPlace(offset_bytes):
                return self.constants[offset_bytes:]
            case _:
                assert_never(operand)

    def _item_bytes(self, label: int) -> int:
        found = self.program.labels[label]
        if not isinstance(found, TensorLabel):
            raise CompilerBug("interpret program", f"label{label} is no tensor's")
        return found.dtype.item_bytes


def _holds(condition: Comparison, symbols: Mapping[Symbol, int]) -> bool:
    left, right = evaluate(condition.left, symbols), evaluate(condition.right, symbols)
    match condition.op:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case "==":
            return left == right
        case _:
            return left != right
