"""Functions of `itertools`: of what is known now, and of lists of the program."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from relay import op
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Counted, Together
from relay.frontend.python.library import arithmetic
from relay.frontend.python.library.lists.sequences import element_of, flattened, known, lifted, list_of, sliced
from relay.frontend.python.syntax.arguments import Arguments
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import items, known_now
from relay.ir.expr import Expr, Tuple, TupleGetItem


def chosen(block: Block, callee: Any, arguments: Arguments) -> Any:
    """A call of a function of `itertools`, made at once."""
    span = arguments.span
    found = [known(block, each, span) for each in arguments.positional]
    given = [each if part is None else part for each, part in zip(arguments.positional, found, strict=True)]
    if not any(isinstance(each, Counted | Together) or is_expr(each) for each in given):
        return known_now(span, lambda: list(callee(*given, **arguments.named)))
    form = _OF_PROGRAM.get(callee)
    made = None if form is None else form(block, given, arguments.named, span)
    if made is None:
        name = callee.__name__
        raise refusal(span, f"this `{name}` of what has as many elements as the program finds", "write loops")
    return made


def _chain(block: Block, given: Sequence[Any], named: Mapping[str, Any], span: Span) -> Any:  # noqa: ARG001
    concat = block.session.library("concat", span)
    lists = [block.bind("items", list_of(block, each, span), span) for each in given]
    return reduce(lambda left, right: block.bind("items", concat(left, right), span), lists)


def _pairwise(block: Block, given: Sequence[Any], named: Mapping[str, Any], span: Span) -> Any:  # noqa: ARG001
    values = block.bind("items", list_of(block, given[0], span), span)
    return Together((values, sliced(block, values, slice(1, None), span)))


def _product(block: Block, given: Sequence[Any], named: Mapping[str, Any], span: Span) -> Any:
    times = named.get("repeat", 1)
    if type(times) is not int or times < 1:
        return None
    lists = [block.bind("items", list_of(block, each, span), span) for each in given]
    return _all_tuples(block, lists * times, span)


def _all_tuples(block: Block, lists: Sequence[Expr], span: Span) -> Expr:
    """A tuple of an element of each list, for all choices of these; the last one moves fastest."""
    alone = lifted(block, (("each", element_of(block, lists[0])),), lambda _, each: Tuple((each,)), span)
    whole = block.bind("tuples", block.session.library("map", span)(alone, lists[0]), span)
    for each in lists[1:]:
        whole = _with_each(block, whole, each, span)
    return whole


def _with_each(block: Block, tuples: Expr, values: Expr, span: Span) -> Expr:
    """Each of the tuples with each of the values behind it."""

    def longer(inner: Block, so_far: Expr) -> Expr:
        fields = items(inner, so_far, span) or ()
        one = lifted(inner, (("each", element_of(inner, values)),), lambda _, each: Tuple((*fields, each)), span)
        return inner.session.library("map", span)(one, values)

    function = lifted(block, (("so_far", element_of(block, tuples)),), longer, span)
    return flattened(block, block.session.library("map", span)(function, tuples), span)


def _by_places(fits: Callable[[Sequence[Expr]], Any]) -> Callable[..., Any]:
    """Tuples of elements whose places fit one another, as Python defines these functions."""

    def choices(block: Block, given: Sequence[Any], named: Mapping[str, Any], span: Span) -> Any:
        length = {**dict(enumerate(given[1:])), **named}
        count = next(iter(length.values()), None)
        if type(count) is not int or count < 1 or len(length) > 1:
            return None
        pairs = block.bind("items", list_of(block, Together((Counted(0, None), given[0])), span), span)
        tuples = _all_tuples(block, [pairs] * count, span)

        def column(inner: Block, chosen: Expr, place: int) -> list[Expr]:
            found = [TupleGetItem(each, place, span=span) for each in items(inner, chosen, span) or ()]
            for each in found:
                inner.type_of(each)
            return list(found)

        element, library = element_of(block, tuples), block.session.library
        holds = lifted(block, (("chosen", element),), lambda inner, each: fits(column(inner, each, 0)), span)
        kept = block.bind("tuples", library("filter", span)(holds, tuples), span)
        parts = lifted(block, (("chosen", element),), lambda inner, each: Tuple(tuple(column(inner, each, 1))), span)
        return block.bind("tuples", library("map", span)(parts, kept), span)

    return choices


def _in_order(comparison: str) -> Callable[[Sequence[Expr]], Any]:
    return lambda places: _all([arithmetic.equated(comparison, a, b) for a, b in itertools.pairwise(places)])


def _all(holds: Sequence[Any]) -> Any:
    return reduce(op.logical_and, holds) if holds else True


def _apart(places: Sequence[Expr]) -> Any:
    return _all([arithmetic.equated("not_equal", a, b) for a, b in itertools.combinations(places, 2)])


_OF_PROGRAM: Mapping[Any, Callable[..., Any]] = {
    itertools.chain: _chain, itertools.pairwise: _pairwise, itertools.product: _product,
    itertools.combinations: _by_places(_in_order("less")), itertools.permutations: _by_places(_apart),
    itertools.combinations_with_replacement: _by_places(_in_order("less_equal")),
}  # fmt: skip
"""Each is called with the block, what it goes over, the arguments by name and the place; it gives None for a call that
is none of the program."""
