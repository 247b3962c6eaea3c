"""Scopes in A-normal form, transposed: what a scope hands on when it runs forward, and its bindings backward.

A scope is a function body, a branch or a clause. Backward its bindings are met last to first: each hands the cotangent
of what it binds on to what it is made of. A choice remembers which way it went: a generated data type has a constructor
for each way, with those values of the branch that its way back needs. What is needed is what the finished way back
mentions, so nothing is kept that is not used.

    before:   let %y = if (%c) { let %a = exp(%x); multiply(%a, %a) } else { %x };
    forward:  let %p = if (%c) { let %a = exp(%x); (multiply(%a, %a), Way0(%a)) } else { (%x, Way1) };
              let %y = %p.0; let %way = %p.1;
    backward: match (%way) { Way0(%a) => ..., Way1 => ... }, a tuple of cotangents of what the branches share
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import field
from typing import Protocol

from relay.arith.expr import Symbol
from relay.autodiff.chain import Chain
from relay.autodiff.cotangents import Cotangent, Cotangents, Parts
from relay.autodiff.operators import pulled_back
from relay.autodiff.own_pullback import OwnPullback, own_pullbacks
from relay.autodiff.patterns import filled, pattern_cotangent, taken_apart
from relay.autodiff.program import typed
from relay.autodiff.saved import Branch, Saved, unpaired
from relay.base.diagnostics import RelayError
from relay.base.frozen import mutable
from relay.ir.expr import (
    Call,
    Constructor,
    Expr,
    GlobalVar,
    If,
    Match,
    Op,
    Pattern,
    PatternWildcard,
    Tuple,
    TupleGetItem,
    Var,
    pattern_vars,
    record_type,
)
from relay.ir.sharing import Scope, Scopes, let_chain
from relay.ir.type_traversal import type_symbols
from relay.ir.types import TensorType, TupleType, Type
from relay.ir.variables import substitute

Back = Callable[["Backward"], None]
"""One step of the way back: takes the cotangent of what it is about, and hands on those of what that is made of."""


@mutable
class Swept:
    """A scope, forward and backward. `given`: the cotangent of its result, with which the way back begins;
    `cotangents`: those of the variables around the scope, at the end of the way back."""

    forward: Branch
    given: Var
    backward: Chain
    cotangents: dict[Var, Cotangent]


class Functions(Protocol):
    """What calls of global functions become, which are in two halves."""

    def active_arguments(self, call: Call, active: Set[Var]) -> tuple[bool, ...]:
        """Of each argument whether it is differentiated there; `active` are the variables that are."""
        ...

    def first(self, call: Call, active: Sequence[bool]) -> tuple[Expr, Type]:
        """The call that gives a pair: the value, and what the second half needs, which is of the type given here."""
        ...

    def second(self, call: Call, active: Sequence[bool], kept: Expr, given: Sequence[Expr]) -> Expr:
        """The call of the second half, which takes what was kept, and `given`: in reverse the cotangent of the value,
        and gives the cotangents of the active arguments."""
        ...


@mutable
class Backward:
    """The way back through one scope, as far as it is written."""

    types: Cotangents
    active: set[Var]
    chain: Chain = field(default_factory=Chain)
    found: dict[Var, Cotangent] = field(default_factory=dict)

    def hand_on(self, target: Expr, cotangent: Cotangent) -> None:
        """Add to the cotangent of a variable; constants and what is not differentiated take none."""
        if cotangent is None or not isinstance(target, Var) or target not in self.active:
            return
        self.found[target] = self.types.sum(self.found.get(target), cotangent, typed(target))

    def taken(self, var: Var) -> Cotangent:
        """The cotangent of a variable that nothing before it adds to."""
        return self.found.pop(var, None)

    def taken_whole(self, var: Var) -> Expr | None:
        """The same as one expression, by name; None for zero."""
        cotangent = self.taken(var)
        if cotangent is None:
            return None
        type_ = typed(var)
        return self.chain.bind(f"d_{var.name_hint}", self.types.whole(cotangent, type_, var), self.types.type_of(type_))


@mutable
class Sweep:
    """The scopes of one function body, inner ones first."""

    types: Cotangents
    functions: Functions
    active: set[Var]
    saved: Saved
    extents: Set[Symbol]
    scopes: Scopes
    done: dict[Scope, Swept] = field(default_factory=dict)

    def swept(self) -> Swept:
        """The outermost scope, with all others in it."""
        for scope in reversed(self.scopes.outermost_first()):
            self.done[scope] = self._scope(scope)
        return self.done[self.scopes.root]

    def _scope(self, scope: Scope) -> Swept:
        lets, result = let_chain(scope.result)
        own = own_pullbacks(lets)
        forward = Chain()
        steps: list[Back] = []
        for let in lets:
            if let.var in own and let.var in self.active:
                forward.bind_to(let.var, let.value)
                steps.append(_own_step(let.var, own[let.var]))
            elif let.var in self.active:
                steps.append(self._binding(let.var, let.value, forward))
            else:
                forward.bind_to(let.var, let.value)
        given = Var("given")
        backward = Backward(self.types, self.active)
        if isinstance(result, Var) and result in self.active:
            record_type(given, self.types.type_of(typed(result)))
            backward.hand_on(result, given)
        for step in reversed(steps):
            step(backward)
        return Swept(Branch(forward, result), given, backward.chain, backward.found)

    def _binding(self, var: Var, value: Expr, forward: Chain) -> Back:
        """Write a binding forward; gives its step of the way back."""
        match value:
            case If() | Match():
                return self._choice(var, value, forward)
            case Call(op=GlobalVar()):
                return self._call(var, value, forward)
            case _:
                forward.bind_to(var, value)
                return lambda back: value_back(back, var, value)

    # ------------------------------------------------------------------------------------------- calls of functions

    def _call(self, var: Var, call: Call, forward: Chain) -> Back:
        active = self.functions.active_arguments(call, self.active)
        targets = [each for each, on in zip(call.args, active, strict=True) if on and isinstance(each, Var)]
        made, kept_type = self.functions.first(call, active)
        kept = unpaired(forward, var, made, kept_type)

        def back(backward: Backward) -> None:
            cotangent = backward.taken_whole(var)
            if cotangent is None:
                return
            of = [(each, self.types.type_of(typed(each))) for each in targets]
            made = self.functions.second(call, active, kept, [cotangent])
            together = backward.chain.bind("cotangents", made, TupleType(tuple(type_ for _, type_ in of)))
            for at, (target, type_) in enumerate(of):
                part, hint = self.types.part(together, at), target.name_hint
                backward.hand_on(target, stated(self.types, self.extents, backward.chain, hint, part, type_))

        return back

    # ------------------------------------------------------------------------------------------------------ choices

    def _choice(self, var: Var, choice: If | Match, forward: Chain) -> Back:
        """A choice: forward it gives its value and the way it went, backward it goes back by that way."""
        inner = [self.done[scope] for scope in self.scopes.inner(choice)]
        patterns = self._patterns(choice)
        shared = list(dict.fromkeys(target for each in inner for target in each.cotangents))
        data = self._active_data(choice)
        shared = [each for each in shared if not any(each in pattern_vars(pattern) for pattern in patterns)]
        ends: list[Expr] = []
        for swept, pattern in zip(inner, patterns, strict=True):
            parts = [self._whole(swept.cotangents.get(each), each) for each in shared]
            if data is not None:
                found = pattern_cotangent(self.types, pattern, typed(data), swept.cotangents)
                parts.append(self.types.whole(found, typed(data), data))
            ends.append(swept.backward.ending(Tuple(tuple(parts))))
        made = self.saved.remembered(choice, patterns, [each.forward for each in inner], ends)
        way = unpaired(forward, var, made.choice, made.type)

        def back(backward: Backward) -> None:
            cotangent = backward.taken_whole(var)
            if cotangent is None:
                return
            own = [substitute(end, {swept.given: cotangent}) for end, swept in zip(ends, inner, strict=True)]
            targets = [*shared, data] if data is not None else shared
            type_ = TupleType(tuple(self.types.type_of(typed(each)) for each in targets))
            together = backward.chain.bind("cotangents", made.again(way, own, self.extents), type_)
            for at, target in enumerate(targets):
                backward.hand_on(target, self.types.part(together, at))

        return back

    def _patterns(self, choice: If | Match) -> list[Pattern]:
        if isinstance(choice, If):
            return [PatternWildcard(), PatternWildcard()]
        data = self._active_data(choice)
        if data is None:
            return [clause.lhs for clause in choice.clauses]
        return [filled(self.types, clause.lhs, typed(data)) for clause in choice.clauses]

    def _active_data(self, choice: If | Match) -> Var | None:
        """What a match takes apart, if that has a cotangent."""
        data = choice.data if isinstance(choice, Match) else None
        return data if isinstance(data, Var) and data in self.active else None

    def _whole(self, cotangent: Cotangent, var: Var) -> Expr:
        return self.types.whole(cotangent, typed(var), var)


def stated(
    types: Cotangents, extents: Set[Symbol], chain: Chain, hint: str, cotangent: Cotangent, type_: Type
) -> Cotangent:
    """A cotangent with the extents of what it is the cotangent of, which the function that gives it may know from what
    was kept alone; `extents` are the names that hold."""
    symbols = type_symbols(type_)
    if cotangent is None or not symbols or not extents >= set(symbols):
        return cotangent
    match type_:
        case TupleType(fields):
            parts = ((types.part(cotangent, at), each) for at, each in enumerate(fields))
            return Parts(tuple(stated(types, extents, chain, hint, part, each) for part, each in parts))
        case TensorType() if not isinstance(cotangent, Parts):
            named = Var(f"d_{hint}", type_)
            chain.bind_to(named, cotangent, type_)
            return named
        case _:
            return cotangent


def value_back(back: Backward, var: Var, value: Expr) -> None:
    """Write the way back through what is neither a choice nor a call of a function."""
    match value:
        case Var():
            back.hand_on(value, back.taken(var))
        case Tuple(fields):
            cotangent = back.taken(var)
            for at, each in enumerate(fields):
                back.hand_on(each, back.types.part(cotangent, at))
        case TupleGetItem(tuple_value, index):
            cotangent = back.taken(var)
            if cotangent is not None:
                count = len(_fields(tuple_value))
                back.hand_on(tuple_value, Parts(tuple(cotangent if at == index else None for at in range(count))))
        case Call(op=Op(), args=args):
            given = back.taken_whole(var)
            if given is not None:
                for target, entry in zip(args, pulled_back(value, var, given), strict=True):
                    if entry is not None and isinstance(target, Var) and target in back.active:
                        back.hand_on(
                            target, back.chain.bind(f"d_{target.name_hint}", entry, back.types.type_of(typed(target)))
                        )
        case Call(op=Constructor() as constructor, args=args):
            given = back.taken_whole(var)
            if given is not None:
                _constructor_back(back, constructor, args, given)
        case _:
            raise refusal(value)


def _own_step(var: Var, own: OwnPullback) -> Back:
    """The way back through a value with a pullback of its own."""

    def back(backward: Backward) -> None:
        given = backward.taken_whole(var)
        if given is not None:
            backward.hand_on(own.arguments, own.written(backward.chain, given))

    return back


def _constructor_back(back: Backward, constructor: Constructor, args: Sequence[Expr], given: Expr) -> None:
    """What a constructor made: its cotangent is zero, or has those of the fields."""
    made = back.types.of_constructor(constructor)
    if made is None:
        return
    own, counted = made
    targets = [args[at] for at in counted]
    together = back.chain.bind(
        "cotangents", taken_apart(back.types, own, given, [(typed(each), each) for each in targets])
    )
    for at, target in enumerate(targets):
        back.hand_on(target, back.types.part(together, at))


def _fields(value: Expr) -> tuple[Type, ...]:
    type_ = typed(value)
    assert isinstance(type_, TupleType)
    return type_.fields


def refusal(value: Expr) -> RelayError:
    """What is said of a form that a first-order program has not."""
    return RelayError(
        rule="no-gradient", message="how to differentiate this is not known", span=value.span,
        found=f"a {type(value).__name__}" + (f" of type {value.checked_type}" if value.checked_type else ""),
        expected="operators, tuples, data, choices, and calls of functions by name",
    )  # fmt: skip
