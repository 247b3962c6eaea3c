"""A TreeLSTM over trees of different shapes: the recursive program against what peers need to run it.

PyTorch eager runs the recursion in Python. What compiles nothing recursive gets a linear form made by hand, outside the
timed part: for PyTorch the nodes of each height together, for JAX each tree in post-order for a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

import relay
from benchmarks.recurrent_programs import TREE_HIDDEN, forest
from relay.testing.programs import tree_lstm

NODES = 64  # to which JAX's form pads every tree, so that one compilation serves all

Weights = Mapping[str, Any]


def candidates() -> dict[str, Callable[[], list[Any]]]:
    """The states h, c of every root, by each of them: ours in one call, with AutoBatch and without, and in a call a
    tree."""
    program = forest()
    weights, (trees,) = program.weights, program.arguments
    single = tree_lstm.tree_lstm(tree_lstm.tree_type(TREE_HIDDEN), TREE_HIDDEN, TREE_HIDDEN).module
    batched = program.call()
    with relay.PassContext(disabled_pass=("AutoBatch",)):
        one = relay.build(single, params=weights, opt_level=3)
        unbatched = program.call()
    return {
        "relay": lambda: [e for state in batched() for e in state],
        "relay without AutoBatch": lambda: [e for state in unbatched() for e in state],
        "relay, a call a tree": lambda: [e for tree in trees for e in one(tree)],
        **_torch_calls(trees, weights),
        "jax, linear form by hand": _jax_call(trees, weights),
    }


def _is_leaf(tree: Any) -> bool:
    return not hasattr(tree, "left")


# ---------------------------------------------------------------------------------------------------------- PyTorch


def _torch_calls(trees: list[Any], weights: Weights) -> dict[str, Callable[[], list[Any]]]:
    p = {name: torch.from_numpy(each) for name, each in weights.items()}
    theirs = [as_torch(tree) for tree in trees]
    linear_form = levels(theirs)

    def eager() -> list[Any]:
        with torch.no_grad():
            return [each for tree in theirs for each in encoded(tree, p)]

    def by_hand() -> list[Any]:
        with torch.no_grad():
            return encoded_levels(linear_form, p)

    return {"torch eager": eager, "torch, linear form by hand": by_hand}


def as_torch(tree: Any) -> Any:
    """The tree with PyTorch's tensors, made beforehand: eager pays for no conversion. `(word,)` or `(left, right)`."""
    if _is_leaf(tree):
        return (torch.from_numpy(tree.word),)
    return as_torch(tree.left), as_torch(tree.right)


def _leaf(words: Any, p: Weights) -> tuple[Any, Any]:
    i, o, u = torch.nn.functional.linear(words, p["w_leaf"], p["b_leaf"]).chunk(3, 1)
    c = i.sigmoid() * u.tanh()
    return o.sigmoid() * c.tanh(), c


def _node(left: tuple[Any, Any], right: tuple[Any, Any], p: Weights) -> tuple[Any, Any]:
    gates = torch.nn.functional.linear(torch.cat([left[0], right[0]], 1), p["w_node"], p["b_node"])
    i, o, u, f_left, f_right = gates.chunk(5, 1)
    c = i.sigmoid() * u.tanh() + f_left.sigmoid() * left[1] + f_right.sigmoid() * right[1]
    return o.sigmoid() * c.tanh(), c


def encoded(tree: Any, p: Weights) -> tuple[Any, Any]:
    if len(tree) == 1:
        return _leaf(tree[0], p)
    return _node(encoded(tree[0], p), encoded(tree[1], p), p)


