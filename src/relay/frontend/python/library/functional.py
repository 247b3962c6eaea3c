"""Functions that take functions: `map`, `filter`, `functools.reduce` and `functools.partial`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Partial, Together
from relay.frontend.python.library.heads import first_and_rest
from relay.frontend.python.library.lists.sequences import by_elements, element_of, folded, known, lifted, list_of
from relay.frontend.python.syntax.arguments import Arguments
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import items, known_now
from relay.ir.expr import Expr


def mapped(block: Block, callee: Any, arguments: Arguments) -> Any:
    """`map(f, xs, …)`, made at once."""
    given, span = arguments.positional, arguments.span
    if len(given) < 2 or arguments.named:
        return known_now(span, callee, *given, **arguments.named)
    function, *sources = given
    found = [known(block, each, span) for each in sources]
    if all(each is not None for each in found):
        return block.ownership.own([_called(block, function, each, span) for each in zip(*found, strict=False)])
    several = len(sources) > 1
    values = block.bind("items", list_of(block, Together(tuple(sources)) if several else sources[0], span), span)

    def of(inner: Block, each: Expr) -> Any:
        return _called(inner, function, (items(inner, each, span) or ()) if several else (each,), span)

    made = lifted(block, (("each", element_of(block, values)),), of, span)
    return block.ownership.own(block.bind("items", by_elements(block, "map", made, values, span), span))


def filtered(block: Block, callee: Any, arguments: Arguments) -> Any:
    """`filter(f, xs)`, made at once."""
    given, span = arguments.positional, arguments.span
    if len(given) != 2 or arguments.named:
        return known_now(span, callee, *given, **arguments.named)
    function, source = given

    def holds(inner: Block, each: Any) -> Any:
        return dispatch.truth_of(inner, each if function is None else _called(inner, function, (each,), span), span)

    found = known(block, source, span)
    if found is not None:
        verdicts = [holds(block, each) for each in found]
        if not any(map(is_expr, verdicts)):
            kept = [each for each, verdict in zip(found, verdicts, strict=True) if verdict]
            return block.ownership.own(kept)
    values = block.bind("items", list_of(block, source if found is None else list(found), span), span)
    made = lifted(block, (("each", element_of(block, values)),), holds, span)
    return block.ownership.own(block.bind("items", by_elements(block, "filter", made, values, span), span))


def reduced(block: Block, callee: Any, arguments: Arguments) -> Any:
    """`functools.reduce(f, xs, start)`."""
    given, span = arguments.positional, arguments.span
    if len(given) not in (2, 3) or arguments.named:
        return known_now(span, callee, *given, **arguments.named)
    function, source, *start = given
    found = known(block, source, span)
    if found is not None:
        if not found and not start:
            raise refusal(span, "`reduce` of nothing", "give it a start")
        so_far, *rest = [*start, *found]
        for each in rest:
            so_far = _called(block, function, (so_far, each), span)
        return so_far
    values = block.bind("items", list_of(block, source, span), span)
    first, rest = (start[0], values) if start else first_and_rest(block, values, "reduce of an empty list", span)
    return folded(block, rest, first, lambda inner, one, each: _called(inner, function, (one, each), span), span)


def partial(block: Block, callee: Any, arguments: Arguments) -> Any:  # noqa: ARG001
    """`functools.partial(f, …)`: the function with some arguments given."""
    function, *given = arguments.positional
    return Partial(function, tuple(given), dict(arguments.named))


def call_partial(block: Block, callee: Partial, arguments: Arguments) -> Any:
    given = Arguments(
        [*callee.positional, *arguments.positional], {**callee.named, **arguments.named}, arguments.span
    )  # fmt: skip
    return dispatch.call(block, callee.function, given)


def _called(block: Block, function: Any, given: Sequence[Any], span: Span) -> Any:
    return dispatch.call(block, function, Arguments(list(given), {}, span))
