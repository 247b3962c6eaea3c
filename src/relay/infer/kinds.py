"""Kinds: what a type-level name stands for, and whether types are put together as kinds allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from relay.base.arguments import Kind as ArgumentKind
from relay.base.arguments import expect
from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.ir.datatype import TypeData
from relay.ir.module import IRModule
from relay.ir.types import (
    TYPE,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    Kind,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
)

_NAMES: Mapping[Kind, str] = {
    Kind.TYPE: "a type",
    Kind.SHAPE_VAR: "a shape",
    Kind.BASE_TYPE: "an element type",
    Kind.CONSTRAINT: "a constraint",
    Kind.ADT_HANDLE: "a data type without its type arguments",
    Kind.TYPE_DATA: "the definition of a data type",
}


_TYPE_OR_DATA = ArgumentKind((*TYPE.types, TypeData), "a type")


def check_kind(type_: Type | TypeData, module: IRModule | None = None) -> Kind:
    """The kind of a type. Data types are looked up in `module`; without one their definitions are not asked for.

    Raises `RelayError` (rules `kind-mismatch`, `unknown-type`, `type-arity`) where a part has the wrong kind.

    >>> check_kind(TupleType((TypeVar("a"),)))
    <Kind.TYPE: 0>
    """
    expect(type_, _TYPE_OR_DATA, "what has a kind")
    definitions = None if module is None else module.type_definitions
    if isinstance(type_, TypeData):
        for constructor in type_.constructors:
            for field in constructor.inputs:
                must_be_type(field, f"a field of {constructor.name_hint}", definitions, constructor.span)
        return Kind.TYPE_DATA
    return _Kinds(definitions, None).of(type_)


def must_be_type(
    type_: Type, role: str, definitions: Mapping[GlobalTypeVar, TypeData] | None, span: Span | None = None
) -> None:
    """Raise `RelayError` unless `type_` can be the type of a value; `role` says where it stands."""
    _Kinds(definitions, span).expect_type(type_, role)


class _Kinds:
    """The definitions to look in, and the place to blame. Types are small: this recurses."""

    def __init__(self, definitions: Mapping[GlobalTypeVar, TypeData] | None, span: Span | None) -> None:
        self.definitions = definitions
        self.span = span

    def of(self, type_: Type) -> Kind:
        match type_:
            case TensorType():
                return Kind.TYPE
            case TypeVar(_, kind) | GlobalTypeVar(_, kind) | IncompleteType(kind):
                return kind
            case TupleType(fields):
                for position, field in enumerate(fields):
                    self.expect_type(field, f"field {position} of a tuple")
                return Kind.TYPE
            case FuncType(arg_types, ret_type):
                for position, argument in enumerate(arg_types):
                    self.expect_type(argument, f"parameter {position} of a function type")
                self.expect_type(ret_type, "the result of a function type")
                return Kind.TYPE
            case RefType(value):
                self.expect_type(value, "the content of a ref")
                return Kind.TYPE
            case TypeCall(func, args):
                self._type_call(func, args)
                return Kind.TYPE
            case _:
                assert_never(type_)

    def expect_type(self, type_: Type, role: str) -> None:
        """`type_` must be of kind TYPE. A data type that has no parameters is one by its name alone."""
        kind = self.of(type_)
        if isinstance(type_, GlobalTypeVar) and kind is Kind.ADT_HANDLE and self.definitions is not None:
            self._type_call(type_, ())
        elif kind is not Kind.TYPE:
            raise RelayError(
                rule="kind-mismatch",
                message=f"{role} must be a type",
                span=self.span,
                expected=_NAMES[Kind.TYPE],
                found=f"{type_}, {_NAMES[kind]}",
            )

    def _type_call(self, func: GlobalTypeVar, args: tuple[Type, ...]) -> None:
        kind = getattr(func, "kind", Kind.TYPE)  # what users hand in may be any type
        if kind is not Kind.ADT_HANDLE:
            raise RelayError(
                rule="kind-mismatch",
                message=f"{func} is applied to type arguments",
                span=self.span,
                expected="a data type",
                found=f"{func}, {_NAMES[kind]}",
            )
        for position, argument in enumerate(args):
            self.expect_type(argument, f"argument {position} of {func}")
        if self.definitions is None:
            return
        data = self.definitions.get(func)
        if data is None:
            message = f"the module does not define the data type {func}"
            raise RelayError(rule="unknown-type", message=message, span=self.span)
        if len(args) != len(data.type_vars):
            raise RelayError(
                rule="type-arity",
                message=f"the data type {func} takes another number of type arguments",
                span=self.span,
                expected=str(len(data.type_vars)),
                found=f"{len(args)}, in {TypeCall(func, args)}",
            )
