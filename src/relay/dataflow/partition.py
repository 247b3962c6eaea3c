"""Putting what a pattern matches into functions of their own.

before: nn.relu(nn.conv2d(%x, %w))
after:  fn (%p0, %p1, PartitionedFromPattern="nn.conv2d_nn.relu_") { nn.relu(nn.conv2d(%p0, %p1)) }(%x, %w)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from relay.base.frozen import mutable
from relay.base.graph import post_order as graph_post_order
from relay.dataflow.matching import Match, Matcher
from relay.dataflow.parts import is_opaque, parts_of
from relay.dataflow.patterns import (
    CallPattern,
    ConstantPattern,
    DominatorPattern,
    FunctionPattern,
    IfPattern,
    LetPattern,
    LiteralPattern,
    Pattern,
    TupleGetItemPattern,
    TuplePattern,
)
from relay.infer.eager import typed_by_parts
from relay.ir.attributes import AttributeValue
from relay.ir.expr import Call, Constant, Constructor, Expr, Function, GlobalVar, If, Let, Op, Var
from relay.ir.rewriting import rebuild_from, typed_as
from relay.ir.traversal import LEAVES
from relay.ir.variables import vars_bound_at

_STRUCTURE = (CallPattern, TuplePattern, TupleGetItemPattern, FunctionPattern, LetPattern, IfPattern)
_EMBEDDED = (ConstantPattern, LiteralPattern)


@mutable
class Group:
    """The nodes of one match, and what leaves it. `embedded` are constants that the pattern asks for."""

    root: Expr
    inside: set[Expr] = field(default_factory=set)
    embedded: set[Expr] = field(default_factory=set)

    def add_scope(self, body: Expr) -> None:
        """What is evaluated in a scope of its own stays there, whatever the pattern says of it."""
        for node in graph_post_order((body,), parts_of):
            if isinstance(node, Constant):
                self.embedded.add(node)
            elif not isinstance(node, LEAVES):
                self.inside.add(node)


def partition(
    pattern: Pattern,
    expr: Expr,
    attrs: Mapping[str, AttributeValue] | None = None,
    check: Callable[[Expr], bool] | None = None,
) -> Expr:
    """`expr` with each match of `pattern` replaced by the call of a function with the attributes `attrs` and
    `PartitionedFromPattern` (the operators by name). What the pattern's wildcards and variables match are its
    arguments, but for what stands in functions, branches and lets that it matches; constants that it asks for are
    inside.

    A match whose inner nodes are used outside, or that overlaps one that was taken (those nearer to the result are
    taken first), or for which `check(root)` is false, is left. Linear in the nodes.
    """
    order = graph_post_order((expr,), parts_of)
    groups = matched_groups(Matcher(), pattern, order, check)
    taken = {inner for group in groups.values() for inner in group.inside}
    return _rebuilt(expr, order, groups, taken, attrs or {})


def matched_groups(
    matcher: Matcher, pattern: Pattern, order: Sequence[Expr], check: Callable[[Expr], bool] | None = None
) -> dict[Expr, Group]:
    """The matches of a pattern among nodes in the order of evaluation, those nearer to the result first: none overlaps
    another, and no inner node of one is used outside. By their roots."""
    users: dict[Expr, list[Expr]] = {}
    for node in order:
        for part in parts_of(node):
            users.setdefault(part, []).append(node)
    groups: dict[Expr, Group] = {}
    taken: set[Expr] = set()
    for node in reversed(order):
        if node in taken or is_opaque(node):
            continue
        found = matcher.match(pattern, node)
        if found is None:
            continue
        group = _group(matcher, found, node)
        inner = group.inside - {node}
        apart = all(each in users and all(user in group.inside for user in users[each]) for each in inner)
        if not group.inside or not apart or not taken.isdisjoint(group.inside):
            continue
        if check is None or check(node):
            groups[node] = group
            taken.update(group.inside)
    return groups


def _group(matcher: Matcher, match: Match, root: Expr) -> Group:
    group = Group(root)
    for pattern, (found,) in match.items():
        if isinstance(pattern, DominatorPattern):
            group.inside.update(matcher.between(pattern, found))
        elif isinstance(pattern, _STRUCTURE):
            group.inside.add(found)
            for part in _scopes_of(found):
                group.add_scope(part)
        elif isinstance(pattern, _EMBEDDED):
            group.embedded.add(found)
    return group


def _scopes_of(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a node that are evaluated where it says: not always, or with variables that it binds."""
    match expr:
        case Function(body=body) if not is_opaque(expr):
            return (body,)
        case Let(body=body):
            return (body,)
        case If(true_branch=true_branch, false_branch=false_branch):
            return true_branch, false_branch
        case _:
            return ()


def _rebuilt(
    root: Expr, order: list[Expr], groups: dict[Expr, Group], taken: set[Expr], attrs: Mapping[str, AttributeValue]
) -> Expr:
    new: dict[Expr, Expr] = {}
    for node in order:
        group = groups.get(node)
        if group is not None:
            new[node] = _call(group, new, attrs)
        elif node not in taken:
            new[node] = rebuild_from(node, new, parts_of)
    return new[root]


def _call(group: Group, new: dict[Expr, Expr], attrs: Mapping[str, AttributeValue]) -> Expr:
    """The call of a function that computes a group, on what the group reads."""
    inner = graph_post_order((group.root,), lambda node: parts_of(node) if node in group.inside else ())
    bound = {var for node in inner if node in group.inside for var in vars_bound_at(node)}
    local: dict[Expr, Expr] = {}
    params: list[Var] = []
    arguments: list[Expr] = []
    names: list[str] = []
    for node in inner:
        if node in group.inside:
            local[node] = rebuild_from(node, local, parts_of)
            if isinstance(node, Call) and isinstance(node.op, Op):
                names.append(node.op.name)
        elif isinstance(node, (Op, GlobalVar, Constructor)) or node in group.embedded or node in bound:
            local[node] = node
        else:
            param = local[node] = typed_as(Var(f"p{len(params)}", node.checked_type), node)
            params.append(param)
            arguments.append(new[node])
    result = group.root.checked_type
    all_attrs = {**attrs, "PartitionedFromPattern": "".join(f"{name}_" for name in names)}
    function = Function(tuple(params), local[group.root], result, attrs=all_attrs, span=group.root.span)
    return typed_by_parts(Call(typed_by_parts(function), tuple(arguments), span=group.root.span))


class PatternMachinery:
    """What patterns do by their methods."""

    def match(self, pattern: Pattern, expr: Expr) -> bool:
        return Matcher().match(pattern, expr) is not None

    def partition(
        self,
        pattern: Pattern,
        expr: Expr,
        attrs: Mapping[str, AttributeValue] | None,
        check: Callable[[Expr], bool] | None,
    ) -> Expr:
        return partition(pattern, expr, attrs, check)
