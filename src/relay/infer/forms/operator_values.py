"""Operators that stand as functions: `map(nn.relu, xs)`."""

from __future__ import annotations

from relay.base.diagnostics import Origin, RelayError
from relay.base.frozen import frozen
from relay.infer.unification.explain import describe, mismatch_error
from relay.infer.unification.known import outcome_of, result_type
from relay.infer.unification.solve import Solver, StillWaiting
from relay.infer.unification.unify import Mode, Unifier
from relay.ir.expr import Op
from relay.ir.operator import Waiting
from relay.ir.type_traversal import type_holes
from relay.ir.types import FuncType, IncompleteType, Type


@frozen(eq=False)
class OperatorValue:
    """An operator stands as a function `fn (arguments) -> result`; its attributes are the defaults."""

    unifier: Unifier
    expr: Op
    arguments: tuple[Type, ...]
    result: Type

    def attempt(self, last_chance: bool) -> StillWaiting | None:  # noqa: ARG002
        unifier, op = self.unifier, self.expr
        types = tuple([unifier.zonk(argument) for argument in self.arguments])
        outcome = outcome_of(op, op.operator, types)
        if isinstance(outcome, Waiting):
            positions = outcome.on or range(len(types))
            return StillWaiting(tuple(hole for at in positions for hole in type_holes(types[at])), outcome.needs)
        mismatch = unifier.relate(result_type(op, outcome), self.result, Mode.EXACT)
        if mismatch is None:
            return None
        sides = (
            Origin("result", str(outcome.result), describe(op)),
            Origin("needed", str(unifier.zonk(self.result))),
        )
        message = f"{op.name}, used as a function, gives another type"
        raise mismatch_error("type-mismatch", message, op.span, mismatch, sides)

    def types(self) -> tuple[Type, ...]:
        return (*self.arguments, self.result)


def operator_as_value(unifier: Unifier, solver: Solver, node: Op) -> FuncType:
    """The type of an operator where it is not called; each use has its own.

    Raises `RelayError` (rule `operator-as-value`) for one that needs attributes.
    """
    operator = node.operator
    try:
        operator.attributes()
    except TypeError:
        inputs = ", ".join(f"%{name}" for name in operator.inputs)
        raise RelayError(
            rule="operator-as-value",
            message=f"the operator {node.name} is used as a value, but some of its attributes have no default",
            span=node.span,
            remedy=f"wrap it in a function: fn ({inputs}) {{ {node.name}({inputs}, ...) }}",
        ) from None
    arguments = tuple(IncompleteType(reason=f"{name} of {node.name}", span=node.span) for name in operator.inputs)
    result = IncompleteType(reason=f"the result of {node.name}", span=node.span)
    solver.add(OperatorValue(unifier, node, arguments, result))
    return FuncType(arguments, result)
