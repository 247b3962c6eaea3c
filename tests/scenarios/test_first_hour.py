"""The first hour of somebody with an idea: a Tree-LSTM, an operator and a pass, of what their pages show and no more.

The first hours of others are pages: `pytorch_to_c.md` (from a model to a call from C) and `from_relay.md` (a program
and a pass of the published Relay); `tests/contracts/test_pages.py` and `tests/driver/test_published_names.py` run them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import relay
from relay import te
from relay.ir.expr import Call, Op
from relay.ir.rewriting import rewrite_nodes
from relay.operators import Effect, Elementwise, FusionKind, NotDifferentiable, OperatorRecord, call, define

INPUTS, HIDDEN = 4, 8
Word, State = relay.Tensor[(1, INPUTS)], relay.Tensor[(1, HIDDEN)]


@relay.datatype
class Tree:
    class Leaf:
        word: Word

    class Node:
        left: Tree
        right: Tree


@relay.function
def encode(
    tree: Tree, w_leaf: relay.Tensor[(3 * HIDDEN, INPUTS)], w_node: relay.Tensor[(5 * HIDDEN, 2 * HIDDEN)]
) -> tuple[State, State]:
    match tree:
        case Tree.Leaf(word):
            i, o, u = relay.split(relay.nn.dense(word, w_leaf), 3, axis=1)
            c = relay.sigmoid(i) * np.tanh(u)
            return relay.sigmoid(o) * np.tanh(c), c
        case Tree.Node(left, right):
            left_h, left_c = encode(left, w_leaf, w_node)
            right_h, right_c = encode(right, w_leaf, w_node)
            gates = relay.nn.dense(relay.concatenate([left_h, right_h], 1), w_node)
            i, o, u, f_left, f_right = relay.split(gates, 5, axis=1)
            c = relay.sigmoid(i) * np.tanh(u) + relay.sigmoid(f_left) * left_c + relay.sigmoid(f_right) * right_c
            return relay.sigmoid(o) * np.tanh(c), c


def _same_type(run: Any, attributes: Any) -> Any:
    run.dtype_in(0, lambda dtype: dtype.is_float, "a floating-point type")
    return run.tensor(0)


@pytest.fixture
def hard_tanh() -> Iterator[OperatorRecord]:
    record = define(
        "mine.hard_tanh",
        "What it is given, between -1 and 1.",
        inputs={"data": "[..], a floating-point type"},
        type_rule=_same_type,
        meaning=lambda attributes, data: np.clip(data, -1, 1),
        compute=lambda attributes, inputs, result: te.compute(
            result.shape, lambda *i: te.maximum(te.minimum(inputs[0][i], 1.0), -1.0), name="hard_tanh"
        ),
        effect=Effect.PURE,
        fusion=FusionKind.ELEMWISE,
        layout=Elementwise(),
        gradient=NotDifferentiable("nobody trains with it"),
        support_level=10,
    )
    relay.register_operator(record)
    yield record
    relay.unregister_operator(record.name)


def _numpy(tree: Any, w_leaf: Any, w_node: Any) -> tuple[Any, Any]:
    def sigmoid(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))

    def hard(x: Any) -> Any:
        return np.clip(x, -1, 1)

    if isinstance(tree, Tree.Leaf):
        i, o, u = np.split(tree.word @ w_leaf.T, 3, axis=1)
        c = sigmoid(i) * hard(u)
    else:
        (left_h, left_c), (right_h, right_c) = (_numpy(each, w_leaf, w_node) for each in (tree.left, tree.right))
        i, o, u, f_left, f_right = np.split(np.concatenate([left_h, right_h], 1) @ w_node.T, 5, axis=1)
        c = sigmoid(i) * hard(u) + sigmoid(f_left) * left_c + sigmoid(f_right) * right_c
    return sigmoid(o) * hard(c), c


@pytest.mark.parametrize("opt_level", [0, 3])
def test_a_tree_lstm_whose_tanh_a_pass_replaces_by_an_operator(hard_tanh: OperatorRecord, opt_level: int):
    @relay.transform.function_pass(name="HardenTanh", level=1)
    def harden(function: Any, module: Any, context: Any) -> Any:
        def step(before: Any, expr: Any) -> Any:
            is_tanh = isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name == "tanh"
            return call(hard_tanh, expr.args) if is_tanh else expr

        return rewrite_nodes(function, step)

    hardened = harden(encode.module)
    assert "mine.hard_tanh" in hardened.astext()
    assert " tanh(" not in hardened.astext()
    random = np.random.default_rng(0)

    def word() -> Any:
        return Tree.Leaf(random.standard_normal((1, INPUTS), np.float32))

    w_leaf = random.standard_normal((3 * HIDDEN, INPUTS), np.float32)
    w_node = random.standard_normal((5 * HIDDEN, 2 * HIDDEN), np.float32)
    run = relay.build(hardened, opt_level=opt_level)
    for tree in (word(), Tree.Node(Tree.Node(word(), word()), Tree.Node(word(), Tree.Node(word(), word())))):
        for got, expected in zip(run(tree, w_leaf, w_node), _numpy(tree, w_leaf, w_node), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-4)
