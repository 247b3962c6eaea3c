"""Evaluation of what has branches: `if` and match.

A branch that is known to be taken stands for the choice. A choice on what another gives moves into the branches of that
one, where code is not copied and each of them knows what it takes. The others are left to the run, which asks what is
not known: in each branch something more is known then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from relay.infer.exhaustiveness import unmatched
from relay.ir.expr import Call, Clause, Constant, Expr, Function, If, Let, Match, Pattern, Var, record_type
from relay.ir.traversal import children
from relay.ir.types import TupleType, Type
from relay.transform.functions.budgets import BUDGETS
from relay.transform.functions.extents import copied
from relay.transform.functions.known_values.blocks import ends_of, movable, move, typed
from relay.transform.functions.known_values.evaluator import Evaluator
from relay.transform.functions.known_values.matching import Branch, branch_of, question_of, renamed, told
from relay.transform.functions.known_values.policy import Work
from relay.transform.functions.known_values.store import Store, joined
from relay.transform.functions.known_values.values import (
    Block,
    Choice,
    Environment,
    KnownTensor,
    KnownTuple,
    PartialValue,
)


class Choices:
    """Evaluates what has branches, for an evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.residual = evaluator.residual
        self._truths: dict[bool, Constant] = {}

    def value(self, node: If | Match, environment: Environment, type_: Type, name: Var) -> Work:
        """The value of an `if` or a match: of the branch that it takes, or of what is left to the run."""
        value = self.evaluator.atom_value(node.cond if isinstance(node, If) else node.data, environment)
        found = self.branch_of(node, value)
        if found is not None:
            self.residual.reductions += 1
            environment.values.update(found.bound)
            return (yield self.evaluator.chain(found.body, environment))
        moved = None if self.residual.copies else (yield from self.moved(node, value, environment, type_, name))
        if moved is not None:
            return moved
        if isinstance(node, If):
            return (yield from self.left_if(node, value, environment, type_, name))
        return (yield from self.left_match(node, value, environment, type_, name))

    def left_if(self, node: If, cond: PartialValue, environment: Environment, type_: Type, name: Var) -> Work:
        atom = yield self.evaluator.atom(cond)
        scopes: list[tuple[Expr, Environment]] = []
        for branch, holds in ((node.true_branch, True), (node.false_branch, False)):
            inner = Environment(environment)
            if isinstance(node.cond, Var):
                constant = self._truth(holds, cond.type_)
                inner.values[node.cond] = PartialValue(KnownTensor(constant.data), cond.type_, constant)
            scopes.append((branch, inner))
        return (yield from self.branches(Choice(node, atom), scopes, type_, name))

    def _truth(self, holds: bool, type_: Type) -> Constant:
        known = self._truths.get(holds)
        if known is None:
            known = self._truths[holds] = record_type(Constant(np.asarray(holds)), type_)
        return known

    def branches(self, choice: Choice, scopes: Sequence[tuple[Expr, Environment]], type_: Type, name: Var) -> Work:
        """A choice that the run makes, of one of these scopes."""
        residual = self.residual
        before, stores = residual.store, list[Store]()
        residual.branches += 1
        for body, inner in scopes:
            block = Block(None if residual.copies else body.checked_type)
            choice.blocks.append(block)
            stores.append((yield self.evaluator.ending(block, body, inner, before.copy())))
        residual.branches -= 1
        residual.store = joined(before, stores)
        return residual.choose(choice, type_, name)

    def branch_of(self, node: If | Match, value: PartialValue) -> Branch | None:
        found = branch_of(node, value, self.evaluator.may_stand)
        if found is None or self.residual.copies or found.body.checked_type == node.checked_type:
            return found
        return None

    def moved(
        self, node: If | Match, value: PartialValue, environment: Environment, type_: Type, name: Var
    ) -> Generator[Any, Any, PartialValue | None]:
        """The value of a choice that moves into the branches of the one that made what it asks, since each of these
        knows how it is made (case of case); None where that is not so."""
        residual, counts = self.residual, self.evaluator.policy.counts
        asked = node.cond if isinstance(node, If) else node.data
        if not isinstance(asked, Var) or value.atom is not asked or counts[asked] != 1:
            return None
        before = movable(residual.block, value, self.evaluator.functions.is_pure)
        ends = [] if before is None else ends_of(before, BUDGETS.moved_ends)
        known = [self.branch_of(node, end.result) for end in ends if end.result is not None]
        taken = [each for each in known if each is not None]
        bodies = [each.body for each in taken]
        if not taken or len(taken) < len(ends) or not _may_repeat(bodies, self.evaluator.policy.only_called):
            return None
        met: set[Expr] = set()
        stores: list[Store] = []
        for end, each in zip(ends, taken, strict=True):
            body = copied(Function((), each.body)).body if each.body in met else each.body
            met.add(each.body)
            inner = Environment(environment)
            inner.values.update(each.bound)
            stores.append((yield self.evaluator.ending(end, body, inner, residual.store.copy())))
        residual.store = joined(residual.store, stores)
        residual.reductions += 1
        result = PartialValue(None, type_, name, residual.block, name)
        move(residual.block, asked, result)
        return result

    def left_match(self, node: Match, data: PartialValue, environment: Environment, type_: Type, name: Var) -> Work:
        question = question_of(node, data, self.evaluator.may_stand)
        self.residual.reductions += question.is_less
        asked = self.together(question.parts)
        atom = yield self.evaluator.atom(asked)
        self.residual.store.escape((asked,))  # its parts have other names in the clauses
        scopes: list[tuple[Expr, Environment]] = []
        patterns: list[Pattern] = []
        for pattern, bound, body in question.clauses:
            inner = Environment(environment)
            named: dict[Var, PartialValue] = {}
            patterns.append(renamed(pattern, lambda var: self.evaluator.fresh(var, environment), named))
            inner.values.update({**bound, **named})
            if isinstance(node.data, Var) and data.static is None:
                inner.values[node.data] = replace(data, static=told(pattern, named))
            scopes.append((body, inner))
        complete = node.complete
        if question.is_less and not complete:
            clauses = tuple(Clause(pattern, body) for pattern, (body, _) in zip(patterns, scopes, strict=True))
            complete = not unmatched(clauses, self.evaluator.functions.module.type_definitions)
        return (yield from self.branches(Choice(node, atom, tuple(patterns), complete), scopes, type_, name))

    def together(self, parts: Sequence[PartialValue]) -> PartialValue:
        """One value to match on."""
        if len(parts) == 1:
            return parts[0]
        type_ = TupleType(tuple(each.type_ for each in parts))
        return PartialValue(KnownTuple(tuple(parts)), type_, None, self.residual.block, typed(Var("parts"), type_))


def _may_repeat(bodies: Sequence[Expr], only_called: Collection[Expr]) -> bool:
    """Whether code that is taken several times is small: at most one operation, without scopes of its own."""
    times = Counter(bodies)
    return all(count == 1 or _is_small(body, only_called) for body, count in times.items())


def _is_small(body: Expr, only_called: Collection[Expr]) -> bool:
    if not isinstance(body, Let):
        return not isinstance(body, Function)
    value = body.value
    if isinstance(value, If | Match | Function) or any(isinstance(part, Function) for part in children(value)):
        return False
    return body.body is body.var and not (isinstance(value, Call) and value.op in only_called)
