"""Name what crosses scopes: basic-block normal form.

    before: %0 = exp(%x); if (%c) { add(%0, %x) } else { multiply(%0, %0) }
    after:  let %v0 = exp(%x); if (%c) { add(%v0, %x) } else { multiply(%v0, %v0) }

Inside a scope (function body, branch, clause) values stay a graph; a value that an inner scope uses is bound in the
scope that evaluates it. So each scope can be looked at alone. Bound too is what has an effect, for its place in the
order counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from relay.analysis.effects import ModuleEffects
from relay.ir.expr import Expr, Function, If, Match
from relay.ir.module import IRModule
from relay.ir.sharing import Scope, Scopes, value_node
from relay.ir.traversal import LEAVES, children
from relay.normalize.a_normal_form import is_atom, name_values


def to_basic_block_normal_form(function: Function) -> Function:
    """The function with every value that crosses a scope bound by a let."""
    effects = ModuleEffects(IRModule())
    effects.of(function.body)

    def naming(found: Scopes) -> Callable[[Expr], bool]:
        crossing = {node for scope in _all_scopes(found) for node in _from_outside(scope, found)}
        return lambda node: not is_atom(node) and (node in crossing or not effects.own(node).is_repeatable)

    return name_values(function, naming)


def _all_scopes(found: Scopes) -> list[Scope]:
    order = [found.root]
    for scope in order:
        for node in scope.order:
            order.extend(found.inner(node))
    return order


def _from_outside(scope: Scope, found: Scopes) -> Iterator[Expr]:
    """What a scope uses and another evaluates."""
    used = [scope.result]
    for node in scope.order:
        match node:
            case Function():
                pass
            case If() | Match():
                used.append(children(node)[0])
            case _:
                used += children(node)
    for part in used:
        value = value_node(part)
        if not isinstance(value, LEAVES) and found.of(value) is not scope:
            yield value
