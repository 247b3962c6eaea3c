"""Recurrent layers: LSTM, GRU, RNN.   x[n, b, inputs] → ([n, ways, b, hidden], last states [ways, b, hidden])

Gates are stacked as ONNX has them: i, o, f, c for an LSTM, z, r, h for a GRU; bias[2 · gates · hidden] has that of the
input's part first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.frontend.onnx.converters.control.gate_functions import GateFunction, gate_functions
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.control.loops import Exprs
from relay.frontend.shared.control.recurrent import Cell, gates_of, gru_state, lstm_memory, one_way
from relay.frontend.shared.formulas.triangles import positions
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.told import with_extents
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.creation.create import zeros
from relay.ops.elementwise.activation import bias_add
from relay.ops.elementwise.comparison import less, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, multiply, subtract
from relay.ops.indexing.sequence import reverse_sequence
from relay.ops.manipulation.combine import split, stack
from relay.ops.manipulation.shape import expand_dims, squeeze
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.matmul import dense


@frozen(eq=False)
class _Weights:
    """Of one direction: inputs[gates · hidden, inputs], state[gates · hidden, hidden], the two biases, if there are
    any, and an LSTM's peepholes."""

    inputs: Expr
    state: Expr
    input_bias: Expr | None
    state_bias: Expr | None
    peepholes: Expr | None


@frozen(eq=False)
class _Layer:
    """What the loop of one direction runs: the input's part of the gates, for the whole sequence, what is computed
    once outside of the loop, and the cell. Matrices stand in the cell, where a constant one can be packed."""

    rows: Expr
    outside: Exprs
    cell: Cell


_LayerOf = Callable[[OnnxNode, Expr, _Weights, Sequence[GateFunction]], _Layer]


def _product(x: Expr, weight: Expr, bias: Expr | None) -> Expr:
    """x · weightᵀ + bias"""
    result: Expr = dense(x, weight)
    return result if bias is None else bias_add(result, bias, axis=-1)


def _summed(weights: _Weights) -> Expr | None:
    """Both biases in one, where the gates are sums of both parts."""
    if weights.input_bias is None or weights.state_bias is None:
        return None
    return add(weights.input_bias, weights.state_bias)


def _lstm(node: OnnxNode, x: Expr, weights: _Weights, functions: Sequence[GateFunction]) -> _Layer:
    """With peepholes (Gers and Schmidhuber 2000), i and f see the last c, o the next."""
    gate, entry, shown = functions
    coupled = bool(node.int("input_forget", 0))
    holes = [] if weights.peepholes is None else [weights.peepholes]

    def cell(state: Exprs, entries: Exprs, outside: Exprs) -> tuple[Exprs, Exprs]:
        (h, c), (row,) = state, entries
        i, o, f, g = split(add(dense(h, weights.state), row), 4, axis=1)
        pi, po, pf = split(outside[0], 3) if outside else (None, None, None)
        enter = gate(_seeing(i, pi, c))
        forget = subtract(const(1, node.value(0).dtype), enter) if coupled else gate(_seeing(f, pf, c))
        c = lstm_memory(forget, c, enter, entry(g))
        h = multiply(gate(_seeing(o, po, c)), shown(c))
        return (h, c), (h,)

    return _Layer(gates_of(node, x, weights.inputs, _summed(weights)), holes, cell)


def _seeing(gate: Expr, peephole: Expr | None, c: Expr) -> Expr:
    return gate if peephole is None else add(gate, multiply(peephole, c))


def _gru(node: OnnxNode, x: Expr, weights: _Weights, functions: Sequence[GateFunction]) -> _Layer:
    """The reset gate comes before the product with the state, or after it (`linear_before_reset`)."""
    gate, candidate_of = functions

    def reset_after(state: Exprs, entries: Exprs, outside: Exprs) -> tuple[Exprs, Exprs]:
        (h,), (row,) = state, entries
        z, r, n = split(row, 3, axis=1)
        hz, hr, hn = split(_product(h, weights.state, *outside or (None,)), 3, axis=1)
        candidate = candidate_of(add(n, multiply(gate(add(r, hr)), hn)))
        h = gru_state(gate(add(z, hz)), h, candidate)
        return (h,), (h,)

    def reset_before(state: Exprs, entries: Exprs, _: Exprs) -> tuple[Exprs, Exprs]:
        (h,), (row,) = state, entries
        z, r, n = split(row, 3, axis=1)
        hz, hr = split(dense(h, of_gates), 2, axis=1)
        candidate = candidate_of(add(n, dense(multiply(gate(add(r, hr)), h), of_candidate)))
        h = gru_state(gate(add(z, hz)), h, candidate)
        return (h,), (h,)

    if node.int("linear_before_reset", 0):
        bias = [] if weights.state_bias is None else [weights.state_bias]
        return _Layer(gates_of(node, x, weights.inputs, weights.input_bias), bias, reset_after)
    hidden = node.type_of(weights.state).shape[1]
    of_gates, of_candidate = split(weights.state, [2 * hidden])
    return _Layer(gates_of(node, x, weights.inputs, _summed(weights)), [], reset_before)


def _rnn(node: OnnxNode, x: Expr, weights: _Weights, functions: Sequence[GateFunction]) -> _Layer:
    def cell(state: Exprs, entries: Exprs, _: Exprs) -> tuple[Exprs, Exprs]:
        h = functions[0](add(dense(state[0], weights.state), entries[0]))
        return (h,), (h,)

    return _Layer(gates_of(node, x, weights.inputs, _summed(weights)), [], cell)


