"""What each scope of a function in A-normal form takes from outside: the question behind captures and last uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from relay.ir.expr import Expr, Function, If, Match, Var, pattern_vars
from relay.ir.sharing import let_chain
from relay.ir.traversal import children


class FreeVariables:
    """The free variables of every scope inside a function body, each in order of first use."""

    __slots__ = ("_of_scope",)

    def __init__(self, body: Expr) -> None:
        self._of_scope: dict[int, dict[Var, None]] = {}
        heads = [body]
        known: set[int] = {id(body)}
        for head in heads:
            for inner in _inner_scopes(head):
                if id(inner) not in known:
                    known.add(id(inner))
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
        return {} if function.attrs.get("Primitive") else _without(self.of(function.body), function.params)

    def captures_but(self, function: Function, itself: Var | None) -> dict[Var, None]:
        """What a closure takes from outside, other than itself."""
        return {var: None for var in self.captures(function) if var is not itself}

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


def _inner_scopes(head: Expr) -> Iterator[Expr]:
    lets, result = let_chain(head)
    for let in lets:
        yield from _scopes_of(let.value)
    yield from _scopes_of(result)


def _scopes_of(value: Expr) -> Iterator[Expr]:
    match value:
        case Function():
            if not value.attrs.get("Primitive"):
                yield value.body
        case If(_, true_branch, false_branch):
            yield from (true_branch, false_branch)
        case Match(_, clauses):
            yield from (clause.rhs for clause in clauses)
        case _:
            for atom in children(value):
                if isinstance(atom, Function):
                    yield from _scopes_of(atom)
