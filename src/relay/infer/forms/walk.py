"""One walk over the nodes that have no type yet, in evaluation order, without recursion.

Each node gets a type at once where its arguments' types are known, and a variable where not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.infer.forms.calls import type_call, type_operator_call
from relay.infer.forms.forms import TYPING
from relay.infer.forms.functions import EnclosingFunctions
from relay.infer.forms.lets import Lets
from relay.infer.forms.node_types import NodeTypes
from relay.infer.forms.patterns import bind_pattern
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Match, Op, Var
from relay.ir.traversal import LEAVES, children


def walk(nodes: NodeTypes, root: Expr) -> None:
    """Find the types of `root` and of all nodes under it that have none.

    Raises `RelayError` with the place of the node whose rule does not hold.
    """
    _Walk(nodes, root).run(root)


class _Walk:
    def __init__(self, nodes: NodeTypes, root: Expr) -> None:
        self._nodes = nodes
        self._enclosing = EnclosingFunctions(nodes)
        self._lets = Lets(nodes, self._enclosing, root)
        self._stack: list[tuple[Callable[[Any], None], Any]] = []

    def run(self, root: Expr) -> None:
        stack = self._stack
        stack.append((self._enter, root))
        while stack:
            action, node = stack.pop()
            try:
                action(node)
            except RelayError as error:
                raise error.at(node.span) from None

    def _enter(self, node: Expr) -> None:
        if isinstance(node, LEAVES) or node.checked_type is not None or node in self._nodes:
            return
        stack = self._stack
        match node:
            case Function():
                stack += (self._leave_function, node), (self._enter, node.body), (self._enclosing.enter, node)
            case Let():
                stack += (self._leave_let, node), (self._enter, node.body), (self._lets.bind, node)
                stack.append((self._enter, node.value))
                if isinstance(node.value, Function):
                    self._lets.announce(node.var, node.value)
            case Match():
                stack.append((self._leave, node))
                stack += [(self._enter, clause.rhs) for clause in reversed(node.clauses)]
                stack += (self._bind_patterns, node), (self._enter, node.data)
            case _:
                stack.append((self._leave_call if isinstance(node, Call) else self._leave, node))
                stack += [(self._enter, child) for child in reversed(children(node)) if child.checked_type is None]

    def _leave(self, node: Expr) -> None:
        TYPING[type(node)](self._nodes, node)
        self._nodes.of(node)

    def _leave_call(self, node: Call) -> None:
        op = node.op
        if isinstance(op, Op):
            type_operator_call(self._nodes, node, op)
        else:
            type_call(self._nodes, node, self._symbols_around(op))
        self._nodes.of(node)

    def _symbols_around(self, callee: Expr) -> frozenset[Symbol] | None:
        """The symbols that a callee does not quantify; None while its type is being inferred."""
        match callee:
            case GlobalVar():
                return None if self._nodes.environment.signature(callee).being_inferred else frozenset()
            case Var():
                return self._lets.symbols_around(callee)
            case _:
                return self._enclosing.scope.symbols

    def _leave_function(self, node: Function) -> None:
        self._enclosing.leave(node)
        if node.type_params:
            self._lets.check_escape(node)

    def _leave_let(self, node: Let) -> None:
        self._nodes.set(node, self._nodes.of(node.body))

    def _bind_patterns(self, node: Match) -> None:
        for clause in node.clauses:
            bind_pattern(self._nodes, clause.lhs, self._nodes.of(node.data), node)
