"""Refs that nobody else can see, as variables: PromoteRefs.

    before: def @main(%n: int32, %x: float32) { let %r = ref(%x); let %u = @loop(%r, %n); ref_read(%r) }
            def @loop(%r: ref(float32), %n: int32) -> () {
              if (%n == 0) { () } else { ref_write(%r, sin(ref_read(%r))); @loop(%r, %n - 1) }
            }
    after:  def @main(%n: int32, %x: float32) { let %pair = @loop(%x, %n); %pair.1 }
            def @loop(%r: float32, %n: int32) -> ((), float32) {
              if (%n == 0) { ((), %r) } else { @loop(sin(%r), %n - 1) }
            }

The promotion of memory to registers, and of pointers to arguments. A ref is promoted that is only read, written and
handed to global functions, which do the same with it; not one that is chosen, captured by a closure
(LiftCalledFunctions comes before), or put into data or another ref, and not where a function gets it twice, or gets
another kind of ref from another call, or where only the run can tell whether what is written fits. Choices and
functions that write it give what it holds in the end behind their value; calls stay in tail position. So what it holds
is computed in kernels, fused, and differentiated like any other value. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field

from relay.analysis.call_graph import call_graph
from relay.base.frozen import frozen, mutable
from relay.infer.checks import node_checks
from relay.infer.infer_type import infer_type
from relay.ir.expr import (
    Call,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite
from relay.ir.sharing import Scope, Scopes, let_chain, scopes
from relay.ir.traversal import body_nodes, children, rebuild
from relay.ir.type_traversal import has_unknown_dimension
from relay.ir.types import FuncType, RefType, TupleType, Type
from relay.normalize.a_normal_form import to_a_normal_form
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.remove_unused_functions import MAIN


@module_pass(level=2)
def PromoteRefs(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Make variables of refs that nobody else can see."""
    while any(isinstance(node, RefCreate) for each in module.functions.values() for node in body_nodes(each)):
        bodies = {name: _Body.of(each) for name, each in module.functions.items() if _meets_refs(each)}
        plan = _Plan(bodies, module)
        plan.find()
        if not plan.refs:
            break
        changed = {name: _Promoting(plan, body).function(name) for name, body in bodies.items() if plan.changes(body)}
        module = infer_type(module.with_functions({**module.functions, **changed}))
    return module  # without refs to refs, of which the inner ones are known when the outer ones are values


def _meets_refs(function: Function) -> bool:
    nodes = (*function.params, *body_nodes(function))
    return any(isinstance(each, RefCreate) or isinstance(each.checked_type, RefType) for each in nodes)


@frozen(eq=False)
class _Body:
    """A function in A-normal form, in which function of it each of its scopes is, and each variable that is a ref by
    what it is bound to."""

    function: Function
    scopes: Scopes
    inside: Mapping[Scope, Scope]
    refs: Mapping[Var, Scope]

    @classmethod
    def of(cls, function: Function) -> _Body:
        normal = to_a_normal_form(function)
        found = scopes(normal.body)
        inside: dict[Scope, Scope] = {}
        for scope in found.outermost_first():
            begins = scope.parent is None or isinstance(scope.owner, Function)
            inside[scope] = scope if begins or scope.parent is None else inside[scope.parent]
        refs = {each: found.root for each in normal.params if isinstance(each.checked_type, RefType)}
        for scope, home in inside.items():
            lets, _ = let_chain(scope.result)
            refs |= {let.var: home for let in lets if isinstance(let.value, RefCreate)}
        known = {var: home for var, home in refs.items() if not has_unknown_dimension(known_type(var))}
        return cls(normal, found, inside, known)

    def tail_calls(self) -> Iterator[tuple[GlobalVar, Sequence[Expr]]]:
        """The calls whose result is the function's own."""
        waiting = [self.scopes.root]
        while waiting:
            lets, result = let_chain(waiting.pop().result)
            last = lets[-1].value if lets and lets[-1].var is result else None
            if isinstance(last, Call) and isinstance(last.op, GlobalVar):
                yield last.op, last.args
            elif isinstance(last, If | Match):
                waiting += self.scopes.inner(last)


