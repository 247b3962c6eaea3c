"""What becomes of the call of a known function: its body here, a variant for what is known, or the call itself.

A function is evaluated where it is called. When it comes to itself again under a condition that only the run decides,
and no argument that is known has become smaller, that would not end: the call is undone, and becomes one of a
*variant*, the function made anew for the known parts of its arguments (polyvariant specialisation; Bondorf 1990,
Jones, Gomard and Sestoft 1993, chapter 5). Variants are remembered by what is known, so a recursion that knows the
same again ends there. An argument that keeps changing while variants are made is given up: it counts as unknown.

Everything ends: what is entered costs steps that are not given back, what is emitted has a limit, each variant that is
undone makes one argument more unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.ir.expr import Call, Function, GlobalVar, Var, record_type
from relay.ir.type_traversal import is_closed
from relay.ir.types import FuncType, Type
from relay.transform.functions.known_values.abstraction import Abstraction, over
from relay.transform.functions.known_values.activations import Abandon, Activation, Kind, Reason
from relay.transform.functions.known_values.blocks import closed
from relay.transform.functions.known_values.evaluator import Evaluator
from relay.transform.functions.known_values.functions import Functions
from relay.transform.functions.known_values.places import Place, differing_places, forgotten_places
from relay.transform.functions.known_values.policy import Work
from relay.transform.functions.known_values.residual import Names, Residual
from relay.transform.functions.known_values.store import Store
from relay.transform.functions.known_values.type_arguments import type_arguments
from relay.transform.functions.known_values.values import (
    Block,
    Environment,
    KnownFunction,
    KnownName,
    KnownTuple,
    PartialValue,
    is_known,
    shrinks,
    title_of,
)


@frozen(eq=False)
class Site:
    """One call: who is called with what, and what becomes of its result."""

    node: Call
    callee: PartialValue
    arguments: tuple[PartialValue, ...]
    function: Function
    environment: Environment
    type_: Type
    result: Var

    @property
    def name(self) -> str:
        static = self.callee.static
        if isinstance(static, KnownName) and isinstance(static.name, GlobalVar):
            return static.name.name_hint
        return title_of(self.callee.name) or "function"


@frozen(eq=False)
class Variant:
    """A function made anew: its name, and the key of what is known."""

    name: GlobalVar
    key: Hashable
    values: tuple[PartialValue, ...]  # alive, so that identities in keys stay unique


@dataclass(slots=True, eq=False)
class Calls:
    """The policy of a program whose functions are copied: decides, and does it. What `policy.Policy` asks only where
    nothing is copied is empty. `made` are the variants that are finished. `_loops` are the calls, by what is known of
    them, that come to themselves under conditions that the run decides; `_refused` those that do too much; `_left` the
    functions among both."""

    functions: Functions
    residual: Residual
    evaluator: Evaluator
    max_variants: int
    made: dict[GlobalVar, Function] = field(default_factory=dict)
    counts: Counter[Var] = field(default_factory=Counter[Var])
    opaque: frozenset[Function] = frozenset()
    only_called: frozenset[Var] = frozenset()
    _variants: dict[Hashable, Variant] = field(default_factory=dict)
    _loops: set[Hashable] = field(default_factory=set)
    _refused: set[Hashable] = field(default_factory=set)
    _left: set[Function] = field(default_factory=set)
    _unknown: dict[Function, set[Place]] = field(default_factory=dict)

    def call(self, node: Call, callee: PartialValue, values: tuple[PartialValue, ...], type_: Type, name: Var) -> Work:
        """The value of a call."""
        site = self._site(node, callee, values, type_, name)
        if site is None:
            return (yield self.evaluator.unknown_call(node, callee, values, callee, type_, name))
        if self._may_be_entered(site):
            result = yield self.entered(site)
            if result is not None:
                return result
        return (yield self.variant_call(site))

    def _site(
        self, node: Call, callee: PartialValue, arguments: tuple[PartialValue, ...], type_: Type, name: Var
    ) -> Site | None:
        """The call, if the callee is known and may be entered."""
        match callee.static:
            case KnownFunction(function, environment):
                symbols = self.residual.names.symbols
            case KnownName(GlobalVar() as known) if known in self.functions.module:
                function, environment = self.functions.normal(known), Environment(None)
                symbols = frozenset()
            case _:
                return None
        if len(function.params) != len(arguments) or not self.functions.may_be_entered(function, symbols):
            return None
        signature = function.checked_type
        if not isinstance(signature, FuncType):
            raise CompilerBug("known values", "a function has no function type")
        own = type_arguments(signature, arguments, type_)
        if own is None:
            return None
        inner = Environment(environment, {**environment.types, **own})
        return Site(node, callee, arguments, function, inner, type_, name)

    def _may_be_entered(self, site: Site) -> bool:
        """Whether to evaluate the body here. Comes to an end where that would not."""
        if self.residual.steps_left <= 0:
            return False
        if site.function in self._left and self._key(site)[0] in self._loops | self._refused:
            return False
        open_ = self.residual.activations.of(site.function)
        if not open_ or shrinks(open_[-1].arguments, site.arguments):
            return True
        last = open_[-1]
        if last.kind is not Kind.INLINE:
            return False
        if last.branches < self.residual.branches:
            raise Abandon(last, Reason.LOOP)
        return True

    def entered(self, site: Site) -> Generator[Any, Any, PartialValue | None]:
        """The value of the body, evaluated here; None when that was given up."""
        residual = self.residual
        before = residual.checkpoint()
        residual.step()
        activation = Activation(Kind.INLINE, site.function, site.arguments, residual.branches)
        residual.activations.push(activation)
        inner = Environment(site.environment)
        inner.values.update(zip(site.function.params, site.arguments, strict=True))
        try:
            value: PartialValue = yield self.evaluator.chain(site.function.body, inner)
        except Abandon as abandon:
            if abandon.activation is not activation:
                raise
            self._undo(before)
            (self._loops if abandon.reason is Reason.LOOP else self._refused).add(self._key(site)[0])
            self._left.add(site.function)
            return None
        residual.activations.cut(before.activations)
        residual.reductions += 1
        return value

    def _undo(self, before: Any) -> None:
        for each in self.residual.restore(before):
            if isinstance(each, Variant):
                self._variants.pop(each.key, None)
                self.made.pop(each.name, None)

    # --------------------------------------------------------------------------------------------------- variants

    def _fresh_name(self, source: str) -> GlobalVar:
        """A name for a variant. No `FreshNames`: what is given up leaves its name to others."""
        taken = {each.name for each in self._variants.values()}
        number, name = 1, GlobalVar(f"{source}_known")
        while name in taken or name in self.functions.module:
            number += 1
            name = GlobalVar(f"{source}_known{number}")
        return name

    def _key(self, site: Site) -> tuple[Hashable, Abstraction]:
        """What is known of the callee and of its arguments."""
        found = Abstraction(self.functions)
        callee: tuple[PartialValue, ...] = () if isinstance(site.callee.static, KnownName) else (site.callee,)
        key = site.function, tuple(site.environment.types.items()), found.add((*reversed(site.arguments), *callee))
        return key, found

    def variant_call(self, site: Site) -> Work:
        """A call of the variant for what is known here; of the function itself where nothing is, or none can be."""
        residual = self.residual
        while True:
            site = yield self._without_unknown(site)
            key, found = self._key(site)
            variant = self._variants.get(key)
            if variant is None:
                self._give_up_what_changes(site)
            if variant is None and (not self._may_be_made(site, found) or key in self._refused):
                break
            if variant is None:
                variant = yield self.variant(site, key, found)
            if variant is not None:
                residual.reductions += 1
                named = PartialValue(KnownName(variant.name), site.type_, variant.name)
                residual.store.escape((site.callee, *site.arguments))
                arguments = tuple([PartialValue(None, type_, var) for var, type_ in found.leaves.items()])
                return (yield self._left_to_run(site, named, arguments))
        return (yield self._left_to_run(site, site.callee, site.arguments))

    def _left_to_run(self, site: Site, callee: PartialValue, arguments: tuple[PartialValue, ...]) -> Work:
        return self.evaluator.unknown_call(site.node, callee, arguments, site.callee, site.type_, site.result)

    def _may_be_made(self, site: Site, found: Abstraction) -> bool:
        names = self.residual.names
        if found.with_functions and (names.symbols or names.type_vars):
            return False  # the closure may speak of them
        return (
            any(map(is_known, site.arguments))
            and found.possible
            and is_closed(site.type_)
            and self.residual.steps_left > 0
        )

    def _without_unknown(self, site: Site) -> Generator[Any, Any, Site]:
        """The site, where arguments that keep changing are just variables."""
        unknown = self._unknown.get(site.function)
        if not unknown:
            return site
        arguments: list[PartialValue] = []
        for position, (each, param) in enumerate(zip(site.arguments, site.function.params, strict=True)):
            arguments.append((yield self._without(each, (position,), unknown, param)))
        return replace(site, arguments=tuple(arguments))

    def _without(self, value: PartialValue, place: Place, unknown: set[Place], name: Var) -> Work:
        """The value, of which nothing is known at the places `unknown` but a variable."""
        if place in unknown and is_known(value):
            atom = yield self.evaluator.atom(value)
            if not isinstance(atom, Var):
                atom = self.residual.bind(self.residual.block, atom, value.type_, name)
            self.residual.store.escape((value,))
            return PartialValue(None, value.type_, atom)
        if not isinstance(value.static, KnownTuple):
            return value
        fields: list[PartialValue] = []
        for index, each in enumerate(value.static.fields):
            fields.append((yield self._without(each, (*place, index), unknown, name)))
        if all(new is old for new, old in zip(fields, value.static.fields, strict=True)):
            return value
        return PartialValue(KnownTuple(tuple(fields)), value.type_, None, self.residual.block, value.name)

    def _give_up_what_changes(self, site: Site) -> None:
        """A variant that calls its function with less known, or too many variants that know other things: what they
        do not agree on is unknown from now on, and the outermost is made again."""
        open_ = [each for each in self.residual.activations.of(site.function) if each.kind is Kind.VARIANT]
        if not open_:
            return
        again = open_[-1]
        lost: list[Place] = []
        for position, each in enumerate(site.arguments):
            lost += forgotten_places(again.arguments[position], each, (position,))
        if not lost and len(open_) >= self.max_variants:
            again = open_[0]
            for position, each in enumerate(site.arguments):
                values = [*(activation.arguments[position] for activation in open_), each]
                lost += differing_places(values, self._key_of, (position,))
            lost = lost or [(position,) for position, each in enumerate(site.arguments) if is_known(each)]
        if lost:
            self._unknown.setdefault(site.function, set()).update(lost)
            raise Abandon(again, Reason.LOOP)

    def _key_of(self, value: PartialValue) -> Hashable:
        return Abstraction(self.functions).add((value,))

    def variant(self, site: Site, key: Hashable, found: Abstraction) -> Generator[Any, Any, Variant | None]:
        """Make the function anew for what is known; None when that was given up."""
        residual = self.residual
        before, unknown = residual.checkpoint(), len(self._unknown.get(site.function, ()))
        name = self._fresh_name(site.name)
        variant = Variant(name, key, (site.callee, *site.arguments))
        residual.variants.append(variant)
        self._variants[key] = variant
        activation = Activation(Kind.VARIANT, site.function, site.arguments, residual.branches + 1)
        residual.activations.push(activation)
        residual.block, residual.store = Block(), Store(residual.parts, residual.locations)
        residual.names = Names()
        residual.branches += 1
        try:
            function = yield self._remade(site, found)
        except Abandon as abandon:
            if abandon.activation is not activation:
                raise
            self._undo(before)
            if len(self._unknown.get(site.function, ())) == unknown:
                self._refused.add(key)
                self._left.add(site.function)
            return None
        self.made[name] = function
        residual.block, residual.store, residual.names = before.block, before.store, before.names
        residual.branches = before.branches
        residual.activations.cut(before.activations)
        return variant

    def _remade(self, site: Site, found: Abstraction) -> Generator[Any, Any, Function]:
        home = self.residual.block
        leaves = {
            var: PartialValue(None, type_, record_type(Var(var.name_hint, type_, span=var.span), type_))
            for var, type_ in found.leaves.items()
        }
        done: dict[PartialValue, PartialValue] = {}
        callee = yield over(site.callee, leaves, home, self.functions, done)
        environment = callee.static.environment if isinstance(callee.static, KnownFunction) else Environment(None)
        inner = Environment(environment, site.environment.types)
        for param, each in zip(site.function.params, site.arguments, strict=True):
            inner.values[param] = yield over(each, leaves, home, self.functions, done)
        yield self.evaluator.ending(home, site.function.body, inner, self.residual.store)
        params = tuple([each.atom for each in leaves.values() if isinstance(each.atom, Var)])
        return Function(params, (yield closed(home)), site.type_, span=site.function.span)
