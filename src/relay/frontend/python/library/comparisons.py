"""Comparisons of tuples and lists: part by part, the first that differ decide."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, cast

from relay import op
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.library import arithmetic
from relay.frontend.python.library.lists.sequences import folded, list_of
from relay.frontend.python.library.options import chosen, when_there
from relay.frontend.python.models import as_python
from relay.frontend.python.records.methods import operated
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.tuples import form_of, parts_of_form
from relay.frontend.python.values import STATIC, as_expr, holds_expr, is_list, is_option, items, known_now
from relay.ir.expr import Expr, TupleGetItem, const
from relay.ir.types import TupleType


def compared(block: Block, operator: ast.cmpop, left: Any, right: Any, span: Span) -> Any:
    """One comparison of two values: numbers, tensors, tuples, lists. Raises `RelayError` for what has no order."""
    left, right = block.as_read(left), block.as_read(right)
    made = operated(block, operator, (left, right), span)
    if made is not None:
        return made[0]
    if not holds_expr((left, right)):
        return known_now(span, STATIC[type(operator)], as_python(left), as_python(right))
    if any(_is_option(block, each) for each in (left, right)) and isinstance(operator, ast.Eq | ast.NotEq):
        return _of_options(block, operator, left, right, span)
    if any(_is_list(block, each) for each in (left, right)):
        return _of_lists(block, operator, left, right, span)
    if any(form_of(each) is not None and not isinstance(each, tuple) for each in (left, right)):
        return _of_records(block, operator, left, right, span)
    if any(isinstance(each, tuple) or _is_tuple(block, each) for each in (left, right)):
        return _of_tuples(block, operator, items(block, left, span), items(block, right, span), span)
    return arithmetic.compared(block, operator, left, right, span)


def _is_list(block: Block, value: Any) -> bool:
    return isinstance(value, list) or (is_expr(value) and is_list(block.type_of(value)))


def _is_option(block: Block, value: Any) -> bool:
    return is_expr(value) and is_option(block.type_of(value))


def _of_options(block: Block, operator: ast.cmpop, left: Any, right: Any, span: Span) -> Any:
    """Whether two values, of which one may be missing, are equal; what is missing only equals None."""
    option, other = (left, right) if _is_option(block, left) else (right, left)
    none = const(isinstance(operator, ast.Eq)), const(isinstance(operator, ast.NotEq))

    def missing(side: Block) -> Any:
        if _is_option(side, other):
            return when_there(side, other, span, lambda: none[0], lambda _: none[1])
        return none[0] if other is None else none[1]

    def present(side: Block, found: Expr) -> Any:
        return none[1] if other is None else compared(side, operator, found, other, span)

    return chosen(block, option, span, missing, present)


def _is_tuple(block: Block, value: Any) -> bool:
    return is_expr(value) and isinstance(block.type_of(value), TupleType)


def _of_tuples(
    block: Block, operator: ast.cmpop, left: Sequence[Any] | None, right: Sequence[Any] | None, span: Span
) -> Any:
    if left is None or right is None:
        raise refusal(span, "a comparison of a tuple with something else", "compare its parts")
    if isinstance(operator, ast.Eq | ast.NotEq):
        if len(left) != len(right):
            return isinstance(operator, ast.NotEq)
        same: Any = True
        for one, other in zip(left, right, strict=True):
            same = _and(same, compared(block, ast.Eq(), one, other, span))
        return same if isinstance(operator, ast.Eq) else _not(same)
    if not left or not right:
        return known_now(span, STATIC[type(operator)], len(left), len(right))
    strict = ast.Lt() if isinstance(operator, ast.Lt | ast.LtE) else ast.Gt()
    first = compared(block, strict, left[0], right[0], span)
    alike = compared(block, ast.Eq(), left[0], right[0], span)
    rest = _of_tuples(block, operator, left[1:], right[1:], span)
    return _or(first, _and(alike, rest))


def _of_records(block: Block, operator: ast.cmpop, left: Any, right: Any, span: Span) -> Any:
    """Whether two values of one class have equal fields."""
    if not isinstance(operator, ast.Eq | ast.NotEq) or isinstance(left, dict):
        raise refusal(span, "this comparison of values whose parts have names", "compare their parts")
    if form_of(left) != form_of(right):
        return isinstance(operator, ast.NotEq)
    return _of_tuples(block, operator, parts_of_form(left), parts_of_form(right), span)


def _of_lists(block: Block, operator: ast.cmpop, left: Any, right: Any, span: Span) -> Any:
    """Whether two lists have equal elements."""
    if not isinstance(operator, ast.Eq | ast.NotEq):
        raise refusal(span, "an order of lists", "compare their elements in a loop")
    if isinstance(left, list) and isinstance(right, list):
        return _of_tuples(block, operator, cast("list[Any]", left), cast("list[Any]", right), span)
    wanted = block.type_of(left if is_expr(left) else right)
    sides = [block.bind("items", as_expr(block, each, span, wanted), span) for each in (left, right)]
    library = block.session.library
    lengths = [block.bind("count", library("length", span)(each), span) for each in sides]
    pairs = block.bind("pairs", library("zip", span)(*sides), span)

    def both(inner: Block, so_far: Any, pair: Any) -> Any:
        one, other = (TupleGetItem(pair, place) for place in (0, 1))
        for each in (one, other):
            inner.type_of(each)
        return _and(so_far, compared(inner, ast.Eq(), one, other, span))

    same = folded(block, list_of(block, pairs, span), True, both, span)
    same = op.logical_and(arithmetic.equated("equal", *lengths), same)
    return same if isinstance(operator, ast.Eq) else op.logical_not(same)


def _and(left: Any, right: Any) -> Any:
    if left is True or right is False:
        return right
    return left if right is True or left is False else op.logical_and(left, right)


def _or(left: Any, right: Any) -> Any:
    if left is False or right is True:
        return right
    return left if right is False or left is True else op.logical_or(left, right)


def _not(value: Any) -> Any:
    return op.logical_not(value) if is_expr(value) else not value
