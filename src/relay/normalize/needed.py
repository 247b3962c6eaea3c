"""What a program needs: what its result is made of, and what checks an extent on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay.infer.checks import node_checks
from relay.ir.expr import Constructor, Expr, Let, Op, Var
from relay.ir.module import IRModule
from relay.ir.traversal import children
from relay.ir.type_traversal import has_extents_of


class Needed:
    """Which variables are needed, from the result backwards: those that are used, and those whose value may not be left
    out where nobody uses it."""

    def __init__(self, nodes: Sequence[Expr], is_removable: Callable[[Expr], bool]) -> None:
        self.is_removable = is_removable
        self.lets = {node.var: node for node in nodes if isinstance(node, Let)}
        self.vars: set[Var] = set()
        self.met: set[Expr] = set()

    def is_kept(self, let: Let) -> bool:
        return let.var in self.vars or not self.is_removable(let.value)

    def mark(self, root: Expr) -> None:
        """All that evaluating `root` needs."""
        stack = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, Var):
                let = self.lets.get(node)
                if node not in self.vars and let is not None:
                    stack.append(let.value)
                self.vars.add(node)
            elif node not in self.met:
                self.met.add(node)
                if isinstance(node, Let):
                    stack.append(node.body)
                    if self.is_kept(node):
                        stack.append(node.value)
                else:
                    stack.extend(children(node))


def with_checks(nodes: Sequence[Expr], module: IRModule) -> set[Expr]:
    """The nodes that check an extent when they are evaluated, or have a part that does; the value of a let whose
    annotation is checked. A function checks nothing before it is called, but is counted as one that does."""
    found: set[Expr] = set()
    open_: set[Expr] = set()
    for node in nodes:
        parts = children(node)
        checks = not open_.isdisjoint(parts) and bool(node_checks(node, module, frozenset()))
        if checks or not found.isdisjoint(parts):
            found.add(node)
        if node.body in open_ if isinstance(node, Let) else _is_open(node):  # large types of many lets, looked at once
            open_.add(node)
        if checks and isinstance(node, Let):
            found.add(node.value)
    return found


def _is_open(expr: Expr) -> bool:
    """Whether the type of an expression leaves an extent to the run; one without a type may."""
    if expr.checked_type is None:
        return not isinstance(expr, Op | Constructor)
    return not has_extents_of(expr.checked_type, frozenset())
