"""Translation as a program: a GRU reads a sentence, another writes one and attends, at every step, to all that was read
(Luong et al. 2015, 1508.04025, section 3.1, global attention with the score `dot`).

Decoding is part of the program: greedy, which takes the likeliest token each time, or with beams, which follows the
`width` likeliest sentences so far. One compilation serves every length of the source.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relay import nn, op
from relay.driver.notations.python_source import model
from relay.frontend.python.notation import Tensor
from relay.testing.programs.recurrent_cells import gru_cell, parameters
from relay.testing.programs.recurrent_layers import Direction

START, END = 0, 1
"""The token before the first one of a sentence, and the one behind its last."""
Tokens = Tensor[("n",), "int32"]


@model
class Seq2Seq:
    """The network, with seeded weights: of the GRUs uniform within 1/√hidden, elsewhere normal, with variance 1 for
    embeddings and 1 / fan-in for the rest."""

    def __init__(self, vocabulary: int, hidden: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)

        def normal(*shape: int, deviation: float = 1.0) -> NDArray[np.float32]:
            return (random.standard_normal(shape) * deviation).astype(np.float32)

        self.vocabulary = vocabulary
        self.source, self.target = normal(vocabulary, hidden), normal(vocabulary, hidden)
        self.encoder = Direction(gru_cell(hidden), 1, parameters("gru", hidden, hidden, seed), backwards=False)
        self.cell, weights = gru_cell(hidden), parameters("gru", hidden, hidden, seed + 1)
        self.w_ih, self.w_hh, self.b_ih, self.b_hh = (weights[each] for each in ("w_ih", "w_hh", "b_ih", "b_hh"))
        self.attend = normal(hidden, 2 * hidden, deviation=(2 * hidden) ** -0.5)
        self.w_out, self.b_out = normal(vocabulary, hidden, deviation=hidden**-0.5), np.zeros(vocabulary, np.float32)

    def encode(self, source):
        """source[n] → what was read, [n, hidden], and the state at the end, [1, hidden]."""
        outputs, (h,) = self.encoder(op.take(self.source, source, axis=0)[:, None], op.expand_dims(len(source), 0))
        return outputs[:, 0], h

    def step(self, tokens, h, read):
        """The tokens[b] written last, the states h[b, hidden] → log-probabilities [b, vocabulary] of the next, and the
        states with it."""
        row = nn.dense(op.take(self.target, tokens, axis=0), self.w_ih) + self.b_ih
        (h,) = self.cell(row, (h,), self.w_hh, self.b_hh)
        context = nn.softmax(nn.dense(h, read), axis=1) @ read
        attending = op.tanh(nn.dense(op.concatenate([context, h], 1), self.attend))
        return nn.log_softmax(nn.dense(attending, self.w_out) + self.b_out, axis=1), h


@model
class Greedy:
    """`(source[n])` → tokens[limit], END from the sentence's end on, and how many of them stand before it."""

    def __init__(self, network: Seq2Seq, limit: int) -> None:
        self.network, self.limit = network, limit

    def __call__(self, source: Tokens):
        read, h = self.network.encode(source)
        tokens = op.full(END, (self.limit,), "int32")
        token, count = START, 0
        while count < self.limit:
            scores, h = self.network.step(op.expand_dims(token, 0), h, read)
            token = op.argmax(scores[0], axis=0)
            if token == END:
                break
            tokens = op.where(op.arange(self.limit, dtype="int32") == count, token, tokens)
            count += 1
        return tokens, count


@model
class Beams:
    """`(source[n])` → tokens[width, limit], the count[width] of those before the end, and the score[width] of each, its
    summed log-probabilities: the likeliest sentence first. `width` is not above the vocabulary.

    A sentence that has ended goes on with END alone, which costs nothing.
    """

    def __init__(self, network: Seq2Seq, width: int, limit: int) -> None:
        self.network, self.limit, self.width, self.beams = network, limit, width, tuple(range(width))

    def largest(self, scores):
        """The `width` largest of scores[m], and where they are. Each is looked for among all: `topk` orders by m²
        comparisons, and m is here `width` vocabularies."""
        values, places = [], []
        for _ in self.beams:
            place = op.argmax(scores, axis=0)
            values.append(scores[place])
            places.append(place)
            scores = op.where(op.arange(self.width * self.network.vocabulary, dtype="int32") == place, -np.inf, scores)
        return op.stack(values, 0), op.stack(places, 0)

    def __call__(self, source: Tokens):
        ended = np.where(np.arange(self.network.vocabulary) == END, np.float32(0), np.float32(-np.inf))
        read, h = self.network.encode(source)
        h = op.repeat(h, self.width, 0)
        score = op.where(op.arange(self.width, dtype="int32") == 0, 0.0, -np.inf)  # all begin alike: one is enough
        tokens, last = op.full(END, (self.width, self.limit), "int32"), op.full(START, (self.width,), "int32")
        count, step = op.zeros((self.width,), "int32"), 0
        running = op.ones((self.width,), "bool")
        while step < self.limit and running.any():
            scores, h = self.network.step(last, h, read)
            scores = op.where(running[:, None], scores, ended) + score[:, None]
            score, places = self.largest(scores.ravel())
            parents, last = places // self.network.vocabulary, places % self.network.vocabulary
            h, count = op.take(h, parents, axis=0), op.take(count, parents, axis=0)
            written = op.arange(self.limit, dtype="int32") == step
            tokens = op.where(written, last[:, None], op.take(tokens, parents, axis=0))
            running = last != END
            count = count + running.astype("int32")
            step += 1
        return tokens, count, score
