"""What the instructions of procedures do with registers: which they write, take, give and borrow.

An instruction that *takes* a word owns it from then on; one that *gives* a word makes its procedure the owner; one that
*borrows* a word only looks at it. Scalars have no owner; they are handed on beside words.
"""

from __future__ import annotations

from typing import assert_never

from relay.lower.program.place import AddressPlace, Buffer, CheckExtents, DataPlace, Held, Place, Register, Scalar
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
from relay.lower.program.region import CallKernel, CheckIndex, CopyBytes, RegionInstruction, RunRegion


def written(instruction: ProcedureInstruction) -> tuple[Held, ...]:
    """What an instruction writes to registers."""
    match instruction:
        case NewTensor(result, device=device) | NewView(result, device=device) | Field(result, device=device):
            return (result if device is None else Buffer(result, device),)
        case NewConstant() | NewCell() | NewClosure() | Immediate() | Box():
            return (instruction.result,)
        case Unbox() | ScalarConstant() | ComputeScalar():
            return (instruction.result,)
        case RunRegion():
            return instruction.scalars
        case CallProcedure(results=results):
            return results
        case CallClosure(result) | CallHost(result):
            return (result,)
        case StoreField() | Retain() | Release() | ReadExtent() | ReadElement() | CheckExtents():
            return ()
        case _:
            assert_never(instruction)


def given(instruction: ProcedureInstruction) -> tuple[Held, ...]:
    """The words that a procedure owns once more behind an instruction; also the scalars that come the same way."""
    match instruction:
        case Retain(value):
            return (value,)
        case Field() | Unbox() | ScalarConstant() | ComputeScalar() | RunRegion():
            return ()
        case _:
            return written(instruction)


def taken(instruction: ProcedureInstruction | Terminator) -> tuple[Held, ...]:
    """The words that an instruction owns from then on, or releases; also the scalars that go the same way."""
    match instruction:
        case NewView(source=source):
            return (source,)
        case NewCell(fields=fields):
            return fields
        case NewClosure(captures=captures):
            return captures
        case StoreField(value=value) | Release(value):
            return (value,)
        case CallProcedure(arguments=arguments) | TailCall(arguments=arguments) | Jump(arguments=arguments):
            return arguments
        case CallClosure(_, closure, arguments) | TailCallClosure(closure, arguments):
            return (closure, *arguments)
        case Return(values):
            return values
        case NewTensor() | NewConstant() | Immediate() | Field() | Retain() | Box() | Unbox() | ScalarConstant():
            return ()
        case ComputeScalar() | RunRegion() | CallHost() | ReadExtent() | ReadElement() | CheckExtents():
            return ()
        case Branch() | Switch() | Fail():
            return ()
        case _:
            assert_never(instruction)


def borrowed(instruction: ProcedureInstruction | Terminator) -> tuple[Register, ...]:
    """The words that an instruction looks at."""
    match instruction:
        case NewTensor(over=over, cell=cell):
            return tuple(each for each in (over, cell) if each is not None)
        case Field(source=source):
            return (source,)
        case StoreField(target=target):
            return (target,)
        case Retain(value) | Switch(value):
            return (value,)
        case Unbox(source=source) | Branch(source):
            return (source,) if isinstance(source, Register) else ()
        case ReadExtent(tensor=tensor) | ReadElement(tensor=tensor):
            return (tensor,)
        case CallHost(_, closure, arguments):
            return (closure, *arguments)
        case RunRegion():
            return tuple(place.tensor for place in places(instruction) if isinstance(place, DataPlace))
        case _:
            return ()


def scalars(instruction: ProcedureInstruction | Terminator) -> tuple[Scalar, ...]:
    """The scalars that an instruction reads, or writes from memory."""
    match instruction:
        case Box(source=source):
            return (source,)
        case Unbox(result):
            return (result,)
        case ScalarConstant(result):
            return (result,)
        case ComputeScalar(result, _, inputs):
            return (result, *inputs)
        case RunRegion():
            return tuple(place for place in places(instruction) if isinstance(place, Scalar))
        case Branch(condition):
            return _scalar(condition)
        case _:
            return ()


def _scalar(operand: Operand) -> tuple[Scalar, ...]:
    return (operand,) if isinstance(operand, Scalar) else ()


def addresses(region: RunRegion) -> tuple[Register, ...]:
    """The registers that a region takes for addresses."""
    return tuple(place.array for place in places(region) if isinstance(place, AddressPlace))


def places(region: RunRegion) -> tuple[Place, ...]:
    """All places that a region reads or writes, in order."""
    return tuple(place for each in region.instructions for part in read_and_written(each) for place in part)


def read_and_written(instruction: RegionInstruction) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """What an instruction reads, and what it writes, what it works in included."""
    match instruction:
        case CallKernel(inputs=inputs, outputs=outputs, scratch=scratch):
            return inputs, (*outputs, *scratch)
        case CopyBytes(source, destination):
            return (source,), (destination,)
        case CheckIndex(place):
            return (place,), ()


def targets(terminator: Terminator) -> tuple[int, ...]:
    """The blocks that a block may go on at."""
    match terminator:
        case Branch(_, if_true, if_false):
            return (if_true, if_false)
        case Switch(_, cases, otherwise):
            return (*(case.block for case in cases), otherwise)
        case Jump(block):
            return (block,)
        case Return() | TailCall() | TailCallClosure() | Fail():
            return ()
        case _:
            assert_never(terminator)
