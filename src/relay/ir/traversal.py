"""Walks over expressions, written once and without recursion: depth is limited by memory alone.

`children` are the sub-expressions that a node evaluates. The variables that a node binds (parameters, the variable of
a let, those of a pattern) are not children: they are places, not computations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from relay.base.arguments import refuse
from relay.base.diagnostics import CompilerBug
from relay.base.graph import post_order as graph_post_order
from relay.ir.expr import (
    EXPRESSION,
    Call,
    Clause,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Op,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    record_walk,
)

Node = TypeVar("Node")

LEAVES = (Var, GlobalVar, Constant, Constructor, Op)
"""The forms without children: naming one again costs nothing, so sharing one means nothing."""


def _no_children(_: Any) -> tuple[Expr, ...]:
    return ()


_CHILDREN: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    Var: _no_children,
    GlobalVar: _no_children,
    Constant: _no_children,
    Constructor: _no_children,
    Op: _no_children,
    Tuple: attrgetter("fields"),
    TupleGetItem: lambda node: (node.tuple_value,),
    Function: lambda node: (node.body,),
    Call: lambda node: (node.op, *node.args),
    Let: attrgetter("value", "body"),
    If: attrgetter("cond", "true_branch", "false_branch"),
    RefCreate: lambda node: (node.value,),
    RefRead: lambda node: (node.ref,),
    RefWrite: attrgetter("ref", "value"),
    Match: lambda node: (node.data, *(clause.rhs for clause in node.clauses)),
}


def children(expr: Expr) -> tuple[Expr, ...]:
    """The sub-expressions that stand directly in `expr`, in the order they are evaluated.

    >>> from relay.ir.expr import Tuple, Var
    >>> x = Var("x")
    >>> children(Tuple((x, x))) == (x, x)
    True
    """
    try:
        return _CHILDREN[type(expr)](expr)
    except KeyError:
        refuse(expr, EXPRESSION, "what is looked at")


def _rebuild_match(node: Match, new: Sequence[Expr]) -> Match:
    clauses = tuple(
        clause if clause.rhs is rhs else Clause(clause.lhs, rhs)
        for clause, rhs in zip(node.clauses, new[1:], strict=True)
    )
    return Match(new[0], clauses, node.complete, span=node.span)


_REBUILD: dict[type, Callable[[Any, Sequence[Expr]], Expr]] = {
    Tuple: lambda node, new: Tuple(tuple(new), span=node.span),
    TupleGetItem: lambda node, new: TupleGetItem(new[0], node.index, span=node.span),
    Function: lambda node, new: Function(
        node.params, new[0], node.ret_type, node.type_params, node.attrs, span=node.span
    ),
    Call: lambda node, new: Call(new[0], tuple(new[1:]), node.attrs, node.type_args, span=node.span),
    Let: lambda node, new: Let(node.var, new[0], new[1], span=node.span),
    If: lambda node, new: If(new[0], new[1], new[2], span=node.span),
    RefCreate: lambda node, new: RefCreate(new[0], span=node.span),
    RefRead: lambda node, new: RefRead(new[0], span=node.span),
    RefWrite: lambda node, new: RefWrite(new[0], new[1], span=node.span),
    Match: _rebuild_match,
}


def rebuild(expr: Expr, new_children: Sequence[Expr]) -> Expr:
    """`expr` with other children: `expr` itself if they are the same nodes, else a new untyped node that keeps the
    span.

    >>> from relay.ir.expr import Tuple, Var
    >>> x, y = Var("x"), Var("y")
    >>> pair = Tuple((x, y))
    >>> rebuild(pair, (x, y)) is pair, rebuild(pair, (y, x)).fields == (y, x)
    (True, True)
    """
    old = _CHILDREN[type(expr)](expr)
    if len(old) != len(new_children):
        raise CompilerBug("rebuild", f"{type(expr).__name__} has {len(old)} children, {len(new_children)} given")
    if old == tuple(new_children):
        return expr
    return _REBUILD[type(expr)](expr, new_children)


def post_order_visit(expr: Expr, fvisit: Callable[[Expr], object]) -> None:
    """`fvisit` of every node of `expr` once, each after its children."""
    for node in post_order(expr):
        fvisit(node)


def body_nodes(function: Function) -> tuple[Expr, ...]:
    """Every node of the body of a function once, each after its children, left to right: kept with the function, since
    one pass after another asks.

    >>> from relay.ir.expr import Tuple, Var
    >>> x = Var("x")
    >>> body_nodes(Function((x,), Tuple((x,))))[0] is x
    True
    """
    return (
        record_walk(function, graph_post_order((function.body,), children))
        if function.walked is None
        else function.walked
    )


def post_order(*roots: Expr) -> list[Expr]:
    """Every node reachable from `roots` once (by identity), each after its children, left to right."""
    match roots:
        case (Function() as function,):
            return [*body_nodes(function), function]
        case _:
            return graph_post_order(roots, children)
