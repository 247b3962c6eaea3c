"""How type-level names may be put together."""

import pytest

from relay.base.diagnostics import RelayError
from relay.infer.kinds import check_kind, must_be_type
from relay.ir.types import (
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    Kind,
    RefType,
    TupleType,
    TypeCall,
    TypeVar,
    scalar_type,
)
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse

MODULE = parse('#[version = "0.0.5"]\ntype List[a] { Nil, Cons(a, List[a]) }\ntype Colour { Red }\n', OPERATORS)
LIST, COLOUR = (GlobalTypeVar(name, Kind.ADT_HANDLE) for name in ("List", "Colour"))
UNKNOWN = GlobalTypeVar("Tree", Kind.ADT_HANDLE)
INT, SHAPE = scalar_type("int32"), TypeVar("s", Kind.SHAPE_VAR)


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        (INT, Kind.TYPE),
        (TypeVar("a"), Kind.TYPE),
        (SHAPE, Kind.SHAPE_VAR),
        (IncompleteType(Kind.BASE_TYPE), Kind.BASE_TYPE),
        (TupleType((INT, TupleType(()))), Kind.TYPE),
        (FuncType((INT,), RefType(INT)), Kind.TYPE),
        (TypeCall(LIST, (INT,)), Kind.TYPE),
        (TypeCall(LIST, (TypeCall(LIST, (COLOUR,)),)), Kind.TYPE),
        (COLOUR, Kind.ADT_HANDLE),
        (TupleType((COLOUR,)), Kind.TYPE),
        (MODULE.type_definitions[LIST], Kind.TYPE_DATA),
    ],
)
def test_kinds(type_, kind):
    assert check_kind(type_, MODULE) is kind


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (TupleType((INT, SHAPE)), "field 1 of a tuple must be a type"),
        (FuncType((INT, SHAPE), INT), "parameter 1 of a function type must be a type"),
        (FuncType((INT,), SHAPE), "the result of a function type must be a type"),
        (RefType(SHAPE), "the content of a ref must be a type"),
        (TypeCall(LIST, (SHAPE,)), "argument 0 of List must be a type"),
        (TypeCall(LIST, (INT, INT)), "the data type List takes another number of type arguments"),
        (TupleType((LIST,)), "the data type List takes another number of type arguments"),
        (TypeCall(UNKNOWN, ()), "the module does not define the data type Tree"),
        (RefType(UNKNOWN), "the module does not define the data type Tree"),
        (TypeCall(GlobalTypeVar("T", Kind.TYPE), ()), "T is applied to type arguments"),
    ],
)
def test_what_does_not_fit(type_, message):
    with pytest.raises(RelayError) as refused:
        check_kind(type_, MODULE)
    assert message in str(refused.value)


def test_without_a_module_definitions_are_not_asked_for():
    assert check_kind(TypeCall(UNKNOWN, (INT, INT))) is Kind.TYPE
    with pytest.raises(RelayError, match="field 0 of a tuple must be a type"):
        check_kind(TupleType((UNKNOWN,)))
    with pytest.raises(RelayError, match="argument 0 of Tree must be a type"):
        check_kind(TypeCall(UNKNOWN, (SHAPE,)))


def test_the_whole_text_of_a_refusal():
    with pytest.raises(RelayError) as refused:
        must_be_type(SHAPE, "the type of %x", MODULE.type_definitions)
    assert str(refused.value) == (
        "error[kind-mismatch]: the type of %x must be a type\n  expected: a type\n  found:    s, a shape"
    )
    must_be_type(INT, "the type of %x", MODULE.type_definitions)


def test_fields_of_a_definition_must_be_types():
    text = '#[version = "0.0.5"]\ntype Pair[a] { Pair(a, List) }\ntype List[a] { Nil }\n'
    module = parse(text, OPERATORS)
    data = next(data for data in module.type_definitions.values() if data.header.name == "Pair")
    with pytest.raises(RelayError, match="the data type List takes another number of type arguments"):
        check_kind(data, module)
