"""Operators on functions: cond, while_loop, scan, map, and regions that only set how gradients are taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from relay.frontend.shared.control import conditional, scalar_truth
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.value import Value
from relay.frontend.torch.loops import repeated, scanned
from relay.frontend.torch.node import Converter, TorchNode
from relay.ir.expr import Expr
from relay.ir.types import TensorType


def _called(node: TorchNode, position: int, inputs: Sequence[Value]) -> tuple[Value, ...]:
    """What a function among the arguments gives."""
    graphs: Any = node.attributes["graphs"]
    outputs = node.import_graph(graphs[position], inputs)
    if outputs is None:
        node.unsupported("with operators in its functions that cannot be imported")
    return outputs


def _groups(node: TorchNode) -> list[tuple[Value, ...]]:
    """The operands, list by list."""
    groups: list[tuple[Value, ...]] = []
    values = iter(node.values())
    for length in cast("tuple[int, ...]", node.attributes["lengths"]):
        groups.append(tuple(next(values) for _ in range(length)))
    return groups


def _cond(node: TorchNode) -> Result:
    (condition,), operands = _groups(node)
    return conditional(node, condition, (_called(node, 0, operands), _called(node, 1, operands)))


def _as_values(node: TorchNode, exprs: Sequence[Expr], types: Sequence[TensorType]) -> list[Value]:
    return [node.made(expr, type_) for expr, type_ in zip(exprs, types, strict=True)]


def _while(node: TorchNode) -> Result:
    carried, captured = _groups(node)
    types = [value.type for value in carried]

    def holds(state: Sequence[Expr]) -> Expr:
        return scalar_truth(node, _called(node, 0, [*_as_values(node, state, types), *captured])[0])

    def step(state: Sequence[Expr]) -> Sequence[Expr]:
        return [value.expr for value in _called(node, 1, [*_as_values(node, state, types), *captured])]

    return repeated(node, [value.expr for value in carried], holds, step)


def _scan(node: TorchNode) -> Result:
    """From the first to the last entry of `rows`: the state, then what each step gives, stacked."""
    first, rows, captured = _groups(node)
    return _over_rows(node, first, rows, captured)


def _map(node: TorchNode) -> Result:
    rows, captured = _groups(node)
    return _over_rows(node, (), rows, captured)


def _over_rows(node: TorchNode, first: Sequence[Value], rows: Sequence[Value], captured: Sequence[Value]) -> Result:
    types = [value.type for value in first]
    entries = [TensorType(value.shape[1:], value.dtype) for value in rows]
    results = [type_ for type_ in node.types[len(first) :] if type_ is not None]

    def step(state: Sequence[Expr], parts: Sequence[Expr]) -> tuple[Sequence[Expr], Sequence[Expr]]:
        given = [*_as_values(node, state, types), *_as_values(node, parts, entries), *captured]
        outputs = [value.expr for value in _called(node, 0, given)]
        return outputs[: len(first)], outputs[len(first) :]

    return scanned(node, [value.expr for value in first], [value.expr for value in rows], results, step)


CONTROL: tuple[Converter, ...] = (
    converter("cond", _cond),
    converter("while_loop", _while),
    converter("scan", _scan),
    converter("map_impl", _map),
)
