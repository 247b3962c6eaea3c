"""Tangents: how much values change where what is differentiated does; of the type of their cotangents.

    multiply(%a, %x)   has the tangent   add(multiply(%d_a, %x), multiply(%d_x, %a))

What depends on what is differentiated has a variable for its tangent. Both kinds of forward mode, that beside the value
(`forward.py`) and that after it (`linearize.py`), bind these the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from relay.autodiff.chain import Chain
from relay.autodiff.cotangents import Cotangents
from relay.autodiff.own_pullback import OwnPullback, own_pullbacks
from relay.autodiff.patterns import filled, taken_apart, value_of
from relay.autodiff.program import DerivedProgram, typed
from relay.autodiff.pushforward import pushed_forward, pushed_through
from relay.autodiff.scope import refusal
from relay.base.frozen import mutable
from relay.ir.expr import (
    Call,
    Constructor,
    Expr,
    If,
    Let,
    Match,
    Op,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    Tuple,
    TupleGetItem,
    Var,
    record_type,
)
from relay.ir.types import TupleType, Type


@mutable
class Tangents:
    """The tangents of the variables of one function body, of which those that are `active` have one."""

    program: DerivedProgram
    active: set[Var]
    types: Cotangents = field(init=False)
    own: dict[Var, OwnPullback] = field(default_factory=dict)
    made: dict[Var, Var] = field(default_factory=dict)
    all: set[Expr] = field(default_factory=set)
    """The variables that are tangents."""

    def __post_init__(self) -> None:
        self.types = self.program.types

    def entered(self, lets: Sequence[Let]) -> None:
        """Note those of the values of a scope that have a pullback of their own."""
        self.own.update(own_pullbacks(lets))

    def variable(self, var: Var) -> Var:
        """The variable of the tangent of one that has a tangent."""
        if var not in self.made:
            stated = None if var.type_annotation is None else self.types.type_of(var.type_annotation)
            made = record_type(Var(f"d_{var.name_hint}", stated), self.types.type_of(typed(var)))
            self.made[var] = made
            self.all.add(made)
        return self.made[var]

    def of(self, value: Expr) -> Expr:
        """The tangent of a variable or constant."""
        if isinstance(value, Var) and value in self.active:
            return self.variable(value)
        return self.types.whole(None, typed(value), value)

    def of_binding(self, var: Var, value: Expr, chain: Chain) -> Expr:
        """The tangent of `var`, bound to what is neither a choice nor a call of a function. What that needs is written
        to `chain`."""
        match value:
            case Call() if var in self.own:
                own = self.own[var]
                return pushed_through(self.program, chain, own, var, self.of(own.arguments))
            case Var():
                return self.of(value)
            case Tuple(fields):
                return Tuple(tuple(map(self.of, fields)))
            case TupleGetItem(tuple_value, index):
                return TupleGetItem(self.of(tuple_value), index)
            case Call(op=Op(), args=args):
                own = [self._if_active(each) for each in args]
                found = pushed_forward(self.types, chain, value, var, own)
                return self.types.whole(found, typed(var), var)
            case Call(op=Constructor() as constructor, args=args):
                made = self.types.of_constructor(constructor)
                assert made is not None  # what is active has something to differentiate in it
                own_constructor, counted = made
                return self.types.made(own_constructor, typed(var), [self.of(args[at]) for at in counted])
            case _:
                raise refusal(value)

    def _if_active(self, value: Expr) -> Expr | None:
        return self.variable(value) if isinstance(value, Var) and value in self.active else None

    def ways(self, choice: If | Match) -> list[tuple[Pattern, Chain]]:
        """For each way that a choice can go its pattern, with a name for all that has a tangent, and the tangents of
        what that binds."""
        if isinstance(choice, If):
            return [(PatternWildcard(), Chain()) for _ in range(2)]
        data = choice.data
        if not isinstance(data, Var) or data not in self.active:
            return [(clause.lhs, Chain()) for clause in choice.clauses]
        patterns = [filled(self.types, clause.lhs, typed(data)) for clause in choice.clauses]
        return [(each, self._taken_apart(each, data)) for each in patterns]

    def _taken_apart(self, pattern: Pattern, data: Var) -> Chain:
        """The tangents of what a pattern binds, of that of what it fits."""
        chain = Chain()
        waiting: list[tuple[Pattern, Type, Expr]] = [(pattern, typed(data), self.variable(data))]
        while waiting:
            part, type_, tangent = waiting.pop()
            if not self.types.exists(type_):
                continue
            match part:
                case PatternVar(var):
                    if var in self.active:
                        chain.bind_to(self.variable(var), tangent)
                case PatternTuple(patterns):
                    assert isinstance(type_, TupleType)
                    fields = enumerate(zip(patterns, type_.fields, strict=True))
                    waiting += [(each, own, _field(chain, tangent, at)) for at, (each, own) in fields]
                case PatternConstructor(constructor, patterns):
                    made = self.types.of_constructor(constructor)
                    if made is not None:
                        own, counted = made
                        inputs = self.types.inputs(constructor, type_)
                        values = [(inputs[at], value_of(patterns[at])) for at in counted]
                        together = chain.bind("tangents", taken_apart(self.types, own, tangent, values))
                        fields = enumerate(counted)
                        waiting += [(patterns[of], inputs[of], _field(chain, together, at)) for at, of in fields]
                case PatternWildcard():
                    pass
        return chain


def _field(chain: Chain, tangent: Expr, at: int) -> Expr:
    return chain.bind(f"d{at}", TupleGetItem(tangent, at))
