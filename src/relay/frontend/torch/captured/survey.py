"""Which operators of a captured graph can be converted, and why the others cannot."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from relay.base.diagnostics import RelayError
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.findings import Findings
from relay.frontend.shared.names import SymbolNames
from relay.frontend.shared.node import Unsupported
from relay.frontend.shared.value import Value
from relay.frontend.torch.decided import decided_extents, is_tensor, outputs_of
from relay.frontend.torch.extents.symbols import Extents, symbols_of
from relay.frontend.torch.graph import GraphImporter, Made
from relay.frontend.torch.keys import RandomKey
from relay.frontend.torch.table import CONVERTERS
from relay.ops.framework.build import symbol

if TYPE_CHECKING:
    import torch
    from torch import fx


def is_operator(node: fx.Node) -> bool:
    """Whether a node computes tensors, rather than numbers, or takes one of several."""
    return node.op == "call_function" and node.target is not operator.getitem and any(map(is_tensor, outputs_of(node)))


def unconverted(graph: fx.GraphModule) -> dict[fx.Node, str]:
    """The operators of a graph that cannot be converted, with the reason. What they compute is taken as given to those
    that follow."""
    return _Survey().run(graph)


class _Survey:
    def __init__(self) -> None:
        self._builder = ProgramBuilder(Findings("unsupported-pytorch"))
        self._symbols: dict[str, Any] = {}
        self._names = SymbolNames()
        self._extents = Extents(self._symbols)
        key = RandomKey(self._builder)
        self._graph = GraphImporter("captured graph", self._builder, self._extents, CONVERTERS, key)

    def run(self, graph: fx.GraphModule) -> dict[fx.Node, str]:
        values: dict[fx.Node, Made] = {}
        found: dict[fx.Node, str] = {}
        for node in graph.graph.nodes:
            match node.op:
                case "placeholder":
                    values[node] = self._given(node)
                case "get_attr":
                    values[node] = self._attribute(graph, node)
                case "call_function":
                    reason = self._converted(node, values) if is_operator(node) else self._passed_on(node, values)
                    if reason is not None:
                        found[node], values[node] = reason, self._given(node)
                case _:
                    pass
        return found

    def _attribute(self, graph: fx.GraphModule, node: fx.Node) -> Made:
        found = operator.attrgetter(str(node.target))(graph)
        return self._tensor(node.name, found) if is_tensor(found) else found

    def _converted(self, node: fx.Node, values: dict[fx.Node, Made]) -> str | None:
        """Why an operator cannot be converted; None if it can."""
        if any(each.device.type != "cpu" for each in outputs_of(node) if is_tensor(each)):
            return "a tensor on another device"
        if decided_extents(node, self._extents):
            return "extents that data decide"
        try:
            values[node] = self._graph.made(node, values)
        except Unsupported as missing:
            return missing.reason
        except RelayError as error:
            return f"{error.rule}: {error.message}"
        return None if values[node] is not None else "an input that Relay cannot hold"

    def _passed_on(self, node: fx.Node, values: dict[fx.Node, Made]) -> None:
        """One of several outputs, or a number."""
        try:
            values[node] = self._graph.made(node, values)
        except Unsupported:
            values[node] = None

    def _given(self, node: fx.Node) -> Made:
        """What comes from outside: tensors, several of them, or None for a number."""
        if node.op == "placeholder":
            self._know(outputs_of(node))
        made = [self._tensor(node.name, each) if is_tensor(each) else None for each in outputs_of(node)]
        return tuple(made) if isinstance(node.meta.get("val"), (tuple, list)) else made[0]

    def _tensor(self, name: str, tensor: torch.Tensor) -> Value | None:
        self._know(tensor.shape)
        try:
            return self._builder.input(name, self._graph.type_of(tensor))
        except Unsupported:
            return None

    def _know(self, extents: Sequence[Any]) -> None:
        for extent in extents:
            for each in symbols_of(extent):
                self._symbols.setdefault(each, symbol(self._names.of(each)))
