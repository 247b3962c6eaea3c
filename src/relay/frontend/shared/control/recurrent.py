"""Recurrent layers: cells, and one way over a sequence.   rows[n, b, gates · hidden] → ([n, b, hidden], last states)"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from relay.frontend.shared.control.loops import Exprs, scanned
from relay.frontend.shared.node import Node
from relay.ir.expr import Expr
from relay.ir.types import ANY, TensorType
from relay.ops.elementwise.activation import bias_add
from relay.ops.elementwise.elementwise_binary import add, multiply, subtract
from relay.ops.framework.dimensions import product
from relay.ops.manipulation.shape import reshape
from relay.ops.nn.matmul import dense

Cell: TypeAlias = Callable[[Exprs, Exprs, Exprs], tuple[Exprs, Exprs]]
"""The state, h first, entries of the rows, and what stands outside of the loop: the next state, and what of it is
given out."""


def one_way(
    node: Node, cell: Cell, rows: Exprs, first: Exprs, outside: Exprs, outputs: int, *, backwards: bool
) -> tuple[Exprs, Exprs]:
    """The last state, and what the steps give out, stacked [n, ..]: the first `outputs` of these, each
    shaped as h is. `rows` is
    what is computed for the whole sequence at once."""
    h = node.type_of(first[0])
    whole = TensorType((node.type_of(rows[0]).shape[0], *h.shape), h.dtype)

    def step(state: Exprs, entries: Exprs, others: Exprs) -> tuple[Exprs, Exprs]:
        after, given = cell(state, entries, others)
        return after, given[:outputs]

    found = tuple(scanned(node, first, rows, outside, [whole] * outputs, step, backwards=backwards))
    return found[: len(first)], found[len(first) :]


def gates_of(node: Node, x: Expr, weight: Expr, bias: Expr | None) -> Expr:
    """The input's part of the gates, x[n, b, inputs] · weightᵀ + bias, for the whole sequence: one product of two
    matrices, whose n · b rows share the weight, also where b is 1."""
    *leading, width = node.type_of(x).shape
    rows = product(leading)
    flat = x if rows is ANY else reshape(x, (rows, width), allowzero=True)
    result: Expr = dense(flat, weight)
    if bias is not None:
        result = bias_add(result, bias, axis=-1)
    return result if rows is ANY else reshape(result, (*leading, node.type_of(result).shape[-1]), allowzero=True)


def lstm_memory(forget: Expr, c: Expr, enter: Expr, candidate: Expr) -> Expr:
    """The next c of an LSTM with a forget gate (Gers et al. 2000), of gates that are open between 0 and 1."""
    return add(multiply(forget, c), multiply(enter, candidate))


def gru_state(keep: Expr, h: Expr, candidate: Expr) -> Expr:
    """The next h of a GRU (Cho et al. 2014, 1406.1078): (1 - keep) · candidate + keep · h."""
    return add(candidate, multiply(keep, subtract(h, candidate)))
