"""Choices between two branches that the run makes."""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.dtypes import DType
from relay.frontend.shared.node import Node, Result
from relay.frontend.shared.value import Value
from relay.infer.infer_type import infer_type_expr
from relay.ir.expr import Expr, If, Tuple
from relay.ops.framework.build import TupleWrapper, with_known_type
from relay.ops.manipulation.shape import reshape


def conditional(node: Node, condition: Value, branches: tuple[Sequence[Value], Sequence[Value]]) -> Result:
    """The first branch where the condition, of one element, is true, else the second, as many values of one type."""
    types = [[str(value.type) for value in branch] for branch in branches]
    if types[0] != types[1]:
        node.unsupported(f"with branches of the types {', '.join(types[0])} and {', '.join(types[1])}")
    both = If(scalar_truth(node, condition), joined(branches[0]), joined(branches[1]))
    infer_type_expr(both)
    return both if len(types[0]) == 1 else TupleWrapper(both, len(types[0]))


def scalar_truth(node: Node, condition: Value) -> Expr:
    """A condition of one element as a bool scalar."""
    if condition.dtype is not DType.BOOL or any(extent != 1 for extent in condition.shape):
        node.unsupported(f"on a condition of type {condition.type}")
    return condition.expr if condition.rank == 0 else reshape(condition.expr, ())


def joined(values: Sequence[Value]) -> Expr:
    """Several values as a tuple, one as it is."""
    return values[0].expr if len(values) == 1 else with_known_type(Tuple(tuple(value.expr for value in values)))
