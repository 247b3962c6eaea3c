"""The types of values that are no tensors, as an artefact tells them: what an entry takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, Union, assert_never, cast

from relay.base.dtypes import DType

_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class TensorOf:
    """A tensor. An extent is a number, the name of a symbol, or None where any will do."""

    shape: tuple[int | str | None, ...]
    dtype: DType

    def __str__(self) -> str:
        shown = ", ".join("?" if extent is None else str(extent) for extent in self.shape)
        return f"{self.dtype}[{shown}]" if self.shape else str(self.dtype)


@dataclass(frozen=True, slots=True)
class TupleOf:
    fields: tuple[ValueType, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.fields))})"


@dataclass(frozen=True, slots=True)
class DataOf:
    """A data type, applied to its parameters."""

    name: str
    arguments: tuple[ValueType, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.arguments))}]" if self.arguments else self.name


@dataclass(frozen=True, slots=True)
class ParameterOf:
    """Parameter number `index` of the data type in whose constructor it stands."""

    index: int

    def __str__(self) -> str:
        return f"#{self.index}"


ValueType: TypeAlias = Union[TensorOf, TupleOf, DataOf, ParameterOf]


@dataclass(frozen=True, slots=True)
class DataSpec:
    """A data type: its constructors, each with the types of its fields, in the order of their tags."""

    name: str
    constructors: Mapping[str, tuple[ValueType, ...]] = field(default_factory=dict)


def instantiated(type_: ValueType, arguments: tuple[ValueType, ...]) -> ValueType:
    """A type of a constructor's field, with the parameters of its data type filled in."""
    match type_:
        case ParameterOf(index):
            return arguments[index]
        case TupleOf(fields):
            return TupleOf(tuple(instantiated(each, arguments) for each in fields))
        case DataOf(name, inner):
            return DataOf(name, tuple(instantiated(each, arguments) for each in inner))
        case TensorOf():
            return type_
        case _:
            assert_never(type_)


def type_to_json(type_: ValueType) -> Any:
    match type_:
        case TensorOf(shape, dtype):
            return {"tensor": list(shape), "dtype": str(dtype)}
        case TupleOf(fields):
            return {"tuple": [type_to_json(each) for each in fields]}
        case DataOf(name, arguments):
            return {"data": name, "of": [type_to_json(each) for each in arguments]}
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
            extents = cast("list[Any]", shape)
            if not all(each is None or isinstance(each, str) or type(each) is int for each in extents):
                raise ValueError(f"a shape of {extents}")
            return TensorOf(tuple(extents), DType(dtype))
        case {"tuple": list() as fields}:
            return TupleOf(tuple(type_from_json(each, depth + 1) for each in cast("list[Any]", fields)))
        case {"data": str() as name, "of": list() as arguments}:
            return DataOf(name, tuple(type_from_json(each, depth + 1) for each in cast("list[Any]", arguments)))
        case {"parameter": int() as index} if index >= 0:
            return ParameterOf(index)
        case _:
            raise ValueError(f"{value!r} is no type")


def data_to_json(spec: DataSpec) -> Any:
    made = [[name, [type_to_json(each) for each in fields]] for name, fields in spec.constructors.items()]
    return {"name": spec.name, "constructors": made}


def data_from_json(value: Any) -> DataSpec:
    made = {str(name): tuple(type_from_json(each) for each in fields) for name, fields in value["constructors"]}
    return DataSpec(str(value["name"]), made)
