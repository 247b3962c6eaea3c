"""The types of what callers hand in that is no tensor: told in the artefact, so that values can be made to fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from relay.arith.expr import IntExpr, Symbol
from relay.base.diagnostics import CompilerBug
from relay.ir.module import IRModule
from relay.ir.types import (
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
)
from relay.lower.surroundings import Surroundings
from relay.runtime.manifest import CellLabel, TensorLabel
from relay.runtime.value_types import DataOf, DataSpec, ParameterOf, TensorOf, TupleOf, ValueType


@dataclass(slots=True, eq=False)
class InputTypes:
    """Tells types, and the data types that they speak of; gives a label to every kind of object they hold."""

    module: IRModule
    around: Surroundings
    data: dict[str, DataSpec] = field(default_factory=dict)

    def told(self, type_: Type | None, parameters: tuple[TypeVar, ...] = ()) -> ValueType:
        match type_:
            case TensorType(shape, dtype):
                self.around.label(TensorLabel(dtype, len(shape)))
                return TensorOf(tuple(map(_extent, shape)), dtype)
            case TupleType(fields):
                self.around.label(CellLabel("tuple"))
                return TupleOf(tuple(self.told(each, parameters) for each in fields))
            case GlobalTypeVar(name):
                self._define(type_)
                return DataOf(name)
            case TypeCall(func, args):
                self._define(func)
                return DataOf(func.name, tuple(self.told(each, parameters) for each in args))
            case TypeVar():
                return ParameterOf(parameters.index(type_))
            case FuncType() | RefType() | IncompleteType() | None:
                raise CompilerBug("lower", f"a caller cannot make a value of type {type_}")
            case _:
                assert_never(type_)

    def _define(self, header: GlobalTypeVar) -> None:
        if header.name in self.data:
            return
        definition = self.module.type_definitions[header]
        self.data[header.name] = DataSpec(header.name)  # known while its fields are told: types may be recursive
        made: dict[str, tuple[ValueType, ...]] = {}
        for constructor in definition.constructors:
            self.around.label(CellLabel("data", f"{header.name}.{constructor.name_hint}"))
            made[constructor.name_hint] = tuple(self.told(each, definition.type_vars) for each in constructor.inputs)
        self.data[header.name] = DataSpec(header.name, made)


def _extent(extent: IntExpr) -> int | str | None:
    if isinstance(extent, int):
        return extent
    return extent.name if isinstance(extent, Symbol) else None
