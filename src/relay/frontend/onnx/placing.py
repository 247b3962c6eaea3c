"""Gives the expressions that a converter made the place of their ONNX node."""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.graph import post_order
from relay.base.span import Span
from relay.ir.expr import Call, Constant, Expr, If, Tuple, TupleGetItem, record_type
from relay.ir.traversal import children


class Placer:
    """Remembers what has been placed, so that each node of the program is visited once in the whole import."""

    def __init__(self) -> None:
        self._placed: dict[int, Expr] = {}  # by identity; holding the node keeps the identity its own

    def keep(self, expr: Expr) -> Expr:
        """Take `expr` as it is."""
        self._placed[id(expr)] = expr
        return expr

    def place(self, roots: Sequence[Expr], span: Span) -> list[Expr]:
        """The same expressions, where every node made since the last call carries `span`."""
        placed = self._placed

        def new_children(expr: Expr) -> tuple[Expr, ...]:
            return () if id(expr) in placed else children(expr)

        done: dict[int, Expr] = {}
        for node in post_order(roots, new_children):
            done[id(node)] = node if id(node) in placed else self.keep(_at(node, span, done))
        return [done[id(root)] for root in roots]


def _at(node: Expr, span: Span, done: dict[int, Expr]) -> Expr:
    """`node` with `span`, over children that are done; it keeps its type, which its place does not change."""
    match node:
        case Call():
            args = tuple(done[id(argument)] for argument in node.args)
            new: Expr = Call(node.op, args, node.attrs, node.type_args, span=span)
        case Tuple():
            new = Tuple(tuple(done[id(field)] for field in node.fields), span=span)
        case TupleGetItem():
            new = TupleGetItem(done[id(node.tuple_value)], node.index, span=span)
        case If():
            new = If(done[id(node.cond)], done[id(node.true_branch)], done[id(node.false_branch)], span=span)
        case Constant():
            new = Constant(node.data, span=span)
        case _:
            return node
    return new if node.checked_type is None else record_type(new, node.checked_type)
