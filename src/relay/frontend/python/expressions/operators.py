"""Operators: arithmetic, comparisons, `and`, `or`, `not`, and `a if c else b`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, cast

from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, Unset, is_expr
from relay.frontend.python.callables import Counted, Repeated
from relay.frontend.python.library import arithmetic
from relay.frontend.python.library.comparisons import compared
from relay.frontend.python.library.indexing import joined
from relay.frontend.python.library.list_arrays import array_beside
from relay.frontend.python.library.lists.searching import contains
from relay.frontend.python.library.lists.sequences import repeated
from relay.frontend.python.library.meeting import alike, meeting_type
from relay.frontend.python.library.options import when_there
from relay.frontend.python.records.methods import operated
from relay.frontend.python.syntax.assigned import named_in
from relay.frontend.python.values import (
    STATIC,
    as_expr,
    holds_expr,
    is_list,
    is_nothing,
    is_option,
    known_now,
)
from relay.ir.expr import Expr, If, Var, const
from relay.ir.types import GlobalTypeVar, TensorType, TypeCall
from relay.ops.elementwise.elementwise_binary import logical_and
from relay.ops.elementwise.elementwise_unary import logical_not
from relay.ops.framework.build import with_known_type


def binary(block: Block, node: ast.BinOp) -> Any:
    left = dispatch.operand(block, node.left)
    return block.ownership.own(combined(block, node.op, left, dispatch.operand(block, node.right), block.span(node)))


def combined(block: Block, op: ast.operator, left: Any, right: Any, span: Span) -> Any:
    """`left op right`."""
    left, right = block.as_read(left), block.as_read(right)
    made = operated(block, op, (left, right), span)
    if made is not None:
        return made[0]
    if isinstance(op, ast.Add) and any(isinstance(each, Repeated) for each in (left, right)):
        left, right = _with_types(block, (left, right), span)
    if not is_expr(left) and not is_expr(right):
        for each in (left, right):
            block.ownership.share_parts(each)  # two lists have them
        if not any(isinstance(part, list | tuple | dict) and holds_expr((part,)) for part in (left, right)):
            return known_now(span, STATIC[type(op)], left, right)
        if (isinstance(op, ast.Add) and type(left) is type(right)) or (
            isinstance(op, ast.Mult) and int in (type(left), type(right))
        ):
            return known_now(span, STATIC[type(op)], left, right)
        if isinstance(op, ast.BitOr) and isinstance(left, dict) and isinstance(right, dict):
            return {**left, **right}
    left, right = array_beside(block, left, right, span), array_beside(block, right, left, span)
    types = [block.type_of(each) if is_expr(each) else None for each in (left, right)]
    of_lists = [
        isinstance(e, list) or (t is not None and is_list(t)) for e, t in zip((left, right), types, strict=True)
    ]
    if isinstance(op, ast.Add) and all(of_lists):
        return joined(block, left, right, types, span)
    if isinstance(op, ast.Mult) and of_lists[0] != of_lists[1]:
        return repeated(block, *((left, right) if of_lists[0] else (right, left)), span)
    return arithmetic.binary(block, op, left, right, span)


def _with_types(block: Block, lists: Sequence[Any], span: Span) -> Sequence[Expr]:
    """Lists, some of Nones or of empty lists, as the elements of the others tell what they are of."""
    items = [each.item for each in lists if isinstance(each, Repeated)]
    items += [item for each in lists if isinstance(each, list) for item in each]
    element = meeting_type([(block, item, span) for item in items])
    type_ = None if element is None else TypeCall(GlobalTypeVar("List"), (element,))
    return [as_expr(block, each, span, type_) for each in lists]


def unary(block: Block, node: ast.UnaryOp) -> Any:
    span = block.span(node)
    if isinstance(node.op, ast.Not):
        value = dispatch.truth(block, node.operand)
        return logical_not(value) if is_expr(value) else not value
    value = dispatch.operand(block, node.operand)
    made = operated(block, node.op, (value,), span)
    if made is not None:
        return made[0]
    return block.ownership.own(
        arithmetic.unary(block, node.op, value, span)
        if is_expr(value)
        else known_now(span, STATIC[type(node.op)], value)
    )


def short_circuit(block: Block, node: ast.BoolOp) -> Any:
    """`and`, `or`: what stands behind is evaluated only when it decides."""
    return _short_circuit(block, isinstance(node.op, ast.And), node.values, dispatch.expr)


def all_true(block: Block, node: ast.BoolOp) -> Any:
    """The same as a condition, for which it is enough whether each is true."""
    return _short_circuit(block, isinstance(node.op, ast.And), node.values, dispatch.truth)


def _short_circuit(
    block: Block, conjunction: bool, nodes: Sequence[ast.expr], value: Callable[[Block, ast.expr], Any]
) -> Any:
    presence = tested_name(block, nodes[0]) if len(nodes) > 1 else None
    if presence is not None and presence[1] is not conjunction:
        found = _where_there(block, presence[0], conjunction, nodes[1:], value)
        if found is not None:
            return found
    first = value(block, nodes[0])
    if len(nodes) == 1:
        return first
    if not is_expr(first):
        decides = known_now(block.span(nodes[0]), bool, first) != conjunction
        return first if decides else _short_circuit(block, conjunction, nodes[1:], value)
    span = block.span(nodes[1])
    side = block.inside()
    rest = _short_circuit(side, conjunction, nodes[1:], value)
    forget(block, nodes[1:])
    return _decided(block, first, side, rest, conjunction, span)


def _where_there(
    block: Block, name: str, conjunction: bool, nodes: Sequence[ast.expr], value: Callable[[Block, ast.expr], Any]
) -> Expr | None:
    """`x is not None and …`, `x is None or …`: behind that, `x` is there. None where what is behind is no bool."""
    span, side, worth = block.span(nodes[0]), block.inside(), block.names[name]
    there = with_known_type(Var(name, cast("TypeCall", block.type_of(worth)).args[0], span=span))
    side.names[name] = there
    rest = _short_circuit(side, conjunction, nodes, value)
    if not _is_bool(side, rest):
        return None
    closed, decided = side.closed(as_expr(side, rest, span)), const(not conjunction)
    forget(block, nodes)
    return block.bind("decided", when_there(block, worth, span, lambda: decided, lambda _: closed, there), span)


def forget(block: Block, nodes: Sequence[ast.expr]) -> None:
    """What expressions name that may not be evaluated has no value that is known behind them."""
    for node in nodes:
        for name in named_in(node):
            if name in block.names:
                block.names[name] = Unset(block.span(node))


def _decided(block: Block, first: Expr, side: Block, rest: Any, conjunction: bool, span: Span) -> Any:
    """`first and rest` or `first or rest`: of bools a bool, else the one of them that decides."""
    if not _is_bool(block, first) or not _is_bool(side, rest):
        decides = dispatch.truth_of(block, first, span)
        way = block.inside()
        ways = [(side, rest, span), (way, first, span)]
        ways = ways if conjunction else ways[::-1]
        worth = alike(ways)
        made = If(decides, *(at.closed(each) for (at, _, _), each in zip(ways, worth, strict=True)), span=span)
        return block.bind("decided", made, span)
    return _where_decided(block, first, side, as_expr(side, rest, span), conjunction, span)


def _is_bool(block: Block, value: Any) -> bool:
    type_ = block.type_of(value) if is_expr(value) else None
    return isinstance(value, bool) or (isinstance(type_, TensorType) and type_.shape == () and type_.dtype.is_bool)


def _where_decided(block: Block, first: Expr, side: Block, rest: Expr, conjunction: bool, span: Span) -> Expr:
    """`first and rest`, or `first or rest`, the rest being computed only where it is needed."""
    decided = const(not conjunction)
    branches = (side.closed(rest), decided) if conjunction else (decided, side.closed(rest))
    return block.bind("decided", If(first, *branches, span=span), span)


def compare(block: Block, node: ast.Compare) -> Any:
    """`a < b <= c`: as `a < b and b <= c`, with `b` computed once."""
    value = dispatch.operand(block, node.left)
    return _compare(block, node, value, list(zip(node.ops, node.comparators, strict=True)))


def _compare(block: Block, node: ast.AST, value: Any, rest: Sequence[tuple[ast.cmpop, ast.expr]]) -> Any:
    (op, side), *rest = rest
    other = dispatch.operand(block, side)
    if is_expr(other) and rest:
        other = block.bind("middle", other, block.span(side))
    span = block.span(node)
    first = comparison(block, op, value, other, span)
    if not rest:
        return first
    if not is_expr(first):
        return _compare(block, node, other, rest) if known_now(span, bool, first) else first
    dispatch.condition(block, first, span)
    inner = block.inside()
    found = as_expr(inner, dispatch.condition(inner, _compare(inner, node, other, rest), span), span)
    forget(block, [each for _, each in rest])
    if not inner.bindings and all(isinstance(each, ast.Name | ast.Constant) for _, each in rest):
        return logical_and(first, found)
    return _where_decided(block, first, inner, found, True, span)


def comparison(block: Block, op: ast.cmpop, left: Any, right: Any, span: Span) -> Any:
    if isinstance(op, ast.Is | ast.IsNot) and (left is None or right is None):
        other = right if left is None else left
        if is_expr(other) and is_option(block.type_of(other)):
            missing = isinstance(op, ast.Is)
            return when_there(block, other, span, lambda: const(missing), lambda there: const(not missing))  # noqa: ARG005
        if is_expr(other) and is_nothing(block.type_of(other)):
            block.bind("nothing", other, span)  # what it does is done
            return isinstance(op, ast.Is)
        return (other is None) == isinstance(op, ast.Is)
    if isinstance(op, ast.In | ast.NotIn) and (is_expr(left) or holds_expr((right,)) or isinstance(right, Counted)):
        found = contains(block, right, left, span)
        return found if isinstance(op, ast.In) else logical_not(found) if is_expr(found) else not found
    left, right = array_beside(block, left, right, span), array_beside(block, right, left, span)
    return block.ownership.own(compared(block, op, left, right, span))


def either(block: Block, node: ast.IfExp) -> Any:
    """`body if test else orelse`."""
    presence = tested_name(block, node.test)
    condition: Any = None if presence is not None else dispatch.truth(block, node.test)
    if presence is None and not is_expr(condition):
        return dispatch.expr(block, node.body if condition else node.orelse)
    sides, nodes, span = [block.inside(), block.inside()], [node.body, node.orelse], block.span(node.body)
    there: Var | None = None
    if presence is not None:
        name, if_missing = presence
        nodes = nodes if if_missing else nodes[::-1]
        there = with_known_type(Var(name, cast("TypeCall", block.type_of(block.names[name])).args[0], span=span))
        sides[1].names[name] = there
    values = [dispatch.expr(side, each) for side, each in zip(sides, nodes, strict=True)]
    forget(block, (node.body, node.orelse))
    parts = alike(list(zip(sides, values, map(block.span, nodes), strict=True)))
    made = [side.closed(part) for side, part in zip(sides, parts, strict=True)]
    if presence is None:
        chosen: Expr = If(condition, made[0], made[1], span=span)
    else:
        assert there is not None
        chosen = when_there(block, block.names[presence[0]], span, lambda: made[0], lambda _: made[1], there)
    return chosen


def tested_name(block: Block, test: ast.expr) -> tuple[str, bool] | None:
    """The variable that may be missing which `x is None` asks for, or `x is not None`; whether by the first."""
    match test:
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]
        ):
            worth = block.names.get(name)
            return (name, isinstance(op, ast.Is)) if is_expr(worth) and is_option(block.type_of(worth)) else None
        case _:
            return None


def narrows(block: Block, test: ast.expr) -> bool:
    """Whether parts of a test tell something by themselves: a variable that may be missing is there, or has got a
    value."""
    match test:
        case ast.Name(id=name):
            worth = block.names.get(name)
            return is_expr(worth) and is_option(block.type_of(worth))
        case ast.UnaryOp(op=ast.Not(), operand=inside):
            return tested_name(block, inside) is not None or narrows(block, inside)
        case ast.BoolOp(values=values):
            tells = any(tested_name(block, each) is not None or narrows(block, each) for each in values)
            return tells or any(map(named_in, values))
        case _:
            return False
