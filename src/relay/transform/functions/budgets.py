"""How far partial evaluation may go."""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.ir.expr import Let
from relay.ir.module import IRModule
from relay.ir.traversal import LEAVES, post_order


@frozen
class PartialEvaluationLimits:
    """`max_growth`: the operations of the result in terms of those of the input. `max_steps`: how many nodes may be
    evaluated inside the functions that are entered, for each operation of the input and besides. `max_variants`: how
    many versions of one function may be open at once, each made while making another."""

    max_growth: float = 3.0
    max_steps_each: int = 40
    max_steps_besides: int = 20_000
    max_variants: int = 4


MOST_ENDS = 16


def operations_of(module: IRModule) -> int:
    """How many nodes of a module do something: all but leaves and names.

    >>> from relay.ir.expr import Function, Tuple, Var
    >>> x = Var("x")
    >>> operations_of(IRModule.from_expr(Function((x,), Let(Var("y"), Tuple((x,)), x))))
    2
    """
    skipped = (*LEAVES, Let)
    return sum(not isinstance(node, skipped) for node in post_order(*module.functions.values()))
