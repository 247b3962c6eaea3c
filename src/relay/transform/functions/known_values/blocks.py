"""Residual code in A-normal form: the choices at the end of blocks, and blocks as chains of lets."""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import islice
from typing import Any

from relay.base.diagnostics import CompilerBug
from relay.ir.expr import AnyExpr, Clause, Expr, If, Let, Match, Var, record_type
from relay.ir.types import Type
from relay.transform.functions.known_values.values import Block, Choice, PartialValue


def ends_of(choice: Choice, most: int) -> list[Block]:
    """The blocks that give the value of a choice, those of choices at the end of a block included; none if they are
    more than `most`."""
    found: list[Block] = []
    stack = [choice]
    while stack:
        for block in stack.pop().blocks:
            last = _last_choice(block)
            if last is None:
                found.append(block)
            else:
                stack.append(last)
            if len(found) + len(stack) > most:
                return []
    return found


def movable(block: Block, value: PartialValue, is_pure: Callable[[Var, Expr], bool]) -> Choice | None:
    """The choice that gives a value, if it may be evaluated at the end of `block` as well as where it stands in it:
    what is bound behind it is pure."""
    place = block.choices.get(value.atom) if isinstance(value.atom, Var) else None
    if place is None:
        return None
    for bound in islice(block.bindings, place + 1, None):
        if bound is not None and (isinstance(bound[1], Choice) or not is_pure(bound[0], bound[1])):
            return None
    found = block.bindings[place]
    return found[1] if found is not None and isinstance(found[1], Choice) else None


def move(block: Block, old: Var, value: PartialValue) -> None:
    """Put a choice to the end of a block, where it gives what its ends give by now: `value`."""
    assert isinstance(value.atom, Var)
    place = block.choices.pop(old)
    bound = block.bindings[place]
    if bound is None or not isinstance(bound[1], Choice):
        raise CompilerBug("known values", f"%{old.name_hint} is moved twice")
    block.bindings[place] = None
    block.choices[value.atom] = len(block.bindings)
    block.bindings.append((value.atom, bound[1]))
    stack = [bound[1]]
    while stack:
        for inner in stack.pop().blocks:
            inner.type_ = value.type_
            last = _last_choice(inner)
            if last is not None:
                var = typed(Var(value.atom.name_hint), value.type_)
                inner.bindings[-1] = (var, last)
                inner.result = PartialValue(None, value.type_, var, inner)
                stack.append(last)


def _last_choice(block: Block) -> Choice | None:
    """The choice whose value is that of the block."""
    last = block.bindings[-1] if block.bindings else None
    if last is None or block.result is None or last[0] is not block.result.atom:
        return None
    return last[1] if isinstance(last[1], Choice) else None


def closed(block: Block) -> Generator[Any, Any, Expr]:
    """The chain of lets."""
    if block.result is None or block.result.atom is None:
        raise CompilerBug("known values", "a block has no result")
    result = block.result.atom
    for bound in reversed(block.bindings):
        if bound is not None:
            var, value = bound
            made = (yield _closed(value, var)) if isinstance(value, Choice) else value
            result = typed(Let(var, made, result, span=made.span), block.type_)
    return result


def _closed(choice: Choice, var: Var) -> Generator[Any, Any, Expr]:
    bodies: list[Expr] = []
    for block in choice.blocks:
        bodies.append((yield closed(block)))
    node = choice.node
    if isinstance(node, If):
        return typed(If(choice.asked, *bodies, span=node.span), var.checked_type)
    clauses = tuple(map(Clause, choice.patterns, bodies))
    return typed(Match(choice.asked, clauses, choice.is_complete, span=node.span), var.checked_type)


def typed(expr: AnyExpr, type_: Type | None) -> AnyExpr:
    return expr if type_ is None else record_type(expr, type_)
