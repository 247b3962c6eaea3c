"""Inputs made up for any types: tensors, tuples, data by their constructors, refs, and functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from relay.arith.expr import IntExpr, Symbol, evaluate
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.interpret.values import HostFunction, Value
from relay.ir.datatype import TypeData
from relay.ir.expr import Constructor
from relay.ir.module import IRModule
from relay.ir.type_traversal import instantiated, type_symbols
from relay.ir.types import (
    AnyDimension,
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
from relay.runtime.arguments.made_up import made_up_array
from relay.runtime.values.values import DataValue, RefValue

DEEPEST_DATA = 4
"""How many constructors lie one inside another before the shortest way ends a value of a data type."""
NO_EXTENTS: Mapping[Symbol, int] = MappingProxyType({})
WIDE, COINS = (-4, 9), (0, 1)
"""Integers: what counts and computes, and what chooses or indexes. Programs refuse the first where they index."""


@frozen
class Draw:
    """What makes inputs: equal draws make equal inputs of equal types.

    `size`: the extent of axes that are `?`, and of symbols; where these are to be `apart`, that of the first, which the
    others follow one by one. `integers`: between which integers are, both included.
    """

    seed: int = 0
    size: int = 3
    apart: bool = True
    integers: tuple[int, int] = WIDE

    def extents(self, types: Sequence[Type]) -> dict[Symbol, int]:
        """What the symbols in types stand for."""
        symbols = dict.fromkeys(symbol for each in types for symbol in type_symbols(each))
        return {symbol: self.size + (place if self.apart else 0) for place, symbol in enumerate(symbols)}

    def values(
        self, types: Sequence[Type], module: IRModule, known: Mapping[Symbol, int] = NO_EXTENTS
    ) -> tuple[Value, ...]:
        """A value of each type; data types are those of the module, and what some symbols stand for may be `known`.
        Refs in them are new at each call.

        Raises `RelayError` (rule `cannot-make-up`) for what no value can be made of.

        >>> from relay.ir.types import scalar_type
        >>> Draw().values([scalar_type("int8")], IRModule())
        (array(7, dtype=int8),)
        """
        extents = {**self.extents(types), **known}
        maker = Maker(module, extents, np.random.default_rng(self.seed), self, _heights(module))
        return tuple([maker.value(each) for each in types])

    def arguments(self, module: IRModule) -> tuple[Value, ...]:
        """Arguments for `@main` of a typed module. Raises what `values` raises."""
        return self.values(parameter_types(module), module)

    def shown(self, types: Sequence[Type]) -> str:
        """The draw in words, for inputs of these types."""
        extents = ", ".join(f"{symbol} = {extent}" for symbol, extent in self.extents(types).items())
        return ", ".join(filter(None, (extents, f"seed {self.seed}")))


def draws(seed: int, size: int) -> Iterator[Draw]:
    """Draws to be tried one after another, until the program takes what they make."""
    for apart in (True, False):
        for integers in (WIDE, COINS):
            yield Draw(seed, size, apart, integers)


def parameter_types(module: IRModule) -> list[Type]:
    """The types that `@main` of a typed module takes. Raises `RelayError` (rule `cannot-make-up`) for one that is not
    known."""
    return [_known(param.checked_type or param.type_annotation) for param in module["main"].params]


def _known(type_: Type | None) -> Type:
    if type_ is None:
        raise _cannot("a value of a type that is not known")
    return type_


def _cannot(what: str) -> RelayError:
    return RelayError(
        rule="cannot-make-up", message=f"{what} cannot be made up",
        expected="tensors, tuples, data, refs, and functions of fixed types",
    )  # fmt: skip


def fields_of(constructor: Constructor, type_: TypeCall | GlobalTypeVar, data: TypeData) -> tuple[Type, ...]:
    """The types of the fields of a constructor, in an instance of its data type."""
    arguments = type_.args if isinstance(type_, TypeCall) else ()
    chosen = dict(zip(data.type_vars, arguments, strict=True))
    return tuple(instantiated(each, chosen) for each in constructor.inputs)


def data_of(type_: TypeCall | GlobalTypeVar, module: IRModule) -> TypeData:
    """The definition of a data type. Raises `RelayError` (rule `cannot-make-up`) for one that has none."""
    header = type_.func if isinstance(type_, TypeCall) else type_
    data = module.type_definitions.get(header)
    if data is None:
        raise _cannot(f"a value of {type_}")
    return data


@frozen(eq=False)
class Maker:
    """Makes values one after another. `extents` are what symbols stand for, `heights` those of constructors."""

    module: IRModule
    extents: Mapping[Symbol, int]
    generator: np.random.Generator
    draw: Draw
    heights: Mapping[Constructor, int]

    def value(self, type_: Type, deepest: int = DEEPEST_DATA) -> Value:
        """A value, in which at most `deepest` constructors lie one inside another before the shortest way ends it."""
        match type_:
            case TensorType(shape, dtype):
                extents = tuple(map(self._extent, shape))
                return made_up_array(self.generator, extents, dtype, self.draw.integers)
            case TupleType(parts):
                return tuple([self.value(part, deepest) for part in parts])
            case RefType(inside):
                return RefValue(self.value(inside, deepest))
            case FuncType(arg_types, ret_type):
                return self._function(arg_types, ret_type)
            case TypeCall() | GlobalTypeVar():
                return self._data(type_, deepest)
            case TypeVar() | IncompleteType():
                raise _cannot(f"a value of the type {type_}")

    def _extent(self, dim: IntExpr) -> int:
        extent = self.draw.size if isinstance(dim, AnyDimension) else evaluate(dim, self.extents)
        if extent < 0:
            raise _cannot(f"an axis of {dim} elements, which are {extent} here,")
        return extent

    def _function(self, arg_types: Sequence[Type], ret_type: Type) -> HostFunction:
        """A function that gives the same value whenever it is called."""
        given = self.value(ret_type)
        count = len(arg_types)

        def constantly(*arguments: object) -> object:
            if len(arguments) != count:
                raise TypeError(f"this function takes {count} arguments, not {len(arguments)}")
            return given

        return constantly

    def _data(self, type_: TypeCall | GlobalTypeVar, deepest: int) -> DataValue:
        data = data_of(type_, self.module)
        choices = [each for each in data.constructors if each in self.heights]
        if not choices:
            raise _cannot(f"a value of {type_}, which has none that ends,")
        if deepest <= 0:
            choices = [min(choices, key=lambda each: self.heights[each])]
        elif self.generator.integers(3):  # large values more often than small ones
            choices = [each for each in choices if each.inputs] or choices
        chosen = choices[int(self.generator.integers(len(choices)))]
        fields = [self.value(each, deepest - 1) for each in fields_of(chosen, type_, data)]
        return DataValue(data.header.name, chosen.name_hint, tuple(fields))


def _heights(module: IRModule) -> dict[Constructor, int]:
    """How many constructors lie at least one inside another, in values that begin with each. Those of which there are
    no finite values are left out."""
    constructors = [each for data in module.type_definitions.values() for each in data.constructors]
    heights: dict[Constructor, int] = {}
    lowest: dict[GlobalTypeVar, int] = {}
    is_done = False
    while not is_done:
        is_done = True
        for each in constructors:
            below = [lowest.get(name) for field in each.inputs for name in _needed(field)]
            if each in heights or None in below:
                continue
            heights[each] = 1 + max((height for height in below if height is not None), default=0)
            lowest[each.belong_to] = min(heights[each], lowest.get(each.belong_to, heights[each]))
            is_done = False
    return heights


def _needed(type_: Type) -> Iterator[GlobalTypeVar]:
    """The data types of which any value of a type holds one. What a data type's arguments are, its values may do
    without; a constructor that needs one has it in a field of its own."""
    match type_:
        case GlobalTypeVar():
            yield type_
        case TypeCall(func):
            yield func
        case TupleType(parts):
            for part in parts:
                yield from _needed(part)
        case RefType(inside):
            yield from _needed(inside)
        case FuncType(_, ret_type):
            yield from _needed(ret_type)
        case TensorType() | TypeVar() | IncompleteType():
            return
