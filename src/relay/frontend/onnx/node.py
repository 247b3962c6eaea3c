"""One node of an ONNX graph, as a converter sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from relay.base.frozen import frozen
from relay.frontend.shared import node as shared
from relay.frontend.shared.value import Item

if TYPE_CHECKING:
    from onnx import GraphProto


@frozen(eq=False)
class OnnxNode(shared.Node):
    """`attributes` holds the defaults of the opset too. `outputs` are names, empty where an output is not asked for.
    `import_graph` imports a graph that stands in an attribute, for its inputs and for values around it that are others
    there; `around` tells the values around that such a graph uses.
    """

    opset: int
    outputs: tuple[str, ...]
    import_graph: Callable[[GraphProto, Sequence[Item], Mapping[str, Item]], tuple[Item, ...] | None]
    around: Callable[[GraphProto], Mapping[str, Item]]

    def subgraph(
        self, name: str, inputs: Sequence[Item] = (), around: Mapping[str, Item] = MappingProxyType({})
    ) -> tuple[Item, ...]:
        """The outputs of the graph in the attribute `name`, given its inputs; `around` are other values for names that
        it takes from outside."""
        graph: Any = self.attributes[name]
        if len(graph.input) != len(inputs):
            self.unsupported(f"with a `{name}` that has {len(graph.input)} inputs instead of {len(inputs)}")
        outputs = self.import_graph(graph, inputs, around)
        if outputs is None:
            self.unsupported(f"with nodes in its `{name}` that cannot be imported")
        return outputs

    def taken_by(self, name: str) -> Mapping[str, Item]:
        """The values around the graph in the attribute `name` that it uses."""
        graph: Any = self.attributes[name]
        return self.around(graph)


Converter: TypeAlias = shared.Converter[OnnxNode]
