"""Functions in two halves: what runs now, and what later, of the values that the first half keeps for it.

In reverse mode the second half is the way back; of a linearized function it is the linear map that its tangents go
through. A global function that is called with something to differentiate becomes two, for those arguments: the first
gives its value with what is kept, the second takes that and what it is given (the cotangent of the value; the tangents
of the arguments). What a function keeps is a tuple, or a data type where the function is recursive, since then it keeps
what its own calls kept. One that `relay.checkpoint` gave keeps its arguments alone, and computes the rest again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field

from relay.arith.expr import Symbol
from relay.autodiff.program import DerivedProgram, declared, told, typed
from relay.autodiff.saved import Branch, Saved, kept_type, unpacked
from relay.base.frozen import frozen, mutable
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Match, Tuple, TupleGetItem, Var, record_type
from relay.ir.traversal import body_nodes, post_order
from relay.ir.type_traversal import type_symbols
from relay.ir.types import GlobalTypeVar, TupleType, Type, TypeCall
from relay.ir.variables import free_vars, substitute
from relay.ops.transformations import CHECKPOINT_ATTRIBUTE


@frozen(eq=False)
class Halves:
    """A function body in two. `later` speaks of what `now` binds, and takes `given`."""

    now: Branch
    given: tuple[Var, ...]
    later: Expr
    type: Type


Halve = Callable[["Splitting", Function, Sequence[bool]], Halves]
"""A function for its active parameters in two halves; the functions that it calls are there."""


@frozen(eq=False)
class _Variant:
    """A function for some active parameters."""

    name: GlobalVar
    active: tuple[bool, ...]
    first: GlobalVar
    second: GlobalVar
    header: GlobalTypeVar | None  # of what a recursive one keeps


@mutable
class Splitting:
    """The functions of a program in two halves, made as they are needed; `suffixes` are those of their names."""

    program: DerivedProgram
    halve: Halve
    suffixes: tuple[str, str]
    saved: Saved = field(init=False)
    variants: dict[tuple[GlobalVar, tuple[bool, ...]], _Variant] = field(default_factory=dict)
    kept_types: dict[_Variant, Type] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.saved = Saved(self.program.names, self.program.definitions)

    def prepare(self, function: Function, active: Sequence[bool]) -> None:
        """Make the variants that a function calls, and those that these call, innermost first."""
        waiting = self._missing(function, active)
        opened: set[_Variant] = set()  # those of them that are not made wait for what they call
        while waiting:
            variant = waiting[-1]
            if variant.second in self.program.functions:
                waiting.pop()
                continue
            opened.add(variant)
            own = self.program.normal(variant.name)
            before = [each for each in self._missing(own, variant.active) if each not in opened]
            if before:
                waiting += before
                continue
            waiting.pop()
            self._make(variant, own)

    def _missing(self, function: Function, active: Sequence[bool]) -> list[_Variant]:
        found = self.program.active(function, active)
        lets = (node for node in body_nodes(function) if isinstance(node, Let) and node.var in found)
        calls = (let.value for let in lets if isinstance(let.value, Call) and isinstance(let.value.op, GlobalVar))
        asked = (self._variant(call, self.program.active_arguments(call, found)) for call in calls)
        made = self.program.functions
        return [each for each in dict.fromkeys(asked) if any(each.active) and each.second not in made]

    def _variant(self, call: Call, active: Sequence[bool]) -> _Variant:
        assert isinstance(call.op, GlobalVar)
        key = (call.op, tuple(active))
        known = self.variants.get(key)
        if known is None:
            stem = call.op.name_hint
            header = self.saved.declare(f"Kept_{stem}") if call.op in self.program.graph.recursive else None
            first, second = (GlobalVar(self.program.names.take(f"{stem}_{each}")) for each in self.suffixes)
            known = self.variants[key] = _Variant(call.op, tuple(active), first, second, header)
            if header is not None:
                self.kept_types[known] = TypeCall(header, ())
        return known

    def _make(self, variant: _Variant, function: Function) -> None:
        """The two functions of a variant."""
        halves = self.halve(self, function, variant.active)
        given, later = halves.given, halves.later
        own = halves.now.bound() | set(function.params)
        again = CHECKPOINT_ATTRIBUTE in function.attrs
        if again:
            later, own = halves.now.chain.before(later), set(function.params)
        kept = [var for var in free_vars(later) if var in own]
        kept += _witnesses(function, later, (*kept, *given))
        known = {symbol for each in given for symbol in told(typed(each))}
        if variant.header is None:
            way = record_type(Var("kept"), TupleType(tuple(map(typed, kept))))
            self.kept_types[variant] = TupleType(tuple(map(kept_type, kept)))
            packed: Expr = Tuple(tuple(kept))
            body = _fields_taken(way, kept, later)
        else:
            way = record_type(Var("kept"), TypeCall(variant.header, ()))
            constructor = self.saved.define(variant.header, kept)
            packed = Call(constructor, tuple(kept))
            if any(not told(typed(each)) <= known for each in kept):
                later = self._called(variant, (*kept, *given), later, halves.type)
            body = Match(way, (unpacked(constructor, kept, later, known),))
        value_type = TupleType((typed(function.body), self.kept_types[variant]))
        if again:
            now: Expr = Tuple((Call(variant.name, function.params), packed))
        else:
            now = halves.now.chain.before(Tuple((halves.now.result, packed)))
        attrs = function.attrs if again else {}  # functions with attributes are kept apart: no pass undoes it
        made = self.program.functions
        made[variant.first] = declared(function.params, now, value_type).with_attrs(attrs)
        made[variant.second] = declared((way, *given), body, halves.type).with_attrs(attrs)

    def _called(self, variant: _Variant, params: tuple[Var, ...], later: Expr, type_: Type) -> Expr:
        """The second half as a call of a function of its own: a data type knows no extents, and parameters name
        them."""
        name = GlobalVar(self.program.names.take(f"{variant.second.name_hint}_of"))
        self.program.functions[name] = declared(params, later, type_)
        return Call(name, params)

    # --------------------------------------------------------------------------------- what calls of functions become

    def active_arguments(self, call: Call, active: AbstractSet[Var]) -> tuple[bool, ...]:
        return self.program.active_arguments(call, active)

    def first(self, call: Call, active: Sequence[bool]) -> tuple[Expr, Type]:
        variant = self._variant(call, active)
        return Call(variant.first, call.args, span=call.span), self.kept_types[variant]

    def second(self, call: Call, active: Sequence[bool], kept: Expr, given: Sequence[Expr]) -> Expr:
        return Call(self._variant(call, active).second, (kept, *given), span=call.span)


def extents_of(function: Function) -> set[Symbol]:
    """The names of extents that hold in a function."""
    return {symbol for param in function.params for symbol in type_symbols(typed(param))}


def _witnesses(function: Function, later: Expr, kept: Sequence[Var]) -> list[Var]:
    """The parameters that are kept for their extents alone: those which the second half speaks of, and `kept` does not
    tell."""
    types = [node.checked_type for node in post_order(later) if isinstance(node, Var) and node.checked_type]
    missing = {symbol for each in types for symbol in type_symbols(each)} & extents_of(function)
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
