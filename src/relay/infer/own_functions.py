"""Functions whose types the program around them decides, each as a copy of this program's own.

    g = Function([x, y], x + y)        without annotations: `g` is of one type in this program, of another in the next

Types are recorded at nodes, so such a function would keep those of the first program that it is used in.
"""

from __future__ import annotations

from relay.base.graph import post_order as graph_post_order
from relay.ir.expr import (
    Clause,
    Expr,
    Function,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    Var,
)
from relay.ir.traversal import children, post_order, rebuild


def with_own_functions(function: Function) -> Function:
    """`function`, not typed yet, with copies of the functions inside whose parameters have no annotations, as far as
    these have no types either; the same function if there are none."""
    order = graph_post_order((function.body,), _untyped_parts)
    if not any(map(_is_open, order)):
        return function
    new: dict[Expr, Expr] = {}
    for node in order:
        parts = _untyped_parts(node)
        new[node] = _copy(node) if _is_open(node) else rebuild(node, [new[part] for part in parts]) if parts else node
    return Function(
        function.params, new[function.body], function.ret_type, function.type_params, function.attrs, span=function.span
    )


def _untyped_parts(node: Expr) -> tuple[Expr, ...]:
    return () if node.checked_type is not None else children(node)


def _is_open(node: Expr) -> bool:
    """Whether a function's types are those of what it is called with."""
    return (
        isinstance(node, Function)
        and node.checked_type is None
        and any(parameter.type_annotation is None and parameter.checked_type is None for parameter in node.params)
    )


def _copy(root: Expr) -> Expr:
    """A copy with variables of its own."""
    variables: dict[Var, Var] = {}
    new: dict[Expr, Expr] = {}

    def own(var: Var) -> Var:
        return variables.setdefault(var, Var(var.name_hint, var.type_annotation, span=var.span))

    order = post_order(root)
    for node in order:
        match node:
            case Function(params=params):
                for parameter in params:
                    own(parameter)
            case Let(var=var):
                own(var)
            case Match(clauses=clauses):
                for clause in clauses:
                    _own_pattern(clause.lhs, variables)
            case _:
                pass
    for node in order:
        parts = [new[part] for part in children(node)]
        match node:
            case Var():
                new[node] = variables.get(node, node)
            case Function(_, _, ret_type, type_params, attrs):
                params = tuple(variables[each] for each in node.params)
                new[node] = Function(params, parts[0], ret_type, type_params, attrs, span=node.span)
            case Let(var=var):
                new[node] = Let(variables[var], parts[0], parts[1], span=node.span)
            case Match(clauses=clauses, complete=complete):
                own_clauses = [
                    Clause(_own_pattern(clause.lhs, variables), part)
                    for clause, part in zip(clauses, parts[1:], strict=True)
                ]
                new[node] = Match(parts[0], tuple(own_clauses), complete, span=node.span)
            case _:
                new[node] = rebuild(node, parts)
    return new[root]


def _own_pattern(pattern: Pattern, variables: dict[Var, Var]) -> Pattern:
    match pattern:
        case PatternVar(var):
            return PatternVar(variables.setdefault(var, Var(var.name_hint, var.type_annotation, span=var.span)))
        case PatternConstructor(constructor, patterns):
            return PatternConstructor(constructor, tuple(_own_pattern(each, variables) for each in patterns))
        case PatternTuple(patterns):
            return PatternTuple(tuple(_own_pattern(each, variables) for each in patterns))
        case PatternWildcard():
            return pattern
