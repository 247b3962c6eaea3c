"""Expressions of Python as expressions of Relay, or as Python values where everything is known now."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, Unset, is_expr
from relay.frontend.python.callables import Counted, Method
from relay.frontend.python.library import arithmetic
from relay.frontend.python.library.indexing import extent_of, index_list, index_tensor, joined
from relay.frontend.python.library.numpy_functions import METHODS
from relay.frontend.python.library.sequences import contains, count_of, known, known_range, list_of, sliced
from relay.frontend.python.ownership import changes_in_place
from relay.frontend.python.ranges import UNKNOWN, Range
from relay.frontend.python.records import field_of, record_of
from relay.frontend.python.source import refusal
from relay.frontend.python.values import (
    STATIC,
    alike,
    as_expr,
    holds_expr,
    is_list,
    is_option,
    items,
    known_now,
    list_expr,
    parts,
)
from relay.ir.expr import Expr, Function, If, RefRead, TupleGetItem, Var, const
from relay.ir.types import RefType, TensorType, TupleType, Type, TypeCall, scalar_type
from relay.ops.elementwise.elementwise_binary import logical_and
from relay.ops.elementwise.elementwise_unary import logical_not
from relay.ops.framework.build import with_known_type


def constant(block: Block, node: ast.Constant) -> Any:  # noqa: ARG001
    return node.value


def name(block: Block, node: ast.Name) -> Any:
    """What a variable is worth; or what stands outside the function under that name."""
    value = block.names[node.id] if node.id in block.names else _outside(block, node)
    if isinstance(value, Unset):
        as_expr(block, value, block.span(node))
    return value


def _outside(block: Block, node: ast.Name) -> Any:
    try:
        return block.definition.find(node.id)
    except KeyError:
        if hasattr(builtins, node.id):
            return getattr(builtins, node.id)
    raise RelayError(rule="unknown-name", message=f"the name `{node.id}` is not known here", span=block.span(node))


def attribute(block: Block, node: ast.Attribute) -> Any:
    owner, span = dispatch.operand(block, node.value), block.span(node)
    if not is_expr(owner):
        return known_now(span, getattr, owner, node.attr)
    type_ = block.type_of(owner)
    match type_, node.attr:
        case RefType(), "value":
            return RefRead(owner, span=span)
        case TensorType(), "shape":
            return tuple(extent_of(block, owner, extent, axis) for axis, extent in enumerate(type_.shape))
        case TensorType(), "ndim":
            return len(type_.shape)
        case TensorType(), "dtype":
            return str(type_.dtype)
        case TensorType(), "T":
            return block.ownership.view(owner, block.bind("turned", METHODS["transpose"](owner), span))
        case _ if record_of(block, type_) is not None:
            return field_of(block, owner, node.attr, span)
        case _ if node.attr in METHODS or is_list(type_):
            return Method(owner, node.attr)
        case _:
            raise RelayError(
                rule="unknown-attribute", message=f"a value of type {type_} has no `{node.attr}`", span=span,
                remedy="call an operator of relay on it; take data apart with `match`",
            )  # fmt: skip


def subscript(block: Block, node: ast.Subscript) -> Any:
    """`owner[index]` of a tensor, a list or a tuple. Raises `RelayError` (rule `bad-index`)."""
    owner, index, span = dispatch.operand(block, node.value), dispatch.index(block, node.slice), block.span(node)
    view = block.ownership.view
    if not is_expr(owner):
        if not holds_expr((index,)):
            part = known_now(span, operator.getitem, owner, index)
            return view(owner, part) if changes_in_place(part) else part
        owner = as_expr(block, owner, span)
    type_ = block.type_of(owner)
    if isinstance(type_, TensorType):
        part = block.bind("part", index_tensor(block, owner, type_, index, span), span)
        return view(owner, part) if getattr(block.type_of(part), "shape", ()) else part
    if is_list(type_):
        return sliced(block, owner, index, span) if isinstance(index, slice) else index_list(block, owner, index, span)
    if isinstance(type_, TupleType) and isinstance(index, slice):
        return known_now(span, operator.getitem, tuple(items(block, owner, span) or ()), index)
    if isinstance(type_, TupleType) and type(index) is int and -len(type_.fields) <= index < len(type_.fields):
        return TupleGetItem(owner, index % len(type_.fields), span=span)
    raise RelayError(
        rule="bad-index", message=f"a value of type {type_} cannot be indexed so", span=span,
        expected="a tensor, a list, or a tuple at a place known now",
    )  # fmt: skip


def binary(block: Block, node: ast.BinOp) -> Any:
    left = dispatch.operand(block, node.left)
    return block.ownership.own(combined(block, node.op, left, dispatch.operand(block, node.right), block.span(node)))


def combined(block: Block, op: ast.operator, left: Any, right: Any, span: Span) -> Any:
    """`left op right`."""
    if not is_expr(left) and not is_expr(right):
        if not any(isinstance(part, list | tuple) and holds_expr(part) for part in (left, right)):
            return known_now(span, STATIC[type(op)], left, right)
        if isinstance(op, ast.Add) and type(left) is type(right):
            return left + right
        if isinstance(op, ast.Mult) and int in (type(left), type(right)):
            return left * right
    types = [block.type_of(each) if is_expr(each) else None for each in (left, right)]
    if isinstance(op, ast.Add) and any(type_ is not None and is_list(type_) for type_ in types):
        return joined(block, left, right, types, span)
    return arithmetic.binary(block, op, left, right, span)


def unary(block: Block, node: ast.UnaryOp) -> Any:
    span = block.span(node)
    if isinstance(node.op, ast.Not):
        value = dispatch.truth(block, node.operand)
        return logical_not(value) if is_expr(value) else not value
    value = dispatch.operand(block, node.operand)
    return block.ownership.own(
        arithmetic.unary(block, node.op, value, span)
        if is_expr(value)
        else known_now(span, STATIC[type(node.op)], value)
    )


def short_circuit(block: Block, node: ast.BoolOp) -> Any:
    """`and`, `or`: what stands behind is evaluated only when it decides."""
    return _short_circuit(block, isinstance(node.op, ast.And), node.values)


def _short_circuit(block: Block, conjunction: bool, nodes: Sequence[ast.expr]) -> Any:
    first = dispatch.expr(block, nodes[0])
    if len(nodes) == 1:
        return first
    if not is_expr(first):
        decides = known_now(block.span(nodes[0]), bool, first) != conjunction
        return first if decides else _short_circuit(block, conjunction, nodes[1:])
    dispatch.condition(block, first, nodes[0])
    side = block.inside()
    rest = dispatch.condition(side, _short_circuit(side, conjunction, nodes[1:]), nodes[1])
    return _where_decided(block, first, side, as_expr(side, rest, block.span(nodes[1])), conjunction, nodes[0])


def _where_decided(block: Block, first: Expr, side: Block, rest: Expr, conjunction: bool, node: ast.AST) -> Expr:
    """`first and rest`, or `first or rest`, the rest being computed only where it is needed."""
    decided = const(not conjunction)
    branches = (side.closed(rest), decided) if conjunction else (decided, side.closed(rest))
    return block.bind("decided", If(first, *branches, span=block.span(node)), block.span(node))


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
    dispatch.condition(block, first, node)
    inner = block.inside()
    found = as_expr(inner, dispatch.condition(inner, _compare(inner, node, other, rest), node), span)
    if not inner.bindings and all(isinstance(each, ast.Name | ast.Constant) for _, each in rest):
        return logical_and(first, found)
    return _where_decided(block, first, inner, found, True, node)


def comparison(block: Block, op: ast.cmpop, left: Any, right: Any, span: Span) -> Any:
    if isinstance(op, ast.Is | ast.IsNot) and (left is None or right is None):
        other = right if left is None else left
        if is_expr(other) and is_option(block.type_of(other)):
            raise refusal(span, "`is None` of what the program computes", "use `match`, with `case None:`")
        return (other is None) == isinstance(op, ast.Is)
    if isinstance(op, ast.In | ast.NotIn) and (is_expr(left) or holds_expr((right,)) or isinstance(right, Counted)):
        found = contains(block, right, left, span)
        return found if isinstance(op, ast.In) else logical_not(found) if is_expr(found) else not found
    if is_expr(left) or is_expr(right):
        return block.ownership.own(arithmetic.compared(block, op, left, right, span))
    if holds_expr((left, right)):
        raise refusal(span, "a comparison of lists or tuples", "compare their parts")
    return known_now(span, STATIC[type(op)], left, right)


def either(block: Block, node: ast.IfExp) -> Any:
    """`body if test else orelse`."""
    condition = dispatch.truth(block, node.test)
    if not is_expr(condition):
        return dispatch.expr(block, node.body if condition else node.orelse)
    sides = [block.inside(), block.inside()]
    values = [dispatch.expr(side, each) for side, each in zip(sides, (node.body, node.orelse), strict=True)]
    span = block.span(node.body)
    parts = alike(list(zip(sides, values, strict=True)), span)
    return If(condition, *(side.closed(part) for side, part in zip(sides, parts, strict=True)), span=span)


def tuple_display(block: Block, node: ast.Tuple) -> tuple[Any, ...]:
    return tuple(dispatch.element(block, each) for each in node.elts)


def list_display(block: Block, node: ast.List) -> list[Any]:
    return block.ownership.own([dispatch.element(block, each) for each in node.elts])


def comprehension(block: Block, node: ast.ListComp | ast.GeneratorExp) -> Any:
    """`[f(x) for x in xs if p(x)]` over one Relay list, a Python list or a range; a generator is made at once."""
    return block.ownership.own(_comprehension(block, node, block.span(node)))


def _comprehension(block: Block, node: ast.ListComp | ast.GeneratorExp, span: Span) -> Any:
    generator, *others = node.generators
    source = dispatch.expr(block, generator.iter)
    found = known(block, source, span)
    kept = None if found is None else _kept(block, generator, list(found))
    if kept is not None and not others and (kept or found == []):
        return [dispatch.element(_inner(block, generator.target, each), node.elt) for each in kept]
    if others:
        inner = ast.copy_location(ast.ListComp(node.elt, others), node)
        return _of_lists(block, generator, inner, kept, source, span)
    if isinstance(source, Counted) and source.start == 0 and source.step == 1 and not generator.ifs:
        numbers = known_range(block, source)
        positions = _function(block, node.elt, generator.target, scalar_type("int32"), span, numbers)
        return block.session.library("tabulate", span)(positions, as_expr(block, count_of(block, source, span), span))
    numbers = known_range(block, source) if isinstance(source, Counted) else UNKNOWN
    return _mapped(block, node, list_of(block, source, span), span, numbers)


def _of_lists(
    block: Block, generator: ast.comprehension, inner: ast.ListComp, kept: list[Any] | None, source: Any, span: Span
) -> Any:
    """The lists that a comprehension inside makes, one behind another."""
    if kept:
        lists = [dispatch.operand(_inner(block, generator.target, each), inner) for each in kept]
        if not holds_expr([each for each in lists if not isinstance(each, list)]):
            return [part for each in lists for part in each]
        made = [as_expr(block, each, span) for each in lists]
        whole = made[0]
        for each in made[1:]:
            whole = block.bind("items", block.session.library("concat", span)(whole, each), span)
        return whole
    outer = ast.copy_location(ast.ListComp(inner, [generator]), inner)
    lists = block.bind("lists", _mapped(block, outer, list_of(block, source, span), span), span)
    element = cast("TypeCall", block.type_of(lists)).args[0]
    one, rest = (with_known_type(Var(hint, element)) for hint in ("one", "rest"))
    join = Function((one, rest), block.session.library("concat", span)(one, rest))
    nothing = list_expr(block, [], span, element)
    return block.bind("items", block.session.library("foldr", span)(join, nothing, lists), span)


def _kept(block: Block, generator: ast.comprehension, source: list[Any]) -> list[Any] | None:
    """The elements that pass conditions which are known now; None where the program decides. Where none pass, the
    elements that might have tell what the list is one of."""
    kept: list[Any] = []
    for item in source:
        inner = _inner(block, generator.target, item)
        verdicts = [dispatch.truth(inner, each) for each in generator.ifs]
        if any(is_expr(each) for each in verdicts):
            return None
        kept += [item] if all(verdicts) else []
    return kept


def _mapped(
    block: Block, node: ast.ListComp | ast.GeneratorExp, source: Expr, span: Span, numbers: Range = UNKNOWN
) -> Expr:
    """The elements of a Relay list that pass, each as the comprehension makes it."""
    (generator,) = node.generators
    for name, each in (*(("filter", condition) for condition in generator.ifs), ("map", node.elt)):
        source = block.bind("items", source, span)
        element = cast("TypeCall", block.type_of(source)).args[0]
        value = dispatch.truth if name == "filter" else dispatch.expr
        function = _function(block, each, generator.target, element, span, numbers, value)
        source = block.session.library(name, span)(function, source)
    return source


def _function(
    block: Block, result: ast.expr, target: ast.expr, element: Type, span: Span, known: Range = UNKNOWN,
    value: Callable[[Block, ast.expr], Any] = dispatch.expr,
) -> Function:  # fmt: skip
    """`fn (target: element) { result }`"""
    hint = target.id if isinstance(target, ast.Name) else "element"
    parameter = with_known_type(Var(hint, element, span=block.span(target)))
    block.session.ranges[parameter] = known
    inner = block.inside()
    _name_parts(inner, target, parameter)
    return Function((parameter,), inner.closed(as_expr(inner, value(inner, result), span)), span=span)


def _inner(block: Block, target: ast.expr, value: Any) -> Block:
    """Where an element that is known now has a name."""
    inner = block.entering(block, {})
    _name_parts(inner, target, value)
    return inner


def _name_parts(block: Block, target: ast.expr, value: Any) -> None:
    match target:
        case ast.Name(id=name):
            block.names[name] = value
        case ast.Tuple(elts=targets):
            for each, part in zip(targets, parts(block, value, len(targets), block.span(target)), strict=True):
                _name_parts(block, each, part)
        case _:
            raise refusal(block.span(target), "this loop variable", "use a name, or a tuple of names")
