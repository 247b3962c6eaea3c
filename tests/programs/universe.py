"""The types that generated programs are made of, and the data types they define."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

from relay.arith.expr import Symbol
from relay.ir.expr import Constructor
from relay.ir.module import IRModule
from relay.ir.types import FuncType, GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall, TypeVar, scalar_type
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse
from relay.text.prelude import borrow_functions, prelude_names

EXTENT = Symbol("n")
INT, FLOAT, BOOL = scalar_type("int32"), scalar_type("float32"), scalar_type("bool")
VECTOR = TensorType((3,), "float32")
MATRIX = TensorType((2, 3), "float32")
OPEN_VECTOR = TensorType((EXTENT,), "float32")
TENSORS = (INT, FLOAT, BOOL, VECTOR, MATRIX, OPEN_VECTOR)

DEFINITIONS = """#[version = "0.0.5"]
type Shape { Dot, Line(float32), Join(Shape, int32, Shape) }
type Either[a, b] { Left(a), Right(b) }
type Even[a] { Stop, Take(a, Odd[a]) }
type Odd[a] { Next(a, Even[a]) }
"""


def surroundings() -> IRModule:
    """The module that every program is added to: the whole prelude, and the data types above."""
    return borrow_functions(parse(DEFINITIONS, OPERATORS), dict.fromkeys(prelude_names()), OPERATORS)


@dataclass(frozen=True, slots=True)
class Universe:
    """Data types by name, ready to be instantiated."""

    module: IRModule

    def constructors(self, type_: TypeCall | GlobalTypeVar) -> list[tuple[Constructor, tuple[Type, ...]]]:
        """The constructors of a data type, each with the types of its fields in this instance of it."""
        header = type_.func if isinstance(type_, TypeCall) else type_
        assert isinstance(header, GlobalTypeVar)
        data = self.module.type_definitions[header]
        arguments = type_.args if isinstance(type_, TypeCall) else ()
        chosen = dict(zip(data.type_vars, arguments, strict=True))
        return [
            (constructor, tuple(instance(field, chosen) for field in constructor.inputs))
            for constructor in data.constructors
        ]


def instance(type_: Type, chosen: dict[TypeVar, Type]) -> Type:
    """A type with its parameters replaced."""
    match type_:
        case TypeVar():
            return chosen[type_]
        case TupleType(fields):
            return TupleType(tuple(instance(field, chosen) for field in fields))
        case TypeCall(func, args):
            return TypeCall(func, tuple(instance(argument, chosen) for argument in args))
        case FuncType(arg_types, ret_type):
            return FuncType(tuple(instance(each, chosen) for each in arg_types), instance(ret_type, chosen))
        case RefType(value):
            return RefType(instance(value, chosen))
        case _:
            return type_


def data(name: str, *arguments: Type) -> TypeCall | GlobalTypeVar:
    header = GlobalTypeVar(name)
    return TypeCall(header, arguments) if arguments else header


def list_of(element: Type) -> Type:
    return data("List", element)


@cache
def first_order(tensors: tuple[TensorType, ...], depth: int = 2) -> st.SearchStrategy[Type]:
    """Types whose values are data: what may be stored in refs and given as a result."""
    leaf = st.sampled_from(tensors)
    if depth == 0:
        return leaf
    below = first_order(tensors, depth - 1)
    return st.one_of(
        leaf,
        leaf,
        leaf,
        leaf,
        st.builds(lambda *parts: TupleType(parts), below, below),
        st.builds(list_of, below),
        st.builds(lambda inner: data("Option", inner), below),
        st.builds(lambda inner: data("Tree", inner), leaf),
        st.just(data("Shape")),
        st.builds(lambda left, right: data("Either", left, right), below, leaf),
        st.builds(lambda inner: data("Even", inner), leaf),
    )


@cache
def any_type(tensors: tuple[TensorType, ...], refs: bool = True) -> st.SearchStrategy[Type]:
    """All types, functions included, and refs unless told."""
    plain = first_order(tensors)
    functions = st.builds(FuncType, st.lists(plain, max_size=2).map(tuple), plain)
    return st.one_of(plain, plain, functions, *([st.builds(RefType, first_order(tensors, 1))] if refs else []))
