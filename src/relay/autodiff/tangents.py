"""Forward mode: each scope with the tangents of what it binds, beside it.

What depends on what is differentiated has a variable for its tangent, of the type of its cotangent, bound behind it;
nothing is kept for later, so a loop stays one loop.

    before:  let %y = if (%c) { let %a = exp(%x); multiply(%a, %x) } else { %x };
    after:   let %pair = if (%c) {
               let %a = exp(%x); let %d_a = multiply(%d_x, %a);
               let %v = multiply(%a, %x); let %d_v = add(multiply(%d_a, %x), multiply(%d_x, %a)); (%v, %d_v)
             } else { (%x, %d_x) };
             let %y = %pair.0; let %d_y = %pair.1;

A call of a global function becomes one of `@f_tangent`, which takes the tangents of its active arguments behind all
arguments, and gives the value with its tangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from relay.autodiff.chain import Chain
from relay.autodiff.cotangents import Cotangents
from relay.autodiff.patterns import filled, taken_apart, value_of
from relay.autodiff.program import DerivedProgram, declared, typed
from relay.autodiff.pushforward import pushed_forward
from relay.autodiff.scope import rebuilt_choice, refusal
from relay.ir.expr import (
    Call,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
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
from relay.ir.module import IRModule
from relay.ir.sharing import Scope, Scopes, let_chain, scopes
from relay.ir.types import TupleType, Type


def with_tangents(module: IRModule, name: GlobalVar, wrt: Sequence[int]) -> IRModule:
    """The module with `name` as a function that takes, behind its arguments, the tangents of those in `wrt`, and gives
    `(value, its tangent)`. Parameters without a tangent, integers for one, have none to take. The program is typed and
    first order.

    Raises `RelayError` (rule `no-gradient`).
    """
    work = _Forward(DerivedProgram(module))
    types = work.program.types
    function = work.program.normal(name)
    active = tuple(at in wrt and types.exists(typed(param)) for at, param in enumerate(function.params))
    made = work.function(function, active, lambda tangent, value: types.settled(tangent, typed(value), value))
    work.make_called()
    return work.program.finished(name, made)


@dataclass(slots=True, eq=False)
class _Forward:
    """The functions of a program with tangents, each for the arguments that have one."""

    program: DerivedProgram
    names: dict[tuple[GlobalVar, tuple[bool, ...]], GlobalVar] = field(default_factory=dict)

    def called(self, name: GlobalVar, active: tuple[bool, ...]) -> GlobalVar:
        """The function with tangents that is called for one without."""
        key = (name, active)
        if key not in self.names:
            self.names[key] = GlobalVar(self.program.names.take(f"{name.name_hint}_tangent"))
        return self.names[key]

    def make_called(self) -> None:
        """Make the functions that are called, and those that these call."""
        while missing := [(key, own) for key, own in self.names.items() if own not in self.program.functions]:
            for (name, active), own in missing:
                made = self.function(self.program.normal(name), active, lambda tangent, _: tangent)
                value = typed(self.program.normal(name).body)
                type_ = TupleType((value, self.program.types.type_of(value)))
                self.program.functions[own] = declared(made.params, made.body, type_)

    def function(self, function: Function, active: tuple[bool, ...], given: Callable[[Expr, Expr], Expr]) -> Function:
        """A function with tangents; `given(tangent, value)` is the tangent as it is given back."""
        found = self.program.active(function, active)
        sweep = _Sweep(self.program.types, self.called, found, scopes(function.body))
        chain, result = sweep.swept()
        own = [sweep.tangent(param) for param, on in zip(function.params, active, strict=True) if on]
        body = chain.before(Tuple((result, given(sweep.of(result), result))))
        return Function((*function.params, *own), body, None, function.type_params, function.attrs, span=function.span)


@dataclass(slots=True, eq=False)
class _Sweep:
    """The scopes of one function body, inner ones first."""

    types: Cotangents
    called: Callable[[GlobalVar, tuple[bool, ...]], GlobalVar]
    active: set[Var]
    scopes: Scopes
    tangents: dict[Var, Var] = field(default_factory=dict)
    done: dict[Scope, tuple[Chain, Expr]] = field(default_factory=dict)

    def swept(self) -> tuple[Chain, Expr]:
        """The outermost scope, with all others in it: its bindings, and its value."""
        for scope in reversed(self.scopes.outermost_first()):
            self.done[scope] = self._scope(scope)
        return self.done[self.scopes.root]

    def tangent(self, var: Var) -> Var:
        """The variable of the tangent of one that has a tangent."""
        if var not in self.tangents:
            stated = None if var.type_annotation is None else self.types.type_of(var.type_annotation)
            self.tangents[var] = record_type(Var(f"d_{var.name_hint}", stated), self.types.type_of(typed(var)))
        return self.tangents[var]

    def of(self, value: Expr) -> Expr:
        """The tangent of a variable or constant."""
        if isinstance(value, Var) and value in self.active:
            return self.tangent(value)
        return self.types.whole(None, typed(value), value)

    def _scope(self, scope: Scope) -> tuple[Chain, Expr]:
        lets, result = let_chain(scope.result)
        chain = Chain()
        for let in lets:
            if let.var in self.active:
                self._binding(let.var, let.value, chain)
            else:
                chain.bind_to(let.var, let.value)
        return chain, result

    def _binding(self, var: Var, value: Expr, chain: Chain) -> None:
        """Write a binding, and that of its tangent."""
        match value:
            case If() | Match():
                self._both(var, self._choice(value), chain)
            case Call(op=GlobalVar() as name, args=args):
                active = tuple(isinstance(each, Var) and each in self.active for each in args)
                own = [self.of(each) for each, on in zip(args, active, strict=True) if on]
                self._both(var, Call(self.called(name, active), (*args, *own), span=value.span), chain)
            case _:
                chain.bind_to(var, value)
                chain.bind_to(self.tangent(var), self._tangent_of(var, value, chain))

    def _both(self, var: Var, made: Expr, chain: Chain) -> None:
        """Bind a variable and its tangent to the fields of a pair."""
        tangent = self.tangent(var)
        pair = chain.bind("pair", made, TupleType((typed(var), typed(tangent))))
        chain.bind_to(var, TupleGetItem(pair, 0))
        chain.bind_to(tangent, TupleGetItem(pair, 1))

    def _tangent_of(self, var: Var, value: Expr, chain: Chain) -> Expr:
        """The tangent of what is neither a choice nor a call of a function."""
        match value:
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
        return self.tangent(value) if isinstance(value, Var) and value in self.active else None

    # ------------------------------------------------------------------------------------------------------ choices

    def _choice(self, choice: If | Match) -> Expr:
        """The choice of pairs of values and tangents."""
        inner = [self.done[scope] for scope in self.scopes.inner(choice)]
        data = choice.data if isinstance(choice, Match) else None
        patterns: list[Pattern] = [PatternWildcard()] * len(inner)
        if isinstance(choice, Match):
            patterns = [clause.lhs for clause in choice.clauses]
        branches: list[Expr] = []
        for at, (chain, result) in enumerate(inner):
            apart = Chain()
            if isinstance(data, Var) and data in self.active:
                patterns[at] = filled(self.types, patterns[at], typed(data))
                self._take_apart(patterns[at], typed(data), self.tangent(data), apart)
            branches.append(apart.before(chain.before(Tuple((result, self.of(result))))))
        return rebuilt_choice(choice, patterns, branches)

    def _take_apart(self, pattern: Pattern, type_: Type, tangent: Expr, chain: Chain) -> None:
        """Bind the tangents of what a pattern binds to the parts of the tangent of what it fits."""
        waiting = [(pattern, type_, tangent)]
        while waiting:
            part, type_, tangent = waiting.pop()
            if not self.types.exists(type_):
                continue
            match part:
                case PatternVar(var):
                    if var in self.active:
                        chain.bind_to(self.tangent(var), tangent)
                case PatternTuple(patterns):
                    assert isinstance(type_, TupleType)
                    fields = enumerate(zip(patterns, type_.fields, strict=True))
                    waiting += [(each, own, self._field(chain, tangent, at)) for at, (each, own) in fields]
                case PatternConstructor(constructor, patterns):
                    made = self.types.of_constructor(constructor)
                    if made is not None:
                        own, counted = made
                        inputs = self.types.inputs(constructor, type_)
                        values = [(inputs[at], value_of(patterns[at])) for at in counted]
                        together = chain.bind("tangents", taken_apart(self.types, own, tangent, values))
                        fields = enumerate(counted)
                        waiting += [(patterns[of], inputs[of], self._field(chain, together, at)) for at, of in fields]
                case PatternWildcard():
                    pass

    def _field(self, chain: Chain, tangent: Expr, at: int) -> Expr:
        return chain.bind(f"d{at}", TupleGetItem(tangent, at))
