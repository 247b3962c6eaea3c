"""Bindings that nothing needs."""

from __future__ import annotations

from collections.abc import Callable

from relay.ir.expr import Expr, Function, Let, Var
from relay.ir.rewriting import rewrite_nodes
from relay.ir.traversal import children, post_order


def without_unused(function: Function, may_go: Callable[[Expr], bool]) -> Function:
    """The function without bindings that nothing needs, of values that `may_go`; the same function if there are none.

    A value is looked at where it is bound: a shared one that is used elsewhere too is evaluated there.
    """
    bound = {n.var: n.value for n in post_order(function.body) if isinstance(n, Let) and may_go(n.value)}
    used: set[Var] = set()
    met: set[Expr] = set()
    stack: list[Expr] = [function.body]
    while stack:
        node = stack.pop()
        if node in met:
            continue
        met.add(node)
        if isinstance(node, Var) and node in bound:
            used.add(node)
            stack.append(bound[node])
        elif isinstance(node, Let) and node.var in bound:
            stack.append(node.body)
        else:
            stack.extend(children(node))

    def step(_: Expr, rebuilt: Expr) -> Expr:
        if isinstance(rebuilt, Let) and rebuilt.var in bound and rebuilt.var not in used:
            return rebuilt.body
        return rebuilt

    return function if used == set(bound) else rewrite_nodes(function, step)
