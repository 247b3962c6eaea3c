"""Whether a rewrite drops something whose evaluation could be noticed. Asked of new nodes only, so linear in all."""

from __future__ import annotations

from relay.analysis.effects import ModuleEffects
from relay.ir.expr import Expr, Function, Tuple, TupleGetItem
from relay.ir.traversal import children

_REACH = 64


def drops_nothing_noticed(effects: ModuleEffects, old: Expr, new: Expr) -> bool:
    """Whether everything of `old` that `new` does not evaluate may go."""
    if effects.of(old).is_removable:
        return True
    kept = set(_near(new))
    stack = [old]
    while stack:
        node = stack.pop()
        if node not in kept and not effects.of(node).is_removable:
            if not effects.own(node).is_removable:
                return False
            stack += _evaluated(node)
    return True


def field_taken(effects: ModuleEffects, taken: TupleGetItem) -> Expr:
    """A field of a tuple that is written where it is taken; `taken` itself where the other fields would be noticed."""
    match taken.tuple_value:
        case Tuple(fields) if drops_nothing_noticed(effects, taken, fields[taken.index]):
            return fields[taken.index]
        case _:
            return taken


def _near(expr: Expr) -> list[Expr]:
    """The first nodes under an expression, breadth first: enough to meet what a rule hands on."""
    found = {expr: None}
    order = [expr]
    for node in order:
        if len(order) >= _REACH:
            break
        new = [part for part in dict.fromkeys(_evaluated(node)) if part not in found]
        found.update(dict.fromkeys(new))
        order += new
    return order


def _evaluated(expr: Expr) -> tuple[Expr, ...]:
    """The parts that evaluating an expression may evaluate: none for a function."""
    return () if isinstance(expr, Function) else children(expr)
