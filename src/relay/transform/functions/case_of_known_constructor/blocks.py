"""Scopes while they are walked: lists of bindings, and choices whose branches may still be added to."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, Union

from relay.base.diagnostics import CompilerBug
from relay.ir.expr import AnyExpr, Clause, Expr, If, Let, Match, Pattern, Var, record_type
from relay.ir.types import Type

MOST_ENDS = 16
Closing: TypeAlias = Generator[Any, Any, Expr]


@dataclass(slots=True, eq=False)
class Choice:
    """An `if`, or a match where there are patterns; a block for each branch or clause."""

    node: If | Match
    asked: Expr
    patterns: tuple[Pattern, ...]
    blocks: list[Block]

    def ends(self) -> list[Block]:
        """The blocks that give its value, those of choices at the end of a block included; none if they are many."""
        found: list[Block] = []
        stack: list[Choice] = [self]
        while stack:
            for block in stack.pop().blocks:
                last = block.last_choice()
                if last is None:
                    found.append(block)
                else:
                    stack.append(last)
                if len(found) + len(stack) > MOST_ENDS:
                    return []
        return found

    def give(self, type_: Type | None, hint: str) -> None:
        """Have it give values of another type, which its ends give already."""
        stack: list[Choice] = [self]
        while stack:
            for block in stack.pop().blocks:
                block.type_ = type_
                last = block.last_choice()
                if last is not None:
                    var = typed(Var(hint), type_)
                    block.bindings[-1] = (var, last)
                    block.result = var
                    stack.append(last)


Value: TypeAlias = Union[Expr, Choice]


@dataclass(slots=True, eq=False)
class Block:
    """The bindings of a scope so far. `type_` is that of its result; `barrier` stands behind the last binding past
    which nothing with an effect may move."""

    type_: Type | None
    bindings: list[tuple[Var, Value] | None] = field(default_factory=list)
    result: Expr | None = None
    barrier: int = 0
    choices: dict[Var, int] = field(default_factory=dict)

    def add(self, var: Var, value: Value, is_pure: bool) -> None:
        if isinstance(value, Choice):
            self.choices[var] = len(self.bindings)
        self.bindings.append((var, value))
        if not is_pure:
            self.barrier = len(self.bindings)

    def movable(self, var: Expr) -> Choice | None:
        """The choice bound to `var`, if it may be evaluated here as well as where it stands."""
        place = self.choices.get(var) if isinstance(var, Var) else None
        bound = None if place is None or place + 1 < self.barrier else self.bindings[place]
        return bound[1] if bound is not None and isinstance(bound[1], Choice) else None

    def move(self, old: Var, new: Var) -> None:
        """Put a choice to the end, under another name."""
        place = self.choices.pop(old)
        bound = self.bindings[place]
        if bound is None:
            raise CompilerBug("CaseOfKnownConstructor", f"%{old.name_hint} is moved twice")
        self.bindings[place] = None
        self.add(new, bound[1], is_pure=False)

    def last_choice(self) -> Choice | None:
        """The choice whose value is that of the block."""
        last = self.bindings[-1] if self.bindings else None
        return last[1] if last is not None and last[0] is self.result and isinstance(last[1], Choice) else None

    def closed(self) -> Closing:
        """The chain of lets."""
        result = self.result
        if result is None:
            raise CompilerBug("CaseOfKnownConstructor", "a block has no result")
        for bound in reversed(self.bindings):
            if bound is not None:
                var, value = bound
                made = (yield _closed(value, var)) if isinstance(value, Choice) else value
                result = typed(Let(var, made, result, span=made.span), self.type_)
        return result


def _closed(choice: Choice, var: Var) -> Closing:
    bodies: list[Expr] = []
    for block in choice.blocks:
        bodies.append((yield block.closed()))
    node = choice.node
    if isinstance(node, If):
        return typed(If(choice.asked, *bodies, span=node.span), var.checked_type)
    clauses = tuple(map(Clause, choice.patterns, bodies))
    return typed(Match(choice.asked, clauses, node.complete, span=node.span), var.checked_type)


def typed(expr: AnyExpr, type_: Type | None) -> AnyExpr:
    return expr if type_ is None else record_type(expr, type_)