@mutable
class _Plan:
    """Which refs are promoted: of those that might be, all but those that are used in another way."""

    bodies: Mapping[GlobalVar, _Body]
    module: IRModule
    refs: set[Var] = field(default_factory=set)
    written: dict[GlobalVar, set[int]] = field(default_factory=dict)
    """The places of promoted parameters that a function, or one that it calls with them, writes."""

    def find(self) -> None:
        self.refs = {var for body in self.bodies.values() for var in body.refs}
        for name, body in self.bodies.items():
            if name == MAIN or body.function.attrs or body.function.type_params:
                self.refs.difference_update(body.function.params)
        nodes = (node for function in self.module.functions.values() for node in body_nodes(function))
        values = (each for node in nodes for each in (node.args if isinstance(node, Call) else children(node)))
        for each in values:
            if isinstance(each, GlobalVar) and each in self.bodies:
                self.refs.difference_update(self.bodies[each].function.params)
        count = -1
        while count != len(self.refs):
            count = len(self.refs)
            for body in self.bodies.values():
                for scope, function in body.inside.items():
                    self._drop(scope, {var for var, home in body.refs.items() if home is function})
            self._find_written()
            self._keep_tails()

    def changes(self, body: _Body) -> bool:
        """Whether a function has a ref that is promoted."""
        return not self.refs.isdisjoint(body.refs)

    def handed(self, callee: GlobalVar, args: Sequence[Expr]) -> dict[int, Var]:
        """The refs among the arguments of a call in whose places goes what they hold."""
        pairs = enumerate(zip(self.bodies[callee].function.params, args, strict=True))
        return {at: given for at, (param, given) in pairs if param in self.refs and isinstance(given, Var)}

    def _drop(self, scope: Scope, own: Set[Var]) -> None:
        """Drop the refs that a scope uses in another way, and the parameters that it gives other refs. `own` are the
        refs of the function that it is in."""
        lets, result = let_chain(scope.result)
        used: list[Expr] = [result]
        for value in (let.value for let in lets):
            match value:
                case RefRead(ref):
                    used += [ref] if ref not in own else []
                case RefWrite(ref, held):
                    fits = ref in own and not node_checks(value, self.module, set())
                    used += [held] if fits else [held, ref]
                case Call(op=GlobalVar() as callee, args=args) if callee in self.bodies:
                    for param, given in zip(self.bodies[callee].function.params, args, strict=True):
                        once = given in own and given in self.refs and args.count(given) == 1
                        if not (once and param in self.refs):
                            used += [param, given]
                case _:
                    used += (value, *children(value))
        self.refs.difference_update(each for each in used if isinstance(each, Var))

    def _keep_tails(self) -> None:
        """Drop what would put something behind a call in tail position, by which functions call each other in turn."""
        components = call_graph(self.module).components
        turn = {name: at for at, component in enumerate(components) for name in component}
        for name, body in self.bodies.items():
            own = [body.function.params[at] for at in sorted(self.written[name])]
            for callee, args in body.tail_calls():
                if callee in self.bodies and turn[callee] == turn[name]:
                    given = [args[at] for at in sorted(self.written[callee])]
                    if given != own:
                        self.refs.difference_update(own, [each for each in given if isinstance(each, Var)])

    def _find_written(self) -> None:
        self.written = {name: set() for name in self.bodies}
        count = -1
        while count != sum(map(len, self.written.values())):
            count = sum(map(len, self.written.values()))
            for name, body in self.bodies.items():
                found = {each for node in body_nodes(body.function) for each in self._written_by(node)}
                self.written[name] |= {at for at, each in enumerate(body.function.params) if each in found & self.refs}

    def _written_by(self, node: Expr) -> Iterable[Expr]:
        match node:
            case RefWrite(ref):
                return (ref,)
            case Call(op=GlobalVar() as callee, args=args):
                return [args[at] for at in self.written.get(callee, ())]
            case _:
                return ()


@mutable
class _Region:
    """A scope that is being rewritten. `holds`: what each promoted ref holds by now; `before`: what those from around
    it held where it begins; `made`: those that begin in it."""

    bindings: list[tuple[Var, Expr]] = field(default_factory=list)
    holds: dict[Var, Expr] = field(default_factory=dict)
    before: dict[Var, Var] = field(default_factory=dict)
    made: set[Var] = field(default_factory=set)
    written: set[Var] = field(default_factory=set)
    result: Expr = field(default_factory=lambda: Tuple(()))
    last: Sequence[Var] = ()
    """The variables of the last value that came with what refs hold: the whole, and its parts."""

    def held(self, ref: Var) -> Expr:
        if ref not in self.holds:
            self.holds[ref] = self.before[ref] = _variable(ref)
        return self.holds[ref]

    def bind_with(self, var: Var, value: Expr, refs: Sequence[Var]) -> None:
        """Bind a value, behind which stands what refs hold if there are such."""
        if not refs:
            self.bindings.append((var, value))
            return
        whole, *parts = self.last = Var("pair"), var, *map(_variable, refs)
        self.bindings.append((whole, value))
        self.bindings += [(each, TupleGetItem(whole, at)) for at, each in enumerate(parts)]
        self.holds |= zip(refs, parts[1:], strict=True)
        self.written.update(refs)

    def whole(self, refs: Sequence[Var]) -> Expr:
        """All of it, giving what refs hold behind its value."""
        parts, bindings = (self.result, *map(self.held, refs)), self.bindings
        result = Tuple(parts) if refs else self.result
        if refs and parts == tuple(self.last[1:]) and bindings[-1][0] is parts[-1]:
            result, bindings = self.last[0], bindings[: -len(parts)]  # a call in tail position stays there
        for var, value in reversed(bindings):
            result = Let(var, value, result, span=value.span)
        return result


