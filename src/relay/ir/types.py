"""The types of the language.

    type ::= TensorType | TupleType | FuncType | RefType | TypeVar | GlobalTypeVar | TypeCall | IncompleteType

A dimension of a tensor is an `arith` expression: `3`, `n`, `2*n + 1`, or `ANY` (`?`) for what only the run knows.
Types are small trees with ordinary equality; type variables and dimension symbols are equal only to themselves,
global type variables to those of the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TypeAlias, Union

from relay.arith.expr import Atom, IntExpr, Node, Symbol
from relay.base.arguments import TEXT, expect, expect_each, refuse
from relay.base.arguments import Kind as ArgumentKind
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.base.span import Span


@frozen
class AnyDimension(Atom):
    """`?`: an extent that is unknown until the program runs. Two of them need not be the same extent."""

    def __str__(self) -> str:
        return "?"

    __repr__ = __str__


ANY = AnyDimension()
Dimension: TypeAlias = IntExpr


class Kind(Enum):
    """What a type-level name stands for, with Relay's numbers."""

    TYPE = 0
    SHAPE_VAR = 1
    BASE_TYPE = 2
    CONSTRAINT = 4
    ADT_HANDLE = 5
    TYPE_DATA = 6


@frozen
class TensorType:
    """A tensor of `shape` and `dtype`; a scalar has shape `()`."""

    shape: tuple[Dimension, ...]
    dtype: DType

    def __post_init__(self) -> None:
        _freeze(self, "shape")
        for extent in self.shape:
            if not isinstance(extent, _EXTENT.types):
                refuse(extent, _EXTENT, "an extent of a TensorType")
        if type(self.dtype) is not DType:
            object.__setattr__(self, "dtype", dtype_of(self.dtype))

    def __str__(self) -> str:
        if not self.shape:
            return str(self.dtype)
        comma = "," if len(self.shape) == 1 else ""
        return f"Tensor[({', '.join(map(str, self.shape))}{comma}), {self.dtype}]"


@frozen
class TupleType:
    fields: tuple[Type, ...]

    def __post_init__(self) -> None:
        _freeze(self, "fields")
        for each in self.fields:
            if not isinstance(each, TYPE.types):
                refuse(each, TYPE, "a field of a TupleType")

    def __str__(self) -> str:
        comma = "," if len(self.fields) == 1 else ""
        return f"({', '.join(map(str, self.fields))}{comma})"


@frozen
class FuncType:
    """`fn [type_params](arg_types) -> ret_type`. Dimension symbols of the parameters are quantified too."""

    arg_types: tuple[Type, ...]
    ret_type: Type
    type_params: tuple[TypeVar, ...] = ()

    def __post_init__(self) -> None:
        _freeze(self, "arg_types")
        _freeze(self, "type_params")
        expect_each((*self.arg_types, self.ret_type), TYPE, "an argument or the result of a FuncType")

    def __str__(self) -> str:
        parameters = f" [{', '.join(map(str, self.type_params))}]" if self.type_params else " "
        return f"fn{parameters}({', '.join(map(str, self.arg_types))}) -> {self.ret_type}"


@frozen
class RefType:
    """A mutable cell that holds a `value`."""

    value: Type

    def __post_init__(self) -> None:
        expect(self.value, TYPE, "what a RefType holds")

    def __str__(self) -> str:
        return f"ref({self.value})"


@frozen(eq=False)
class TypeVar:
    """A type parameter; equal only to itself."""

    name: str
    kind: Kind = Kind.TYPE

    def __str__(self) -> str:
        return self.name


@frozen
class GlobalTypeVar:
    """The name of an algebraic data type."""

    name: str
    kind: Kind = Kind.ADT_HANDLE

    def __post_init__(self) -> None:
        expect(self.name, TEXT, "the name of a GlobalTypeVar")

    def __str__(self) -> str:
        return self.name


@frozen
class TypeCall:
    """A data type applied to its parameters: `List[Tensor[(n,), float32]]`."""

    func: GlobalTypeVar
    args: tuple[Type, ...]

    def __post_init__(self) -> None:
        _freeze(self, "args")
        expect_each(self.args, TYPE, "an argument of a TypeCall")

    def __str__(self) -> str:
        return f"{self.func}[{', '.join(map(str, self.args))}]" if self.args else str(self.func)


@frozen(eq=False)
class IncompleteType:
    """A type still to be found; `reason` says what it is the type of (`result of nn.conv2d`), `span` where."""

    kind: Kind = Kind.TYPE
    reason: str = ""
    span: Span | None = None

    def __str__(self) -> str:
        return "_"


Type: TypeAlias = Union[TensorType, TupleType, FuncType, RefType, TypeVar, GlobalTypeVar, TypeCall, IncompleteType]


_TYPES = (TensorType, TupleType, FuncType, RefType, TypeVar, GlobalTypeVar, TypeCall, IncompleteType)
TYPE = ArgumentKind(
    _TYPES, "a type", lambda value: 'write the type: relay.TensorType((3, 4), "float32"), or shape=… of relay.var'
    if isinstance(value, (str, int, tuple, list)) else "",
)  # fmt: skip
_EXTENT = ArgumentKind(
    (int, Node), "a whole number or a symbolic integer",
    lambda value: "relay.var(…, shape=…) takes names of symbols" if isinstance(value, str) else "",
)  # fmt: skip
_LIST = ArgumentKind((list, tuple), "a list")


def _freeze(type_: object, name: str) -> None:
    value: object = getattr(type_, name)
    if not isinstance(value, tuple):
        if not isinstance(value, Iterable) or isinstance(value, str):
            refuse(value, _LIST, f"`{name}` of a {type(type_).__name__}")
        object.__setattr__(type_, name, tuple(value))


def scalar_type(dtype: str | DType) -> TensorType:
    """The type of a scalar tensor."""
    return TensorType((), dtype_of(dtype))


def type_children(type_: Type) -> tuple[Type, ...]:
    """The types that stand directly in a type."""
    match type_:
        case TupleType(fields):
            return fields
        case FuncType(arg_types, ret_type, _):
            return (*arg_types, ret_type)
        case RefType(value):
            return (value,)
        case TypeCall(_, args):
            return args
        case TensorType() | TypeVar() | GlobalTypeVar() | IncompleteType():
            return ()


def type_parts(type_: Type) -> Iterator[Type]:
    """A type and all types inside it, each before its parts, left to right."""
    stack = [type_]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(reversed(type_children(part)))


def dimension_symbols(type_: Type) -> tuple[Symbol, ...]:
    """The symbols that stand alone as a dimension somewhere in a type, each once, in order of first appearance.

    These are the ones a value of the type determines: `n` of `Tensor[(n, 2*m), float32]`, not `m`.
    """
    found: dict[Symbol, None] = {}
    for part in type_parts(type_):
        if isinstance(part, TensorType):
            found.update((dim, None) for dim in part.shape if isinstance(dim, Symbol))
    return tuple(found)
