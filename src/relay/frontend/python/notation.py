"""Types as Python annotations: `relay.Tensor[("n", 784), "float32"]`, `tuple[A, B]`, `list[A]`, `A | None`,
`Callable[[A], B]`, `int`, `float`, `bool`, `relay.Ref[A]`, data types by their class, `TypeVar`s."""

from __future__ import annotations

import collections.abc
import types
import typing
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import Span
from relay.frontend.python.tuples import Form, field_types, is_named_tuple
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
    scalar_type,
)
from relay.ops.framework.build import tensor_type

PLAIN = {int: "int32", float: "float32", bool: "bool"}


@frozen
class Notation:
    """A type as an annotation; `| None` makes it optional, as for classes."""

    type: Type

    def __or__(self, other: object) -> Notation:
        if other is not None:
            return NotImplemented
        return Notation(TypeCall(GlobalTypeVar("Option"), (self.type,)))

    __ror__ = __or__

    def __str__(self) -> str:
        return str(self.type)


if TYPE_CHECKING:
    _Array = np.ndarray[Any, Any]  # what a parameter is to a type checker, and to Python when it runs the function
else:
    _Array = object


class Tensor(_Array):
    """The type of a tensor in an annotation: a shape, and an element type (float32 when none is given). A string in a
    shape is a symbolic extent, as is `relay.symbol("n")` (which checkers that take strings for types understand).

    >>> print(Tensor[("n", 784)])
    Tensor[(n, 784), float32]
    >>> print(Tensor[(), "int32"])
    int32
    """

    def __class_getitem__(cls, item: Any) -> Any:
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], tuple):
            return Notation(tensor_type(*item))
        return Notation(tensor_type(item))


class Ref:
    """The type of a mutable cell in an annotation: `relay.Ref[relay.Tensor[()]]`."""

    def __class_getitem__(cls, item: Any) -> Any:
        return Notation(RefType(as_type(item)))


def as_type(annotation: Any, span: Span | None = None, variables: dict[Any, TypeVar] | None = None) -> Type:
    """The Relay type that an annotation means; Python's type variables become those in `variables`, which grows.

    Raises `RelayError` (rule `bad-annotation`).
    """

    def inner(part: Any) -> Type:
        return as_type(part, span, variables)

    if isinstance(annotation, Notation):
        return annotation.type
    if isinstance(annotation, TensorType | TupleType | FuncType | RefType | TypeCall | GlobalTypeVar | IncompleteType):
        return annotation
    if annotation in PLAIN:
        return scalar_type(PLAIN[annotation])
    if annotation is None or annotation is types.NoneType:
        return TupleType(())
    if isinstance(annotation, typing.TypeVar) and variables is not None:
        return variables.setdefault(annotation, TypeVar(annotation.__name__))
    header = getattr(annotation, "__relay_type__", None)
    if isinstance(header, GlobalTypeVar):
        return header
    if is_named_tuple(annotation):
        fields = _fields_of(annotation, span)
        return TupleType(tuple(map(inner, fields.values())), Form(cast("type", annotation), tuple(fields)))
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple and Ellipsis not in arguments:
        return TupleType(tuple(map(inner, arguments)))
    if origin is list:
        return TypeCall(GlobalTypeVar("List"), tuple(map(inner, arguments)))
    if origin is collections.abc.Callable:
        return FuncType(tuple(map(inner, arguments[0])), inner(arguments[1]))
    if origin in (typing.Union, types.UnionType) and len(arguments) == 2 and types.NoneType in arguments:
        (wanted,) = (each for each in arguments if each is not types.NoneType)
        return TypeCall(GlobalTypeVar("Option"), (inner(wanted),))
    header = getattr(origin, "__relay_type__", None)
    if isinstance(header, GlobalTypeVar):
        return TypeCall(header, tuple(map(inner, arguments)))
    raise RelayError(
        rule="bad-annotation",
        message="the annotation means no Relay type",
        span=span,
        expected='relay.Tensor[("n", 784), "float32"], int, float, bool, tuple[...], list[...], Callable[[...], ...], '
        "a NamedTuple, a frozen dataclass, or a class made by @relay.datatype",
        found=repr(annotation),
    )


def _fields_of(annotation: Any, span: Span | None) -> dict[str, Any]:
    try:
        return field_types(annotation)
    except (NameError, TypeError) as error:
        raise RelayError(
            rule="bad-annotation", message=f"the fields of `{annotation.__name__}` cannot be evaluated", span=span,
            found=str(error), remedy="define the class, and what its annotations speak of, at the top of a file",
        ) from error  # fmt: skip
