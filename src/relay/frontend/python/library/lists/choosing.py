"""Functions of `itertools`: of what is known now, and of lists of the program."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias

from relay import op
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Counted, Together
from relay.frontend.python.library import arithmetic
from relay.frontend.python.library.lists.sequences import element_of, flattened, known, lifted, list_of, sliced
from relay.frontend.python.syntax.arguments import Arguments
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import as_expr, constructor_named, items, known_now
from relay.ir.expr import Call, Expr, Tuple, TupleGetItem


def chosen(block: Block, callee: Any, arguments: Arguments) -> Any:
    """A call of a function of `itertools`, made at once."""
    span = arguments.span
    found = [known(block, each, span) for each in arguments.positional]
    given = [each if part is None else part for each, part in zip(arguments.positional, found, strict=True)]
    if not any(isinstance(each, Counted | Together) or is_expr(each) for each in (*given, *arguments.named.values())):
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
    if is_expr(times) and len(given) == 1:
        return _lists(block, given[0], times, lambda _, __, whole: whole, span)
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


_Next: TypeAlias = Callable[[Block, Expr, Expr], Expr]
"""What the others are chosen from, of a pair of the first element with those beside it, and of the whole list."""


def _lists(block: Block, values: Any, count: Any, after: _Next, span: Span, ways: str = "each_with_rest") -> Expr:
    """Lists of as many elements as the program finds. Each way is an element with a list; `after` says what the next
    element comes from."""
    library = block.session.library
    values = block.bind("items", list_of(block, values, span), span)
    count = block.bind("count", as_expr(block, count, span), span)
    is_there = arithmetic.equated("greater_equal", count, 0)
    count = arithmetic.require(block, count, is_there, "a choice of a negative number of elements", span)

    def each_way(inner: Block, whole: Expr) -> Expr:
        def way(innermost: Block, one: Expr) -> Expr:
            first = TupleGetItem(one, 0, span=span)
            innermost.type_of(first)
            return Tuple((first, after(innermost, one, whole)))

        found = inner.bind("ways", library(ways, span)(whole), span)
        return library("map", span)(lifted(inner, (("one", element_of(inner, found)),), way, span), found)

    function = lifted(block, (("whole", block.type_of(values)),), each_way, span)
    return block.bind("lists", library("chosen", span)(function, count, values), span)


def _by_places(fits: Callable[[Sequence[Expr]], Any], after: _Next, ways: str = "each_with_rest") -> Callable[..., Any]:
    """Tuples of elements whose places fit one another, as Python defines these functions; lists, where the program
    finds how many elements."""

    def choices(block: Block, given: Sequence[Any], named: Mapping[str, Any], span: Span) -> Any:
        length = {**dict(enumerate(given[1:])), **named}
        count = next(iter(length.values()), None)
        if count is None and ways == "each_with_others":
            values = block.bind("items", list_of(block, given[0], span), span)
            return _lists(block, values, block.session.library("length", span)(values), after, span, ways)
        if is_expr(count):
            return _lists(block, given[0], count, after, span, ways)
        if type(count) is not int or count < 0 or len(length) > 1:
            return None
        if count == 0:
            return [()]
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


def _others(block: Block, one: Expr, whole: Expr) -> Expr:  # noqa: ARG001
    return TupleGetItem(one, 1)


def _it_and_others(block: Block, one: Expr, whole: Expr) -> Expr:
    cons = constructor_named(block, "List", "Cons")
    return Call(cons, (TupleGetItem(one, 0), TupleGetItem(one, 1)), type_args=(element_of(block, whole),))


_OF_PROGRAM: Mapping[Any, Callable[..., Any]] = {
    itertools.chain: _chain, itertools.pairwise: _pairwise, itertools.product: _product,
    itertools.combinations: _by_places(_in_order("less"), _others),
    itertools.permutations: _by_places(_apart, _others, "each_with_others"),
    itertools.combinations_with_replacement: _by_places(_in_order("less_equal"), _it_and_others),
}  # fmt: skip
"""Each is called with the block, what it goes over, the arguments by name and the place; it gives None for a call that
is none of the program."""
