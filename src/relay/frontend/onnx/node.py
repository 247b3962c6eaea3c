"""One node of an ONNX graph, as a converter sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from relay.base.frozen import frozen
from relay.frontend.shared import node as shared
from relay.frontend.shared.value import Value

if TYPE_CHECKING:
    from onnx import GraphProto


@frozen(eq=False)
class OnnxNode(shared.Node):
    """`attributes` holds the defaults of the opset too. `import_graph` imports a graph that stands in an attribute."""

    opset: int
    import_graph: Callable[[GraphProto], tuple[Value, ...] | None]

    def subgraph(self, name: str) -> tuple[Value, ...]:
        """The outputs of the graph in the attribute `name`, which takes no inputs of its own."""
        graph: Any = self.attributes[name]
        if graph.input:
            self.unsupported(f"with a `{name}` that has inputs")
        outputs = self.import_graph(graph)
        if outputs is None:
            self.unsupported(f"with nodes in its `{name}` that cannot be imported")
        return outputs


Converter: TypeAlias = shared.Converter[OnnxNode]
