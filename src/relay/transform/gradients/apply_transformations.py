"""Put the functions that `grad` and its kin give in the places of their calls: ApplyTransformations.

    before: def @main(%x: float32, %k: float32) {
              let %f = fn (%y: float32) { multiply(%k, multiply(%y, %y)) };
              grad(%f, wrt=0)(%x)
            }
    after:  def @main(%x: float32, %k: float32) { fn (%y: float32) { @f_grad(%k, %y) }(%x) }
            def @f_grad(%k: float32, %y: float32) { ...; add(multiply(%d, %y), multiply(%d, %y)) }

The function must be known where it is differentiated: a global one, one that is written there or bound by a let, or
what another transformation gives. Where it is a parameter, functions are copied for what they are handed first
(`SpecializeFunctions`). What a function takes from around it counts as constant. A function is finished before another
differentiates it, inner calls before outer ones, so each derivative has perturbations of its own: they cannot be
confused (Siskind and Pearlmutter, "Perturbation Confusion and Referential Transparency", 2005). Recursion over
data that is differentiated is batched by levels where AutoBatch runs, from `-O3`. Floating point: ROUNDING for that,
else EXACT.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import cast

from relay.analysis.call_graph import CallGraph, call_graph
from relay.base.diagnostics import RelayError
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen, mutable
from relay.base.names.fresh_names import FreshNames
from relay.base.names.loading import when_called
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Var
from relay.ir.module import IRModule
from relay.ir.operator import Operator
from relay.ir.rewriting import renamed_functions, rewrite
from relay.ir.traversal import body_nodes, children, post_order, rebuild
from relay.ir.types import FuncType
from relay.ir.variables import free_vars, refresh, substitute
from relay.ops.transformations import CHECKPOINT, CUSTOM_GRADIENT, WrtAttributes, places_of, transformation_of
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.remove_unused_functions import MAIN, RemoveUnusedFunctions
from relay.transform.functions.specialize_functions import SpecializeFunctions
from relay.transform.gradients.handed_functions import with_functions_inside
from relay.transform.gradients.own_pullbacks import with_own_pullback, without_own_pullbacks

_DERIVATIVES = "relay.transform.gradients.derivatives"  # all of autodiff, which most programs do without
_checkpointed = when_called(_DERIVATIVES, "checkpointed")
_derivative = when_called(_DERIVATIVES, "derivative")


@module_pass(level=0, floating_point=FloatingPointClass.ROUNDING)
def ApplyTransformations(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Put derivatives in the places of `grad` and its kin; mark what `checkpoint` takes."""
    return without_own_pullbacks(with_derivatives(module))


def with_derivatives(module: IRModule) -> IRModule:
    """The program with derivatives in their places, which still says which values have a pullback of their own: it may
    be differentiated."""
    module = infer_type(with_functions_inside(module))
    calls = [(name, node) for name, each in module.functions.items() for node in _transformations(each)]
    if not calls:
        return module
    prepared = module
    if any(_Scope(module[name]).known(node.args[0]) is None for name, node in calls):
        prepared = RemoveUnusedFunctions(SpecializeFunctions(module))
    return _Application(prepared).applied()


def _transformations(function: Function) -> list[Call]:
    return [cast("Call", node) for node in body_nodes(function) if transformation_of(node)]


class _Scope:
    """The functions that the lets of a function bind."""

    def __init__(self, function: Function) -> None:
        lets = (node for node in body_nodes(function) if isinstance(node, Let))
        self.bound = {let.var: let.value for let in lets}

    def known(self, expr: Expr) -> Expr | None:
        """The function that an expression is: a name, one that is written out, or a transformation of one."""
        seen: set[Expr] = set()
        while isinstance(expr, Var) and expr in self.bound and expr not in seen:
            seen.add(expr)
            expr = self.bound[expr]
        return expr if isinstance(expr, Function | GlobalVar) or transformation_of(expr) else None


@frozen
class _Key:
    """What a derivative of a global function depends on."""

    function: GlobalVar
    transformation: str
    wrt: int | tuple[int, ...] | None


