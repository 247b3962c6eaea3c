"""Functions made anew for what is known of the arguments of their calls (polyvariant specialisation).

Variants are remembered by what is known, so a recursion that knows the same again ends there (Bondorf 1990; Jones,
Gomard and Sestoft 1993, chapter 5). The unknown parts of arguments, and of what a closure takes along, become the
parameters. An argument that keeps changing while variants are made is given up: it counts as unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from dataclasses import field, replace
from typing import Any

from relay.base.frozen import frozen, mutable
from relay.ir.expr import Function, GlobalVar, Var
from relay.ir.known_types import typed_var
from relay.ir.type_traversal import is_closed
from relay.transform.functions.known_values.abstraction import Abstraction, over
from relay.transform.functions.known_values.activations import Abandon, Activation, Kind, Reason
from relay.transform.functions.known_values.blocks import closed
from relay.transform.functions.known_values.evaluator import Evaluator
from relay.transform.functions.known_values.functions import Functions
from relay.transform.functions.known_values.places import Place, differing_places, forgotten_places
from relay.transform.functions.known_values.policy import Work
from relay.transform.functions.known_values.residual import Names, Residual
from relay.transform.functions.known_values.sites import Site
from relay.transform.functions.known_values.store import Store
from relay.transform.functions.known_values.values import (
    Block,
    Environment,
    KnownFunction,
    KnownName,
    KnownTuple,
    PartialValue,
    is_known,
)


@frozen(eq=False)
class Variant:
    """A function made anew: its name, and the key of what is known."""

    name: GlobalVar
    key: Hashable
    values: tuple[PartialValue, ...]  # alive, so that identities in keys stay unique


@mutable
class Variants:
    """The variants of a program: `made` are those that are finished, at most `max_open` of one function are made within
    each other. A site `is_worth` one of its own, of the `wanted_name`; `may_know_less`: a variant whose function calls
    itself with less known is given up for one that knows no more than all of these calls. `refused` are calls, by what
    is known of them, that do too much, `left` their functions."""

    functions: Functions
    residual: Residual
    evaluator: Evaluator
    max_open: int
    is_worth: Callable[[Site], bool]
    wanted_name: Callable[[Site], str]
    may_know_less: bool
    made: dict[GlobalVar, Function] = field(default_factory=dict)
    refused: set[Hashable] = field(default_factory=set)
    left: set[Function] = field(default_factory=set)
    _variants: dict[Hashable, Variant] = field(default_factory=dict)
    _taken: set[GlobalVar] = field(default_factory=set)
    _next_number: dict[str, int] = field(default_factory=dict)
    _unknown: dict[Function, set[Place]] = field(default_factory=dict)

    def undo(self, before: Any) -> None:
        """Give up what was done since a checkpoint."""
        for each in self.residual.restore(before):
            if isinstance(each, Variant):
                self._variants.pop(each.key, None)
                self.made.pop(each.name, None)
                self._taken.discard(each.name)
                self._next_number.clear()

    def _fresh_name(self, wanted: str) -> GlobalVar:
        """A name for a variant. No `FreshNames`: what is given up leaves its name to others."""
        number = self._next_number.get(wanted, 1)
        name = GlobalVar(wanted if number == 1 else f"{wanted}{number}")
        while name in self._taken or name in self.functions.module:
            number += 1
            name = GlobalVar(f"{wanted}{number}")
        self._next_number[wanted] = number + 1
        self._taken.add(name)
        return name

    def key(self, site: Site) -> tuple[Hashable, Abstraction]:
        """What is known of the callee and of its arguments."""
        found = Abstraction(self.functions)
        callee: tuple[PartialValue, ...] = () if isinstance(site.callee.static, KnownName) else (site.callee,)
        key = site.function, tuple(site.environment.types.items()), found.add((*reversed(site.arguments), *callee))
        return key, found

    def call(self, site: Site) -> Generator[Any, Any, PartialValue | None]:
        """A call of the variant for what is known here; None where nothing is, or none can be."""
        residual = self.residual
        while True:
            site = yield self._without_unknown(site)
            key, found = self.key(site)
            variant = self._variants.get(key)
            if variant is None:
                self._give_up_what_changes(site)
            if variant is None and (not self._may_be_made(site, found) or key in self.refused):
                return None
            if variant is None:
                variant = yield self._made(site, key, found)
            if variant is not None:
                residual.reductions += 1
                named = PartialValue(KnownName(variant.name), site.type_, variant.name)
                residual.store.escape((site.callee, *site.arguments))
                arguments = tuple([PartialValue(None, type_, var) for var, type_ in found.leaves.items()])
                return (
                    yield self.evaluator.unknown_call(site.node, named, arguments, site.callee, site.type_, site.result)
                )

    def _may_be_made(self, site: Site, found: Abstraction) -> bool:
        names = self.residual.names
        if not found.spoken.isdisjoint(names.symbols | names.type_vars):
            return False
        return self.is_worth(site) and found.possible and is_closed(site.type_) and self.residual.steps_left > 0

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
            return (yield self.evaluator.forgotten(value, name))
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
        for position, each in enumerate(site.arguments if self.may_know_less else ()):
            lost += forgotten_places(again.arguments[position], each, (position,))
        if not lost and len(open_) >= self.max_open:
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

    def _made(self, site: Site, key: Hashable, found: Abstraction) -> Generator[Any, Any, Variant | None]:
        """Make the function anew for what is known; None when that was given up."""
        residual = self.residual
        before, unknown = residual.checkpoint(), len(self._unknown.get(site.function, ()))
        name = self._fresh_name(self.wanted_name(site))
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
            self.undo(before)
            if len(self._unknown.get(site.function, ())) == unknown:
                self.refused.add(key)
                self.left.add(site.function)
            return None
        self.made[name] = function
        residual.block, residual.store, residual.names = before.block, before.store, before.names
        residual.branches = before.branches
        residual.activations.cut(before.activations)
        return variant

    def _remade(self, site: Site, found: Abstraction) -> Generator[Any, Any, Function]:
        home = self.residual.block
        leaves = {
            var: PartialValue(None, type_, typed_var(var.name_hint, type_)) for var, type_ in found.leaves.items()
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
