"""Recurrent layers as recursion over the sequence.   x[n, b, inputs] → ([n, b, directions · hidden], last states)"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from relay.frontend.shared.node import Result
from relay.frontend.torch.loops import Exprs, scanned
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr
from relay.ir.types import TensorType
from relay.ops.elementwise.activation import bias_add, relu
from relay.ops.elementwise.elementwise_binary import add, multiply, subtract
from relay.ops.elementwise.elementwise_unary import sigmoid, tanh
from relay.ops.indexing.index import take
from relay.ops.manipulation.combine import concatenate, split, stack
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.matmul import dense

Cell: TypeAlias = Callable[[Expr, Exprs, Callable[[Expr], Expr]], tuple[Expr, ...]]
"""The input's part of the gates, the state, and what makes the state's part of the gates: the next state, h first."""


def _lstm_cell(row: Expr, state: Exprs, gates_of: Callable[[Expr], Expr]) -> tuple[Expr, ...]:
    """Gates are stacked i, f, g, o (Hochreiter and Schmidhuber 1997, with a forget gate)."""
    h, c = state
    i, f, g, o = split(add(gates_of(h), row), 4, axis=1)
    c = add(multiply(sigmoid(f), c), multiply(sigmoid(i), tanh(g)))
    return multiply(sigmoid(o), tanh(c)), c


def _gru_cell(row: Expr, state: Exprs, gates_of: Callable[[Expr], Expr]) -> tuple[Expr, ...]:
    """Gates are stacked r, z, n (Cho et al. 2014, 1406.1078; the reset gate after the product)."""
    (h,) = state
    r, z, n = split(row, 3, axis=1)
    hr, hz, hn = split(gates_of(h), 3, axis=1)
    candidate = tanh(add(n, multiply(sigmoid(add(r, hr)), hn)))
    return (add(candidate, multiply(sigmoid(add(z, hz)), subtract(h, candidate))),)


def _rnn_cell(function: Callable[[Expr], Expr]) -> Cell:
    return lambda row, state, gates_of: (function(add(gates_of(state[0]), row)),)


def _recurrent(cell: Cell, states: int) -> Callable[[TorchNode], Result]:
    """Inputs: x, the first state, then for each layer and direction both weights and, with biases, both biases."""

    def convert(node: TorchNode) -> Result:
        if node.flag("train") and node.float("dropout", 0.0) != 0:
            node.unsupported("with dropout in training: call model.eval() before it is exported")
        ways, layers = 2 if node.flag("bidirectional") else 1, node.int("num_layers")
        parameters = node.values()[1 + states :]
        each = 4 if node.flag("has_biases") else 2
        if len(parameters) != ways * layers * each:
            node.unsupported("with a projection of its state")
        x: Expr = transpose(node.expr(), (1, 0, 2)) if node.flag("batch_first") else node.expr()
        lasts: list[Exprs] = []
        for layer in range(layers):
            outputs: list[Expr] = []
            for way in range(ways):
                place = layer * ways + way
                first = [take(node.expr(1 + index), place, axis=0) for index in range(states)]
                weights = [value.expr for value in parameters[place * each : (place + 1) * each]]
                output, last = _direction(node, cell, x, first, weights, backwards=way == 1)
                outputs.append(output)
                lasts.append(last)
            x = outputs[0] if ways == 1 else concatenate(outputs, 2)
        final = [stack([last[index] for last in lasts], 0) for index in range(states)]
        return (transpose(x, (1, 0, 2)) if node.flag("batch_first") else x, *final)

    return convert


def _direction(
    node: TorchNode, cell: Cell, x: Expr, first: Exprs, weights: Exprs, *, backwards: bool
) -> tuple[Expr, Exprs]:
    """One layer, one way over the sequence: its outputs [n, b, hidden] and the last state. The input's part of the
    gates is computed for the whole sequence at once."""

    rows = _product(x, weights[::2])
    assert isinstance(rows.checked_type, TensorType)
    assert isinstance(first[0].checked_type, TensorType)
    outputs = TensorType((rows.checked_type.shape[0], *first[0].checked_type.shape), node.dtype)

    def step(state: Exprs, entries: Exprs, hidden: Exprs) -> tuple[Exprs, Exprs]:
        after = cell(entries[0], state, lambda h: _product(h, hidden))
        return after, after[:1]

    *last, output = scanned(node, first, [rows], weights[1::2], [outputs], step, backwards=backwards)
    return output, last


def _product(x: Expr, weights: Exprs) -> Expr:
    """x · wᵀ, and the bias, if there is one."""
    result: Expr = dense(x, weights[0])
    return result if len(weights) == 1 else bias_add(result, weights[1], axis=-1)


_OPTIONS = ("has_biases", "num_layers", "dropout", "train", "bidirectional", "batch_first")

RECURRENT: tuple[Converter, ...] = (
    *converters("lstm", _recurrent(_lstm_cell, 2), *_OPTIONS, overloads=("input",)),
    *converters("gru", _recurrent(_gru_cell, 1), *_OPTIONS, overloads=("input",)),
    *converters("rnn_tanh", _recurrent(_rnn_cell(tanh), 1), *_OPTIONS, overloads=("input",)),
    *converters("rnn_relu", _recurrent(_rnn_cell(relu), 1), *_OPTIONS, overloads=("input",)),
)
