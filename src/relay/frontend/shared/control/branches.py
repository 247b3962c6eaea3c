"""Choices between two branches that the run makes."""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.dtypes import DType
from relay.frontend.shared.node import Node, Result
from relay.frontend.shared.structures import expr_of, joined_type, typed
from relay.frontend.shared.value import Item, Value
from relay.ir.expr import Expr, If, Tuple
from relay.ir.types import Type
from relay.ops.framework.build import TupleWrapper, with_known_type
from relay.ops.manipulation.shape import reshape


def conditional(node: Node, condition: Value, branches: tuple[Sequence[Item], Sequence[Item]]) -> Result:
    """The first branch where the condition, of one element, is true, else the second: as many values, of types that
    join. An extent in which they differ is known to the run alone."""
    one, other = branches
    pairs = zip(one, other, strict=True) if len(one) == len(other) else ()
    types = tuple(each for each in (joined_type(left.type, right.type) for left, right in pairs) if each is not None)
    if len(types) < max(len(one), len(other)):
        told = (", ".join(str(item.type) for item in branch) for branch in branches)
        node.unsupported(f"with branches of the types {' and '.join(told)}")
    both = typed(If(scalar_truth(node, condition), joined(one, types), joined(other, types)))
    return both if len(types) == 1 else TupleWrapper(both, len(types))


def scalar_truth(node: Node, condition: Value) -> Expr:
    """A condition of one element as a bool scalar."""
    if condition.dtype is not DType.BOOL or any(extent != 1 for extent in condition.shape):
        node.unsupported(f"on a condition of type {condition.type}")
    return condition.expr if condition.rank == 0 else reshape(condition.expr, ())


def joined(items: Sequence[Item], types: Sequence[Type]) -> Expr:
    """Several items as a tuple, one as it is."""
    exprs = tuple(expr_of(item, type_) for item, type_ in zip(items, types, strict=True))
    return exprs[0] if len(exprs) == 1 else with_known_type(Tuple(exprs))
