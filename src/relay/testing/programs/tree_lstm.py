"""A binary Tree-LSTM as a program: recursion over an algebraic data type (Tai et al. 2015, 1503.00075, section 3.2).

One compilation serves every tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay import nn, op
from relay.driver.notations.python_source import CompiledFunction, function
from relay.frontend.python.datatype import datatype
from relay.frontend.python.notation import Tensor


def tree_type(inputs: int) -> Any:
    """The data type `Tree`: leaves hold the vector of a word, nodes join two trees."""

    @datatype
    class Tree:
        class Leaf:
            word: Tensor[(1, inputs)]

        class Node:
            left: Tree
            right: Tree

    return Tree


def tree_lstm(tree: Any, inputs: int, hidden: int) -> CompiledFunction:
    """`encode(tree, weights…)` → h and c of the root. Gates of a node are stacked i, o, u, f-left, f-right and computed
    from both children's h; those of a leaf, i, o, u, from its word."""

    @function
    def encode(
        node: tree, w_leaf: Tensor[(3 * hidden, inputs)], b_leaf: Tensor[(3 * hidden,)],
        w_node: Tensor[(5 * hidden, 2 * hidden)], b_node: Tensor[(5 * hidden,)],
    ) -> tuple[Tensor[(1, hidden)], Tensor[(1, hidden)]]:  # fmt: skip
        match node:
            case tree.Leaf(word):
                i, o, u = op.split(nn.dense(word, w_leaf) + b_leaf, 3, axis=1)
                c = op.sigmoid(i) * op.tanh(u)
                return op.sigmoid(o) * op.tanh(c), c
            case tree.Node(left, right):
                left_h, left_c = encode(left, w_leaf, b_leaf, w_node, b_node)
                right_h, right_c = encode(right, w_leaf, b_leaf, w_node, b_node)
                gates = nn.dense(op.concatenate([left_h, right_h], 1), w_node) + b_node
                i, o, u, f_left, f_right = op.split(gates, 5, axis=1)
                c = op.sigmoid(i) * op.tanh(u) + op.sigmoid(f_left) * left_c + op.sigmoid(f_right) * right_c
                return op.sigmoid(o) * op.tanh(c), c

    return encode


def forest_lstm(tree: Any, inputs: int, hidden: int) -> CompiledFunction:
    """`encode_all(trees, weights…)` → the list of h and c of each tree's root."""
    encode = tree_lstm(tree, inputs, hidden)

    @function
    def encode_all(
        trees: list[tree], w_leaf: Tensor[(3 * hidden, inputs)], b_leaf: Tensor[(3 * hidden,)],
        w_node: Tensor[(5 * hidden, 2 * hidden)], b_node: Tensor[(5 * hidden,)],
    ):  # fmt: skip
        return [encode(each, w_leaf, b_leaf, w_node, b_node) for each in trees]

    return encode_all


def forest_sum(tree: Any, inputs: int, hidden: int) -> CompiledFunction:
    """`encode_sum(trees, weights…)` → the sum of the h of all trees' roots, added up in a loop."""
    encode = tree_lstm(tree, inputs, hidden)

    @function
    def encode_sum(
        trees: list[tree], w_leaf: Tensor[(3 * hidden, inputs)], b_leaf: Tensor[(3 * hidden,)],
        w_node: Tensor[(5 * hidden, 2 * hidden)], b_node: Tensor[(5 * hidden,)],
    ):  # fmt: skip
        total = np.zeros((1, hidden), np.float32)
        for each in trees:
            h, _ = encode(each, w_leaf, b_leaf, w_node, b_node)
            total = total + h
        return total

    return encode_sum


def parameters(inputs: int, hidden: int, seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Seeded weights, normal with variance 1 / fan-in."""
    random = np.random.default_rng(seed)
    shapes = {
        "w_leaf": (3 * hidden, inputs), "b_leaf": (3 * hidden,),
        "w_node": (5 * hidden, 2 * hidden), "b_node": (5 * hidden,),
    }  # fmt: skip
    return {name: (random.standard_normal(s) / np.sqrt(s[-1])).astype(np.float32) for name, s in shapes.items()}


def random_tree(tree: Any, leaves: int, inputs: int, random: np.random.Generator) -> Any:
    """A tree of this many leaves, split at random, with random words."""
    if leaves == 1:
        return tree.Leaf(random.standard_normal((1, inputs), dtype=np.float32))
    left = int(random.integers(1, leaves))
    return tree.Node(random_tree(tree, left, inputs, random), random_tree(tree, leaves - left, inputs, random))