def _recurrent(layer_of: _LayerOf, functions: Sequence[str], states: int) -> Callable[[OnnxNode], Result]:
    """Inputs: x, both weights, the biases, lengths, the first states, peepholes."""

    def convert(node: OnnxNode) -> Result:
        ways = _WAYS.get(node.text("direction", "forward"))
        if ways is None:
            node.unsupported(f"with the direction {node.text('direction')!r}")
        lengths, is_batch_first = node.optional_value(4), bool(node.int("layout", 0))
        x = transpose(node.expr(), (1, 0, 2)) if is_batch_first else node.expr()
        firsts = [_first(node, 5 + index, is_batch_first) for index in range(states)]
        chosen, weights = gate_functions(node, functions, len(ways)), _weights(node, len(ways))
        outputs: list[Expr] = []
        lasts: list[Exprs] = []
        for way, backwards in enumerate(ways):
            first = [state[way] for state in firsts]
            layer = layer_of(node, _turned(x, lengths) if backwards else x, weights[way], chosen[way])
            last, given = _run(node, layer, first, is_batch_first, backwards=backwards)
            lasts.append(last)
            outputs += [_turned(each, lengths) if backwards else each for each in given]
        if is_batch_first:
            outputs = [transpose(each, (1, 0, 2)) for each in outputs]
        whole = stack(outputs, 2 if is_batch_first else 1) if outputs else None
        return (whole, *(stack([last[index] for last in lasts], int(is_batch_first)) for index in range(states)))

    return convert


_WAYS: Mapping[str, tuple[bool, ...]] = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""By direction: whether each way goes backwards."""


def _run(node: OnnxNode, layer: _Layer, first: Exprs, is_batch_first: bool, *, backwards: bool) -> tuple[Exprs, Exprs]:
    """The last state, and, if the node gives them out, the states in between. A sequence of its own length keeps its
    state beyond it and gives 0 there; one that goes backwards has been turned around, so its end comes last too."""
    wanted = int(bool(node.outputs[0]))
    lengths = node.optional_value(4)
    if lengths is None:
        return one_way(node, layer.cell, [layer.rows], first, layer.outside, wanted, backwards=backwards)
    count = positions((node.value(0), int(is_batch_first)))
    runs = expand_dims(less(expand_dims(count, 1), cast(lengths.expr, DType.INT64)), 2)

    def cell(state: Exprs, entries: Exprs, outside: Exprs) -> tuple[Exprs, Exprs]:
        row, inside = entries
        after, given = layer.cell(state, [row], outside)
        zero = const(0, node.value(0).dtype)
        kept = [where(inside, new, old) for new, old in zip(after, state, strict=True)]
        return kept, [where(inside, each, zero) for each in given]

    return one_way(node, cell, [layer.rows, runs], first, layer.outside, wanted, backwards=False)


def _turned(x: Expr, lengths: Value | None) -> Expr:
    """Each sequence x[n, b, ..] from its end to its begin, if they have lengths of their own; else the loop turns."""
    return x if lengths is None else reverse_sequence(x, lengths.expr, 0, 1)


def _first(node: OnnxNode, position: int, is_batch_first: bool) -> list[Expr]:
    """The first state of each direction, [b, hidden]: zeros where it is left out."""
    weight, given = node.value(2), node.optional_value(position)
    if given is None:
        state = zeros((node.value(0).shape[0 if is_batch_first else 1], weight.shape[2]), weight.dtype)
        return [state] * _extent(node, weight, 0)
    return _parts(node, given, 1 if is_batch_first else 0)


def _weights(node: OnnxNode, ways: int) -> list[_Weights]:
    inputs, state = (_parts(node, node.value(position)) for position in (1, 2))
    bias, holes = node.optional_value(3), node.optional_value(7)
    halves = [None] * ways if bias is None else [split(each, 2) for each in _parts(node, bias)]
    peepholes: list[Expr | None] = [None] * ways if holes is None else [*_parts(node, holes)]
    if not len(inputs) == len(state) == len(halves) == len(peepholes) == ways:
        node.unsupported(f"with {ways} directions and weights of type {node.value(1).type}")
    return [
        _Weights(wide, square, None if half is None else half[0], None if half is None else half[1], hole)
        for wide, square, half, hole in zip(inputs, state, halves, peepholes, strict=True)
    ]


def _parts(node: OnnxNode, value: Value, axis: int = 0) -> list[Expr]:
    """The entries of an axis that counts directions."""
    ways = _extent(node, value, axis)
    expr = value.expr if value.shape[axis] == ways else with_extents(node, value, {axis: ways})
    whole = [expr] if ways == 1 else split(expr, ways, axis)
    return [squeeze(each, [axis]) for each in whole]


def _extent(node: OnnxNode, value: Value, axis: int) -> int:
    """How many directions a tensor has: the attribute tells it where its type does not."""
    if axis >= value.rank:
        node.unsupported(f"with an input of type {value.type}")
    extent = value.shape[axis]
    if not isinstance(extent, int):
        return len(_WAYS[node.text("direction", "forward")])
    if extent not in (1, 2):
        node.unsupported(f"with an input of type {value.type}")
    return extent


_SHARED = ("activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "layout")
_LSTM_FUNCTIONS, _GRU_FUNCTIONS = ("Sigmoid", "Tanh", "Tanh"), ("Sigmoid", "Tanh")

RECURRENT: tuple[Converter, ...] = (
    converter("LSTM", _recurrent(_lstm, _LSTM_FUNCTIONS, 2), *_SHARED, "input_forget"),
    converter("GRU", _recurrent(_gru, _GRU_FUNCTIONS, 1), *_SHARED, "linear_before_reset"),
    converter("RNN", _recurrent(_rnn, ("Tanh",), 1), *_SHARED),
)
