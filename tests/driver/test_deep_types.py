"""Types nest to a depth that is stated; programs as deep go through all of the compiler, deeper ones are refused."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.ir.structural import structural_equal, structural_hash
from relay.ir.types import MAX_TYPE_DEPTH, TupleType, Type, scalar_type


def nested(depth: int) -> relay.IRModule:
    expr: relay.Expr = relay.var("x", shape=(2,))
    parameter = expr
    for _ in range(depth):
        expr = relay.Tuple([expr])
    return relay.IRModule.from_expr(relay.Function([parameter], expr))


def innermost(value: object) -> object:
    while isinstance(value, tuple) or hasattr(value, "fields"):
        (value,) = value if isinstance(value, tuple) else value.fields
    return value


def test_the_deepest_types_go_through_all_of_the_compiler() -> None:
    module = relay.transform.InferType()(nested(MAX_TYPE_DEPTH - 1))  # a function of it is a level more
    again = relay.parse(module.astext())
    assert structural_equal(again, module)
    assert structural_hash(again) == structural_hash(module)
    assert structural_equal(relay.load_json(relay.save_json(module)), module)
    x = np.arange(2, dtype="float32")
    for level in (0, 3):
        assert innermost(relay.build(module, opt_level=level)(x)) is not None
    assert innermost(relay.create_executor("debug", module).evaluate()(x)) is not None


def test_annotations_come_back_from_text_at_the_deepest() -> None:
    type_: Type = scalar_type("int32")
    for _ in range(MAX_TYPE_DEPTH - 1):
        type_ = TupleType((type_,))
    x = relay.Var("x", type_)
    function = relay.Function([x], x)
    assert structural_equal(relay.parse(relay.IRModule.from_expr(function).astext())["main"], function)


@pytest.mark.parametrize("depth", [MAX_TYPE_DEPTH, 600, 20_000])
def test_deeper_types_are_refused(depth: int) -> None:
    for run in (relay.transform.InferType(), relay.build, lambda m: relay.create_executor("debug", m).evaluate()):
        with pytest.raises(relay.RelayError, match="nested-too-deep") as caught:
            run(nested(depth))
        assert caught.value.expected == f"at most {MAX_TYPE_DEPTH} levels"
