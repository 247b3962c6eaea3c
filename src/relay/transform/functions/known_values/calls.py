"""The policy of PartialEvaluate: the body of a known function here, a variant for what is known, or the call itself.

A function is evaluated where it is called. When it comes to itself again under a condition that only the run decides,
and no argument that is known has become smaller, that would not end: the call is undone, and becomes one of a *variant*
(`variants.py`), the function made anew for the known parts of its arguments.

Everything ends: what is entered costs steps that are not given back, what is emitted has a limit, each variant that is
undone makes one argument more unknown.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable
from dataclasses import field
from typing import Any

from relay.base.frozen import mutable
from relay.ir.expr import Call, Var
from relay.ir.types import Type
from relay.transform.functions.known_values.activations import Abandon, Activation, Kind, Reason
from relay.transform.functions.known_values.evaluator import Evaluator
from relay.transform.functions.known_values.functions import Functions
from relay.transform.functions.known_values.policy import Policy, Work
from relay.transform.functions.known_values.residual import Residual
from relay.transform.functions.known_values.sites import Site, site_of
from relay.transform.functions.known_values.values import Environment, PartialValue, shrinks
from relay.transform.functions.known_values.variants import Variants


@mutable
class Calls(Policy):
    """The policy of PartialEvaluate: decides, and does it. `_loops` are the calls, by what is known of them, that come
    to themselves under conditions that the run decides."""

    functions: Functions
    residual: Residual
    evaluator: Evaluator
    variants: Variants
    _loops: set[Hashable] = field(default_factory=set)

    def call(self, node: Call, callee: PartialValue, values: tuple[PartialValue, ...], type_: Type, name: Var) -> Work:
        """The value of a call."""
        site = site_of(node, callee, values, type_, name, self.functions, self.residual.names)
        result = None
        if site is not None and self._may_be_entered(site):
            result = yield from self.entered(site)
        if site is not None and result is None:
            result = yield from self.variants.call(site)
        if result is not None:
            return result
        return (yield from self.evaluator.unknown_call(node, callee, values, callee, type_, name))

    def _may_be_entered(self, site: Site) -> bool:
        """Whether to evaluate the body here. Comes to an end where that would not."""
        if self.residual.steps_left <= 0:
            return False
        if site.function in self.variants.left and self.variants.key(site)[0] in self._loops | self.variants.refused:
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
            self.variants.undo(before)
            refused = self._loops if abandon.reason is Reason.LOOP else self.variants.refused
            refused.add(self.variants.key(site)[0])
            self.variants.left.add(site.function)
            return None
        residual.activations.cut(before.activations)
        residual.reductions += 1
        return value
