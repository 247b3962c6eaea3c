"""A generative character RNN as a program: each character is chosen by the network, and is its next input.

The loop is `for … in range(n): out, h = cell(x, h)`. Sampling uses the Gumbel-max trick with noise from an explicit
key: a hash of (key, step, character), all in 32-bit integers, so a key gives the same text in every run, and in NumPy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relay import nn, op
from relay.driver.notations.python_source import CompiledFunction, function
from relay.frontend.python.notation import Tensor

VOCABULARY = 128


def char_rnn(hidden: int, vocabulary: int = VOCABULARY) -> CompiledFunction:
    """`generate(n, first, key, temperature, weights…)` → the checksum of the characters, Σ character · (step + 1) in
    32 bits, the last character and the last state. Temperature 0 takes the likeliest character."""

    @function
    def noise(key: int, step: int) -> Tensor[(vocabulary,)]:
        """Gumbel noise, -log(-log(u)), of a hash of key, step and character (a xorshift-multiply mixer)."""
        x = op.arange(vocabulary, dtype="int32") * 747796405 + (key * 277803737 + step * 1442695041)
        x = (op.bitwise_xor(x, op.bitwise_and(op.right_shift(x, 16), 65535))) * 73244475
        x = (op.bitwise_xor(x, op.bitwise_and(op.right_shift(x, 16), 65535))) * 73244475
        x = op.bitwise_and(op.bitwise_xor(x, op.bitwise_and(op.right_shift(x, 16), 65535)), 8388607)
        return -op.log(-op.log((op.cast(x, "float32") + 0.5) * (1.0 / 8388608.0)))

    @function
    def cell(
        x: Tensor[(1, hidden)], h: Tensor[(1, hidden)], w: Tensor[(hidden, 2 * hidden)], b: Tensor[(hidden,)],
        w_out: Tensor[(vocabulary, hidden)], b_out: Tensor[(vocabulary,)],
    ):  # fmt: skip
        h = op.tanh(nn.dense(op.concatenate([x, h], 1), w) + b)
        return nn.dense(h, w_out) + b_out, h

    @function
    def generate(
        n: int, first: int, key: int, temperature: float, embedding: Tensor[(vocabulary, hidden)],
        w: Tensor[(hidden, 2 * hidden)], b: Tensor[(hidden,)],
        w_out: Tensor[(vocabulary, hidden)], b_out: Tensor[(vocabulary,)],
    ):  # fmt: skip
        h = op.zeros((1, hidden), "float32")
        character, checksum = first, 0
        for step in range(n):
            logits, h = cell(op.expand_dims(embedding[character], 0), h, w, b, w_out, b_out)
            scores = logits[0]
            if temperature > 0.0:
                scores = scores + noise(key, step) * temperature
            character = op.argmax(scores, axis=0)
            checksum = checksum + character * (step + 1)
        return checksum, character, h

    return generate


def parameters(hidden: int, vocabulary: int = VOCABULARY, seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Seeded weights, normal with variance 1 / fan-in."""
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> NDArray[np.float32]:
        return (random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    return {
        "embedding": normal(vocabulary, hidden), "w": normal(hidden, 2 * hidden), "b": normal(hidden),
        "w_out": normal(vocabulary, hidden), "b_out": normal(vocabulary),
    }  # fmt: skip
