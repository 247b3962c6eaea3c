"""Forward mode in two halves: the value now, and the linear map that tangents go through later.

    before:  def @main(%x: float32) { sin(%x) }
    after:   def @main(%x: float32) {
               let %v = sin(%x); let %c = cos(%x); (%v, fn (%d_x: float32) { multiply(%d_x, %c) })
             }

What does not depend on tangents is computed with the value, once, and kept; choices and called functions keep theirs as
in reverse mode (`halves.py`).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import field

from relay.arith.expr import Symbol
from relay.autodiff.chain import Chain
from relay.autodiff.halves import Halves, Splitting, extents_of
from relay.autodiff.program import DerivedProgram, typed
from relay.autodiff.saved import Branch, unpaired
from relay.autodiff.scope import stated
from relay.autodiff.tangents import Tangents
from relay.base.frozen import mutable
from relay.ir.expr import Call, Expr, Function, GlobalVar, If, Match, Tuple, Var
from relay.ir.module import IRModule
from relay.ir.sharing import Scope, Scopes, let_chain, scopes
from relay.ir.traversal import post_order
from relay.ir.variables import substitute


def linearized(module: IRModule, name: GlobalVar, wrt: Sequence[int]) -> IRModule:
    """The module with `name` as a function that gives `(value, map)`: the function that takes the tangents of the
    parameters in `wrt`, without those that have none, and gives that of the value. The program is typed and first
    order.

    Raises `RelayError` (rule `no-gradient`).
    """
    program = DerivedProgram(module)
    work = Splitting(program, _halves, ("forward", "linear"))
    function = program.normal(name)
    active = program.with_tangent(function, wrt)
    work.prepare(function, active)
    sweep = _swept(work, function, active)
    now, later = sweep.done[sweep.scopes.root]
    given = [sweep.tangents.variable(param) for param, on in zip(function.params, active, strict=True) if on]
    tangent = program.types.settled(sweep.tangents.of(now.result), typed(now.result), now.result)
    params = tuple(Var(each.name_hint, typed(each)) for each in given)
    linear = Function(params, substitute(later.ending(tangent), dict(zip(given, params, strict=True))))
    body = now.chain.before(Tuple((now.result, linear)))
    made = Function(function.params, body, None, (), function.attrs, span=function.span)
    return program.finished(name, made)


def _halves(work: Splitting, function: Function, active: Sequence[bool]) -> Halves:
    """The function, and its linear map."""
    sweep = _swept(work, function, active)
    now, later = sweep.done[sweep.scopes.root]
    given = tuple(sweep.tangents.variable(param) for param, on in zip(function.params, active, strict=True) if on)
    end = later.ending(sweep.tangents.of(now.result))
    return Halves(now, given, end, work.program.types.type_of(typed(function.body)))


def _swept(work: Splitting, function: Function, active: Sequence[bool]) -> _Sweep:
    tangents = Tangents(work.program, work.program.active(function, active))
    sweep = _Sweep(work, tangents, extents_of(function), scopes(function.body))
    for scope in reversed(sweep.scopes.outermost_first()):
        sweep.done[scope] = sweep.scope(scope)
    return sweep


@mutable
class _Sweep:
    """The scopes of one function body, inner ones first: each as its bindings now, and those of tangents, later."""

    work: Splitting
    tangents: Tangents
    extents: Set[Symbol]
    scopes: Scopes
    done: dict[Scope, tuple[Branch, Chain]] = field(default_factory=dict)
    linear: set[Expr] = field(default_factory=set)
    """What depends on tangents."""

    def scope(self, scope: Scope) -> tuple[Branch, Chain]:
        lets, result = let_chain(scope.result)
        self.tangents.entered(lets)
        now, later = Chain(), Chain()
        for let in lets:
            if let.var in self.tangents.active:
                self._binding(let.var, let.value, now, later)
            else:
                now.bind_to(let.var, let.value)
        return Branch(now, result), later

    def _binding(self, var: Var, value: Expr, now: Chain, later: Chain) -> None:
        """Write a binding, and later that of its tangent."""
        match value:
            case If() | Match():
                later.bind_to(self.tangents.variable(var), self._choice(var, value, now))
            case Call(op=GlobalVar()):
                self._call(var, value, now, later)
            case _:
                now.bind_to(var, value)
                written = Chain()
                written.bind_to(self.tangents.variable(var), self.tangents.of_binding(var, value, written))
                self._put(written, now, later)

    def _put(self, written: Chain, now: Chain, later: Chain) -> None:
        """Bindings that depend on tangents run later, all others now."""
        for var, value in written.bindings:
            if any(node in self.linear or node in self.tangents.all for node in post_order(value)):
                self.linear.add(var)
                later.bindings.append((var, value))
            else:
                now.bindings.append((var, value))

    def _call(self, var: Var, call: Call, now: Chain, later: Chain) -> None:
        active = self.work.active_arguments(call, self.tangents.active)
        made, type_ = self.work.first(call, active)
        kept = unpaired(now, var, made, type_)
        given = [self.tangents.of(each) for each, on in zip(call.args, active, strict=True) if on]
        tangent = self.tangents.variable(var)
        types, type_ = self.tangents.types, typed(tangent)
        own = later.bind("tangent", self.work.second(call, active, kept, given), type_)
        named = stated(types, self.extents, later, var.name_hint, own, type_)
        later.bind_to(tangent, types.whole(named, typed(var), var), type_)

    def _choice(self, var: Var, choice: If | Match, now: Chain) -> Expr:
        """The tangent of a choice, by the way that it went."""
        ways = self.tangents.ways(choice)
        inner = [self.done[scope] for scope in self.scopes.inner(choice)]
        ends: list[Expr] = []
        for (_, apart), (branch, later) in zip(ways, inner, strict=True):
            chain = Chain([*apart.bindings, *later.bindings])
            ends.append(chain.ending(self.tangents.of(branch.result)))
        patterns = [pattern for pattern, _ in ways]
        made = self.work.saved.remembered(choice, patterns, [branch for branch, _ in inner], ends)
        return made.again(unpaired(now, var, made.choice, made.type), ends, self.extents)
