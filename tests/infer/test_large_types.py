"""Types that would be exponentially large are refused, at every door, before anything takes exponential time."""

from __future__ import annotations

from itertools import pairwise

import pytest

import relay

DEPTH = 60


def pairs_of_pairs() -> relay.Function:
    x = relay.var("x", shape=(2,))
    value: relay.Expr = x
    for _ in range(DEPTH):
        value = relay.Tuple((value, value))
    return relay.Function([x], value)


def in_text() -> str:
    lines = [f"  %{i} = (%{i - 1 if i else 'x'}, %{i - 1 if i else 'x'});" for i in range(DEPTH)]
    return "\n".join(['#[version = "0.0.5"]', "def @main(%x: Tensor[(2,), float32]) {", *lines, f"  %{DEPTH - 1}", "}"])


def with_lets() -> relay.Function:
    x = relay.var("x", shape=(2,))
    names = [x, *(relay.var(f"v{i}") for i in range(DEPTH))]
    body: relay.Expr = names[-1]
    for before, name in reversed(list(pairwise(names))):
        body = relay.Let(name, relay.Tuple((before, before)), body)
    return relay.Function([x], body)


def type_of_pairs() -> relay.ir.types.Type:
    type_: relay.ir.types.Type = relay.TensorType((2,), "float32")
    for _ in range(DEPTH):
        type_ = relay.TupleType((type_, type_))
    return type_


DOORS = {
    "text": lambda: relay.parse(in_text()),
    "inference": lambda: relay.transform.InferType()(relay.IRModule.from_expr(pairs_of_pairs())),
    "lets": lambda: relay.transform.InferType()(relay.IRModule.from_expr(with_lets())),
    "build": lambda: relay.build(pairs_of_pairs()),
    "build at level 0": lambda: relay.build(pairs_of_pairs(), opt_level=0),
    "interpreter": lambda: relay.create_executor("interpreter", pairs_of_pairs()).evaluate()([1.0, 2.0]),
    "type": type_of_pairs,
    "type of a parameter": lambda: relay.build(relay.Function([v := relay.Var("v", type_of_pairs())], v)),
    "type of a function": lambda: _nested(lambda t: relay.FuncType((t,), t)),
    "type of a cell": lambda: _nested(lambda t: relay.TupleType((relay.RefType(t), t))),
}


def _nested(step) -> relay.ir.types.Type:
    type_: relay.ir.types.Type = relay.TensorType((2,), "float32")
    for _ in range(DEPTH):
        type_ = step(type_)
    return type_


@pytest.mark.parametrize("door", DOORS)
def test_types_that_double_are_refused(door):
    with pytest.raises(relay.RelayError) as refused:
        DOORS[door]()
    assert refused.value.rule == "type-too-large"
    assert "a type that is made of 32,768 tensors and names" in str(refused.value)
    assert "at most 16,384" in str(refused.value)


def test_text_says_where():
    with pytest.raises(relay.RelayError) as refused:
        relay.parse(in_text())
    assert "%14 = (%13, %13);" in str(refused.value)


def test_what_has_no_type_yet_is_linear():
    """Printing, comparing and hashing take a shared value once."""
    left, right = pairs_of_pairs(), pairs_of_pairs()
    assert len(relay.IRModule.from_expr(left).astext().splitlines()) < DEPTH + 8
    assert relay.structural_equal(left, right)
    assert relay.structural_hash(left) == relay.structural_hash(right)


def test_large_types_that_are_written_out_are_welcome():
    type_ = relay.TupleType((relay.TensorType((), "float32"),) * 10_000)
    assert type_.leaf_count == 10_000