@mutable
class _Application:
    """A program whose functions are finished one after another, callees first."""

    module: IRModule
    names: FreshNames = field(init=False)
    graph: CallGraph = field(init=False)
    unfinished: set[GlobalVar] = field(init=False)
    derivatives: dict[_Key, GlobalVar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = FreshNames(self.module.__contains__, "_", 0)
        self.graph = call_graph(self.module)
        self.unfinished = set(self.module.functions)

    def applied(self) -> IRModule:
        for component in self.graph.components:
            for name in component:
                if _transformations(self.module[name]):
                    made = self._finished(self.module[name])
                    self.module = infer_type(self.module.with_function(name, made))
            self.unfinished -= set(component)
        return self.module

    def _finished(self, function: Function) -> Function:
        scope = _Scope(function)
        done: dict[Expr, Expr] = {}
        for node in body_nodes(function):
            transformation = transformation_of(node)
            if transformation is None:
                done[node] = rebuild(node, [done[part] for part in children(node)])
            else:
                done[node] = self._derivative(cast("Call", node), transformation, _Site(scope, done))
        body = done[function.body]
        own = function.type_params, function.attrs
        return Function(function.params, body, function.ret_type, *own, span=function.span)

    def _derivative(self, call: Call, transformation: Operator, site: _Site) -> Expr:
        """The function that a call of a transformation gives."""
        if transformation is CUSTOM_GRADIENT:
            function, pullback = (site.done.get(each, each) for each in call.args)
            return with_own_pullback(call, function, pullback)
        known = site.scope.known(call.args[0])
        if known is None:
            raise _unknown(call, transformation)
        wrt = call.attrs.wrt if isinstance(call.attrs, WrtAttributes) else None
        function = site.done.get(known, known)
        key = _Key(function, transformation.name, wrt) if isinstance(function, GlobalVar) else None
        if key in self.derivatives:
            return self.derivatives[key]
        stem = function.name_hint if isinstance(function, GlobalVar) else site.title(call.args[0])
        closed = site.closed(call.args[0])
        taken = closed.captures
        wrapper = self._wrapper(closed, call)
        reached = self._checked(wrapper, call, transformation)
        if transformation is CHECKPOINT:
            made = _checkpointed(reached, GlobalVar(self.names.take(stem)))
        else:
            own = len(reached[MAIN].params) - len(taken)
            places = [len(taken) + at for at in places_of(wrt, own)]
            made = _derivative(reached, transformation, places, alone=isinstance(wrt, int))
        name = self._add(made, f"{stem}_{transformation.name}")
        if key is not None:
            self.derivatives[key] = name
        if not taken:
            return name
        params = tuple(Var(each.name_hint, each.type_annotation) for each in made[MAIN].params[len(taken) :])
        return Function(params, Call(name, (*taken, *params)), span=call.span)

    def _wrapper(self, closed: _Closed, call: Call) -> Function:
        """The function that is differentiated, of what it takes along and its own parameters."""
        type_ = call.checked_type
        assert isinstance(type_, FuncType)
        own = closed.parameters(self.module, type_)
        function = closed.function
        if isinstance(function, Function):  # it is written out: its body, of these
            body: Expr = substitute(function.body, dict(zip(function.params, own, strict=False)))
        else:
            body = Call(function, own, span=call.span)
        for var, value in reversed(closed.bindings):
            body = Let(var, value, body)
        taken = {var: Var(var.name_hint, var.checked_type, span=var.span) for var in closed.captures}
        body = rewrite(body, lambda node: taken.get(node, node) if isinstance(node, Var) else node)
        return cast("Function", refresh(Function((*taken.values(), *own), body, span=call.span)))

    def _checked(self, wrapper: Function, call: Call, transformation: Operator) -> IRModule:
        """The wrapper as `@main` of what it reaches, all of which is finished."""
        named = dict.fromkeys(node for node in post_order(wrapper.body) if isinstance(node, GlobalVar))
        reached = call_graph(self.module).reachable(named)
        again = [name for name in reached if name in self.unfinished and _transformations(self.module[name])]
        if again:
            raise RelayError(
                rule="recursive-transformation", span=call.span,
                message=f"`{transformation.name}` is applied to a function whose own value takes that derivative",
                found=f"@{again[0].name_hint}", expected="functions that are complete without their derivatives",
                remedy="split the function in two: one that is differentiated, and one that differentiates it",
            )  # fmt: skip
        functions = {name: self.module[name] for name in reached}
        if MAIN in functions:
            functions = renamed_functions(functions, {MAIN: GlobalVar(self.names.take("main"))})
        return IRModule({**functions, MAIN: wrapper}, self.module.type_definitions)

    def _add(self, made: IRModule, title: str) -> GlobalVar:
        """Add a derivative, and the functions that it calls, under names that are free; gives its own."""
        reached = RemoveUnusedFunctions(made).functions.items()  # what was differentiated is not, as a rule
        own = {name: each for name, each in reached if self.module.functions.get(name) is not each}
        for name in own:
            if name != MAIN and name in self.module.functions:  # the other form of a function that stays, too
                own[name] = cast("Function", refresh(own[name]))
        names = {
            name: GlobalVar(self.names.take(title if name == MAIN else name.name_hint)) for name in own
        }  # fmt: skip
        functions = {**self.module.functions, **renamed_functions(own, names)}
        self.module = infer_type(IRModule(functions, {**self.module.type_definitions, **made.type_definitions}))
        return names[MAIN]


@frozen(eq=False)
class _Closed:
    """A function with the functions bound by lets that it names, and what else it takes from around it."""

    function: Expr
    bindings: tuple[tuple[Var, Expr], ...]
    captures: tuple[Var, ...]

    def parameters(self, module: IRModule, derivative: FuncType) -> tuple[Var, ...]:
        """Variables for its parameters, which its derivative has, too, in front."""
        known = module[self.function] if isinstance(self.function, GlobalVar) else self.function
        known = dict(self.bindings).get(known, known) if isinstance(known, Var) else known
        named = module[known] if isinstance(known, GlobalVar) else cast("Function", known)
        pairs = zip(named.params, derivative.arg_types, strict=False)
        return tuple(Var(each.name_hint, type_, span=each.span) for each, type_ in pairs)


@frozen(eq=False)
class _Site:
    """A place in a function: what is known there, and what was put in the places of its parts."""

    scope: _Scope
    done: Mapping[Expr, Expr]

    def title(self, expr: Expr) -> str:
        return expr.name_hint if isinstance(expr, Var) else "fn"

    def closed(self, expr: Expr) -> _Closed:
        """The function that an expression is, closed over others that are known."""
        bindings: dict[Var, Expr] = {}
        captures: dict[Var, None] = {}
        root = self.done.get(expr, expr)
        self._close(root, bindings, captures)
        return _Closed(root, tuple(bindings.items()), tuple(captures))

    def _close(self, root: Expr, bindings: dict[Var, Expr], captures: dict[Var, None]) -> None:
        waiting: list[tuple[Var | None, Expr]] = [(None, root)]
        opened: set[Var] = set()
        while waiting:
            var, value = waiting.pop()
            if var in opened:
                bindings[var] = value  # what it names stands before it
                continue
            if var is not None:
                opened.add(var)
                waiting.append((var, value))
            for each in free_vars(value):
                if each in opened or each in captures:
                    continue
                known = self.scope.known(each)
                if known is None:
                    captures[each] = None
                else:
                    waiting.append((each, self.done.get(known, known)))


def _unknown(call: Call, transformation: Operator) -> RelayError:
    return RelayError(
        rule="unknown-function", span=call.span,
        message=f"which function `{transformation.name}` is applied to is not known where the program is compiled",
        found=f"a {type(call.args[0]).__name__} of type {call.args[0].checked_type}",
        expected="a global function, one that is written there or bound by a let, or a parameter that calls give one",
        remedy="differentiate each function that it may be, and choose between their derivatives",
    )  # fmt: skip
