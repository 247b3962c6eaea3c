"""What may have to wait: the relation of an operator, and the projection from a tuple not known yet."""

from __future__ import annotations

from relay.base.diagnostics import Origin
from relay.base.frozen import frozen
from relay.infer.forms.node_types import NodeTypes
from relay.infer.unification.explain import describe, mismatch_error
from relay.infer.unification.known import field_type, outcome_of, result_type
from relay.infer.unification.solve import StillWaiting
from relay.infer.unification.unify import Mode, Variable
from relay.ir.expr import Call, Op, TupleGetItem
from relay.ir.operator import Waiting
from relay.ir.type_traversal import type_holes, type_symbols
from relay.ir.types import IncompleteType, Type


@frozen(eq=False)
class OperatorCall:
    """The type relation of an operator holds between the types of the arguments and of the call."""

    nodes: NodeTypes
    expr: Call
    op: Op

    def attempt(self, last_chance: bool) -> StillWaiting | None:
        types = tuple([self.nodes.now(argument) for argument in self.expr.args])
        if self.nodes.unifier.flexible and not last_chance:
            unsolved = self._flexible_symbols(types)
            if unsolved:
                return StillWaiting(tuple(unsolved), "the extents of its arguments")
        outcome = outcome_of(self.expr, self.op.operator, types)
        if isinstance(outcome, Waiting):
            needed = tuple(types[at] for at in outcome.on or range(len(types)))
            holes: list[Variable] = [hole for type_ in needed for hole in type_holes(type_)]
            return StillWaiting((*holes, *self._flexible_symbols(needed)), outcome.needs)
        self._refine(types, outcome.inputs)
        self.nodes.set(self.expr, result_type(self.op, outcome))
        return None

    def types(self) -> tuple[Type, ...]:
        return tuple(map(self.nodes.of, (self.expr, *self.expr.args)))

    def _flexible_symbols(self, types: tuple[Type, ...]) -> list[Variable]:
        flexible = self.nodes.unifier.flexible
        return [symbol for type_ in types for symbol in type_symbols(type_) if symbol in flexible]

    def _refine(self, types: tuple[Type, ...], inputs: tuple[Type | None, ...]) -> None:
        """What the relation implies for arguments that were open."""
        for position, implied in enumerate(inputs):
            if implied is None or not type_holes(types[position]):
                continue
            mismatch = self.nodes.relate(types[position], implied, Mode.EXACT, self.expr)
            if mismatch is not None:
                name = self.op.operator.inputs[position]
                sides = (
                    Origin(name, str(types[position]), describe(self.expr.args[position])),
                    Origin("needed", str(implied), describe(self.expr)),
                )
                message = f"{self.op.name}: {name} is of another type"
                raise mismatch_error("argument-type", message, self.expr.span, mismatch, sides)


@frozen(eq=False)
class Projection:
    """A field of a tuple."""

    nodes: NodeTypes
    expr: TupleGetItem

    def attempt(self, last_chance: bool) -> StillWaiting | None:  # noqa: ARG002
        whole = self.nodes.unifier.resolve(self.nodes.of(self.expr.tuple_value))
        if isinstance(whole, IncompleteType):
            return StillWaiting((whole,), "a tuple type")
        self.nodes.set(self.expr, field_type(self.expr, whole))
        return None

    def types(self) -> tuple[Type, ...]:
        return self.nodes.of(self.expr), self.nodes.of(self.expr.tuple_value)
