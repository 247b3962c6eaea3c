"""Recurrent networks as programs: a vanilla RNN, a GRU and an LSTM, written as Python functions that recur over a
sequence. One compilation serves every length.

The input's part of the gates is computed for the whole sequence at once; the loop adds the state's part, which is what
a cell is. Weights are stacked as PyTorch stacks them: `w_ih[gates · hidden, inputs]`, `w_hh[gates · hidden, hidden]`,
and both biases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from relay import nn, op
from relay.driver.notations.python_source import CompiledFunction, function
from relay.frontend.python.notation import Tensor

GATES: Mapping[str, int] = {"rnn": 1, "gru": 3, "lstm": 4}
STATES: Mapping[str, int] = {"rnn": 1, "gru": 1, "lstm": 2}
"""How many tensors the state is: an LSTM's is h and c."""
N, B = op.symbol("n"), op.symbol("b")


def lstm_cell(hidden: int) -> CompiledFunction:
    """`step(row[b, 4 · hidden], (h[b, hidden], c[b, hidden]), w_hh, b_hh)` → the next h and c. Gates are stacked
    i, f, g, o (Hochreiter and Schmidhuber 1997, with a forget gate); `row` is the input's part of them."""

    @function
    def lstm_step(
        row: Tensor[(B, 4 * hidden)], state: tuple[Tensor[(B, hidden)], Tensor[(B, hidden)]],
        w_hh: Tensor[(4 * hidden, hidden)], b_hh: Tensor[(4 * hidden,)],
    ):  # fmt: skip
        h, c = state
        i, f, g, o = op.split(nn.dense(h, w_hh) + b_hh + row, 4, axis=1)
        c = op.sigmoid(f) * c + op.sigmoid(i) * op.tanh(g)
        return op.sigmoid(o) * op.tanh(c), c

    return lstm_step


def gru_cell(hidden: int) -> CompiledFunction:
    """`step(row[b, 3 · hidden], (h[b, hidden],), w_hh, b_hh)` → the next h, alone in a tuple. Gates are stacked r, z, n
    (Cho et al. 2014, 1406.1078; the reset gate after the product, as PyTorch has it)."""

    @function
    def gru_step(
        row: Tensor[(B, 3 * hidden)], state: tuple[Tensor[(B, hidden)]],
        w_hh: Tensor[(3 * hidden, hidden)], b_hh: Tensor[(3 * hidden,)],
    ):  # fmt: skip
        (h,) = state
        r, z, n = op.split(row, 3, axis=1)
        hr, hz, hn = op.split(nn.dense(h, w_hh) + b_hh, 3, axis=1)
        update = op.sigmoid(z + hz)
        candidate = op.tanh(n + op.sigmoid(r + hr) * hn)
        return (candidate + update * (h - candidate),)

    return gru_step


def rnn_cell(hidden: int) -> CompiledFunction:
    """`step(row[b, hidden], (h[b, hidden],), w_hh, b_hh)` → the next h, alone in a tuple, with tanh (Elman 1990)."""

    @function
    def rnn_step(
        row: Tensor[(B, hidden)], state: tuple[Tensor[(B, hidden)]],
        w_hh: Tensor[(hidden, hidden)], b_hh: Tensor[(hidden,)],
    ):  # fmt: skip
        (h,) = state
        return (op.tanh(nn.dense(h, w_hh) + b_hh + row),)

    return rnn_step


CELLS: Mapping[str, Callable[[int], CompiledFunction]] = {"rnn": rnn_cell, "gru": gru_cell, "lstm": lstm_cell}


def lstm(inputs: int, hidden: int) -> CompiledFunction:
    """`lstm(xs[n, inputs], h[1, hidden], c[1, hidden], weights…)` → the last h and c."""
    step = lstm_cell(hidden)

    @function
    def run(
        xs: Tensor[(N, inputs)], h: Tensor[(1, hidden)], c: Tensor[(1, hidden)],
        w_ih: Tensor[(4 * hidden, inputs)], w_hh: Tensor[(4 * hidden, hidden)],
        b_ih: Tensor[(4 * hidden,)], b_hh: Tensor[(4 * hidden,)],
    ):  # fmt: skip
        rows = nn.dense(xs, w_ih) + b_ih
        for row in rows:
            h, c = step(op.expand_dims(row, 0), (h, c), w_hh, b_hh)
        return h, c

    return run


def gru(inputs: int, hidden: int) -> CompiledFunction:
    """`gru(xs[n, inputs], h[1, hidden], weights…)` → the last h."""
    return _with_one_state("gru", inputs, hidden)


def rnn(inputs: int, hidden: int) -> CompiledFunction:
    """`rnn(xs[n, inputs], h[1, hidden], weights…)` → the last h."""
    return _with_one_state("rnn", inputs, hidden)


def _with_one_state(kind: str, inputs: int, hidden: int) -> CompiledFunction:
    step, rows = CELLS[kind](hidden), GATES[kind] * hidden

    @function
    def run(
        xs: Tensor[(N, inputs)], h: Tensor[(1, hidden)],
        w_ih: Tensor[(rows, inputs)], w_hh: Tensor[(rows, hidden)], b_ih: Tensor[(rows,)], b_hh: Tensor[(rows,)],
    ):  # fmt: skip
        for row in nn.dense(xs, w_ih) + b_ih:
            (h,) = step(op.expand_dims(row, 0), (h,), w_hh, b_hh)
        return h

    return run


def parameters(kind: str, inputs: int, hidden: int, seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Seeded weights of one layer: uniform within 1/√hidden, as PyTorch's.

    >>> {name: each.shape for name, each in parameters("gru", 8, 16).items()}
    {'w_ih': (48, 8), 'w_hh': (48, 16), 'b_ih': (48,), 'b_hh': (48,)}
    """
    rows, random = GATES[kind] * hidden, np.random.default_rng(seed)
    shapes = {"w_ih": (rows, inputs), "w_hh": (rows, hidden), "b_ih": (rows,), "b_hh": (rows,)}
    return {name: _uniform(random, shape, hidden) for name, shape in shapes.items()}


def _uniform(random: np.random.Generator, shape: tuple[int, ...], hidden: int) -> NDArray[np.float32]:
    return ((2 * random.random(shape, dtype=np.float32) - 1) / np.sqrt(hidden)).astype(np.float32)
