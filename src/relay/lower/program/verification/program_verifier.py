"""Whether a program keeps the rules of its form. What breaks one is an error of the compiler, told with its place.

blocks      are numbered in order; jumps lead to others than the first, with an argument for each parameter
registers   and symbols are written once, before they are read on every path, as what they hold
calls       and jumps have the arguments and results of what they lead to
places      lie inside constants and arena; nothing is read in the arena that is not alive there, and no two values
            that are alive at once overlap, but for one that is written over another in its last use
memory      that a tensor has over another is written when that is read no more (`overwriting_verifier`)
devices     are called with what each parameter of a region is: an array of the host's, or a tensor on the device,
            which nobody else reads or writes; regions keep rules of their own (`device_region_verifier`). Cells hold
            and closures take tensors wherever those are: that one is where its register says, the interpreter checks
flat code   runs one region on the addresses that it is given, and nothing else does
words       are owned by one at a time, and given away or released on every path (`ownership_verifier`)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from relay.arith.expr import IntExpr, Symbol, free_symbols
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen, mutable
from relay.lower.program.device import Device
from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.place import (
    Address,
    AddressPlace,
    ArenaPlace,
    CheckExtents,
    ConstantPlace,
    DataPlace,
    Held,
    Kind,
    Place,
    Register,
    kind_of,
    register_of,
)
from relay.lower.program.procedure import (
    Block,
    CallClosure,
    CallProcedure,
    Jump,
    NewCell,
    NewClosure,
    NewConstant,
    NewTensor,
    NewView,
    Procedure,
    ProcedureInstruction,
    ReadElement,
    ReadExtent,
    Release,
    Retain,
    Return,
    StoreField,
    TailCall,
    TailCallClosure,
    Terminator,
)
from relay.lower.program.program import Entry, Program
from relay.lower.program.region import CallKernel, CheckIndex, CopyBytes, RegionInstruction, RunRegion
from relay.lower.program.registers import borrowed, places, read_and_written, scalars, taken, targets, written
from relay.lower.program.verification.device_region_verifier import broken_device_region
from relay.lower.program.verification.overwriting_verifier import broken_overwriting, broken_region
from relay.lower.program.verification.ownership_verifier import broken_ownership
from relay.lower.program.verification.region_verifier import broken_arena

MayOverwrite = Mapping[str, Sequence[int]]
"""The inputs, by position, that the result of a kernel may be written over."""

_ANYWHERE = (
    Retain, Release, NewView, NewCell, NewClosure, StoreField, ReadExtent, RunRegion, CallProcedure, CallClosure,
    TailCall, TailCallClosure, Jump, Return,
)  # fmt: skip
"""What reads tensors wherever their data are: it only hands them on, or asks for their extents."""


def verify_program(program: Program, may_overwrite: MayOverwrite) -> None:
    """Raises `CompilerBug` that names the procedure, the instruction and the rule which it breaks."""
    procedures = {each.name: each for each in program.procedures}
    if len(procedures) < len(program.procedures):
        raise CompilerBug("verify program", "two procedures have one name")
    for entry in program.entries:
        callee = procedures.get(entry.procedure)
        if callee is None or callee.is_flat != entry.is_flat:
            raise CompilerBug("verify program", f"entry {entry.name}: @{entry.procedure} cannot be entered this way")
    verifiers = [_Verifier(program, procedures, procedure, may_overwrite) for procedure in program.procedures]
    for verifier in verifiers:
        verifier.verify()
    for region in program.device_regions:
        _verify_device_region(program, region, may_overwrite)
    for where, rule in broken_ownership(program):
        raise CompilerBug("verify program", f"{where}: {rule}")
    for verifier in verifiers:
        verifier.verify_overwriting()
    for entry in program.entries:
        _verify_donations(entry, procedures[entry.procedure], may_overwrite)


def _verify_donations(entry: Entry, procedure: Procedure, may_overwrite: MayOverwrite) -> None:
    """A flat procedure writes a result that is in the memory of an input when that is read no more."""
    arrays = [AddressPlace(each.register) for each in procedure.parameters if isinstance(each, Address)]
    for each in entry.donations if entry.is_flat else ():
        if each.output is None:
            raise CompilerBug("verify program", f"@{procedure.name}: no result is in the memory of input {each.input}")
        output, given = arrays[len(entry.inputs) + each.output], arrays[each.input]
        for region in procedure.regions():
            broken = broken_region(region.instructions, output, given, may_overwrite)
            for instruction, rule in broken:
                raise CompilerBug("verify program", f"@{procedure.name}, `{instruction}`: {rule}")


def _is_constant(program: Program, offset_bytes: int) -> bool:
    """Whether a constant may begin there: one without elements may at the end."""
    return 0 <= offset_bytes <= program.constant_bytes


def _verify_device_region(program: Program, region: DeviceRegion, may_overwrite: MayOverwrite) -> None:
    def broken(what: object, rule: str) -> CompilerBug:
        return CompilerBug("verify program", f"device region @{region.name}, `{str(what).splitlines()[0]}`: {rule}")

    for where, rule in (*broken_device_region(region), *broken_arena(region.region, may_overwrite)):
        raise broken(where, rule)
    for place in region.constants:
        if not _is_constant(program, place.offset_bytes):
            raise broken(region.region, f"{place} lies behind the constants")
    for symbol in symbols_of(region.region).difference(region.symbols):
        raise broken(region.region, f"nobody tells it `{symbol.name}`")


@frozen
class _Known:
    """What is written on every path to a point."""

    registers: frozenset[Register]
    symbols: frozenset[Symbol]

    def both(self, other: _Known) -> _Known:
        return _Known(self.registers & other.registers, self.symbols & other.symbols)


@mutable
class _Verifier:
    program: Program
    procedures: Mapping[str, Procedure]
    procedure: Procedure
    may_overwrite: MayOverwrite
    kinds: dict[Register, Kind] = field(default_factory=dict)
    known: dict[int, _Known] = field(default_factory=dict)  # at the beginning of each block

    @property
    def device_parameters(self) -> Mapping[str, tuple[Kind, ...]]:
        """What each region for a device takes."""
        return {each.name: _kinds(each.parameters) for each in self.program.device_regions}

    @property
    def output_count(self) -> int:
        """How many results callers have room for at most."""
        return max((len(each.outputs) for each in self.program.entries if not each.is_flat), default=0)

    def verify(self) -> None:
        self._written_once()
        for number, block in enumerate(self.procedure.blocks):
            if block.number != number:
                self._broken(block, block.terminator, f"it is number {number} of the blocks")
            for each in block.instructions:
                self._instruction(block, each)
            self._terminator(block, block.terminator)
        self._read_after_written()

    def verify_overwriting(self) -> None:
        for block in self.procedure.blocks:
            for instruction, rule in broken_overwriting(block, self.may_overwrite):
                self._broken(block, instruction, rule)

    def _written_once(self) -> None:
        """Note what each register holds."""
        self.kinds = {register_of(each): kind_of(each) for each in self.procedure.parameters}
        for block in self.procedure.blocks:
            for each in block.parameters:
                self._written(block, block, each)
            for instruction in block.instructions:
                for each in written(instruction):
                    self._written(block, instruction, each)

    def _written(self, block: Block, where: object, held: Held) -> None:
        if register_of(held) in self.kinds:
            self._broken(block, where, f"{held} is written twice")
        self.kinds[register_of(held)] = kind_of(held)

    def _read_after_written(self) -> None:
        """What is known at the beginning of a block is known at the end of all that lead there."""
        parameters = frozenset(map(register_of, self.procedure.parameters))
        self.known[0] = _Known(parameters, frozenset(self.procedure.symbols))
        waiting = [0]
        while waiting:
            block = self.procedure.blocks[waiting.pop()]
            end = self._through(block, self.known[block.number])
            for target in targets(block.terminator):
                before = self.known.get(target)
                now = end if before is None else before.both(end)
                if now != before:
                    self.known[target] = now
                    waiting.append(target)

    def _through(self, block: Block, start: _Known) -> _Known:
        registers, symbols = {*start.registers, *map(register_of, block.parameters)}, set(start.symbols)
        for each in (*block.instructions, block.terminator):
            made = () if isinstance(each, Terminator) else written(each)
            for held in (*taken(each), *borrowed(each), *scalars(each)):
                if register_of(held) not in registers and held not in made:
                    self._broken(block, each, f"{held} is read before it is written")
                kind = self.kinds[register_of(held)]
                fits = isinstance(each, _ANYWHERE) if isinstance(kind, Device) else kind_of(held) == kind
                if not fits:
                    self._broken(block, each, f"{held} is read as {kind_of(held)}, where {kind} is held")
            for symbol in symbols_of(each):
                if symbol not in symbols:
                    self._broken(block, each, f"`{symbol.name}` is read before anything tells it")
            registers.update(map(register_of, made))
            if isinstance(each, ReadExtent | ReadElement):
                symbols.add(each.symbol)
        return _Known(frozenset(registers), frozenset(symbols))

    def _instruction(self, block: Block, instruction: ProcedureInstruction) -> None:
        if self.procedure.is_flat and not isinstance(instruction, RunRegion):
            self._broken(block, instruction, "flat code runs a region only")
        match instruction:
            case CallProcedure(results, procedure, arguments):
                self._call(block, instruction, procedure, arguments, _kinds(results))
            case NewClosure(procedure=procedure) if procedure not in self.procedures:
                self._broken(block, instruction, f"there is no procedure @{procedure}")
            case NewCell(fields=()):
                self._broken(block, instruction, "what has no fields needs no cell")
            case NewConstant(place=place) if not _is_constant(self.program, place.offset_bytes):
                self._broken(block, instruction, "it lies behind the constants")
            case NewTensor(output=int() as output) as new:
                if not output < self.output_count:
                    self._broken(block, instruction, f"no caller has an output {output}")
                if new.device is not None:
                    self._broken(block, instruction, "callers have outputs on the host only")
            case NewView(source=source, device=device) if self._kind(source) != (device or "word"):
                self._broken(block, instruction, f"{source} is no tensor there")
            case RunRegion():
                self._region(block, instruction)
            case _:
                pass
        label = getattr(instruction, "label", 0)
        if label and label >= len(self.program.labels):
            self._broken(block, instruction, f"there is no label #{label}")

    def _region(self, block: Block, region: RunRegion) -> None:
        for place in places(region):
            match place:
                case AddressPlace(array) if self.kinds.get(array) != "address":
                    self._broken(block, region, f"{place} is no array of the caller's")
                case DataPlace() if self.procedure.is_flat:
                    self._broken(block, region, f"flat code has no tensor {place}")
                case ConstantPlace(offset_bytes) if not _is_constant(self.program, offset_bytes):
                    self._broken(block, region, f"{place} lies behind the constants")
                case _:
                    pass
        for each in region.instructions:
            kinds: tuple[Kind, ...] = tuple(
                self._place_kind(place) for part in read_and_written(each) for place in part
            )
            if isinstance(each, CallKernel) and each.on_device:
                wanted = self.device_parameters.get(each.kernel)
                if wanted is None or len(wanted) != len(kinds):
                    self._broken(block, each, "there is no such region for a device")
                elif wanted != kinds:
                    self._broken(block, each, f"it takes {_shown(wanted)}, and is given {_shown(kinds)}")
            elif any(isinstance(kind, Device) for kind in kinds):
                self._broken(block, each, "the host reads and writes nothing on a device")
        for instruction, rule in broken_arena(region, self.may_overwrite):
            self._broken(block, instruction, rule)

    def _terminator(self, block: Block, terminator: Terminator) -> None:
        for target in targets(terminator):
            if not 0 < target < len(self.procedure.blocks):
                self._broken(block, terminator, f"there is no block{target} to go to")
            given = terminator.arguments if isinstance(terminator, Jump) else ()
            wanted = self.procedure.blocks[target].parameters
            if self._given(given) != _kinds(wanted):
                self._broken(block, terminator, f"block{target} takes {_shown(_kinds(wanted))}")
        match terminator:
            case Return(values) if self._given(values) != self.procedure.results:
                self._broken(block, terminator, f"@{self.procedure.name} gives {_shown(self.procedure.results)}")
            case TailCall(procedure, arguments):
                self._call(block, terminator, procedure, arguments, self.procedure.results)
            case _:
                pass

    def _call(
        self, block: Block, call: object, name: str, arguments: Sequence[Held], results: tuple[Kind, ...]
    ) -> None:
        callee = self.procedures.get(name)
        if callee is None or callee.is_flat:
            self._broken(block, call, f"there is no procedure @{name} to call")
        elif (_kinds(callee.parameters), callee.results) != (self._given(arguments), results):
            taken, given = _shown(_kinds(callee.parameters)), _shown(callee.results)
            self._broken(block, call, f"@{name} takes {taken} and gives {given}")

    def _given(self, held: Sequence[Held]) -> tuple[Kind, ...]:
        """What is handed on: a register alone stands for a word, or for a tensor on a device."""
        return tuple(self._kind(each) for each in held)

    def _kind(self, held: Held) -> Kind:
        kind = self.kinds.get(register_of(held))
        return kind if isinstance(kind, Device) else kind_of(held)

    def _place_kind(self, place: Place) -> Kind:
        """What a region for a device is given: a tensor on a device, or the address of something on the host."""
        kind = self._kind(place.tensor) if isinstance(place, DataPlace) else "address"
        return kind if isinstance(kind, Device) else "address"

    def _broken(self, block: Block, what: object, rule: str) -> None:
        text = str(what).splitlines()[0]
        raise CompilerBug("verify program", f"@{self.procedure.name}, block{block.number}, `{text}`: {rule}")


def _kinds(held: Sequence[Held | Address]) -> tuple[Kind, ...]:
    return tuple(kind_of(each) for each in held)


def _shown(kinds: Sequence[Kind]) -> str:
    return ", ".join(map(str, kinds)) or "nothing"


def symbols_of(instruction: ProcedureInstruction | Terminator) -> set[Symbol]:
    """The symbols that an instruction reads."""
    match instruction:
        case NewTensor(shape=shape, size_bytes=size_bytes):
            return _symbols((*shape, size_bytes))
        case NewConstant(shape=shape) | NewView(shape=shape):
            return _symbols(shape)
        case CheckExtents(condition):
            return _symbols((condition.left, condition.right))
        case RunRegion(instructions, arena_bytes):
            numbers = [number for each in instructions for number in _numbers(each)]
            offsets = [place.offset_bytes for place in places(instruction) if isinstance(place, ArenaPlace)]
            return _symbols((arena_bytes, *numbers, *offsets))
        case _:
            return set()


def _numbers(instruction: RegionInstruction) -> tuple[IntExpr, ...]:
    match instruction:
        case CallKernel(extents=extents, updated_bytes=updated_bytes):
            return (*extents, updated_bytes)
        case CopyBytes(size_bytes=size_bytes):
            return (size_bytes,)
        case CheckIndex():
            return ()


def _symbols(extents: Sequence[IntExpr]) -> set[Symbol]:
    return {symbol for extent in extents for symbol in free_symbols(extent)}
