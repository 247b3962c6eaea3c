"""What each scope of a function in A-normal form takes from outside: the question behind captures and last uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from relay.arith.expr import Symbol
from relay.ir.expr import Expr, Function, If, Let, Match, Var, pattern_vars
from relay.ir.sharing import let_chain
from relay.ir.traversal import body_nodes, children
from relay.ir.type_traversal import type_symbols
from relay.ir.types import TensorType, TupleType, Type
from relay.runtime.arguments.extents import symbol_sources


class FreeVariables:
    """The free variables of every scope inside a function, each in order of first use. Those of a closure include what
    tells the extents that its types name and that nothing else tells which it takes, such as the `n` of `n - 1`."""

    __slots__ = ("_of_closure", "_of_scope", "_tellers")

    def __init__(self, function: Function) -> None:
        self._of_scope: dict[int, dict[Var, None]] = {}
        self._of_closure: dict[int, dict[Var, None]] = {}
        self._tellers: dict[int, Mapping[Symbol, Var]] = {id(function.body): _told_by(function.params, {})}
        heads = [function.body]
        for head in heads:
            for bound, inner, tellers in _inner_scopes(head, self._tellers[id(head)]):
                if id(inner) not in self._tellers:
                    self._tellers[id(inner)] = _told_by(bound, tellers)
                    heads.append(inner)
        for head in reversed(heads):
            self._of_scope[id(head)] = self._free(head)

    def of(self, scope: Expr) -> dict[Var, None]:
        """What the body of a function, a branch or a clause takes from outside; pattern variables count as outside."""
        known = self._of_scope.get(id(scope))
        if known is None:
            known = self._of_scope[id(scope)] = self._free(scope)
        return known

    def used_by(self, value: Expr) -> dict[Var, None]:
        """The variables that evaluating one bound value uses, those of its branches and closures included."""
        found: dict[Var, None] = {}
        match value:
            case Var():
                found[value] = None
            case Function():
                found.update(self.captures(value))
            case If(cond, true_branch, false_branch):
                found.update(self.used_by(cond))
                found.update(self.of(true_branch))
                found.update(self.of(false_branch))
            case Match(data, clauses):
                found.update(self.used_by(data))
                for clause in clauses:
                    found.update(_without(self.of(clause.rhs), pattern_vars(clause.lhs)))
            case _:
                for atom in children(value):
                    found.update(self.used_by(atom))
        return found

    def captures(self, function: Function) -> dict[Var, None]:
        """What a closure takes from outside."""
        if function.attrs.get("Primitive"):
            return {}
        known = self._of_closure.get(id(function))
        if known is None:
            found = _without(self.of(function.body), function.params)
            known = self._of_closure[id(function)] = {**found, **self._telling(function, (*found, *function.params))}
        return known

    def captures_but(self, function: Function, itself: Var | None) -> dict[Var, None]:
        """What a closure takes from outside, other than itself."""
        return {var: None for var in self.captures(function) if var is not itself}

    def _telling(self, function: Function, taken: Sequence[Var]) -> dict[Var, None]:
        """The variables around a closure that tell extents in it which those that it takes do not."""
        tellers, told = self._tellers.get(id(function.body), {}), _told_by(taken, {})
        own = (node.var for node in body_nodes(function) if isinstance(node, Let))
        missing = (symbol for var in (*taken, *own) for symbol in _symbols(var) if symbol not in told)
        return dict.fromkeys(tellers[symbol] for symbol in missing if symbol in tellers)

    def _free(self, head: Expr) -> dict[Var, None]:
        lets, result = let_chain(head)
        found: dict[Var, None] = {}
        bound: set[Var] = set()
        for let in lets:
            bound.add(let.var)  # a function may call itself
            found.update((each, None) for each in self.used_by(let.value) if each not in bound)
        found.update((each, None) for each in self.used_by(result) if each not in bound)
        return found


def _without(variables: dict[Var, None], bound: Iterable[Var]) -> dict[Var, None]:
    own = set(bound)
    return {var: None for var in variables if var not in own}


def _symbols(var: Var) -> tuple[Symbol, ...]:
    return () if var.checked_type is None else type_symbols(var.checked_type)


def _told_by(variables: Iterable[Var], known: Mapping[Symbol, Var]) -> Mapping[Symbol, Var]:
    """Extents with a variable for each that tells it, where some are known."""
    new: dict[Symbol, Var] = {}
    for var in variables:
        new.update((symbol, var) for symbol in _told(var.checked_type) if symbol not in known and symbol not in new)
    return {**known, **new} if new else known


def _told(type_: Type | None) -> Iterator[Symbol]:
    """The extents that a value of a type tells."""
    match type_:
        case TupleType():
            for field in type_.fields:
                yield from _told(field)
        case TensorType():
            yield from symbol_sources([type_.shape])
        case _:
            pass


def _inner_scopes(
    head: Expr, tellers: Mapping[Symbol, Var]
) -> Iterator[tuple[Sequence[Var], Expr, Mapping[Symbol, Var]]]:
    """The scopes inside a scope: what each binds, its body, and the extents that variables around it tell."""
    lets, result = let_chain(head)
    for let in lets:
        for bound, inner in _scopes_of(let.value):
            yield bound, inner, tellers
        tellers = _told_by([let.var], tellers)
    for bound, inner in _scopes_of(result):
        yield bound, inner, tellers


def _scopes_of(value: Expr) -> Iterator[tuple[Sequence[Var], Expr]]:
    match value:
        case Function():
            if not value.attrs.get("Primitive"):
                yield value.params, value.body
        case If(_, true_branch, false_branch):
            yield from (((), true_branch), ((), false_branch))
        case Match(_, clauses):
            yield from ((pattern_vars(clause.lhs), clause.rhs) for clause in clauses)
        case _:
            for atom in children(value):
                if isinstance(atom, Function):
                    yield from _scopes_of(atom)
