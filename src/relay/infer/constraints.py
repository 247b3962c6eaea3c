"""What may have to wait: the relation of an operator, and the projection from a tuple not known yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from relay.base.diagnostics import Origin, RelayError
from relay.base.frozen import frozen
from relay.infer.dimensions import open_unknowns
from relay.infer.explain import arity_error, conflict_error, describe, mismatch_error, short_name
from relay.infer.solve import StillWaiting, Variable
from relay.infer.unify import Mode
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Op, TupleGetItem
from relay.ir.operator import Conflict, Operator, Solved, Waiting
from relay.ir.type_traversal import type_holes, type_symbols
from relay.ir.types import IncompleteType, TupleType, Type

if TYPE_CHECKING:
    from relay.infer.walk import Inference


def attributes_of(call: Call, operator: Operator) -> Attributes:
    """The attributes of a call, or the defaults when it was built without any."""
    if call.attrs is not None:
        return call.attrs
    try:
        return operator.attributes()
    except TypeError:
        raise RelayError(
            rule="missing-attribute",
            message=f"{operator.name} is called without attributes, but some have no default",
            span=call.span,
            expected=operator.attributes.__name__,
        ) from None


@frozen(eq=False)
class OperatorCall:
    """The type relation of an operator holds between the types of the arguments and of the call."""

    inference: Inference
    expr: Call
    operator: Operator

    def attempt(self, last_chance: bool) -> StillWaiting | None:
        inference, call = self.inference, self.expr
        unifier = inference.unifier
        types = tuple([unifier.zonk(inference.type_of(argument)) for argument in call.args])
        if len(types) != len(self.operator.inputs):
            raise arity_error(call, self.operator.inputs, len(self.operator.inputs))
        if unifier.flexible and not last_chance:
            unsolved = self._variables(types, tuple(range(len(types))), holes=False)
            if unsolved:
                return StillWaiting(unsolved, "the extents of its arguments")
        outcome = self.operator.relation(types, attributes_of(call, self.operator))
        match outcome:
            case Solved(result, _, inputs):
                self._refine(types, inputs)
                inference.set_type(call, open_unknowns(result, short_name(call.op)))
                return None
            case Waiting(on, needs):
                return StillWaiting(self._variables(types, on or tuple(range(len(types))), holes=True), needs)
            case Conflict():
                raise conflict_error(call, types, outcome)
            case _:
                assert_never(outcome)

    def types(self) -> tuple[Type, ...]:
        inference = self.inference
        return (inference.type_of(self.expr), *(inference.type_of(argument) for argument in self.expr.args))

    def _variables(self, types: tuple[Type, ...], positions: tuple[int, ...], holes: bool) -> tuple[Variable, ...]:
        found: dict[Variable, None] = {}
        for position in positions:
            if holes:
                found.update((hole, None) for hole in type_holes(types[position]))
            flexible = self.inference.unifier.flexible
            found.update((symbol, None) for symbol in type_symbols(types[position]) if symbol in flexible)
        return tuple(found)

    def _refine(self, types: tuple[Type, ...], inputs: tuple[Type | None, ...]) -> None:
        """What the relation implies for arguments that were open."""
        for position, implied in enumerate(inputs):
            if implied is None or not type_holes(types[position]):
                continue
            mismatch = self.inference.unifier.relate(types[position], implied, Mode.EXACT)
            if mismatch is not None:
                name = self.operator.inputs[position]
                sides = (
                    Origin(name, str(types[position]), describe(self.expr.args[position])),
                    Origin("needed", str(implied), describe(self.expr)),
                )
                message = f"{self.operator.name}: {name} is of another type"
                raise mismatch_error("argument-type", message, self.expr.span, mismatch, sides)


@frozen(eq=False)
class OperatorValue:
    """An operator stands as a function `fn (arguments) -> result`; its attributes are the defaults."""

    inference: Inference
    expr: Op
    arguments: tuple[Type, ...]
    result: Type

    def attempt(self, last_chance: bool) -> StillWaiting | None:  # noqa: ARG002
        unifier, operator = self.inference.unifier, self.expr.operator
        types = tuple([unifier.zonk(argument) for argument in self.arguments])
        outcome = operator.relation(types, operator.attributes())
        match outcome:
            case Solved(result):
                mismatch = unifier.relate(open_unknowns(result, short_name(self.expr)), self.result, Mode.EXACT)
                if mismatch is not None:
                    sides = (
                        Origin("result", str(result), describe(self.expr)),
                        Origin("needed", str(unifier.zonk(self.result))),
                    )
                    message = f"{operator.name}, used as a function, gives another type"
                    raise mismatch_error("type-mismatch", message, self.expr.span, mismatch, sides)
                return None
            case Waiting(on, needs):
                positions = on or tuple(range(len(types)))
                return StillWaiting(tuple(hole for at in positions for hole in type_holes(types[at])), needs)
            case Conflict():
                raise RelayError(
                    rule=outcome.rule,
                    message=f"{operator.name}, used as a function: {outcome.message}",
                    span=self.expr.span,
                    expected=outcome.expected,
                    found=outcome.found,
                    origins=tuple(map(Origin, operator.inputs, map(str, types))),
                    remedy=outcome.remedy,
                )
            case _:
                assert_never(outcome)

    def types(self) -> tuple[Type, ...]:
        return (*self.arguments, self.result)


@frozen(eq=False)
class Projection:
    """A field of a tuple."""

    inference: Inference
    expr: TupleGetItem

    def types(self) -> tuple[Type, ...]:
        return self.inference.type_of(self.expr), self.inference.type_of(self.expr.tuple_value)

    def attempt(self, last_chance: bool) -> StillWaiting | None:  # noqa: ARG002
        inference, node = self.inference, self.expr
        type_ = inference.unifier.resolve(inference.type_of(node.tuple_value))
        match type_:
            case TupleType(fields) if 0 <= node.index < len(fields):
                inference.set_type(node, open_unknowns(fields[node.index]))
                return None
            case IncompleteType():
                return StillWaiting((type_,), "a tuple type")
            case TupleType(fields):
                raise RelayError(
                    rule="unknown-field",
                    message=f"the tuple has no field {node.index}",
                    span=node.span,
                    expected=f"0 to {len(fields) - 1}" if fields else "a tuple that has fields",
                    found=str(node.index),
                    origins=(Origin("tuple", str(type_), describe(node.tuple_value)),),
                )
            case _:
                raise RelayError(
                    rule="not-a-tuple",
                    message="a field is taken of what is not a tuple",
                    span=node.span,
                    origins=(Origin("value", str(type_), describe(node.tuple_value)),),
                )


def is_operator_call(call: Call) -> bool:
    """Whether a call is of an operator."""
    return isinstance(call.op, Op)
