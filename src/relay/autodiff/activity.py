"""Which values are differentiated: all that are reached from what it is done by, through values that have cotangents,
and from which the result is reached. The call of a function reaches its value from those arguments that count there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import TypeAlias

from relay.analysis.call_graph import CallGraph
from relay.ir.expr import Call, Expr, Function, GlobalVar, If, Let, Match, Op, Var, pattern_vars
from relay.ir.sharing import value_node
from relay.ir.traversal import children, post_order
from relay.ir.types import Type
from relay.ops.framework.record import NotDifferentiable, OperatorRecord
from relay.ops.transformations import ITS_COTANGENT, WITH_PULLBACK

Counting: TypeAlias = Mapping[GlobalVar, AbstractSet[int]]
"""By function, the places of the parameters on which its value depends in a way that can be differentiated."""


def active_variables(
    body: Expr, roots: Iterable[Var], exists: Callable[[Type], bool], counting: Counting = MappingProxyType({})
) -> set[Var]:  # fmt: skip
    """The variables of a body in A-normal form that depend on `roots` in a way that can be differentiated, and on which
    its value depends so; `exists` says of which types there are cotangents."""
    users: dict[Var, list[Var]] = {}
    sources: dict[Var, list[Var]] = {}
    for node in post_order(body):
        for source, target in _flows(node, counting):
            users.setdefault(source, []).append(target)
            sources.setdefault(target, []).append(source)
    depending = _reached(users, roots, lambda var: var.checked_type is not None and exists(var.checked_type))
    result = value_node(body)
    return _reached(sources, [result], depending.__contains__) if isinstance(result, Var) else set()


def active_arguments(call: Call, active: AbstractSet[Var], counting: Counting) -> tuple[bool, ...]:
    """Of each argument of a function's call whether it is differentiated there."""
    assert isinstance(call.op, GlobalVar)
    places = counting[call.op]
    return tuple(at in places and isinstance(each, Var) and each in active for at, each in enumerate(call.args))


def counting_parameters(
    graph: CallGraph, normal: Callable[[GlobalVar], Function], exists: Callable[[Type], bool]
) -> Counting:
    """Those of all functions of a program that are called: the least that agree with each other. `normal` gives their
    A-normal form."""
    called = {callee for callees in graph.callees.values() for callee in callees}
    components = [each for each in graph.components if not called.isdisjoint(each)]
    found: dict[GlobalVar, frozenset[int]] = {name: frozenset() for each in components for name in each}
    for component in components:
        changed = True
        while changed:
            before = [found[name] for name in component]
            for name in component:
                function = normal(name)
                active = active_variables(function.body, function.params, exists, found)
                found[name] = frozenset(at for at, each in enumerate(function.params) if each in active)
            changed = component[0] in graph.recursive and before != [found[name] for name in component]
    return found


def _reached(neighbours: Mapping[Var, Sequence[Var]], roots: Iterable[Var], counts: Callable[[Var], bool]) -> set[Var]:
    """What is reached from the roots, themselves included, through variables that count."""
    found: set[Var] = set()
    waiting = list(roots)
    while waiting:
        var = waiting.pop()
        if var not in found and counts(var):
            found.add(var)
            waiting += neighbours.get(var, ())
    return found


def _flows(node: Expr, counting: Counting) -> Iterator[tuple[Var, Var]]:
    """Pairs of variables, of which the second is made of the first."""
    match node:
        case Let(var, value):
            for source in _sources(value, counting):
                yield source, var
        case Match(Var() as data, clauses):
            for clause in clauses:
                for bound in pattern_vars(clause.lhs):
                    yield data, bound
        case _:
            pass


def _sources(value: Expr, counting: Counting) -> Iterator[Var]:
    match value:
        case Var():
            yield value
        case If(_, true_branch, false_branch):
            yield from (end for end in map(value_node, (true_branch, false_branch)) if isinstance(end, Var))
        case Match(_, clauses):
            yield from (end for clause in clauses if isinstance(end := value_node(clause.rhs), Var))
        case Call(op=Op(operator=OperatorRecord(gradient=NotDifferentiable()))):
            pass
        case Call(op=Op(operator=operator), args=args) if operator is ITS_COTANGENT or operator is WITH_PULLBACK:
            yield from (each for each in args[1:2] if isinstance(each, Var))  # the arguments that it is told of
        case Function():
            pass
        case Call(op=GlobalVar() as callee, args=args) if callee in counting:
            yield from (each for at, each in enumerate(args) if at in counting[callee] and isinstance(each, Var))
        case Call(op=callee, args=args) if isinstance(callee, Op | GlobalVar) or not isinstance(callee, Var):
            yield from (each for each in args if isinstance(each, Var))
        case _:
            yield from (each for each in children(value) if isinstance(each, Var))
