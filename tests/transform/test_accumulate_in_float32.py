"""How products of bfloat16 are written for machines that multiply them, and for those that do not."""

from __future__ import annotations

import numpy as np

import relay
from relay.base.dtypes import DType
from relay.ir.expr import Expr, Function
from relay.ir.traversal import post_order
from relay.ops.framework.rounding import to_dtype
from relay.transform import Pass
from relay.transform.algorithms.accumulate_in_float32 import AccumulateInFloat32

WIDENS, MULTIPLIES = AccumulateInFloat32(8), AccumulateInFloat32()


def narrow(*shape: int) -> Expr:
    return relay.const(to_dtype(np.ones(shape, np.float32), DType.BFLOAT16))


def layers(rows: int) -> Expr:
    x = relay.var("x", shape=(rows, 4), dtype="bfloat16")
    first = relay.nn.relu(relay.add(relay.nn.dense(x, narrow(5, 4)), narrow(5)))
    return relay.nn.dense(first, narrow(3, 5))


def operators(body: Expr, rule: Pass) -> list[tuple[str, str]]:
    """Names and result types of the calls, in order of evaluation."""
    function = Function(relay.analysis.free_vars(body), body)
    nodes = post_order(rule(relay.IRModule.from_expr(function))["main"].body)
    calls = [node for node in nodes if isinstance(node, relay.Call)]
    return [(call.op.name, call.checked_type.dtype.value) for call in calls]


def test_numbers_stay_wide_where_nothing_multiplies_them() -> None:
    assert operators(layers(9), WIDENS) == [
        ("cast", "float32"), ("nn.dense", "float32"), ("add", "float32"), ("nn.relu", "float32"),
        ("nn.dense", "float32"), ("cast", "bfloat16"),
    ]  # fmt: skip


def test_few_rows_read_narrow_weights() -> None:
    found = operators(layers(8), WIDENS)
    assert found == [
        ("nn.dense", "float32"), ("add", "float32"), ("nn.relu", "float32"), ("nn.dense", "float32"),
        ("cast", "bfloat16"),
    ]  # fmt: skip


def test_numbers_are_narrow_between_products_where_these_are() -> None:
    assert operators(layers(9), MULTIPLIES) == [
        ("nn.dense", "float32"), ("add", "float32"), ("nn.relu", "float32"), ("cast", "bfloat16"),
        ("nn.dense", "float32"), ("cast", "bfloat16"),
    ]  # fmt: skip


def test_what_two_take_is_rounded_where_it_is_stored() -> None:
    x = relay.var("x", shape=(9, 5), dtype="bfloat16")
    product = relay.nn.dense(x, narrow(5, 5))
    body = relay.add(relay.nn.dense(relay.nn.relu(product), narrow(5, 5)), product)
    assert [name for name, _ in operators(body, MULTIPLIES)].count("cast") >= 3
    assert [name for name, _ in operators(body, WIDENS)] == [
        "cast", "nn.dense", "nn.relu", "nn.dense", "add", "cast",
    ]  # fmt: skip


def test_a_cast_of_what_is_wide_is_no_rounding() -> None:
    x = relay.var("x", shape=(9, 4), dtype="bfloat16")
    body = relay.exp(relay.cast(relay.nn.dense(x, narrow(5, 4)), "float32"))
    assert [name for name, _ in operators(body, WIDENS)] == ["cast", "nn.dense", "exp"]
    assert [name for name, _ in operators(body, MULTIPLIES)] == ["nn.dense", "exp"]


def test_what_a_program_rounds_itself_is_rounded() -> None:
    x = relay.var("x", shape=(9, 4))
    body = relay.nn.dense(relay.cast(x, "bfloat16"), narrow(5, 4))
    assert operators(body, WIDENS)[:3] == [("cast", "bfloat16"), ("cast", "float32"), ("nn.dense", "float32")]


def test_other_programs_are_left_as_they_are() -> None:
    x = relay.var("x", shape=(9, 5))
    body = relay.nn.dense(x, relay.const(np.ones((3, 5), np.float32)))
    function = Function((x,), body)
    module = relay.transform.infer_type(relay.IRModule.from_expr(function))
    for rule in (WIDENS, MULTIPLIES):
        assert rule(module)["main"] is module["main"]
