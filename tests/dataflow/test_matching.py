"""What each form of pattern matches, and what it does not."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.dataflow_pattern import (
    dominates,
    has_dtype,
    has_shape,
    has_type,
    is_constant,
    is_expr,
    is_function,
    is_if,
    is_let,
    is_literal,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from relay.ir.expr import Function, If, Let, Tuple, TupleGetItem, Var
from relay.ops.framework.record import FusionKind
from tests.growth import is_linear
from tests.messages import check_message

x = relay.var("x", shape=(1, 3, 8, 8))
w = relay.var("w", shape=(4, 3, 3, 3))
y = relay.var("y", shape=(2, 3))
z = relay.var("z", shape=(2, 3))
conv = relay.nn.conv2d(x, w, padding=(1, 1), channels=4, kernel_size=(3, 3))
flag = relay.var("flag", shape=(), dtype="bool")
a, b = wildcard(), wildcard()


@pytest.mark.parametrize(("pattern", "expr", "matches"), [
    (wildcard(), y, True),
    (is_var(), y, True),
    (is_var("y"), y, True),
    (is_var("x"), y, False),
    (is_constant(), relay.const(1.0), True),
    (is_constant(), y, False),
    (is_literal(1), relay.const(np.ones((2, 3), "int8")), True),
    (is_literal(0), relay.const(-0.0), False),
    (is_literal(-0.0), relay.const(np.full(5, -0.0)), True),
    (is_literal(1), relay.const(np.array([1.0, 2.0])), False),
    (is_expr(relay.add(y, z)), relay.add(y, z), True),
    (is_expr(relay.add(y, y)), relay.add(y, z), False),
    (is_op("nn.conv2d")(wildcard(), is_var("w")), conv, True),
    (is_op("nn.conv2d")(wildcard(), is_constant()), conv, False),
    (is_op("nn.conv2d")(wildcard()), conv, False),
    (is_op("nn.conv2d") | is_op("nn.dense"), conv.op, True),
    ((is_op("nn.dense") | is_op("nn.conv2d"))(wildcard(), wildcard()), conv, True),
    (is_op("subtract")(is_var("y"), is_var("z")), relay.subtract(z, y), False),
    (is_op("add")(is_var("y"), is_var("z")), relay.add(z, y), True),
    (a - a, relay.subtract(y, y), True),
    (a - a, relay.subtract(y, z), False),
    (a * 2 + b, relay.add(z, relay.multiply(relay.const(2.0), y)), True),
    (1 / a, relay.divide(relay.const(1.0), y), True),
    (is_op("nn.conv2d")(a, b).has_attr({"padding": [1, 1, 1, 1], "groups": 1}), conv, True),
    (is_op("nn.conv2d")(a, b).has_attr({"groups": 2}), conv, False),
    (is_op("nn.conv2d")(a, b).has_attr({"no_such": None}), conv, False),
    (wildcard().has_attr({"TOpPattern": FusionKind.BROADCAST})(a, b), relay.add(y, z), True),
    (wildcard().has_attr({"TOpPattern": FusionKind.ELEMWISE})(a), relay.nn.relu(y), True),
    (wildcard().has_attr({"Composite": "mine"}), Function((y,), y, attrs={"Composite": "mine"}), True),
    (has_type(relay.TensorType((2, 3), "float32")), relay.add(y, z), True),
    (has_type(relay.TensorType((2, 3), "float16")), relay.add(y, z), False),
    (has_dtype("float32", is_var()), y, True),
    (has_shape((2, 3)), relay.add(y, z), True),
    (has_shape((3, 2)), relay.add(y, z), False),
    (is_tuple([is_var("y"), wildcard()]), Tuple((y, z)), True),
    (is_tuple([is_var("y")]), Tuple((y, z)), False),
    (is_tuple(), Tuple(()), True),
    (is_op("concatenate")([is_var("y"), is_var("z")]), relay.concatenate([y, z], 0), True),
    (is_tuple_get_item(is_tuple(), 1), TupleGetItem(Tuple((y, z)), 1), True),
    (is_tuple_get_item(is_tuple(), 0), TupleGetItem(Tuple((y, z)), 1), False),
    (is_if(is_var("flag"), a, is_var("z")), If(flag, y, z), True),
    (is_let(a, is_op("nn.relu")(b), a), Let(v := Var("v"), relay.nn.relu(y), v), True),
    (is_function([a], is_op("nn.relu")(a)), Function((y,), relay.nn.relu(y)), True),
    (is_function([a], is_op("nn.relu")(a)), Function((y,), relay.nn.relu(z)), False),
    (is_function(None, wildcard()), Function((y, z), z), True),
    (is_op("nn.conv2d")(a, b).optional(lambda c: is_op("nn.relu")(c)), relay.nn.relu(conv), True),
    (is_op("nn.conv2d")(a, b).optional(lambda c: is_op("nn.relu")(c)), conv, True),
    (is_op("nn.conv2d")(a, b).optional(lambda c: is_op("nn.relu")(c)), relay.tanh(conv), False),
])  # fmt: skip
def test_a_pattern(pattern, expr, matches):
    assert pattern.match(expr) is matches


def test_a_choice_is_taken_back_when_the_rest_does_not_fit():
    either = is_var("y") | is_var("z")
    assert (is_op("add")(either, is_var("y"))).match(relay.add(y, z))
    assert (is_op("subtract")(wildcard() | is_var("y"), a) + a).match(relay.add(relay.subtract(y, z), z))


unary = wildcard().has_attr({"TOpPattern": FusionKind.ELEMWISE})(wildcard())
diamond = dominates(is_op("nn.conv2d")(wildcard(), wildcard()), unary, is_op("add")(wildcard(), wildcard()))


def test_a_dominator():
    relu = relay.nn.relu(conv)
    assert diamond.match(relay.add(relay.tanh(relu), relay.exp(relu)))
    assert diamond.match(relay.add(conv, conv))
    other = relay.nn.conv2d(x, w, padding=(1, 1))
    assert not diamond.match(relay.add(relu, other)), "two different parents"
    assert not diamond.match(relay.add(relay.nn.softmax(conv), relu)), "softmax is not on the path"
    assert is_op("add")(a, b).dominates(is_op("nn.conv2d")(wildcard(), wildcard()), unary).match(relay.add(relu, conv))


def test_an_operator_that_is_not_there():
    with pytest.raises(RelayError) as caught:
        is_op("nn.conv2")
    check_message("dataflow", "unknown-operator", caught.value)


def test_deep_patterns_and_expressions():
    expr, pattern = y, is_var("y")
    for _ in range(20_000):
        expr, pattern = relay.nn.relu(expr), is_op("nn.relu")(pattern)
    assert pattern.match(expr)
    through = dominates(is_var("y"), is_op("nn.relu")(wildcard()), is_op("tanh")(wildcard()))
    assert through.match(relay.tanh(expr))


def test_a_dominator_is_looked_for_everywhere_in_linear_time():
    never = dominates(is_op("nn.dense")(a, b), is_op("nn.relu")(wildcard()), is_op("nn.relu")(wildcard()))

    def chain(length: int) -> None:
        expr = y
        for _ in range(length):
            expr = relay.nn.relu(expr)
        assert never.partition(expr) is expr

    assert is_linear(chain, 200)
