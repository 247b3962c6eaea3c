"""Control flow: If. A condition that is known takes its branch now, which exporters' checks of shapes are."""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.value import Value, is_symbolic
from relay.infer.infer_type import infer_type_expr
from relay.ir.expr import Expr, If, Tuple
from relay.ops.build import TupleWrapper, with_known_type
from relay.ops.shape import reshape


def _if(node: OnnxNode) -> Result:
    """Both branches see the names around them and give as many outputs, of the same types."""
    condition = node.value(0)
    if condition.dtype is not DType.BOOL or any(extent != 1 for extent in condition.shape):
        node.unsupported(f"on a condition of type {condition.type}")
    if condition.known is not None and not is_symbolic(condition.known) and condition.from_shapes:
        return node.subgraph("then_branch" if bool(condition.known.reshape(())) else "else_branch")
    branches = node.subgraph("then_branch"), node.subgraph("else_branch")
    types = [[str(value.type) for value in branch] for branch in branches]
    if types[0] != types[1]:
        node.unsupported(f"with branches of the types {', '.join(types[0])} and {', '.join(types[1])}")
    scalar = condition.expr if condition.rank == 0 else reshape(condition.expr, ())
    both = If(scalar, _joined(branches[0]), _joined(branches[1]))
    infer_type_expr(both)
    return both if len(types[0]) == 1 else TupleWrapper(both, len(types[0]))


def _joined(values: tuple[Value, ...]) -> Expr:
    return values[0].expr if len(values) == 1 else with_known_type(Tuple(tuple(value.expr for value in values)))


CONTROL: tuple[Converter, ...] = (converter("If", _if, "then_branch", "else_branch"),)
