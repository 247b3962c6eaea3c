"""What may be missing: choosing by whether it is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from relay.base.span import Span
from relay.frontend.python.block import Block
from relay.frontend.python.values import as_expr, constructor_named
from relay.ir.expr import Clause, Expr, Match, PatternConstructor, PatternVar, Var
from relay.ir.types import TypeCall
from relay.ops.framework.build import with_known_type


def when_there(
    block: Block, value: Expr, span: Span, missing: Callable[[], Expr], present: Callable[[Expr], Expr],
    there: Var | None = None,
) -> Expr:  # fmt: skip
    """What an option is worth: where nothing is there, and where something is."""
    none, some = (constructor_named(block, "Option", each) for each in ("None", "Some"))
    found = there or with_known_type(Var("there", cast("TypeCall", block.type_of(value)).args[0], span=span))
    clauses = (
        Clause(PatternConstructor(none), missing()),
        Clause(PatternConstructor(some, (PatternVar(found),)), present(found)),
    )
    return Match(value, clauses, span=span)


def what_is_there(block: Block, value: Expr, span: Span) -> Expr:
    """What an option is worth that is known to be there."""
    some = constructor_named(block, "Option", "Some")
    found = with_known_type(Var("there", cast("TypeCall", block.type_of(value)).args[0], span=span))
    return Match(value, (Clause(PatternConstructor(some, (PatternVar(found),)), found),), complete=False, span=span)


def chosen(
    block: Block, value: Expr, span: Span, missing: Callable[[Block], Any], present: Callable[[Block, Expr], Any]
) -> Expr:
    """The same, of values that are read in blocks of their own."""
    sides = block.inside(), block.inside()
    found = with_known_type(Var("there", cast("TypeCall", block.type_of(value)).args[0], span=span))
    worth = missing(sides[0]), present(sides[1], found)
    closed = [side.closed(as_expr(side, each, span)) for side, each in zip(sides, worth, strict=True)]
    return block.bind("chosen", when_there(block, value, span, lambda: closed[0], lambda _: closed[1], found), span)
