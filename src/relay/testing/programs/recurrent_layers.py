"""Recurrent networks of several layers over a batch of sequences, each of its own length, forwards or both ways.

A row of a batch that is shorter than the longest is padded at its end. Past its length its state stays what it is and
its outputs are zero, as PyTorch has it for packed sequences; backwards, a row begins at its own end. One compilation
serves every length and every batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from relay import nn, op
from relay.driver.notations.python_source import CompiledFunction, model
from relay.frontend.python.notation import Tensor
from relay.testing.programs.recurrent_cells import CELLS, STATES, parameters

N, B = op.symbol("n"), op.symbol("b")
Lengths = Tensor[(B,), "int32"]


@model
class Direction:
    """One layer, one way over the sequences: `(xs[n, b, inputs], lengths[b])` → the outputs [n, b, hidden] and the last
    state, a tuple of [b, hidden].

    A turn of the loop puts its row among the outputs with a `where`, which touches them all: n² rows for n steps.
    """

    def __init__(
        self, step: CompiledFunction, states: int, weights: Mapping[str, NDArray[Any]], backwards: bool
    ) -> None:
        self.step, self.states, self.backwards = step, states, backwards
        self.w_ih, self.w_hh, self.b_ih, self.b_hh = (weights[each] for each in ("w_ih", "w_hh", "b_ih", "b_hh"))
        self.hidden = self.w_hh.shape[1]

    def __call__(self, xs, lengths):
        rows = nn.dense(xs, self.w_ih) + self.b_ih
        outputs = op.zeros_like(rows[:, :, : self.hidden])
        positions = op.cumsum(op.ones_like(rows[:, 0, 0]), dtype="int32", exclusive=True)[:, None, None]
        state = (op.zeros_like(outputs[0]),) * self.states
        for turn in range(len(xs)):
            t = len(xs) - 1 - turn if self.backwards else turn
            runs = op.expand_dims(t < lengths, 1)
            kept = ()
            for before, after in zip(state, self.step(rows[t], state, self.w_hh, self.b_hh), strict=True):
                kept += (op.where(runs, after, before),)
            state = kept
            outputs = op.where(op.logical_and(positions == t, runs), state[0], outputs)
        return outputs, state


def recurrent_layers(
    kind: str, inputs: int, hidden: int, layers: int = 1, bidirectional: bool = False, seed: int = 0
) -> Any:
    """The model `(xs[n, b, inputs], lengths[b])` → the outputs of the last layer, [n, b, directions · hidden], and the
    last state, a tuple of h (and c, of an LSTM), [layers · directions, b, hidden]. `kind` is `rnn`, `gru` or `lstm`.

    >>> module, weights = recurrent_layers("gru", 8, 16, layers=2, bidirectional=True).to_relay()
    >>> weights["layers.1.0.w_ih"].shape  # the layer, and 0 for forwards
    (48, 32)
    """
    step, ways = CELLS[kind](hidden), 2 if bidirectional else 1

    def direction(layer: int, way: int) -> Direction:
        weights = parameters(kind, ways * hidden if layer else inputs, hidden, seed + ways * layer + way)
        return Direction(step, STATES[kind], weights, way == 1)

    @model
    class RecurrentLayers:
        def __init__(self) -> None:
            self.layers = [[direction(layer, way) for way in range(ways)] for layer in range(layers)]
            self.states = STATES[kind]

        def __call__(self, xs: Tensor[(N, B, inputs)], lengths: Lengths):
            states = []
            for layer in self.layers:
                outputs = []
                for direction in layer:
                    found, state = direction(xs, lengths)
                    outputs.append(found)
                    states.append(state)
                xs = op.concatenate(outputs, 2)
            last = ()
            for part in tuple(range(self.states)):
                parts = []
                for state in states:
                    parts.append(state[part])
                last += (op.stack(parts, 0),)
            return xs, last

    return RecurrentLayers()
