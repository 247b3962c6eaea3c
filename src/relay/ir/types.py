"""The types of the language.

    type ::= TensorType | TupleType | FuncType | RefType | TypeVar | GlobalTypeVar | TypeCall | IncompleteType

A dimension of a tensor is an `arith` expression: `3`, `n`, `2*n + 1`, or `ANY` (`?`) for what only the run knows.
Types are small trees with ordinary equality; type variables and dimension symbols are equal only to themselves,
global type variables to those of the same name. A type that would nest deeper than `MAX_TYPE_DEPTH`, or be larger than
`LARGEST_TYPE`, is refused where it is made (`RelayError`, rules `nested-too-deep` and `type-too-large`): 60 lines, each
a pair of what the line before gives, make a value whose type has 2^60 parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from enum import Enum
from math import prod
from typing import ClassVar, TypeAlias, Union

from relay.arith.expr import Atom, IntExpr, Node
from relay.base.arguments import TEXT, expect, expect_each, refuse
from relay.base.arguments import Kind as ArgumentKind
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.base.span import Span

MAX_TYPE_DEPTH = 200
"""How deep types may nest. Programs may be deeper than Python recurses; what looks into types recurses."""
LARGEST_TYPE = 1 << 14
"""The most tensors and names that a type may be made of, each counted as often as it stands there."""


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


@frozen(eq=False)
class Leaf:
    """A type without types inside."""

    depth: ClassVar[int] = 0
    leaf_count: ClassVar[int] = 1


@frozen(eq=False)
class Nested:
    """A type with types inside. `depth`: how many types are around its innermost part; `leaf_count`: how many tensors
    and names it is made of, each counted as often as it stands there, and a type of none as one.

    >>> pair = TupleType((scalar_type("int8"), scalar_type("int8")))
    >>> TupleType((pair, pair)).depth, TupleType((pair, pair)).leaf_count
    (2, 4)
    """

    depth: int = field(default=0, init=False, repr=False, compare=False, kw_only=True)
    leaf_count: int = field(default=0, init=False, repr=False, compare=False, kw_only=True)

    def _nest(self, parts: tuple[Type, ...]) -> None:
        depth = 1 + max((part.depth for part in parts), default=0)
        leaf_count = max(1, sum(part.leaf_count for part in parts))
        if depth > MAX_TYPE_DEPTH:
            raise RelayError(
                rule="nested-too-deep",
                message="a type is nested too deep",
                expected=f"at most {MAX_TYPE_DEPTH} levels",
                remedy="a tuple of more fields, or a data type that names itself, holds as much in fewer levels",
            )
        if leaf_count > LARGEST_TYPE:
            raise RelayError(
                rule="type-too-large",
                message=f"a type that is made of {leaf_count:,} tensors and names",
                expected=f"at most {LARGEST_TYPE:,}",
                found="a tuple or function of types that hold others again and again, twice as many in each",
                remedy="keep the parts in values of their own, or in a list (an algebraic data type)",
            )
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "leaf_count", leaf_count)


@frozen
class TensorType(Leaf):
    """A tensor of `shape` and `dtype`; a scalar has shape `()`."""

    shape: tuple[Dimension, ...]
    dtype: DType = DType.FLOAT32

    def __post_init__(self) -> None:
        _freeze(self, "shape")
        for extent in self.shape:
            if not isinstance(extent, _EXTENT.types):
                refuse(extent, _EXTENT, "an extent of a TensorType")
        if type(self.dtype) is not DType:
            object.__setattr__(self, "dtype", dtype_of(self.dtype))

    @property
    def element_count(self) -> int | None:
        """How many elements there are; None where an extent is no number."""
        known = [extent for extent in self.shape if isinstance(extent, int)]
        return prod(known) if len(known) == len(self.shape) else None

    @property
    def concrete_shape(self) -> tuple[int, ...]:
        """The extents as numbers. Raises `RelayError` (rule `open-extent`) where one is a symbol or `?`.

        >>> TensorType((2, 3)).concrete_shape
        (2, 3)
        """
        known = tuple(extent for extent in self.shape if isinstance(extent, int))
        if len(known) != len(self.shape):
            raise RelayError(
                rule="open-extent",
                message="an extent is no number before the program runs",
                expected="a tensor whose extents are numbers",
                found=str(self),
            )
        return known

    def __str__(self) -> str:
        if not self.shape:
            return str(self.dtype)
        comma = "," if len(self.shape) == 1 else ""
        return f"Tensor[({', '.join(map(str, self.shape))}{comma}), {self.dtype}]"


@frozen
class TupleType(Nested):
    """A tuple. `form` is what a front end makes of such tuples, as the names that the fields have there: it stays with
    the type wherever that goes, and types that differ in it alone are equal."""

    fields: tuple[Type, ...]
    form: object = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        _freeze(self, "fields")
        for each in self.fields:
            if not isinstance(each, TYPE.types):
                refuse(each, TYPE, "a field of a TupleType")
        self._nest(self.fields)

    def with_fields(self, fields: tuple[Type, ...]) -> TupleType:
        """The tuple of other fields, in the same form."""
        return TupleType(fields, self.form)

    def __str__(self) -> str:
        comma = "," if len(self.fields) == 1 else ""
        return f"({', '.join(map(str, self.fields))}{comma})"


@frozen
class FuncType(Nested):
    """`fn [type_params](arg_types) -> ret_type`. Dimension symbols of the parameters are quantified too."""

    arg_types: tuple[Type, ...]
    ret_type: Type
    type_params: tuple[TypeVar, ...] = ()

    def __post_init__(self) -> None:
        _freeze(self, "arg_types")
        _freeze(self, "type_params")
        expect_each((*self.arg_types, self.ret_type), TYPE, "an argument or the result of a FuncType")
        self._nest((*self.arg_types, self.ret_type))

    def __str__(self) -> str:
        parameters = f" [{', '.join(map(str, self.type_params))}]" if self.type_params else " "
        return f"fn{parameters}({', '.join(map(str, self.arg_types))}) -> {self.ret_type}"


@frozen
class RefType(Nested):
    """A mutable cell that holds a `value`."""

    value: Type

    def __post_init__(self) -> None:
        expect(self.value, TYPE, "what a RefType holds")
        self._nest((self.value,))

    def __str__(self) -> str:
        return f"ref({self.value})"


@frozen(eq=False)
class TypeVar(Leaf):
    """A type parameter; equal only to itself."""

    name: str
    kind: Kind = Kind.TYPE

    def __str__(self) -> str:
        return self.name


@frozen
class GlobalTypeVar(Leaf):
    """The name of an algebraic data type."""

    name: str
    kind: Kind = Kind.ADT_HANDLE

    def __post_init__(self) -> None:
        expect(self.name, TEXT, "the name of a GlobalTypeVar")

    def __str__(self) -> str:
        return self.name


@frozen
class TypeCall(Nested):
    """A data type applied to its parameters: `List[Tensor[(n,), float32]]`."""

    func: GlobalTypeVar
    args: tuple[Type, ...]

    def __post_init__(self) -> None:
        given: object = self.args
        if isinstance(given, Nested | Leaf):
            object.__setattr__(self, "args", (given,))
        _freeze(self, "args")
        expect_each(self.args, TYPE, "an argument of a TypeCall")
        self._nest(self.args)

    def __str__(self) -> str:
        return f"{self.func}[{', '.join(map(str, self.args))}]" if self.args else str(self.func)


@frozen(eq=False)
class IncompleteType(Leaf):
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
        case TensorType() | TypeVar() | GlobalTypeVar() | IncompleteType():
            return ()
        case TupleType(fields):
            return fields
        case FuncType(arg_types, ret_type, _):
            return (*arg_types, ret_type)
        case RefType(value):
            return (value,)
        case TypeCall(_, args):
            return args


def type_parts(type_: Type) -> Iterator[Type]:
    """A type and all types inside it, each before its parts, left to right."""
    stack = [type_]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(reversed(type_children(part)))
