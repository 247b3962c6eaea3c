"""What variables of a procedure are held in: registers, or, for a tuple that is not made, variables of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, Union

from relay.base.diagnostics import CompilerBug
from relay.ir.expr import Var, record_type
from relay.ir.types import TupleType
from relay.lower.code.blocks import OpenBlock, OpenProcedure
from relay.lower.code.context import LoweringContext
from relay.lower.code.representation import Boxed, Representation, ScalarReplaced, Unboxed
from relay.lower.program.device import Device
from relay.lower.program.place import Buffer, Held, Register, Scalar, register_of
from relay.lower.program.procedure import Field, Retain, Unbox

Location: TypeAlias = Union[Register, Scalar, tuple[Var, ...]]


class ValueLocations:
    """Where the values of variables are. Only words are owned and counted; `devices` says which are of tensors whose
    data are on a device."""

    def __init__(self, procedure: OpenProcedure, context: LoweringContext) -> None:
        self.procedure = procedure
        self.context = context
        self.of: dict[Var, Location] = {}
        self.devices: dict[Register, Device] = {}

    def word(self, var: Var) -> Register:
        held = self.of[var]
        if not isinstance(held, Register):
            raise CompilerBug("lower", f"%{var.name_hint} is held in {held}, not in a word")
        return held

    def how(self, var: Var) -> Representation:
        match self.of[var]:
            case Register() as word:
                return Boxed(self.devices.get(word))
            case Scalar(dtype=dtype):
                return Unboxed(dtype)
            case parts:
                return ScalarReplaced(tuple(map(self.how, parts)))

    def hold(self, var: Var, how: Representation) -> tuple[Held, ...]:
        """Hold a variable in fresh registers, which are given."""
        fresh = self.procedure.held(how)
        self.hold_in(var, how, iter(fresh))
        return fresh

    def hold_in(self, var: Var, how: Representation, held: Iterator[Held]) -> None:
        """Hold a variable in the registers that come next."""
        if isinstance(how, ScalarReplaced):
            for part, inner in self._parts(var, how):
                self.hold_in(part, inner, held)
        else:
            self.of[var] = self._location(next(held))

    def _location(self, held: Held) -> Location:
        if isinstance(held, Buffer):
            self.devices[held.register] = held.device
            return held.register
        return held

    def _parts(self, var: Var, how: ScalarReplaced) -> list[tuple[Var, Representation]]:
        """A variable for each part of a tuple."""
        type_ = var.checked_type
        if not isinstance(type_, TupleType):
            raise CompilerBug("lower", f"%{var.name_hint}, of type {type_}, is taken apart")
        parts = tuple(record_type(Var(f"{var.name_hint}.{i}"), field) for i, field in enumerate(type_.fields))
        self.of[var] = parts
        return list(zip(parts, how.parts, strict=True))

    def load(self, block: OpenBlock, var: Var, whole: Register, index: int) -> None:
        """Hold in a variable what a field of a cell holds: a scalar that is computed with, or the word, owned."""
        how = self.context.held(var)
        device = how.device if isinstance(how, Boxed) else None
        (field,) = self.procedure.held(Boxed(device))
        word = register_of(field)
        block.add(Field(word, whole, index, device))
        if isinstance(how, Unboxed) and self.context.is_computed(var):
            scalar = self.of[var] = self.procedure.scalar(how.dtype)
            block.add(Unbox(scalar, word))
        else:
            self.of[var] = self._location(field)
            block.add(Retain(word))

    def leaves(self, var: Var) -> Iterator[Var]:
        """The variable, or those of its parts."""
        held = self.of.get(var)
        if isinstance(held, tuple):
            for part in held:
                yield from self.leaves(part)
        else:
            yield var

    def words(self, var: Var) -> Iterator[Var]:
        """Those of the leaves that are words."""
        return (leaf for leaf in self.leaves(var) if isinstance(self.of[leaf], Register))
