"""The typing rules of the forms that bind nothing, and of match: each looks at the types of a node's parts and gives
the node its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from relay.base.diagnostics import Origin, RelayError
from relay.infer.exhaustiveness import show_pattern, unmatched
from relay.infer.forms.constraints import Projection
from relay.infer.forms.node_types import NodeTypes
from relay.infer.unification.dimensions import open_unknowns
from relay.infer.unification.explain import describe, mismatch_error, span_of_use
from relay.infer.unification.join import join
from relay.infer.unification.unify import Mode
from relay.ir.expr import Expr, If, Match, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem
from relay.ir.types import IncompleteType, RefType, TupleType, Type, scalar_type

BOOL = scalar_type("bool")
UNIT = TupleType(())


def _type_tuple(nodes: NodeTypes, node: Tuple) -> None:
    nodes.set(node, TupleType(tuple(map(nodes.of, node.fields))))


def _type_projection(nodes: NodeTypes, node: TupleGetItem) -> None:
    nodes.solver.add(Projection(nodes, node))


def _type_if(nodes: NodeTypes, node: If) -> None:
    mismatch = nodes.relate(nodes.of(node.cond), BOOL, Mode.EXACT, node)
    if mismatch is not None:
        sides = (nodes.origin("condition", node.cond),)
        message = "the condition of an if is not a bool scalar"
        raise mismatch_error("condition-not-bool", message, span_of_use(node.cond, node), mismatch, sides)
    nodes.set(node, _joined(nodes, node, (node.true_branch, node.false_branch), "the branches of an if"))


def _joined(nodes: NodeTypes, node: Expr, parts: tuple[Expr, ...], what: str) -> Type:
    """The type of a choice between `parts`: extents that differ are unknown."""
    result = nodes.of(parts[0])
    for part in parts[1:]:
        joined = join(nodes.unifier, result, nodes.of(part))
        if isinstance(joined, str):
            raise RelayError(
                rule="branch-mismatch",
                message=f"{what} have different types: {joined}",
                span=node.span,
                origins=(nodes.origin("one", parts[0]), nodes.origin("other", part)),
            )
        result = joined
    nodes.postpone(node)
    return open_unknowns(result)


def _type_match(nodes: NodeTypes, node: Match) -> None:
    if not node.clauses:
        raise RelayError(rule="empty-match", message="a match has no clauses", span=node.span)
    if node.complete:
        _check_complete(nodes, node)
    nodes.set(node, _joined(nodes, node, tuple(c.rhs for c in node.clauses), "the clauses of a match"))


def _check_complete(nodes: NodeTypes, node: Match) -> None:
    missing = unmatched(node.clauses, nodes.environment.definitions)
    if missing:
        raise RelayError(
            rule="match-incomplete",
            message="a match does not cover every value",
            span=node.span,
            expected="a clause for every value",
            found="no clause for " + ", ".join(map(show_pattern, missing)),
            remedy="add the clauses, or write `match?` for a match that may fail",
        )


def _type_ref_create(nodes: NodeTypes, node: RefCreate) -> None:
    nodes.set(node, RefType(nodes.of(node.value)))


def _content(nodes: NodeTypes, node: RefRead | RefWrite) -> Type:
    """The type of what the ref of a node holds."""
    match nodes.unifier.resolve(nodes.of(node.ref)):
        case RefType(content):
            return content
        case IncompleteType() as hole:
            content = IncompleteType(reason=f"the content of {describe(node.ref)}", span=node.span)
            nodes.relate(hole, RefType(content), Mode.EXACT, node)  # it holds: the content is new
            return content
        case type_:
            raise RelayError(
                rule="not-a-ref",
                message="what is read or written is not a ref",
                span=node.span,
                origins=(Origin("value", str(type_), describe(node.ref)),),
            )


def _type_ref_read(nodes: NodeTypes, node: RefRead) -> None:
    nodes.set(node, open_unknowns(nodes.unifier.zonk(_content(nodes, node))))


def _type_ref_write(nodes: NodeTypes, node: RefWrite) -> None:
    content = _content(nodes, node)
    mismatch = nodes.relate(nodes.of(node.value), content, Mode.ASSIGN, node)
    if mismatch is not None:
        held = f"ref({nodes.unifier.zonk(content)})"
        sides = nodes.origin("value", node.value), Origin("ref", held, describe(node.ref))
        raise mismatch_error("ref-type", "a ref is written with another type", node.span, mismatch, sides)
    nodes.set(node, UNIT)


TYPING: Mapping[type, Callable[[NodeTypes, Any], None]] = {
    Tuple: _type_tuple,
    TupleGetItem: _type_projection,
    If: _type_if,
    Match: _type_match,
    RefCreate: _type_ref_create,
    RefRead: _type_ref_read,
    RefWrite: _type_ref_write,
}
"""What types a node of each form once its parts have types; functions, lets and calls have files of their own."""
