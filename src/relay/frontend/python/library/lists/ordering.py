"""`sorted`, and `min` and `max` with a `key`: of what is known now, and of lists of the program."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Together
from relay.frontend.python.library.comparisons import compared
from relay.frontend.python.library.heads import first_and_rest
from relay.frontend.python.library.lists.sequences import element_of, folded, known, lifted, list_of
from relay.frontend.python.library.meeting import alike
from relay.frontend.python.syntax.arguments import Arguments
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import holds_expr, is_list, known_now
from relay.ir.expr import Expr, If, const
from relay.ir.types import TupleType
from relay.ops.elementwise.comparison import equal


def in_order(block: Block, callee: Any, arguments: Arguments) -> Any:
    """`sorted(xs, key=…, reverse=…)`."""
    if len(arguments.positional) != 1 or not arguments.named.keys() <= {"key", "reverse"}:
        return known_now(arguments.span, callee, *arguments.positional, **arguments.named)
    return block.ownership.own(ordered(block, arguments.positional[0], arguments.span, **arguments.named))


def ordered(block: Block, values: Any, span: Span, key: Any = None, reverse: Any = False) -> Any:
    """The list of the elements in order; those of equal keys as they stand. Raises `RelayError` (rule
    `python-subset`)."""
    if is_expr(reverse):
        raise refusal(span, "`reverse` that the program computes", "write `if`")
    found = known(block, values, span)
    if found is not None and not holds_expr(found):
        keys = list(found) if key is None else [_key(block, key, each, span) for each in found]
        if not holds_expr(keys):
            order = known_now(span, lambda: sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse))
            return [found[place] for place in order]
    items = block.bind("items", list_of(block, values if found is None else list(found), span), span)
    before = ast.Gt() if reverse else ast.Lt()
    element = element_of(block, items)

    def comes_before(inner: Block, one: Expr, other: Expr) -> Any:
        return _compared(inner, before, key, one, other, span)

    function = lifted(block, (("one", element), ("other", element)), comes_before, span)
    return block.bind("sorted", block.session.library("sorted", span)(function, items), span)


def _key(block: Block, key: Any, value: Any, span: Span) -> Any:
    return value if key is None else dispatch.call(block, key, Arguments([value], {}, span))


def _compared(block: Block, operator: ast.cmpop, key: Any, one: Any, other: Any, span: Span) -> Any:
    return compared(block, operator, _key(block, key, one, span), _key(block, key, other, span), span)


def extreme(plain: Callable[..., Any], operator: ast.cmpop) -> Callable[[Block, Any, Arguments], Any]:
    """`min` or `max`: the first element whose key no other is before. Without `key` and `default` it is `plain`."""

    def found_extreme(block: Block, callee: Any, arguments: Arguments) -> Any:
        given, named, span = arguments.positional, dict(arguments.named), arguments.span
        if not named and not _are_tuples(block, given[0] if len(given) == 1 else list(given), span):
            return plain(block, callee, arguments)
        key, has_default, default = named.pop("key", None), "default" in named, named.pop("default", None)
        values: Any = given[0] if len(given) == 1 else list(given)
        if named or not given:
            return known_now(span, callee, *given, **arguments.named)
        found = known(block, values, span)
        if found is not None:
            if not found:
                return default if has_default else known_now(span, callee, found)
            best = found[0]
            for each in found[1:]:
                best = _chosen(block, _compared(block, operator, key, each, best, span), each, best, span)
            return best
        items = block.bind("items", list_of(block, values, span), span)
        if not has_default:
            return _of_list(block, operator, items, key, span)
        count = block.bind("count", block.session.library("length", span)(items), span)
        side = block.inside()
        best = _of_list(side, operator, items, key, span)
        nothing, best = alike([(block, default, span), (side, best, span)])
        return block.bind("best", If(equal(count, const(0)), nothing, side.closed(best), span=span), span)

    return found_extreme


def _are_tuples(block: Block, values: Any, span: Span) -> bool:
    """Whether what is compared are tuples, part by part, and the program knows which."""
    if isinstance(values, Together) or (is_expr(values) and is_list(block.type_of(values))):
        return isinstance(element_of(block, list_of(block, values, span)), TupleType)
    found = known(block, values, span)
    return found is not None and holds_expr(found) and any(
        isinstance(each, tuple) or (is_expr(each) and isinstance(block.type_of(each), TupleType)) for each in found
    )  # fmt: skip


def _of_list(block: Block, operator: ast.cmpop, items: Expr, key: Any, span: Span) -> Expr:
    first, rest = first_and_rest(block, items, "min or max of an empty list", span)

    def step(inner: Block, best: Expr, each: Expr) -> Any:
        return _chosen(inner, _compared(inner, operator, key, each, best, span), each, best, span)

    return folded(block, rest, first, step, span)


def _chosen(block: Block, holds: Any, one: Any, other: Any, span: Span) -> Any:
    """One of two values."""
    if not is_expr(holds):
        return one if holds else other
    sides = [block.inside(), block.inside()]
    worth = alike([(side, each, span) for side, each in zip(sides, (one, other), strict=True)])
    made = If(holds, *(side.closed(each) for side, each in zip(sides, worth, strict=True)), span=span)
    return block.bind("chosen", made, span)