@frozen(eq=False)
class _Promoting:
    """The scopes of a function with values in the places of refs, inner ones first."""

    plan: _Plan
    body: _Body
    done: dict[Scope, _Region] = field(default_factory=dict)
    values: dict[Expr, Expr] = field(default_factory=dict)
    """What variables are, whose values are there already."""

    def function(self, name: GlobalVar) -> Function:
        function, scopes_ = self.body.function, self.body.scopes
        for scope in reversed(scopes_.outermost_first()):
            self.done[scope] = self._region(scope)
        region = self.done[scopes_.root]
        given = [function.params[at] for at in sorted(self.plan.written[name])]
        body = rewrite(region.whole(given), self._value)
        params = tuple([self._param(each, region) for each in function.params])
        return Function(
            params, body, self._result(function, given), function.type_params, function.attrs, span=function.span
        )

    def _value(self, expr: Expr) -> Expr:
        while expr in self.values:
            expr = self.values[expr]
        return expr

    def _param(self, param: Var, region: _Region) -> Var:
        if param not in self.plan.refs:
            return param
        return region.before.get(param) or _variable(param)

    def _result(self, function: Function, given: Sequence[Var]) -> Type | None:
        type_ = function.checked_type
        if not given or not isinstance(type_, FuncType):
            return function.ret_type
        return TupleType((type_.ret_type, *map(_held_type, given)))

    def _region(self, scope: Scope) -> _Region:
        region = _Region()
        lets, result = let_chain(scope.result)
        for let in lets:
            self._bind(region, let.var, let.value)
        region.result = self._part(result)
        return region

    def _part(self, expr: Expr) -> Expr:
        """An expression that touches no ref by itself, as functions that stand in it may."""
        match expr:
            case Function():
                (scope,) = self.body.scopes.inner(expr)
                return rebuild(expr, (self.done[scope].whole(()),))
            case _:
                return rebuild(expr, [self._part(each) for each in children(expr)])

    def _bind(self, region: _Region, var: Var, value: Expr) -> None:
        refs = self.plan.refs
        match value:
            case RefCreate(held) if var in refs:
                region.holds[var] = held
                region.made.add(var)
            case RefRead(ref) if ref in refs:
                self.values[var] = region.held(ref)
            case RefWrite(ref, held) if ref in refs:
                region.bindings.append((var, Tuple((), span=value.span)))
                region.holds[ref] = held
                region.written.add(ref)
            case Call(op=GlobalVar() as callee) if callee in self.plan.bodies:
                self._bind_call(region, var, callee, value)
            case If() | Match():
                self._bind_choice(region, var, value)
            case _:
                region.bindings.append((var, self._part(value)))

    def _bind_call(self, region: _Region, var: Var, callee: GlobalVar, call: Call) -> None:
        handed = self.plan.handed(callee, call.args)
        args = [region.held(handed[at]) if at in handed else self._part(each) for at, each in enumerate(call.args)]
        made = Call(callee, tuple(args), call.attrs, call.given_type_args, span=call.span) if handed else call
        region.bind_with(var, made, [handed[at] for at in sorted(self.plan.written[callee])])

    def _bind_choice(self, region: _Region, var: Var, choice: If | Match) -> None:
        inner = [self.done[scope] for scope in self.body.scopes.inner(choice)]
        changed = {ref for each in inner for ref in each.written if ref not in each.made}
        written = [ref for ref in self.body.refs if ref in changed]  # parameters as they are taken, so tails fit
        branches: list[Expr] = []
        for each in inner:
            branches.append(each.whole(written))
            self.values.update((before, region.held(ref)) for ref, before in each.before.items())
        region.bind_with(var, rebuild(choice, (children(choice)[0], *branches)), written)


def _held_type(ref: Var) -> Type:
    type_ = known_type(ref)
    assert isinstance(type_, RefType)
    return type_.value


def _variable(ref: Var) -> Var:
    return Var(ref.name_hint, _held_type(ref), span=ref.span)
