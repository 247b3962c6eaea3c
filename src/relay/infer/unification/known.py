"""What can be told of a node from the node and the types of its parts alone: eager typing and inference ask here."""

from __future__ import annotations

from relay.base.diagnostics import Origin, RelayError
from relay.infer.unification.dimensions import open_unknowns
from relay.infer.unification.explain import arity_error, conflict_error, describe, short_name
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Op, TupleGetItem, Var
from relay.ir.operator import Conflict, Operator, Solved, Waiting
from relay.ir.types import TupleType, Type


def operator_of(call: Call, op: Op) -> Operator:
    """The operator that a call is of. Raises `RelayError` (rule `arity`) when it takes another number of arguments."""
    operator = op.operator
    if len(call.args) != len(operator.inputs):
        raise arity_error(call, operator.inputs, len(operator.inputs))
    return operator


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


def outcome_of(use: Call | Op, operator: Operator, types: tuple[Type, ...]) -> Solved | Waiting:
    """What the relation of an operator says of arguments of these types. `use` is its call, or the operator itself
    where it stands as a function.

    Raises `RelayError` with the rule of the relation when no types could make the use right.
    """
    attributes = attributes_of(use, operator) if isinstance(use, Call) else operator.attributes()
    outcome = operator.relation(types, attributes)
    if isinstance(outcome, Conflict):
        raise conflict_error(use, operator, types, outcome)
    return outcome


def result_type(op: Op, solved: Solved) -> Type:
    """The type of what an operator gives: each extent that its relation leaves unknown is some extent of its own."""
    return open_unknowns(solved.result, short_name(op))


def field_type(node: TupleGetItem, whole: Type) -> Type:
    """The type of a field of a tuple of type `whole`.

    Raises `RelayError` (rules `unknown-field`, `not-a-tuple`).
    """
    match whole:
        case TupleType(fields) if 0 <= node.index < len(fields):
            return open_unknowns(fields[node.index])
        case TupleType(fields):
            raise RelayError(
                rule="unknown-field",
                message=f"the tuple has no field {node.index}",
                span=node.span,
                expected=f"0 to {len(fields) - 1}" if fields else "a tuple that has fields",
                found=str(node.index),
                origins=(Origin("tuple", str(whole), describe(node.tuple_value)),),
            )
        case _:
            raise RelayError(
                rule="not-a-tuple",
                message="a field is taken of what is not a tuple",
                span=node.span,
                origins=(Origin("value", str(whole), describe(node.tuple_value)),),
            )


def annotated_type(var: Var) -> Type | None:
    """The type of a variable as far as it says so itself: an extent that its annotation leaves unknown is one extent
    wherever the variable is used. None without an annotation.

    >>> from relay.ir.types import ANY, TensorType
    >>> print(annotated_type(Var("x", TensorType((ANY, 4), "int8"))))
    Tensor[(x_0, 4), int8]
    """
    if var.checked_type is not None:
        return var.checked_type
    return None if var.type_annotation is None else open_unknowns(var.type_annotation, var.name_hint)
