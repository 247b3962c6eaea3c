"""Operators on functions: cond, while_loop, scan, map, and regions that only set how gradients are taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from relay.frontend.shared.control.branches import conditional, scalar_truth
from relay.frontend.shared.control.loops import repeated, scanned
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.value import Value
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
    types, captured_types = ([value.type for value in group] for group in (carried, captured))

    def outputs(position: int, state: Sequence[Expr], given: Sequence[Expr]) -> tuple[Value, ...]:
        operands = [*_as_values(node, state, types), *_as_values(node, given, captured_types)]
        return _called(node, position, operands)

    return repeated(
        node, _exprs(carried), _exprs(captured),
        lambda state, given: scalar_truth(node, outputs(0, state, given)[0]),
        lambda state, given: _exprs(outputs(1, state, given)),
    )  # fmt: skip


def _scan(node: TorchNode) -> Result:
    """From the first to the last entry of `rows`: the state, then what each step gives, stacked."""
    first, rows, captured = _groups(node)
    return _over_rows(node, first, rows, captured)


def _map(node: TorchNode) -> Result:
    rows, captured = _groups(node)
    return _over_rows(node, (), rows, captured)


def _over_rows(node: TorchNode, first: Sequence[Value], rows: Sequence[Value], captured: Sequence[Value]) -> Result:
    types = [
        *(value.type for value in first),
        *(TensorType(value.shape[1:], value.dtype) for value in rows),
        *(value.type for value in captured),
    ]
    results = [type_ for type_ in node.types[len(first) :] if type_ is not None]

    def step(*operands: Sequence[Expr]) -> tuple[Sequence[Expr], Sequence[Expr]]:
        given = [expr for group in operands for expr in group]
        outputs = _exprs(_called(node, 0, _as_values(node, given, types)))
        return outputs[: len(first)], outputs[len(first) :]

    return scanned(node, _exprs(first), _exprs(rows), _exprs(captured), results, step)


def _exprs(values: Sequence[Value]) -> list[Expr]:
    return [value.expr for value in values]


CONTROL: tuple[Converter, ...] = (
    converter("cond", _cond),
    converter("while_loop", _while),
    converter("scan", _scan),
    converter("map_impl", _map),
)
