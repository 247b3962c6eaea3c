"""Elements of lists of the program, where there may be none: then the run ends, as Python raises."""

from __future__ import annotations

from typing import cast

from relay.base.span import Span
from relay.frontend.python.block import Block
from relay.frontend.python.library.arithmetic import ended
from relay.frontend.python.values import constructor_named
from relay.ir.expr import Clause, Expr, Match, PatternConstructor, PatternVar, PatternWildcard, Var
from relay.ir.types import TypeCall
from relay.ops.framework.build import with_known_type


def first(block: Block, items: Expr, message: str, span: Span) -> Expr:
    """The first element; for an empty list the run ends with the message."""
    cons, nil = (constructor_named(block, "List", name) for name in ("Cons", "Nil"))
    head = with_known_type(Var("head", cast("TypeCall", block.type_of(items)).args[0], span=span))
    found = Clause(PatternConstructor(cons, (PatternVar(head), PatternWildcard())), head)
    nothing = Clause(PatternConstructor(nil), ended(block.inside(), message, span))
    return block.bind("first", Match(items, (found, nothing), span=span), span)


def first_and_rest(block: Block, items: Expr, message: str, span: Span) -> tuple[Expr, Expr]:
    """The first element and the list of the others; for an empty list the run ends with the message."""
    one = first(block, items, message, span)  # what follows finds a list that is not empty
    return one, block.bind("rest", block.session.library("tl", span)(items), span)


def dropped(block: Block, items: Expr, count: Expr, span: Span) -> Expr:
    """The list without its first elements; an empty one where there are no more."""
    return block.bind("behind", block.session.library("drop", span)(items, count), span)
