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
from dataclasses import field

from relay.autodiff.chain import Chain
from relay.autodiff.program import DerivedProgram, declared, typed
from relay.autodiff.saved import Branch, rebuilt_choice
from relay.autodiff.tangents import Tangents
from relay.base.frozen import mutable
from relay.ir.expr import (
    Call,
    Expr,
    Function,
    GlobalVar,
    If,
    Match,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.sharing import Scope, Scopes, let_chain, scopes
from relay.ir.types import TupleType


def with_tangents(module: IRModule, name: GlobalVar, wrt: Sequence[int]) -> IRModule:
    """The module with `name` as a function that takes, behind its arguments, the tangents of those in `wrt`, and gives
    `(value, its tangent)`. Parameters without a tangent, integers for one, have none to take. The program is typed and
    first order.

    Raises `RelayError` (rule `no-gradient`).
    """
    work = _Forward(DerivedProgram(module))
    types = work.program.types
    function = work.program.normal(name)
    active = work.program.with_tangent(function, wrt)
    made = work.function(function, active, lambda tangent, value: types.settled(tangent, typed(value), value))
    work.make_called()
    return work.program.finished(name, made)


@mutable
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
        tangents = Tangents(self.program, self.program.active(function, active))
        branch = _Sweep(tangents, self.called, scopes(function.body)).swept()
        own = [tangents.variable(param) for param, on in zip(function.params, active, strict=True) if on]
        result = branch.result
        body = branch.chain.before(Tuple((result, given(tangents.of(result), result))))
        return Function((*function.params, *own), body, None, function.type_params, function.attrs, span=function.span)


@mutable
class _Sweep:
    """The scopes of one function body, inner ones first."""

    tangents: Tangents
    called: Callable[[GlobalVar, tuple[bool, ...]], GlobalVar]
    scopes: Scopes
    done: dict[Scope, Branch] = field(default_factory=dict)

    def swept(self) -> Branch:
        """The outermost scope, with all others in it."""
        for scope in reversed(self.scopes.outermost_first()):
            self.done[scope] = self._scope(scope)
        return self.done[self.scopes.root]

    def _scope(self, scope: Scope) -> Branch:
        lets, result = let_chain(scope.result)
        self.tangents.entered(lets)
        chain = Chain()
        for let in lets:
            if let.var in self.tangents.active:
                self._binding(let.var, let.value, chain)
            else:
                chain.bind_to(let.var, let.value)
        return Branch(chain, result)

    def _binding(self, var: Var, value: Expr, chain: Chain) -> None:
        """Write a binding, and that of its tangent."""
        match value:
            case If() | Match():
                self._both(var, self._choice(value), chain)
            case Call(op=GlobalVar() as name, args=args):
                active = self.tangents.program.active_arguments(value, self.tangents.active)
                own = [self.tangents.of(each) for each, on in zip(args, active, strict=True) if on]
                self._both(var, Call(self.called(name, active), (*args, *own), span=value.span), chain)
            case _:
                chain.bind_to(var, value)
                chain.bind_to(self.tangents.variable(var), self.tangents.of_binding(var, value, chain))

    def _both(self, var: Var, made: Expr, chain: Chain) -> None:
        """Bind a variable and its tangent to the fields of a pair."""
        tangent = self.tangents.variable(var)
        pair = chain.bind("pair", made, TupleType((typed(var), typed(tangent))))
        chain.bind_to(var, TupleGetItem(pair, 0))
        chain.bind_to(tangent, TupleGetItem(pair, 1))

    def _choice(self, choice: If | Match) -> Expr:
        """The choice of pairs of values and tangents."""
        ways = self.tangents.ways(choice)
        branches: list[Expr] = []
        for scope, (_, apart) in zip(self.scopes.inner(choice), ways, strict=True):
            inner = self.done[scope]
            both = Tuple((inner.result, self.tangents.of(inner.result)))
            branches.append(apart.before(inner.chain.before(both)))
        return rebuilt_choice(choice, [pattern for pattern, _ in ways], branches)
