"""Loops over lists that add up what is computed of each element, in place of their calls.

    before: let %loop = fn (%rest, %sum) {
              match (%rest) { Cons(%c, %more) => %loop(%more, %sum + g(@f(%c))), Nil => %sum } };
            h(%loop(%children, %start))
    after:  h(%sum), where %sum is %start and g(@f(%c)) for each element %c of %children

A sum has no order but for rounding, so the terms of all elements are computed at once, and those of many lists too. So
it is with the largest and the smallest. A function that adds up behind its own call, `g(@f(%c)) + @again(%more)`, is
another form of the same, and so is a global function.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.base.frozen import frozen, mutable
from relay.base.graph import post_order
from relay.infer.eager import typed_by_parts
from relay.ir.expr import (
    Call,
    Clause,
    Expr,
    Function,
    GlobalVar,
    Let,
    Match,
    Op,
    PatternConstructor,
    PatternVar,
    Tuple,
    Var,
)
from relay.ir.known_types import known_tensor_type, known_type, typed_var
from relay.ir.rewriting import rebuild_from
from relay.ir.traversal import children
from relay.ir.traversal import post_order as all_nodes
from relay.ir.types import TensorType
from relay.ops.elementwise.elementwise_binary import ADD
from relay.ops.framework.record import OperatorRecord
from relay.ops.manipulation.tile import broadcast_to
from relay.transform.batching.definitions import Lists

_MODES: Mapping[OperatorRecord, str] = MappingProxyType({ADD: "add"})
"""How `scatter_nd` names what takes its operands in any order."""


@frozen(eq=False)
class Sum:
    """What a variable stands for: `start`, and `term` for each `element` of the list `values`, by `mode`."""

    start: Expr
    term: Expr
    mode: str
    element: Var
    values: Expr


@frozen(eq=False)
class _Step:
    """A loop, with the names that its clauses have: `again` is what the clause of a cell gives, without lets."""

    function: Function
    subject: int
    element: Var
    rest: Var
    again: Expr
    end: Expr


@mutable
class Sums:
    """The body of a clause in another form: no lets, and no calls of such loops. `loops` are the global functions that
    are looked at, `found` what the variables stand for that are in the place of the calls."""

    lists: Lists
    loops: Mapping[GlobalVar, Function]
    bound: dict[Var, Expr]
    found: dict[Var, Sum]

    @staticmethod
    def of(lists: Lists, loops: Mapping[GlobalVar, Function], body: Expr) -> Sums:
        """For a body, which is to be made `straight`."""
        lets = [node for node in all_nodes(body, *loops.values()) if isinstance(node, Let)]
        return Sums(lists, loops, {let.var: let.value for let in lets}, {})

    def parts(self, node: Expr) -> tuple[Expr, ...]:
        """What a node of the new form is made of."""
        if isinstance(node, Var):
            found = self.found.get(node)
            return () if found is None else (found.start, found.term)
        return children(node)

    def straight(self, body: Expr, instead: Mapping[Expr, Expr] = MappingProxyType({})) -> Expr:
        """An expression in the new form, with some others in the place of variables."""
        new: dict[Expr, Expr] = {}
        for node in post_order([body], self._parts_before):
            if node in instead:
                new[node] = instead[node]
            elif isinstance(node, Var) and node in self.bound:
                new[node] = node if isinstance(self.bound[node], Function) else new[self.bound[node]]
            elif isinstance(node, Let):
                new[node] = new[node.body]
            else:
                made = rebuild_from(node, new, _parts)
                new[node] = self._looped(made) if isinstance(made, Call) else made
        return new[body]

    def _parts_before(self, node: Expr) -> tuple[Expr, ...]:
        """A bound variable has its value as its part, and its let only the body; functions are not looked into."""
        match node:
            case Var():
                value = self.bound.get(node)
                return () if value is None or isinstance(value, Function) else (value,)
            case Let(body=body):
                return (body,)
            case _:
                return _parts(node)

    def _looped(self, call: Call) -> Expr:
        """What stands for a call of a loop that adds up; the call itself if it is none."""
        function = self.bound.get(call.op) if isinstance(call.op, Var) else None
        if isinstance(call.op, GlobalVar):
            function = self.loops.get(call.op)
        if not isinstance(function, Function) or not isinstance(call.op, Var | GlobalVar):
            return call
        step = self._step(call.op, function)
        return call if step is None else self._instead(call, call.op, step) or call

    def is_loop(self, name: GlobalVar | Var, function: Function) -> bool:
        """Whether a function adds up over a list, as far as can be told without a call of it."""
        step = self._step(name, function)
        return step is not None and self._sums(name, step) is not None

    def _step(self, name: GlobalVar | Var, function: Function) -> _Step | None:
        match function.body:
            case Match(data=Var() as subject, clauses=clauses, complete=True) if subject in function.params:
                pass
            case _:
                return None
        by_constructor = {each.lhs.constructor: each for each in clauses if isinstance(each.lhs, PatternConstructor)}
        cell, end = by_constructor.get(self.lists.cons), by_constructor.get(self.lists.nil)
        match cell:
            case Clause(lhs=PatternConstructor(patterns=(PatternVar(element), PatternVar(rest)))) if end is not None:
                pass
            case _:
                return None
        others = {each: of for each, of in self.loops.items() if each != name}
        inner = Sums(self.lists, others, {each: of for each, of in self.bound.items() if each != name}, self.found)
        again = inner.straight(cell.rhs)
        return _Step(function, function.params.index(subject), element, rest, again, end.rhs)

    def _sums(self, name: GlobalVar | Var, step: _Step) -> dict[Var, tuple[str, Expr]] | None:
        """The parameters that are sums, each with its mode and its term; None if the loop does anything else."""
        own = [node for node in all_nodes(step.again) if isinstance(node, Call) and node.op == name]
        params = step.function.params
        if len(own) != 1 or own[0].args[step.subject] is not step.rest:
            return None
        changed = [at for at, param in enumerate(params) if at != step.subject and own[0].args[at] is not param]
        found: dict[Var, tuple[str, Expr]] = {}
        for at in changed if own[0] is step.again else ():
            found[params[at]] = _term(own[0].args[at], params[at]) or ("", own[0])
        if own[0] is not step.again and not changed:
            found[Var("sum")] = _term(step.again, own[0]) or ("", own[0])
        outside = {*found, step.rest, params[step.subject], name}
        terms = [term for _, term in found.values()]
        return found if found and outside.isdisjoint(all_nodes(*terms)) else None

    def _instead(self, call: Call, name: GlobalVar | Var, step: _Step) -> Expr | None:
        """What a loop gives, in terms of variables that are sums."""
        params = step.function.params
        given: dict[Expr, Expr] = dict(zip(params, call.args, strict=True))
        sums = self._sums(name, step)
        if sums is None:
            return None
        element = typed_var(step.element.name_hint, known_type(step.element))
        ends: dict[Expr, Expr] = {}
        made: list[tuple[Var, Expr | None, str, Expr]] = []
        for param, (mode, term) in sums.items():
            own = typed_var(param.name_hint, known_type(param if param in given else step.again))
            made.append((own, given.pop(param, None), mode, term))
            ends[param] = own
        instead = {**given, step.element: element}
        end = self.straight(step.end, {**given, **ends})
        # together, so that what several terms are made of stays one
        terms = self.straight(typed_by_parts(Tuple(tuple(term for _, _, _, term in made))), instead)
        assert isinstance(terms, Tuple)
        for (own, start, mode, _), term in zip(made, terms.fields, strict=True):
            first = end if start is None else start
            here = _in_shape(term, known_tensor_type(own))
            self.found[own] = Sum(first, here, mode, element, call.args[step.subject])
        return end if made[0][1] is not None else made[0][0]


def _parts(node: Expr) -> tuple[Expr, ...]:
    """What a node is made of; functions are not looked into."""
    return () if isinstance(node, Function) else children(node)


def _in_shape(term: Expr, type_: TensorType) -> Expr:
    """A term in the shape of what it is added to."""
    return term if known_tensor_type(term).shape == type_.shape else broadcast_to(term, type_.shape)


def _term(value: Expr, to: Expr) -> tuple[str, Expr] | None:
    """How something is added to `to`, and what; None if it is anything else."""
    match value:
        case Call(op=Op(operator=OperatorRecord() as record), args=(left, right)) if record in _MODES:
            term = right if left is to else left
            same = known_type(value) == known_type(to) and isinstance(known_type(to), TensorType)
            return (_MODES[record], term) if to in (left, right) and left is not right and same else None
        case _:
            return None
