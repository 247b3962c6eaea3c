"""Gives the expressions that a converter made the place of their node in the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.base.graph import post_order
from relay.base.span import Span
from relay.ir.expr import Call, Constant, Expr, If, Tuple, TupleGetItem
from relay.ir.rewriting import typed_as
from relay.ir.traversal import children


class Placer:
    """Remembers what has been placed, so that each node of the program is visited once in the whole import."""

    def __init__(self) -> None:
        self._placed: set[Expr] = set()

    def keep(self, expr: Expr) -> Expr:
        """Take `expr` as it is."""
        self._placed.add(expr)
        return expr

    def place(self, roots: Sequence[Expr], span: Span) -> list[Expr]:
        """The same expressions, where every node made since the last call carries `span`."""
        placed = self._placed
        done: dict[Expr, Expr] = {}
        for node in post_order(roots, lambda expr: () if expr in placed else children(expr)):
            done[node] = node if node in placed else self.keep(_at(node, span, done))
        return [done[root] for root in roots]


def _at(node: Expr, span: Span, done: Mapping[Expr, Expr]) -> Expr:
    """`node` with `span`, over children that are done; it keeps its type, which its place does not change. What was
    built where `span` was read is there already."""
    if node.span is span and all(done[child] is child for child in children(node)):
        return node
    match node:
        case Call():
            args = tuple(done[argument] for argument in node.args)
            new: Expr = Call(node.op, args, node.attrs, node.type_args, span=span)
        case Tuple():
            new = Tuple(tuple(done[field] for field in node.fields), span=span)
        case TupleGetItem():
            new = TupleGetItem(done[node.tuple_value], node.index, span=span)
        case If():
            new = If(done[node.cond], done[node.true_branch], done[node.false_branch], span=span)
        case Constant():
            new = Constant(node.data, span=span)
        case _:
            return node
    return typed_as(new, node)
