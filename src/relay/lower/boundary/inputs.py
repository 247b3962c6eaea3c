"""The types of what callers hand in that is no tensor, and of functions and refs that they are given: told in the
artefact, so that values can be made to fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import assert_never

from relay.arith.expr import IntExpr, Symbol, free_symbols, substitute
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import mutable
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
from relay.lower.code.context import LoweringContext
from relay.runtime.artefact.extent_json import extent_to_json
from relay.runtime.artefact.manifest import CellLabel, TensorLabel
from relay.runtime.artefact.value_types import (
    DataOf,
    DataSpec,
    Extent,
    FunctionOf,
    ParameterOf,
    RefOf,
    TensorOf,
    TupleOf,
    ValueType,
    frozen_extent,
)


@mutable
class InputTypes:
    """Tells types, and the data types that they speak of; gives a label to every kind of object they hold."""

    module: IRModule
    context: LoweringContext
    data: dict[str, DataSpec] = field(default_factory=dict)
    arities: set[int] = field(default_factory=set)  # of the functions among them
    _names: dict[Symbol, str] = field(default_factory=dict)

    def begin(self, symbols: Iterable[Symbol]) -> None:
        """The types told next are those of one function, that has these symbols: symbols of others have other names."""
        self._names.clear()
        for symbol in symbols:
            self._name(symbol)

    def told(self, type_: Type | None, parameters: tuple[TypeVar, ...] = ()) -> ValueType:
        match type_:
            case TensorType(shape, dtype):
                self.context.label(TensorLabel(dtype, len(shape)))
                return TensorOf(tuple(map(self._extent, shape)), dtype)
            case TupleType(fields):
                self.context.label(CellLabel("tuple"))
                return TupleOf(tuple(self.told(each, parameters) for each in fields))
            case GlobalTypeVar(name):
                self._define(type_)
                return DataOf(name)
            case TypeCall(func, args):
                self._define(func)
                return DataOf(func.name, tuple(self.told(each, parameters) for each in args))
            case TypeVar():
                return ParameterOf(parameters.index(type_))
            case FuncType(arg_types, ret_type) if not type_.type_params:
                self.context.label(CellLabel("closure"))
                self.arities.add(len(arg_types))
                taken = tuple(self.told(each, parameters) for each in arg_types)
                return FunctionOf(taken, self.told(ret_type, parameters))
            case RefType(value):
                self.context.label(CellLabel("ref"))
                return RefOf(self.told(value, parameters))
            case FuncType() | IncompleteType() | None:
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
            self.context.label(CellLabel("data", f"{header.name}.{constructor.name_hint}"))
            made[constructor.name_hint] = tuple(self.told(each, definition.type_vars) for each in constructor.inputs)
        self.data[header.name] = DataSpec(header.name, made)

    def _extent(self, extent: IntExpr) -> Extent:
        if isinstance(extent, int):
            return extent
        symbols = sorted(free_symbols(extent), key=lambda symbol: symbol.name)
        names: dict[Symbol, IntExpr] = {each: Symbol(self._name(each)) for each in symbols}
        try:
            return frozen_extent(extent_to_json(substitute(extent, names)))
        except TypeError:
            return None  # only the run knows it

    def _name(self, symbol: Symbol) -> str:
        """The symbol's name, or one like it where another symbol has that."""
        if symbol not in self._names:
            name, number = symbol.name, 1
            while name in self._names.values():
                number += 1
                name = f"{symbol.name}.{number}"
            self._names[symbol] = name
        return self._names[symbol]
