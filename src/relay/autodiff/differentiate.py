"""Functions of a first-order program, differentiated in reverse.

`gradient_of` a function is one function: its body forward, then backward. Each global function that it calls with
something to differentiate becomes two, for those arguments: `@f_forward` gives its value with what the way back needs,
`@f_pullback` takes that and the cotangent of the value, and gives the cotangents of the arguments. What a function
keeps is a tuple, or a data type where the function is recursive, since then it keeps what its own calls kept. One that
`relay.checkpoint` gave keeps its arguments alone, and computes the rest again on the way back.

The scheme is that of reverse mode by transposition (Pearlmutter and Siskind 2008), with closures made data before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from relay.analysis.call_graph import CallGraph, call_graph
from relay.arith.expr import Symbol
from relay.autodiff.chain import Chain
from relay.autodiff.cotangents import Cotangents
from relay.autodiff.program import DerivedProgram, declared, told, typed
from relay.autodiff.saved import Saved, kept_type, unpacked
from relay.autodiff.scope import Sweep, Swept
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Match, Tuple, TupleGetItem, Var, record_type
from relay.ir.module import IRModule
from relay.ir.sharing import scopes
from relay.ir.traversal import post_order
from relay.ir.type_traversal import type_symbols
from relay.ir.types import GlobalTypeVar, TensorType, TupleType, Type, TypeCall
from relay.ir.variables import free_vars, substitute
from relay.ops.creation.create import ones_like
from relay.ops.transformations import CHECKPOINT_ATTRIBUTE


@frozen(eq=False)
class _Variant:
    """A function for some active parameters."""

    name: GlobalVar
    active: tuple[bool, ...]
    forward: GlobalVar
    pullback: GlobalVar
    header: GlobalTypeVar | None  # of what a recursive one keeps


def differentiated(module: IRModule, name: GlobalVar, wrt: Sequence[int], given: bool = False) -> IRModule:
    """The module with `name` as a function that gives `(value, cotangents)`: for each parameter in `wrt`, how much the
    sum of the value's elements changes with it. With `given` the function takes one argument more, the cotangent of
    the value, which stands for the ones of that sum. The program is typed and first order.

    Raises `RelayError` (rule `no-gradient`).
    """
    work = _Differentiation(DerivedProgram(module))
    made = work.whole(name, wrt, given)
    return work.program.finished(name, made, work.saved.definitions)


@dataclass(slots=True, eq=False)
class _Differentiation:
    program: DerivedProgram
    types: Cotangents = field(init=False)
    functions: dict[GlobalVar, Function] = field(init=False)  # the program's
    saved: Saved = field(init=False)
    graph: CallGraph = field(init=False)
    variants: dict[tuple[GlobalVar, tuple[bool, ...]], _Variant] = field(default_factory=dict)
    kept_types: dict[_Variant, Type] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.types, self.functions = self.program.types, self.program.functions
        self.saved = Saved(self.program.names)
        self.graph = call_graph(self.program.module)

    # ---------------------------------------------------------------------------------------------------- the whole

    def whole(self, name: GlobalVar, wrt: Sequence[int], given: bool) -> Function:
        """The function forward and backward in one."""
        function = self.program.normal(name)
        swept = self._swept(function, [at in wrt for at in range(len(function.params))])
        targets = [function.params[at] for at in wrt]
        chain = Chain(list(swept.forward.bindings))
        type_ = function.body.checked_type
        assert type_ is not None
        params = function.params
        if given:
            own = swept.given if swept.given.checked_type else record_type(Var("given"), self.types.type_of(type_))
            params = (*params, own)
        elif swept.given.checked_type is not None:
            if not isinstance(type_, TensorType):
                raise _not_a_tensor(type_, function)
            chain.bind_to(swept.given, ones_like(swept.result))
        ends = [self.types.settled(swept.cotangents.get(each), typed(each), each) for each in targets]
        body = chain.before(swept.backward.ending(Tuple((swept.result, Tuple(tuple(ends))))))
        return Function(params, body, None, (), function.attrs, span=function.span)

    # --------------------------------------------------------------------------------------------------- the pieces

    def _swept(self, function: Function, active: Sequence[bool]) -> Swept:
        """The body of a function, swept; the variants that it calls are made before."""
        found = self.program.active(function, active)
        self._prepare(function, found)
        return Sweep(self.types, self, found, self.saved, _extents(function), scopes(function.body)).swept()

    def _prepare(self, function: Function, active: set[Var]) -> None:
        """Make the variants that a body calls, and those that these call, innermost first."""
        waiting = self._missing(function, active)
        while waiting:
            variant = waiting[-1]
            if variant in self.kept_types and variant.pullback in self.functions:
                waiting.pop()
                continue
            own = self.program.normal(variant.name)
            found = self.program.active(own, variant.active)
            before = [each for each in self._missing(own, found) if each not in waiting]
            if before:
                waiting += before
                continue
            waiting.pop()
            self._make(variant, own, found)

    def _missing(self, function: Function, active: set[Var]) -> list[_Variant]:
        lets = (node for node in post_order(function.body) if isinstance(node, Let) and node.var in active)
        calls = (let.value for let in lets if isinstance(let.value, Call) and isinstance(let.value.op, GlobalVar))
        asked = (self._variant(call, [isinstance(a, Var) and a in active for a in call.args]) for call in calls)
        return [each for each in dict.fromkeys(asked) if any(each.active) and each.pullback not in self.functions]

    def _variant(self, call: Call, active: Sequence[bool]) -> _Variant:
        assert isinstance(call.op, GlobalVar)
        key = (call.op, tuple(active))
        known = self.variants.get(key)
        if known is None:
            stem = call.op.name_hint
            header = self.saved.declare(f"Kept_{stem}") if call.op in self.graph.recursive else None
            forward, pullback = (GlobalVar(self.program.names.take(f"{stem}_{way}")) for way in ("forward", "pullback"))
            known = self.variants[key] = _Variant(call.op, tuple(active), forward, pullback, header)
            if header is not None:
                self.kept_types[known] = TypeCall(header, ())
        return known

    def _make(self, variant: _Variant, function: Function, active: set[Var]) -> None:
        """The two functions of a variant."""
        swept = Sweep(self.types, self, active, self.saved, _extents(function), scopes(function.body)).swept()
        given = swept.given
        if given.checked_type is None:  # the value does not depend on what is differentiated
            record_type(given, self.types.type_of(typed(function.body)))
        targets = [param for param, on in zip(function.params, variant.active, strict=True) if on]
        ends = Tuple(tuple(self.types.whole(swept.cotangents.get(each), typed(each), each) for each in targets))
        type_ = TupleType(tuple(self.types.type_of(typed(each)) for each in targets))
        back = swept.backward.ending(ends)
        own = swept.bound() | set(function.params)
        again = CHECKPOINT_ATTRIBUTE in function.attrs
        if again:
            back, own = swept.forward.before(back), set(function.params)
        kept = [var for var in free_vars(back) if var in own]
        kept += _witnesses(function, back, (*kept, given))
        if variant.header is None:
            way = record_type(Var("kept"), TupleType(tuple(map(typed, kept))))
            self.kept_types[variant] = TupleType(tuple(map(kept_type, kept)))
            packed: Expr = Tuple(tuple(kept))
            body = _fields_taken(way, kept, back)
        else:
            way = record_type(Var("kept"), TypeCall(variant.header, ()))
            constructor = self.saved.define(variant.header, kept)
            packed = Call(constructor, tuple(kept))
            if any(not told(typed(each)) <= told(typed(given)) for each in kept):
                back = self._called(variant, (*kept, given), back, type_)
            body = Match(way, (unpacked(constructor, kept, back, told(typed(given))),))
        value_type = TupleType((typed(function.body), self.kept_types[variant]))
        if again:
            forward: Expr = Tuple((Call(variant.name, function.params), packed))
        else:
            forward = swept.forward.before(Tuple((swept.result, packed)))
        attrs = function.attrs if again else {}  # functions with attributes are kept apart: no pass undoes it
        self.functions[variant.forward] = declared(function.params, forward, value_type).with_attrs(attrs)
        self.functions[variant.pullback] = declared((way, given), body, type_).with_attrs(attrs)

    def _called(self, variant: _Variant, params: tuple[Var, ...], back: Expr, type_: Type) -> Expr:
        """The way back as a call of a function of its own: a data type knows no extents, and parameters name them."""
        name = GlobalVar(self.program.names.take(f"{variant.pullback.name_hint}_of"))
        self.functions[name] = declared(params, back, type_)
        return Call(name, params)

    # --------------------------------------------------------------------------------- what calls of functions become

    def forward(self, call: Call, active: Sequence[bool]) -> tuple[Expr, Type]:
        variant = self._variant(call, active)
        return Call(variant.forward, call.args, span=call.span), self.kept_types[variant]

    def backward(self, call: Call, active: Sequence[bool], kept: Expr, cotangent: Expr) -> Expr:
        return Call(self._variant(call, active).pullback, (kept, cotangent), span=call.span)


def _extents(function: Function) -> set[Symbol]:
    """The names of extents that hold in a function."""
    return {symbol for param in function.params for symbol in type_symbols(typed(param))}


def _witnesses(function: Function, back: Expr, kept: Sequence[Var]) -> list[Var]:
    """The parameters that are kept for their extents alone: those which the way back speaks of, and `kept` does not
    tell."""
    types = [node.checked_type for node in post_order(back) if isinstance(node, Var) and node.checked_type]
    missing = {symbol for each in types for symbol in type_symbols(each)} & _extents(function)
    missing -= {symbol for each in kept for symbol in told(typed(each))}
    found: list[Var] = []
    for param in function.params:
        if missing & told(typed(param)):
            missing -= told(typed(param))
            found.append(param)
    return found


def _fields_taken(way: Var, kept: Sequence[Var], body: Expr) -> Expr:
    """`body`, with the fields of a tuple under the names that they had."""
    names: dict[Var, Expr] = {var: record_type(Var(var.name_hint), typed(var)) for var in kept}
    body = substitute(body, names)
    for at, own in reversed(list(enumerate(names.values()))):
        assert isinstance(own, Var)
        body = Let(own, TupleGetItem(way, at), body)
    return body


def _not_a_tensor(type_: Type, function: Function) -> RelayError:
    return RelayError(
        rule="no-gradient", message="the value of what is differentiated is not a tensor", span=function.span,
        found=str(type_), expected="a float tensor, a scalar as a rule",
        remedy="let the function give the loss alone, or take the way back with a cotangent of your own: relay.vjp",
    )  # fmt: skip
