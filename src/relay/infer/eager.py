"""Typing a call the moment it is built, so that a mismatch is raised at the user's Python line.

What is still open (unannotated parameters, recursion, polymorphism) waits for the inference of the module.
"""

from __future__ import annotations

from typing import assert_never

from relay.base.diagnostics import Origin, RelayError
from relay.ir.expr import Call, Op, record_type
from relay.ir.operator import Conflict, Solved, Waiting
from relay.ir.types import Type


def type_eagerly(call: Call) -> Call:
    """`call` with its type recorded, when the types of its arguments determine it.

    Raises `RelayError` with the rule of the operator's relation when no types could make the call right.
    """
    types = tuple(argument.checked_type for argument in call.args)
    if not isinstance(call.op, Op) or any(type_ is None for type_ in types):
        return call
    known = tuple(type_ for type_ in types if type_ is not None)
    outcome = call.op.operator.relation(known, call.attrs)
    match outcome:
        case Solved(result):
            return record_type(call, result)
        case Waiting():
            return call
        case Conflict():
            raise conflict_error(call, call.op, known, outcome)
        case _:
            assert_never(outcome)


def conflict_error(call: Call, op: Op, types: tuple[Type, ...], conflict: Conflict) -> RelayError:
    """The user's view of a relation's conflict: which inputs disagree, and what their types are."""
    positions = conflict.inputs or tuple(range(len(types)))
    return RelayError(
        rule=conflict.rule,
        message=f"{op.name}: {conflict.message}",
        span=call.span,
        expected=conflict.expected,
        found=conflict.found,
        origins=tuple(Origin(op.operator.inputs[i], str(types[i])) for i in positions),
        remedy=conflict.remedy,
    )
