"""The run-time checks of a typed function: what its relations could not decide."""

from __future__ import annotations

from relay.ir.expr import Call, Function, Op
from relay.ir.operator import Check, Solved
from relay.ir.traversal import post_order


def checks_of(function: Function) -> tuple[Check, ...]:
    """What must hold of the extents whenever a typed function is called, each statement once, in program order.

    Functions inside count too. A call whose operator's relation has nothing left to check adds nothing.
    """
    found: dict[tuple[str, str], Check] = {}
    for expr in post_order(function):
        if not isinstance(expr, Call) or not isinstance(expr.op, Op):
            continue
        types = tuple(argument.checked_type for argument in expr.args)
        outcome = expr.op.operator.relation(tuple(t for t in types if t is not None), expr.attrs)
        for check in outcome.checks if isinstance(outcome, Solved) else ():
            found.setdefault((str(check.condition), check.message), check)
    return tuple(found.values())