def levels(trees: list[Any]) -> tuple[Any, list[tuple[Any, Any]], Any]:
    """What a person would prepare outside the timed part: all words, the places of both children of the nodes of each
    height, and those of the roots, where every result has a row of one tensor."""
    words: list[Any] = []
    by_height: list[list[tuple[Any, Any]]] = []  # of each node the places of its children: height, position there

    def visit(tree: Any) -> tuple[int, int]:
        if len(tree) == 1:
            words.append(tree[0])
            return 0, len(words) - 1
        children = visit(tree[0]), visit(tree[1])
        height = 1 + max(each[0] for each in children)
        while len(by_height) < height:
            by_height.append([])
        by_height[height - 1].append(children)
        return height, len(by_height[height - 1]) - 1

    roots = [visit(tree) for tree in trees]
    starts = np.cumsum([0, len(words), *map(len, by_height)])

    def row(place: Any) -> int:
        return int(starts[place[0]] + place[1])

    indices = [tuple(torch.tensor([row(pair[side]) for pair in level]) for side in range(2)) for level in by_height]
    return torch.cat(words), indices, torch.tensor([row(root) for root in roots])


def encoded_levels(linear_form: tuple[Any, list[tuple[Any, Any]], Any], p: Weights) -> list[Any]:
    words, heights, roots = linear_form
    h = torch.empty(len(words) + sum(len(left) for left, _ in heights), TREE_HIDDEN, dtype=words.dtype)
    c = torch.empty_like(h)
    start = len(words)
    h[:start], c[:start] = _leaf(words, p)
    for left, right in heights:
        stop = start + len(left)
        h[start:stop], c[start:stop] = _node((h[left], c[left]), (h[right], c[right]), p)
        start = stop
    return [each[None] for root in roots for each in (h[root], c[root])]


# -------------------------------------------------------------------------------------------------------------- JAX


def _jax_call(trees: list[Any], weights: Weights) -> Callable[[], list[Any]]:
    """Each tree as arrays in post-order, one compiled loop over its nodes. JAX's threads are set when it starts: it
    has all that there are."""
    p = {name: jnp.asarray(each) for name, each in weights.items()}
    forms = [tuple(map(jnp.asarray, _post_order(tree))) for tree in trees]
    transposed = {name: p[name].T.copy() for name in ("w_leaf", "w_node")}

    def leaf(word: Any) -> tuple[Any, Any]:
        i, o, u = jnp.split(word @ transposed["w_leaf"] + p["b_leaf"], 3)
        c = jax.nn.sigmoid(i) * jnp.tanh(u)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c

    def inner(left_h: Any, left_c: Any, right_h: Any, right_c: Any) -> tuple[Any, Any]:
        i, o, u, f_left, f_right = jnp.split(jnp.concatenate([left_h, right_h]) @ transposed["w_node"] + p["b_node"], 5)
        c = jax.nn.sigmoid(i) * jnp.tanh(u) + jax.nn.sigmoid(f_left) * left_c + jax.nn.sigmoid(f_right) * right_c
        return jax.nn.sigmoid(o) * jnp.tanh(c), c

    @jax.jit
    def encode(words: Any, left: Any, right: Any, count: Any) -> tuple[Any, Any]:
        def step(state: Any) -> Any:
            at, h, c = state
            new_h, new_c = jax.lax.cond(
                left[at] < 0,
                lambda: leaf(words[at]),
                lambda: inner(h[left[at]], c[left[at]], h[right[at]], c[right[at]]),
            )
            return at + 1, h.at[at].set(new_h), c.at[at].set(new_c)

        empty = jnp.zeros((NODES, TREE_HIDDEN))
        _, h, c = jax.lax.while_loop(lambda state: state[0] < count, step, (0, empty, empty))
        return h[count - 1], c[count - 1]

    def call() -> list[Any]:
        return [np.asarray(each)[None] for state in [encode(*form) for form in forms] for each in state]

    return call


def _post_order(tree: Any) -> tuple[Any, Any, Any, int]:
    """The word of each leaf (zeros elsewhere), the places of both children of each node (-1 of a leaf's), padded; and
    how many nodes there are."""
    words = np.zeros((NODES, TREE_HIDDEN), np.float32)
    children = np.full((2, NODES), -1, np.int32)
    count = 0

    def visit(node: Any) -> int:
        nonlocal count
        below = None if _is_leaf(node) else (visit(node.left), visit(node.right))
        at, count = count, count + 1
        if below is None:
            words[at] = node.word[0]
        else:
            children[:, at] = below
        return at

    visit(tree)
    return words, children[0], children[1], count
