"""Whether what is written over something else is written when nobody reads that any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from relay.lower.program.place import AddressPlace, CheckExtents, DataPlace, Place, Register
from relay.lower.program.procedure import (
    Block,
    CallClosure,
    CallHost,
    CallProcedure,
    Field,
    NewTensor,
    ProcedureInstruction,
    Release,
    StoreField,
    Terminator,
)
from relay.lower.program.region import CallKernel, CheckIndex, RegionInstruction, RunRegion
from relay.lower.program.registers import borrowed, read_and_written, taken


def broken_overwriting(
    block: Block, may_overwrite: Mapping[str, Sequence[int]]
) -> Iterator[tuple[ProcedureInstruction | RegionInstruction | Terminator, str]]:
    """What breaks a rule, and the rule: a tensor over another is written by one region, behind which that other is only
    released; a ref that is told to have no use for it is written before anything reads it, or may fail."""
    for position, each in enumerate(block.instructions):
        if isinstance(each, NewTensor) and each.over is not None:
            yield from _broken(each, each.over, block.instructions[position + 1 :], block.terminator, may_overwrite)


def broken_region(
    instructions: Sequence[RegionInstruction], result: Place, over: Place, may_overwrite: Mapping[str, Sequence[int]]
) -> Iterator[tuple[RegionInstruction, str]]:
    """The same of a region that writes `result` over `over`."""
    is_written = False
    for each in instructions:
        inputs, outputs = read_and_written(each)
        read = [position for position, place in enumerate(inputs) if _is_in(place, over)]
        writes = any(_is_in(place, result) for place in outputs)
        permitted = may_overwrite.get(each.kernel, ()) if isinstance(each, CallKernel) and not is_written else ()
        if read and (writes or is_written) and not set(read) <= set(permitted):
            yield each, f"it reads {over}, over which {result} is written"
        is_written |= writes


def _broken(
    new: NewTensor, over: Register, behind: Sequence[ProcedureInstruction], end: Terminator,
    may_overwrite: Mapping[str, Sequence[int]],
) -> Iterator[tuple[ProcedureInstruction | RegionInstruction | Terminator, str]]:  # fmt: skip
    region = next((each for each in behind if isinstance(each, RunRegion)), None)
    if region is None:
        yield new, "no region writes it"
        return
    yield from broken_region(region.instructions, DataPlace(new.result), DataPlace(over), may_overwrite)
    later = behind[behind.index(region) + 1 :]
    for each in (*later, end):
        if over in borrowed(each) or (over in taken(each) and not isinstance(each, Release)):
            yield each, f"it reads {over}, over which {new.result} was written"
    if Release(over) not in later:
        yield new, f"{over} is not released behind it"
    if new.cell is not None:
        yield from _broken_cell(new, new.cell, region, later)


def _broken_cell(
    new: NewTensor, cell: Register, region: RunRegion, later: Sequence[ProcedureInstruction]
) -> Iterator[tuple[ProcedureInstruction, str]]:
    """What may see the contents of a ref before they are replaced."""
    if StoreField(cell, 0, new.result) not in later:
        yield new, f"{cell} does not get it"
        return
    for each in (region, *later[: later.index(StoreField(cell, 0, new.result))]):
        fails = isinstance(each, RunRegion) and any(map(_may_fail, each.instructions))
        if fails or isinstance(each, CallProcedure | CallClosure | CallHost | Field | CheckExtents):
            yield each, f"it may see what {cell} holds, over which {new.result} is written"


def _may_fail(instruction: RegionInstruction) -> bool:
    return isinstance(instruction, CheckIndex) or (isinstance(instruction, CallKernel) and instruction.on_device)


def _is_in(place: Place, whole: Place) -> bool:
    """Whether a place is another, or a part of it."""
    match place, whole:
        case (DataPlace(one), DataPlace(other)) | (AddressPlace(one), AddressPlace(other)):
            return one == other
        case _:
            return place == whole
