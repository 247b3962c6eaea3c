"""Recurrent layers as recursion over the sequence.   x[n, b, inputs] → ([n, b, directions · hidden], last states)"""

from __future__ import annotations

from collections.abc import Callable

from relay.frontend.shared.control.loops import Exprs
from relay.frontend.shared.control.recurrent import Cell, gates_of, gru_state, lstm_memory, one_way
from relay.frontend.shared.node import Result
from relay.frontend.torch.converters.dropout import dropped
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr
from relay.ops.elementwise.activation import bias_add, relu
from relay.ops.elementwise.elementwise_binary import add, multiply
from relay.ops.elementwise.elementwise_unary import sigmoid, tanh
from relay.ops.indexing.index import take
from relay.ops.manipulation.combine import concatenate, split, stack
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.matmul import dense


def _lstm_cell(state: Exprs, entries: Exprs, hidden: Exprs) -> tuple[Exprs, Exprs]:
    """Gates are stacked i, f, g, o."""
    (h, c), (row,) = state, entries
    i, f, g, o = split(add(_product(h, hidden), row), 4, axis=1)
    c = lstm_memory(sigmoid(f), c, sigmoid(i), tanh(g))
    h = multiply(sigmoid(o), tanh(c))
    return (h, c), (h,)


def _gru_cell(state: Exprs, entries: Exprs, hidden: Exprs) -> tuple[Exprs, Exprs]:
    """Gates are stacked r, z, n; the reset gate comes after the product."""
    (h,), (row,) = state, entries
    r, z, n = split(row, 3, axis=1)
    hr, hz, hn = split(_product(h, hidden), 3, axis=1)
    candidate = tanh(add(n, multiply(sigmoid(add(r, hr)), hn)))
    h = gru_state(sigmoid(add(z, hz)), h, candidate)
    return (h,), (h,)


def _rnn_cell(function: Callable[[Expr], Expr]) -> Cell:
    def step(state: Exprs, entries: Exprs, hidden: Exprs) -> tuple[Exprs, Exprs]:
        h = function(add(_product(state[0], hidden), entries[0]))
        return (h,), (h,)

    return step


def _recurrent(cell: Cell, states: int) -> Callable[[TorchNode], Result]:
    """Inputs: x, the first state, then for each layer and direction both weights and, with biases, both biases."""

    def convert(node: TorchNode) -> Result:
        share = node.float("dropout", 0.0) if node.flag("train") else 0.0
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
            if share and layer < layers - 1:
                x, _ = dropped(node, x, share)
        final = [stack([last[index] for last in lasts], 0) for index in range(states)]
        return (transpose(x, (1, 0, 2)) if node.flag("batch_first") else x, *final)

    return convert


def _direction(
    node: TorchNode, cell: Cell, x: Expr, first: Exprs, weights: Exprs, *, backwards: bool
) -> tuple[Expr, Exprs]:
    """One layer, one way over the sequence: its outputs [n, b, hidden] and the last state. The input's part of the
    gates is computed for the whole sequence at once."""
    weight, *bias = weights[::2]
    rows = gates_of(node, x, weight, *bias or (None,))
    last, (output,) = one_way(node, cell, [rows], first, weights[1::2], 1, backwards=backwards)
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
