"""Lists and instances of classes that `@relay.datatype` made, as inputs: native code reads them where Python keeps
them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay
from relay import op

Row = relay.Tensor[(1, 3)]


@relay.datatype
class Tree:
    class Empty: ...

    class Leaf:
        word: Row

    class Node:
        left: Tree
        right: Tree


@relay.function
def total(tree: Tree) -> Row:
    match tree:
        case Tree.Empty():
            return op.zeros((1, 3), "float32")
        case Tree.Leaf(word):
            return word
        case Tree.Node(left, right):
            return total(left) + total(right)


@relay.function
def totals(forests: list[list[Tree]]) -> list[list[Row]]:
    return [[total(each) for each in forest] for forest in forests]


class Subclass(np.ndarray[Any, Any]):
    """An array that is not NumPy's own."""


def leaf(number: float) -> Any:
    return Tree.Leaf(np.full((1, 3), number, np.float32))


@pytest.fixture
def summed():
    """Sums the leaves of trees; it has met all three classes."""
    executable = relay.build(total.module)
    executable(Tree.Node(leaf(1), Tree.Empty()))
    return executable


@pytest.fixture
def all_summed():
    """Sums the leaves of each tree of lists of lists; it has met all three classes."""
    executable = relay.build(totals.module)
    executable([[Tree.Node(leaf(1), Tree.Empty())]])
    return executable


def forbid_the_long_way(monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("made the long way")

    monkeypatch.setattr("relay.runtime.values.building.Image.add", refuse)


def test_classes_that_were_met_are_read_natively(summed, monkeypatch):
    forbid_the_long_way(monkeypatch)
    shared = Tree.Node(leaf(0), leaf(1))
    tree = Tree.Node(Tree.Node(shared, Tree.Empty()), Tree.Node(shared, Tree.Node(leaf(2), leaf(3))))
    assert summed(tree).tolist() == [[7] * 3]


def test_lists_are_read_natively(all_summed, monkeypatch):
    forbid_the_long_way(monkeypatch)
    shared = [leaf(2), Tree.Node(leaf(1), leaf(3)), Tree.Empty()]
    for given in ([], [[]], [shared, [], shared, [leaf(5)]], [[leaf(number)] * number for number in range(300)]):
        found = [[row[0, 0] for row in rows] for rows in all_summed(given)]
        assert found == [[_leaves(tree) for tree in forest] for forest in given]


def _leaves(tree: Any) -> float:
    if isinstance(tree, Tree.Node):
        return _leaves(tree.left) + _leaves(tree.right)
    return tree.word[0, 0] if isinstance(tree, Tree.Leaf) else 0.0


def test_lists_that_do_not_fit_are_taken_the_long_way_or_refused(all_summed):
    assert [[row[0, 0] for row in rows] for rows in all_summed(([leaf(1)], (leaf(2),)))] == [[1], [2]]
    for bad in ([[leaf(1)], leaf(1)], [[[leaf(1)]]], [leaf(1)], [[np.ones((1, 3), np.float32)]], [None]):
        with pytest.raises(relay.RelayError) as caught:
            all_summed(bad)
        assert caught.value.rule == "input-value"


def test_what_does_not_fit_is_taken_the_long_way_or_refused(summed):
    row = np.arange(3, dtype=np.float32)[None].view(Subclass)
    assert summed(Tree.Node(leaf(1), Tree.Leaf(row))).tolist() == [[1, 2, 3]]
    for bad in (np.ones((1, 4), np.float32), np.ones((1, 3, 1), np.float32), np.ones((1, 3), np.int32)):
        with pytest.raises(relay.RelayError):
            summed(Tree.Node(leaf(1), Tree.Leaf(bad)))
    with pytest.raises(relay.RelayError) as caught:
        summed(Tree.Node(leaf(1), np.ones((1, 3), np.float32)))
    assert caught.value.rule == "input-value"


def test_shared_parts_are_made_once(summed):
    tree = leaf(1)
    for _ in range(16):
        tree = Tree.Node(tree, tree)
    assert summed(tree).tolist() == [[65536] * 3]
    for _ in range(40):
        tree = Tree.Node(tree, Tree.Empty())
    assert summed(tree).tolist() == [[65536] * 3]


def test_deep_values_need_no_stack(summed):
    tree, one = leaf(1), leaf(1)
    for _ in range(50_000):
        tree = Tree.Node(tree, one)
    assert summed(tree).tolist() == [[50_001] * 3]


def test_a_field_that_was_never_set_is_refused(summed):
    unfinished = object.__new__(Tree.Leaf)
    with pytest.raises((relay.RelayError, AttributeError)):
        summed(Tree.Node(leaf(1), unfinished))
