"""Which variables are still needed at each binding of a program in A-normal form."""

from __future__ import annotations

from collections.abc import Mapping

from relay.base.frozen import frozen
from relay.ir.expr import Expr, Function, If, Let, Match, Var
from relay.ir.sharing import let_chain
from relay.ir.traversal import children
from relay.ir.variables import free_vars


@frozen
class Liveness:
    """`live_after`: by the variable of each let, what is read after its value is there (itself, if it is used);
    `last_uses`: by the variable of each let, what its value is the last to read."""

    live_after: Mapping[Var, frozenset[Var]]
    last_uses: Mapping[Var, tuple[Var, ...]]

    def __str__(self) -> str:
        lines: list[str] = []
        for var, live in self.live_after.items():
            names = ", ".join(sorted(f"%{each.name_hint}" for each in live))
            dying = ", ".join(f"%{each.name_hint}" for each in self.last_uses[var])
            lines.append(f"%{var.name_hint}: live {names or 'nothing'}" + (f"; last use of {dying}" if dying else ""))
        return "\n".join(lines)


def liveness(function: Function) -> Liveness:
    """The liveness of every let of a function in A-normal form (`ToANormalForm`), those in branches, clauses and inner
    functions included. A branch needs what comes after the choice too; an inner function only what it takes itself.

    Costs the size of the program times the depth of its scopes, and the size of the answer.

    >>> from relay.ir.expr import Tuple
    >>> x, a, b = Var("x"), Var("a"), Var("b")
    >>> print(liveness(Function((x,), Let(a, Tuple((x, x)), Let(b, Tuple((a,)), b)))))
    %a: live %a; last use of %x
    %b: live %b; last use of %a
    """
    live_after: dict[Var, frozenset[Var]] = {}
    last_uses: dict[Var, tuple[Var, ...]] = {}
    waiting: list[tuple[Expr, frozenset[Var]]] = [(function.body, frozenset())]
    while waiting:
        scope, after = waiting.pop()
        lets, result = let_chain(scope)
        live = after | set(_read(result))
        waiting.extend(_inner(result, after))
        for let in reversed(lets):
            var = let.var
            live_after[var] = live
            without = live - {var}
            read = [each for each in _read(let.value) if each is not var]
            last_uses[var] = tuple(each for each in read if each not in live)
            waiting.extend(_inner(let.value, without))
            live = without | set(read)
    order = [var for var in _in_order(function) if var in live_after]
    return Liveness({var: live_after[var] for var in order}, {var: last_uses[var] for var in order})


def _read(value: Expr) -> tuple[Var, ...]:
    """The variables that a value reads from around it."""
    return (value,) if isinstance(value, Var) else free_vars(value)


def _inner(value: Expr, after: frozenset[Var]) -> list[tuple[Expr, frozenset[Var]]]:
    """The scopes that a value opens, and what is read when each is over."""
    match value:
        case Function(body=body):
            return [] if value.attrs.get("Primitive") else [(body, frozenset())]
        case If(_, true_branch, false_branch):
            return [(true_branch, after), (false_branch, after)]
        case Match(_, clauses):
            return [(clause.rhs, after) for clause in clauses]
        case Let():
            return [(value, after)]
        case _:
            return [each for part in children(value) for each in _inner(part, after)]


def _in_order(function: Function) -> list[Var]:
    """The variables of all lets, as the text has them."""
    found: list[Var] = []
    met: set[Expr] = set()
    stack: list[Expr] = [function.body]
    while stack:
        node = stack.pop()
        if node in met:
            continue
        met.add(node)
        if isinstance(node, Let):
            found.append(node.var)
        stack.extend(reversed(children(node)))
    return found
