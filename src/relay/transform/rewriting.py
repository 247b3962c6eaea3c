"""Rewriting whole function bodies where every replacement has the type of what it replaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from relay.base.frozen import frozen
from relay.ir.expr import AnyExpr, Call, Expr, Function, Let, Var, record_type, record_type_args
from relay.ir.traversal import children, post_order, rebuild
from relay.transform.extents import function_at


@frozen
class Uses:
    """How often each expression is used, replacements included."""

    counts: dict[int, int] = field(default_factory=dict)

    def of(self, expr: Expr) -> int:
        """The number of uses; 1 for what a rewriting step has just made."""
        return self.counts.get(id(expr), 1)


def same_type(expr: AnyExpr, model: Expr) -> AnyExpr:
    """`expr`, which has the type of `model`, with that type recorded; and its type arguments, if it calls the same."""
    if expr.checked_type is None and model.checked_type is not None:
        record_type(expr, model.checked_type)
        if isinstance(expr, Call) and isinstance(model, Call) and expr.op is model.op:
            record_type_args(expr, model.type_args)
    return expr


def rewrite_typed(function: Function, step: Callable[[Expr, Uses], Expr]) -> Function:
    """`function` with `step(node, uses)` applied to each node of its body, from the leaves up.

    `step` sees a node whose parts are rewritten already, and gives it back or an expression of the same type.
    """
    uses = Uses()
    order = post_order(function.body)
    for node in order:
        for child in children(node):
            uses.counts[id(child)] = uses.counts.get(id(child), 0) + 1
    new: dict[int, Expr] = {}
    kept: list[Expr] = []  # alive, so that identities stay unique
    for node in order:
        parts: Sequence[Expr] = [new[id(child)] for child in children(node)]
        rebuilt = _rebuilt(node, parts)
        result = same_type(step(rebuilt, uses), node)
        uses.counts[id(result)] = max(uses.counts.get(id(node), 0), uses.counts.get(id(result), 0))
        new[id(node)] = result
        kept += (rebuilt, result)
    return with_body(function, new[id(function.body)])


def _rebuilt(node: Expr, parts: Sequence[Expr]) -> Expr:
    """The node with other parts of the same types: what inference found of it still holds."""
    return same_type(rebuild(node, parts), node)


def rewrite_nodes(function: Function, step: Callable[[Expr, Expr], Expr]) -> Function:
    """`function` with `step(node, rebuilt)` for each node of its body, from the leaves up: `rebuilt` has parts that are
    rewritten already, `node` what inference knows of it. What `step` gives has the type of `node`."""
    new: dict[int, Expr] = {}
    for node in post_order(function.body):
        rebuilt = _rebuilt(node, [new[id(child)] for child in children(node)])
        new[id(node)] = same_type(step(node, rebuilt), node)
    return with_body(function, new[id(function.body)])


def without_unused(function: Function, may_go: Callable[[Expr], bool]) -> Function:
    """The function without bindings that nothing needs, of values that `may_go`; the same function if there are none.

    A value is looked at where it is bound: a shared one that is used elsewhere too is evaluated there.
    """
    bound = {n.var: n.value for n in post_order(function.body) if isinstance(n, Let) and may_go(n.value)}
    used: set[Var] = set()
    met: set[int] = set()
    stack: list[Expr] = [function.body]
    while stack:
        node = stack.pop()
        if id(node) in met:
            continue
        met.add(id(node))
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


def copied(function: Function) -> Function:
    """A copy whose bound variables are new, and the symbols of extents that are found inside, so that both may stand in
    one program, and both bodies in one function."""
    return function_at(function, {})


def with_body(function: Function, body: Expr) -> Function:
    """The function with another body of the same type; the same function if the body is the same."""
    if body is function.body:
        return function
    changed = Function(
        function.params, body, function.ret_type, function.type_params, function.attrs, span=function.span
    )
    return same_type(changed, function)
