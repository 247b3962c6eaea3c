"""Control flow: If. A condition that is known takes its branch now, which exporters' checks of shapes are."""

from __future__ import annotations

from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.control.branches import conditional, scalar_truth
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.value import is_symbolic


def _if(node: OnnxNode) -> Result:
    """Both branches see the names around them and give as many outputs, of the same types."""
    condition = node.value(0)
    scalar_truth(node, condition)
    if condition.known is not None and not is_symbolic(condition.known) and condition.from_shapes:
        return node.subgraph("then_branch" if bool(condition.known.reshape(())) else "else_branch")
    return conditional(node, condition, (node.subgraph("then_branch"), node.subgraph("else_branch")))


CONTROL: tuple[Converter, ...] = (converter("If", _if, "then_branch", "else_branch"),)
