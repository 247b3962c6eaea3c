"""Whether a rewrite drops something whose evaluation could be noticed. Asked of new nodes only, so linear in all."""

from __future__ import annotations

from dataclasses import dataclass, field

from relay.base.graph import post_order
from relay.ir.expr import Call, Constructor, Expr, Function, Match, Op, RefWrite
from relay.ir.operator import Effect
from relay.ir.traversal import children


def _evaluated(expr: Expr) -> tuple[Expr, ...]:
    """The parts that evaluating an expression may evaluate: none for a function."""
    return () if isinstance(expr, Function) else children(expr)


@dataclass(slots=True, eq=False)
class Removable:
    """Which expressions of a program may go when their value is not used; remembered from one question to the next."""

    _known: dict[int, bool] = field(default_factory=dict)
    _kept: list[Expr] = field(default_factory=list)  # alive, so that identities stay unique

    def of(self, expr: Expr) -> bool:
        """Whether nobody can tell that `expr` was not evaluated. Sound, not exact: an unknown callee may do all."""
        known = self._known
        for node in post_order((expr,), lambda node: () if id(node) in known else _evaluated(node)):
            if id(node) not in known:
                known[id(node)] = _goes(node) and all(known[id(part)] for part in _evaluated(node))
                self._kept.append(node)
        return known[id(expr)]

    def drops_nothing_noticed(self, old: Expr, new: Expr) -> bool:
        """Whether everything of `old` that `new` does not evaluate may go."""
        if self.of(old):
            return True
        kept = {id(node) for node in _near(new)}
        stack = [old]
        while stack:
            node = stack.pop()
            if id(node) not in kept and not self.of(node):
                if not _goes(node):
                    return False
                stack += _evaluated(node)
        return True


_REACH = 64


def _near(expr: Expr) -> list[Expr]:
    """The first nodes under an expression, breadth first: enough to meet what a rule hands on."""
    found = [expr]
    met = {id(expr)}
    for node in found:
        if len(found) >= _REACH:
            break
        for part in _evaluated(node):
            if id(part) not in met:
                met.add(id(part))
                found.append(part)
    return found


def _goes(node: Expr) -> bool:
    """Whether a node itself, apart from its parts, may go."""
    match node:
        case Call(op=Op(operator=operator)):
            return operator.effect is Effect.PURE
        case Call(op=op):
            return isinstance(op, Constructor)
        case RefWrite() | Match(complete=False):
            return False
        case _:
            return True
