"""The types of values that are no tensors, as an artefact tells them: what an entry takes, and what functions do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeAlias, Union, assert_never, cast

from relay.arith.expr import IntExpr, Symbol
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.runtime.artefact.extent_json import extent_from_json

_MAX_DEPTH = 64

Extent: TypeAlias = Union[int, str, "tuple[Extent, ...]", None]
"""A number, the name of a symbol, None where any will do, or an expression as in `extent_json`."""


@frozen
class TensorOf:
    """A tensor."""

    shape: tuple[Extent, ...]
    dtype: DType

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(shown_extent, self.shape))}]" if self.shape else str(self.dtype)


@frozen
class TupleOf:
    fields: tuple[ValueType, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.fields))})"


@frozen
class DataOf:
    """A data type, applied to its parameters."""

    name: str
    arguments: tuple[ValueType, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.arguments))}]" if self.arguments else self.name


@frozen
class FunctionOf:
    parameters: tuple[ValueType, ...]
    result: ValueType

    def __str__(self) -> str:
        return f"fn ({', '.join(map(str, self.parameters))}) -> {self.result}"


@frozen
class RefOf:
    value: ValueType

    def __str__(self) -> str:
        return f"ref({self.value})"


@frozen
class ParameterOf:
    """Parameter number `index` of the data type in whose constructor it stands."""

    index: int

    def __str__(self) -> str:
        return f"#{self.index}"


ValueType: TypeAlias = Union[TensorOf, TupleOf, DataOf, FunctionOf, RefOf, ParameterOf]


class _Symbols(dict[str, IntExpr]):
    """Every name stands for a symbol of that name."""

    def __missing__(self, name: str) -> IntExpr:
        return Symbol(name)


_SYMBOLS: Mapping[str, IntExpr] = _Symbols()


@frozen
class DataSpec:
    """A data type: its constructors, each with the types of its fields, in the order of their tags."""

    name: str
    constructors: Mapping[str, tuple[ValueType, ...]] = field(default_factory=dict)


def shown_extent(extent: Extent) -> str:
    """An extent as people write it.

    >>> shown_extent(("+", 1, ("*", 2, "n")))
    '2*n + 1'
    """
    return "?" if extent is None else str(extent_from_json(extent, _SYMBOLS))


def instantiated(type_: ValueType, arguments: tuple[ValueType, ...]) -> ValueType:
    """A type of a constructor's field, with the parameters of its data type filled in."""
    match type_:
        case ParameterOf(index):
            return arguments[index]
        case TupleOf(fields):
            return TupleOf(tuple(instantiated(each, arguments) for each in fields))
        case DataOf(name, inner):
            return DataOf(name, tuple(instantiated(each, arguments) for each in inner))
        case FunctionOf(parameters, result):
            taken = tuple(instantiated(each, arguments) for each in parameters)
            return FunctionOf(taken, instantiated(result, arguments))
        case RefOf(value):
            return RefOf(instantiated(value, arguments))
        case TensorOf():
            return type_
        case _:
            assert_never(type_)


def type_parts(type_: ValueType) -> tuple[ValueType, ...]:
    """The types that stand in a type."""
    match type_:
        case TupleOf(inner) | DataOf(_, inner):
            return inner
        case FunctionOf(parameters, result):
            return (*parameters, result)
        case RefOf(value):
            return (value,)
        case TensorOf() | ParameterOf():
            return ()
        case _:
            assert_never(type_)


def is_plain_data(type_: ValueType, data: Mapping[str, DataSpec]) -> bool:
    """Whether values of a type hold neither functions nor refs."""
    stack, met = [type_], set[str]()
    while stack:
        each = stack.pop()
        if isinstance(each, FunctionOf | RefOf):
            return False
        stack += type_parts(each)
        if isinstance(each, DataOf) and each.name not in met:
            met.add(each.name)
            stack += [part for fields in data[each.name].constructors.values() for part in fields]
    return True


def type_to_json(type_: ValueType) -> Any:
    match type_:
        case TensorOf(shape, dtype):
            return {"tensor": list(shape), "dtype": str(dtype)}
        case TupleOf(fields):
            return {"tuple": [type_to_json(each) for each in fields]}
        case DataOf(name, arguments):
            return {"data": name, "of": [type_to_json(each) for each in arguments]}
        case FunctionOf(parameters, result):
            return {"function": [type_to_json(each) for each in parameters], "gives": type_to_json(result)}
        case RefOf(inner):
            return {"ref": type_to_json(inner)}
        case ParameterOf(index):
            return {"parameter": index}
        case _:
            assert_never(type_)


def type_from_json(value: Any, depth: int = 0) -> ValueType:
    """Raises `ValueError`, `TypeError` or `LookupError` for what `type_to_json` does not write."""
    if depth > _MAX_DEPTH:
        raise ValueError("a type is nested too deeply")
    match value:
        case {"tensor": list() as shape, "dtype": str() as dtype}:
            return TensorOf(tuple(map(frozen_extent, cast("list[Any]", shape))), DType(dtype))
        case {"tuple": list() as fields}:
            return TupleOf(tuple(type_from_json(each, depth + 1) for each in cast("list[Any]", fields)))
        case {"data": str() as name, "of": list() as arguments}:
            return DataOf(name, tuple(type_from_json(each, depth + 1) for each in cast("list[Any]", arguments)))
        case {"function": list() as parameters, "gives": result}:
            taken = tuple(type_from_json(each, depth + 1) for each in cast("list[Any]", parameters))
            return FunctionOf(taken, type_from_json(result, depth + 1))
        case {"ref": inner}:
            return RefOf(type_from_json(inner, depth + 1))
        case {"parameter": int() as index} if index >= 0:
            return ParameterOf(index)
        case _:
            raise ValueError(f"{value!r} is no type")


def frozen_extent(value: Any) -> Extent:
    """An extent of a type, from JSON. Raises `ValueError`, `TypeError` or `LookupError`."""
    if value is None:
        return None
    extent_from_json(value, _SYMBOLS)
    return _frozen(value)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, cast("list[Any]", value))) if isinstance(value, list) else value


def data_to_json(spec: DataSpec) -> Any:
    made = [[name, [type_to_json(each) for each in fields]] for name, fields in spec.constructors.items()]
    return {"name": spec.name, "constructors": made}


def data_from_json(value: Any) -> DataSpec:
    made = {str(name): tuple(type_from_json(each) for each in fields) for name, fields in value["constructors"]}
    return DataSpec(str(value["name"]), made)
