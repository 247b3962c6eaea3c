"""AutoBatch on recursions of other forms than one function of two parts: lists of parts, functions that call one
another, and what is handed down. They give what the recursion gives, by the interpreter and natively."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay
from relay.infer.infer_type import infer_type
from relay.runtime.values.values import data_list
from relay.transform.batching.auto_batch import AutoBatch
from tests.native.running import assert_same

V = relay.Tensor[(1, 8)]
M = relay.Tensor[(8, 8)]


@relay.datatype
class Rose:
    class Node:
        value: V
        children: list[Rose]


@relay.datatype
class Bare:
    class Leaf:
        value: V

    class Some:
        children: list[Bare]

    class Pair:
        left: Bare
        others: list[Bare]


@relay.datatype
class Tree:
    class Leaf:
        value: V

    class Node:
        left: Tree
        right: Tree


# ----------------------------------------------------------------------------------------------------- lists of parts


@relay.function
def child_sum(t: Rose, w: M) -> V:
    match t:
        case Rose.Node(value, children):
            total = np.zeros((1, 8), np.float32)
            for child in children:
                total = total + child_sum(child, w)
            return np.tanh(value + total @ w)


@relay.function
def child_sum_lstm(t: Rose, w: M, u: M) -> tuple[V, V]:
    match t:
        case Rose.Node(value, children):
            given = value @ w
            hidden = np.zeros((1, 8), np.float32)
            forgotten = np.zeros((1, 8), np.float32)
            for child in children:
                h, c = child_sum_lstm(child, w, u)
                hidden += h
                forgotten += relay.sigmoid(given + h @ u) * c
            c = np.tanh(given + hidden @ u) + forgotten
            return np.tanh(c), c


@relay.function
def counted(t: Rose, w: M) -> tuple[V, int]:
    match t:
        case Rose.Node(value, children):
            total, count = value, 1
            for child in children:
                of_child, more = counted(child, w)
                total, count = of_child * 0.5 + total, count + more
            return np.tanh(total @ w), count


@relay.function
def two_lists(t: Bare, w: M) -> V:
    match t:
        case Bare.Leaf(value):
            return value
        case Bare.Some(children):
            total = np.ones((1, 8), np.float32)
            for child in children:
                total = total + np.tanh(two_lists(child, w) @ w)
            return total
        case Bare.Pair(left, others):
            first = two_lists(left, w)
            total = first
            for other in others:
                total = total + np.sum(two_lists(other, w) * first)
            return np.tanh(total)


@relay.function
def of_node(t: Rose, w: M) -> V:
    match t:
        case Rose.Node(value, children):
            return np.tanh((value + of_nodes(children, w, value * 0.5)) @ w)


@relay.function
def of_nodes(ts: list[Rose], w: M, total: V) -> V:
    match ts:
        case []:
            return total
        case [t, *rest]:
            return of_nodes(rest, w, total + of_node(t, w))


@relay.function
def behind(t: Rose, w: M) -> V:
    match t:
        case Rose.Node(value, children):
            return np.tanh((value + all_behind(children, w)) @ w)


@relay.function
def all_behind(ts: list[Rose], w: M) -> V:
    match ts:
        case []:
            return np.ones((1, 8), np.float32)
        case [t, *rest]:
            return behind(t, w) * 0.5 + all_behind(rest, w)


# --------------------------------------------------------------------------------------- functions that call each other


@relay.function
def even(t: Tree, w: M) -> V:
    match t:
        case Tree.Leaf(value):
            return value @ w
        case Tree.Node(left, right):
            return np.tanh((odd(left, w)[0] + odd(right, w)[1]) @ w)


@relay.function
def odd(t: Tree, v: M) -> tuple[V, V]:
    match t:
        case Tree.Leaf(value):
            return value, -value
        case Tree.Node(left, right):
            return even(left, v) * even(right, v), np.tanh(even(left, v))


@relay.function
def with_both(t: Rose, w: M) -> V:
    match t:
        case Rose.Node(value, children):
            total = value
            for child in children:
                total = total + with_both(child, w) * negated(child, w)
            return np.tanh(total @ w)


@relay.function
def negated(t: Rose, w: M) -> V:
    match t:
        case Rose.Node(value, children):
            total = value
            for child in children:
                total = total + with_both(child, w)
            return -np.tanh(total)


# ------------------------------------------------------------------------------------------------- what is handed down


@relay.function
def handed_down(t: Tree, w: M, state: V) -> V:
    match t:
        case Tree.Leaf(value):
            return np.tanh((value + state) @ w)
        case Tree.Node(left, right):
            mine = np.tanh(state @ w)
            return handed_down(left, w, mine) - handed_down(right, w, mine * 0.5) * state


@relay.function
def depth(t: Tree, w: M, d: int, path: tuple[V, V]) -> V:
    match t:
        case Tree.Leaf(value):
            return value * float(d) + path[0]
        case Tree.Node(left, right):
            below = depth(left, w, d + 1, (path[1], path[0] @ w)) + depth(right, w, d + 2, path)
            return np.tanh(below @ w)


@relay.function
def down_and_up(t: Rose, w: M, state: V) -> V:
    match t:
        case Rose.Node(value, children):
            mine = np.tanh(state @ w + value)
            total = mine
            for child in children:
                total = total + down_and_up(child, w, mine * 0.5)
            return np.tanh(total @ w)


@relay.function
def only_above(t: Bare, w: M, state: V) -> V:
    match t:
        case Bare.Leaf(_):
            return state
        case Bare.Some(children):
            total = state
            for child in children:
                total = total + only_above(child, w, state @ w)
            return total
        case Bare.Pair(left, others):
            total = only_above(left, w, np.tanh(state))
            for other in others:
                total = total + only_above(other, w, np.ones((1, 8), np.float32))
            return total


@relay.function
def begins(t: Tree, w: M) -> V:
    match t:
        case Tree.Leaf(value):
            return value
        case Tree.Node(left, right):
            return np.tanh(begins(left, w) + goes_on(right, w, np.ones((1, 8), np.float32)))


@relay.function
def goes_on(t: Tree, w: M, state: V) -> V:
    match t:
        case Tree.Leaf(value):
            return value * state
        case Tree.Node(left, right):
            return np.tanh((begins(left, w) + goes_on(right, w, state @ w)) @ w)


# -------------------------------------------------------------------------------------------------------------- values


def normal(random: np.random.Generator, *shape: int) -> Any:
    return (0.5 * random.standard_normal(shape)).astype(np.float32)


def rose(random: np.random.Generator, depth: int, most: int) -> Any:
    count = int(random.integers(0, most + 1)) if depth else 0
    return Rose.Node(normal(random, 1, 8), data_list([rose(random, depth - 1, most) for _ in range(count)]))


def stem(random: np.random.Generator, depth: int) -> Any:
    return Rose.Node(normal(random, 1, 8), data_list([stem(random, depth - 1)] if depth else []))


def bare(random: np.random.Generator, depth: int) -> Any:
    kind = int(random.integers(0, 3)) if depth else 0
    if kind == 0:
        return Bare.Leaf(normal(random, 1, 8))
    parts = data_list([bare(random, depth - 1) for _ in range(int(random.integers(0, 4)))])
    return Bare.Some(parts) if kind == 1 else Bare.Pair(bare(random, depth - 1), parts)


def tree(random: np.random.Generator, leaves: int) -> Any:
    if leaves == 1:
        return Tree.Leaf(normal(random, 1, 8))
    left = int(random.integers(1, leaves))
    return Tree.Node(tree(random, left), tree(random, leaves - left))


def comb(random: np.random.Generator, leaves: int) -> Any:
    found = tree(random, 1)
    for at in range(leaves):
        found = Tree.Node(tree(random, 1), found) if at % 2 else Tree.Node(found, tree(random, 1))
    return found


def roses() -> list[Any]:
    random = np.random.default_rng(0)
    shared = rose(random, 2, 3)
    of_shared = Rose.Node(normal(random, 1, 8), data_list([shared, shared, rose(random, 1, 2), shared]))
    return [
        rose(random, 0, 0),
        rose(random, 1, 40),
        stem(random, 15),
        of_shared,
        *(rose(random, 4, 4) for _ in range(3)),
    ]


def bares() -> list[Any]:
    random = np.random.default_rng(1)
    none = data_list([])
    alone = [Bare.Some(none), Bare.Pair(Bare.Some(none), none), Bare.Some(data_list([Bare.Some(none)] * 2))]
    return [*alone, *(bare(random, depth) for depth in (0, 1, 2, 3, 4, 5, 5))]


def trees() -> list[Any]:
    random = np.random.default_rng(2)
    shared = tree(random, 4)
    of_shared = Tree.Node(Tree.Node(shared, shared), shared)
    return [tree(random, 1), tree(random, 2), comb(random, 20), of_shared, *(tree(random, 15) for _ in range(3))]


def _weights(count: int = 1) -> tuple[Any, ...]:
    return tuple(normal(np.random.default_rng(3 + at), 8, 8) for at in range(count))


STATE = normal(np.random.default_rng(9), 1, 8)
FORMS = {
    child_sum: (roses, _weights()), child_sum_lstm: (roses, _weights(2)), counted: (roses, _weights()),
    two_lists: (bares, _weights()), of_node: (roses, _weights()), behind: (roses, _weights()),
    even: (trees, _weights()), odd: (trees, _weights()), with_both: (roses, _weights()),
    handed_down: (trees, (*_weights(), STATE)), depth: (trees, (*_weights(), np.int32(3), (STATE, -STATE))),
    down_and_up: (roses, (*_weights(), STATE)), only_above: (bares, (*_weights(), STATE)),
    begins: (trees, _weights()), goes_on: (trees, (*_weights(), STATE)),
}  # fmt: skip


def name_of(form: Any) -> str:
    return form.__name__


@pytest.mark.parametrize("form", FORMS, ids=name_of)
def test_one_value(form: Any) -> None:
    values, rest = FORMS[form]
    module = infer_type(form.module)
    batched = AutoBatch(module)
    assert "_batch(" in str(relay.transform.RemoveUnusedFunctions(infer_type(batched)))
    alone, by_levels = (relay.create_executor("interpreter", mod=each).evaluate() for each in (module, batched))
    for value in values():
        assert_same(by_levels(value, *rest), alone(value, *rest))


NATIVE = (child_sum_lstm, two_lists, with_both, only_above, goes_on, depth)


@pytest.mark.parametrize("form", NATIVE, ids=name_of)
def test_natively(form: Any) -> None:
    values, rest = FORMS[form]
    module = infer_type(form.module)
    executable = relay.build(AutoBatch(module), "llvm -num-threads=1 -heap=checked", opt_level=2)
    alone = relay.create_executor("interpreter", mod=module).evaluate()
    for value in values():
        assert_same(executable(value, *rest), alone(value, *rest))


# ------------------------------------------------------------------------------------------------------ many and chosen


def forest_of_roses(ts: list[Rose], w: M, u: M):
    return [child_sum_lstm(t, w, u) for t in ts]


def forest_handed_down(ts: list[Tree], w: M, state: V):
    total = np.zeros((1, 8), np.float32)
    for t in ts:
        total = total + handed_down(t, w, state)
    return total


def forest_of_two(ts: list[Tree], w: M):
    return [(even(t, w), odd(t, w)) for t in ts]


MANY = {
    forest_of_roses: (roses, _weights(2)), forest_handed_down: (trees, (*_weights(), STATE)),
    forest_of_two: (trees, _weights()),
}  # fmt: skip


@pytest.mark.parametrize("form", MANY, ids=name_of)
def test_the_values_of_a_list(form: Any) -> None:
    """Whatever the estimate says of them."""
    values, rest = MANY[form]
    module = infer_type(relay.function(form).module)
    with relay.PassContext(opt_level=3):
        batched = AutoBatch(module)
    alone, by_levels = (relay.create_executor("interpreter", mod=each).evaluate() for each in (module, batched))
    chosen = relay.build(module, "llvm -num-threads=1", opt_level=3)
    for some in (values(), values()[:1], [], values() * 6):
        expected = alone(some, *rest)
        assert_same(by_levels(some, *rest), expected)
        assert_same(chosen(some, *rest), expected)
