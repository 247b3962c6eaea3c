"""The attributes of every operator of the table print and parse by their declared types."""

from dataclasses import MISSING, fields
from enum import Enum
from types import UnionType
from typing import Literal, Union, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.arith.expr import Node, Symbol
from relay.base.dtypes import DType
from relay.ir.expr import Call, Function, Op, Var
from relay.ir.structural import structural_equal
from relay.ir.types import ANY, TensorType
from relay.ops.table import OPERATORS
from relay.text.attributes import coerce, declared_types
from relay.text.module_parser import parse_expr
from relay.text.printer import astext

N = Symbol("n")


def values_of(hint):
    """Values of a declared type."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return st.one_of([values_of(arm) for arm in get_args(hint)])
    if origin is tuple:
        arms = get_args(hint)
        if len(arms) == 2 and arms[1] is Ellipsis:
            return st.lists(values_of(arms[0]), max_size=3).map(tuple)
        return st.tuples(*map(values_of, arms))
    if origin is Literal:
        return st.sampled_from(get_args(hint))
    if origin is not None:
        return st.just({})
    if hint is type(None):
        return st.none()
    if issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    if issubclass(hint, Node):
        return st.sampled_from([N, 2 * N + 1, ANY])
    simple = {bool: st.booleans(), int: st.integers(-9, 9), float: st.floats(allow_nan=False), str: st.text(max_size=4)}
    return simple[hint]


@pytest.mark.parametrize("name", sorted(name for name in OPERATORS if fields(OPERATORS[name].attributes)))
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_attributes_come_back(name, data):
    declared = OPERATORS[name].attributes
    hints = declared_types(declared)
    attributes = declared(**{field: data.draw(values_of(hint)) for field, hint in hints.items()})
    x = Var("x", TensorType((N,), DType.FLOAT32))
    call = Function((x,), Call(Op(OPERATORS[name]), (x,) * len(OPERATORS[name].inputs), attributes))
    assert structural_equal(parse_expr(astext(call), OPERATORS), call), astext(call)


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_defaults_are_of_their_declared_types(name):
    declared = OPERATORS[name].attributes
    for field in fields(declared):
        if field.default is not MISSING:
            value = coerce(field.default, declared_types(declared)[field.name])
            assert (value, type(value)) == (field.default, type(field.default))
