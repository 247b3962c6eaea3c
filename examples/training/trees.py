"""Sentiment of trees: a binary Tree-LSTM, recursive forward and backward, trained on generated trees.

A sentence is a tree of words; its label says whether it is more positive than negative, where `not` turns the
sentiment of what stands behind it. The model is a recursion over the tree (Tai et al. 2015, 1503.00075, section 3.2):
one compilation serves trees of every form.

    python examples/training/trees.py
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import relay
from relay import training

WORDS = ("good", "fine", "bad", "poor", "not", "thing")
VALUES = {"good": 2, "fine": 1, "bad": -2, "poor": -1}


@relay.datatype
class Tree:
    class Leaf:
        word: int

    class Node:
        left: Tree
        right: Tree


def random_tree(leaves: int, random: np.random.Generator) -> tuple[Any, int]:
    """A tree of so many words, and its sentiment."""
    if leaves == 1:
        word = int(random.choice([0, 1, 2, 3, 5]))
        return Tree.Leaf(word), VALUES.get(WORDS[word], 0)
    if random.random() < 0.25:
        inner, value = random_tree(leaves - 1, random)
        return Tree.Node(Tree.Leaf(WORDS.index("not")), inner), -value
    left = int(random.integers(1, leaves))
    (one, first), (other, second) = random_tree(left, random), random_tree(leaves - left, random)
    return Tree.Node(one, other), first + second


def treebank(count: int, seed: int) -> tuple[list[Any], np.ndarray]:
    """Trees of 3 to 9 words, none of them neutral, and their labels: 1 is positive."""
    random = np.random.default_rng(seed)
    trees: list[Any] = []
    labels: list[int] = []
    while len(trees) < count:
        tree, value = random_tree(int(random.integers(3, 10)), random)
        if value:
            trees.append(tree)
            labels.append(int(value > 0))
    return trees, np.array(labels, np.int64)


def model(hidden: int, dtype: str = "float32") -> relay.IRModule:
    """`classify(trees, weights…)` → logits[n, 2] of a list of n trees."""
    row = relay.Tensor[(1, hidden), dtype]

    @relay.function
    def encode(
        node: Tree, embedding: relay.Tensor[(6, hidden), dtype], leaf: relay.Tensor[(3 * hidden, hidden), dtype],
        inner: relay.Tensor[(5 * hidden, 2 * hidden), dtype], bias: relay.Tensor[(5 * hidden,), dtype],
    ) -> tuple[row, row]:  # fmt: skip
        match node:
            case Tree.Leaf(word):
                i, o, u = relay.split(relay.nn.dense(relay.expand_dims(embedding[word], 0), leaf), 3, axis=1)
                c = relay.sigmoid(i) * relay.tanh(u)
                return relay.sigmoid(o) * relay.tanh(c), c
            case Tree.Node(left, right):
                left_h, left_c = encode(left, embedding, leaf, inner, bias)
                right_h, right_c = encode(right, embedding, leaf, inner, bias)
                gates = relay.nn.dense(relay.concatenate([left_h, right_h], 1), inner) + bias
                i, o, u, f, g = relay.split(gates, 5, axis=1)
                c = relay.sigmoid(i) * relay.tanh(u) + relay.sigmoid(f) * left_c + relay.sigmoid(g) * right_c
                return relay.sigmoid(o) * relay.tanh(c), c

    @relay.function
    def classify(
        sentences: list[tuple[Tree, int]], embedding: relay.Tensor[(6, hidden), dtype],
        leaf: relay.Tensor[(3 * hidden, hidden), dtype], inner: relay.Tensor[(5 * hidden, 2 * hidden), dtype],
        bias: relay.Tensor[(5 * hidden,), dtype], head: relay.Tensor[(2, hidden), dtype],
    ):  # fmt: skip
        states = [encode(tree, embedding, leaf, inner, bias) for tree, _ in sentences]
        loss, hits = relay.zeros((), dtype), 0
        for (h, _), (_, label) in zip(states, sentences):  # noqa: B905  Relay has no strict ones
            surprise = -relay.nn.log_softmax(relay.nn.dense(h, head))[0]
            loss = loss + surprise[label]
            hits = hits + int(relay.argmin(surprise, axis=0) == label)
        count = relay.cast(len(sentences), dtype)
        return loss / count, relay.cast(hits, dtype) / count

    return classify.module


def first_weights(hidden: int, seed: int = 0, dtype: str = "float32") -> dict[str, np.ndarray]:
    """Normal, with variance 1 / fan-in."""
    random = np.random.default_rng(seed)
    shapes = {
        "embedding": (len(WORDS), hidden), "leaf": (3 * hidden, hidden), "inner": (5 * hidden, 2 * hidden),
        "bias": (5 * hidden,), "head": (2, hidden),
    }  # fmt: skip
    return {name: (random.standard_normal(s) / np.sqrt(s[-1])).astype(dtype) for name, s in shapes.items()}


def compiled_step(hidden: int, dtype: str = "float32") -> training.TrainingStep:
    return training.compile_step(
        (model(hidden, dtype), first_weights(hidden, dtype=dtype)),
        training.Adam(1e-2),
        lambda outputs: outputs[0],
        metrics={"accuracy": lambda outputs: outputs[1]},
        opt_level=3,  # independent calls of the recursion together
    )


def sentences(count: int, seed: int) -> list[tuple[Any, int]]:
    trees, labels = treebank(count, seed)
    return list(zip(trees, labels.tolist(), strict=True))


def train(hidden: int = 32, count: int = 1024, size: int = 32, epochs: int = 6, **options: Any) -> training.Training:
    """Train on `count` trees, in batches of `size`, and measure on others after each epoch."""
    given, held_out = sentences(count, seed=1), sentences(256, seed=2)
    batches = [(given[start : start + size],) for start in range(0, count, size)]
    return training.fit(compiled_step(hidden), batches, epochs, measured_on=[(held_out,)], **options)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--epochs", type=int, default=6)
    options.add_argument("--curves", default="trees.png")
    given = options.parse_args()
    trained = train(epochs=given.epochs, curves=given.curves)
    print(f"accuracy on trees that it has not seen: {trained.records[-1]['measured accuracy']:.1%}")


if __name__ == "__main__":
    main()
