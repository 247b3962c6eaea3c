"""Which variables an expression binds and which it takes from outside; replacing them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import cast

from relay.base.arguments import MAPPING, takes
from relay.ir.expr import (
    EXPRESSION,
    Clause,
    Expr,
    Function,
    GlobalVar,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    Var,
    pattern_vars,
)
from relay.ir.rewriting import rewrite
from relay.ir.traversal import children, post_order, rebuild


def vars_bound_at(expr: Expr) -> tuple[Var, ...]:
    """The variables that this one node binds: parameters, the variable of a let, those of the patterns of a match."""
    match expr:
        case Let(var):
            return (var,)
        case Function(params):
            return params
        case Match(_, clauses):
            return tuple(var for clause in clauses for var in pattern_vars(clause.lhs))
        case _:
            return ()


def bound_vars(expr: Expr) -> tuple[Var, ...]:
    """The variables bound somewhere in `expr`, each once.

    >>> from relay.ir.expr import Function, Tuple, Var
    >>> x, y = Var("x"), Var("y")
    >>> [var.name_hint for var in bound_vars(Function((x,), Tuple((x, y))))]
    ['x']
    """
    return tuple(dict.fromkeys(var for node in post_order(expr) for var in vars_bound_at(node)))


def free_vars(expr: Expr) -> tuple[Var, ...]:
    """The variables used but not bound in `expr`, each once, in the order they are met.

    Every variable of a well-formed program is bound once, so a variable bound anywhere inside is not free.

    >>> from relay.ir.expr import Function, Tuple, Var
    >>> x, y = Var("x"), Var("y")
    >>> [var.name_hint for var in free_vars(Function((x,), Tuple((x, y))))]
    ['y']
    """
    nodes = post_order(expr)
    bound = {var for node in nodes for var in vars_bound_at(node)}
    return tuple(node for node in nodes if isinstance(node, Var) and node not in bound)


def all_vars(expr: Expr) -> tuple[Var, ...]:
    """The variables used or bound in `expr`, each once."""
    found: dict[Var, None] = {}
    for node in post_order(expr):
        if isinstance(node, Var):
            found[node] = None
        found.update((var, None) for var in vars_bound_at(node))
    return tuple(found)


def substitute(expr: Expr, mapping: Mapping[Var, Expr]) -> Expr:
    """`expr` with the variables of `mapping` replaced where they are used. Sharing is kept.

    Nothing is captured, since each variable is bound once in a program; a replacement that binds variables and is
    used in several scopes must be `refresh`ed for each.

    >>> from relay.ir.expr import Tuple, Var
    >>> x, y = Var("x"), Var("y")
    >>> substitute(Tuple((x, x)), {x: y}).fields == (y, y)
    True
    """
    if not mapping:
        return expr
    return rewrite(expr, lambda node: mapping.get(node, node) if isinstance(node, Var) else node)


@takes(expr=EXPRESSION, values=MAPPING)
def bind(expr: Expr, values: Mapping[Var | str, Expr]) -> Expr:
    """`expr` with variables replaced by values: those that it takes from outside and, where it is a function, its
    parameters, which it has no more. A name stands for the variables of that name.

    >>> from relay.ir.expr import Function, Tuple, Var, const
    >>> x, y = Var("x"), Var("y")
    >>> print(bind(Function((x, y), Tuple((x, y))), {"y": const(1)}).params == (x,))
    True
    """
    bindable = free_vars(expr) + (expr.params if isinstance(expr, Function) else ())
    mapping = {var: values[key] for var in bindable for key in (var, var.name_hint) if key in values}
    if not isinstance(expr, Function):
        return substitute(expr, mapping)
    body = substitute(expr.body, mapping)
    kept = tuple(parameter for parameter in expr.params if parameter not in mapping)
    return Function(kept, body, expr.ret_type, expr.type_params, expr.attrs, span=expr.span)


def refresh(expr: Expr) -> Expr:
    """A copy of `expr` whose bound variables are new, so that both may stand in one program.

    >>> from relay.ir.expr import Function, Var
    >>> identity = Function((x := Var("x"),), x)
    >>> refresh(identity).params[0] is x
    False
    """
    fresh = _fresh(bound_vars(expr))
    return rewrite(expr, renaming(fresh)) if fresh else expr


def forget_types(function: Function, names: Collection[GlobalVar]) -> Function:
    """A copy of `function` without the types that were found for its variables, and for what is made of them or of the
    functions called `names`: these may have others now."""
    nodes = post_order(function)
    fresh = {
        var: Var(var.name_hint, var.type_annotation, span=var.span) for node in nodes for var in vars_bound_at(node)
    }
    renamed = renaming(fresh)
    new: dict[Expr, Expr] = {}
    for node in nodes:
        parts = [new[child] for child in children(node)]
        made = replace(node) if any(isinstance(part, GlobalVar) and part in names for part in parts) else node
        new[node] = renamed(rebuild(made, parts))
    return cast("Function", new[function])


def _fresh(variables: Iterable[Var]) -> dict[Var, Var]:
    return {var: Var(var.name_hint, var.type_annotation, span=var.span) for var in variables}


def renaming(fresh: Mapping[Var, Var]) -> Callable[[Expr], Expr]:
    """The rewriting step that puts new variables in the place of old ones, where they are bound and where they are
    used."""

    def step(node: Expr) -> Expr:
        match node:
            case Var():
                return fresh.get(node, node)
            case Function(params, body, ret_type, type_params, attrs) if params:
                return Function([fresh[p] for p in params], body, ret_type, type_params, attrs, span=node.span)  # type: ignore[arg-type]
            case Let(var, value, body):
                return Let(fresh[var], value, body, span=node.span)
            case Match(data, clauses, complete):
                renamed = tuple(Clause(_rename(clause.lhs, fresh), clause.rhs) for clause in clauses)
                return Match(data, renamed, complete, span=node.span)
            case _:
                return node

    return step


def _rename(pattern: Pattern, fresh: Mapping[Var, Var]) -> Pattern:
    match pattern:
        case PatternVar(var):
            return PatternVar(fresh[var])
        case PatternConstructor(constructor, patterns):
            return PatternConstructor(constructor, tuple(_rename(inner, fresh) for inner in patterns))
        case PatternTuple(patterns):
            return PatternTuple(tuple(_rename(inner, fresh) for inner in patterns))
        case _:
            return pattern
