"""Typing a call the moment it is built, so that a mismatch is raised at the user's Python line.

What is still open (unannotated parameters, recursion, polymorphism) waits for the inference of the module.
"""

from __future__ import annotations

from typing import assert_never

from relay.base.graph import post_order
from relay.infer.constraints import attributes_of
from relay.infer.dimensions import open_unknowns
from relay.infer.explain import arity_error, conflict_error, short_name
from relay.ir.expr import Call, Constant, Expr, Op, Tuple, TupleGetItem, Var, record_type
from relay.ir.operator import Conflict, Solved, Waiting
from relay.ir.type_traversal import type_holes
from relay.ir.types import TensorType, TupleType, Type


def type_eagerly(call: Call) -> Call:
    """`call` with its type recorded, when the types of its arguments determine it.

    Raises `RelayError` with the rule of the operator's relation when no types could make the call right.
    """
    if not isinstance(call.op, Op):
        return call
    operator = call.op.operator
    if len(call.args) != len(operator.inputs):
        raise arity_error(call, operator.inputs, len(operator.inputs))
    known: list[Type] = []
    for argument in call.args:
        type_ = eager_type(argument)
        if type_ is None:
            return call
        known.append(type_)
    types = tuple(known)
    outcome = operator.relation(types, attributes_of(call, operator))
    match outcome:
        case Solved(result):
            return record_type(call, open_unknowns(result, short_name(call.op)))
        case Waiting():
            return call
        case Conflict():
            raise conflict_error(call, types, outcome)
        case _:
            assert_never(outcome)


def eager_type(expr: Expr) -> Type | None:
    """The type of an expression as far as it can be told without inference, recorded on it; else None.

    >>> from relay.ir.expr import const
    >>> print(eager_type(Tuple((const(1), const([1.0, 2.0])))))
    (int32, Tensor[(2,), float32])
    """
    if expr.checked_type is None:
        for node in post_order((expr,), _untyped_parts):
            type_ = _type_of(node)
            if type_ is not None:
                record_type(node, type_)
    return expr.checked_type


def _untyped_parts(expr: Expr) -> tuple[Expr, ...]:
    """The parts whose types make the type of a tuple or projection, as far as they have none."""
    match expr:
        case Tuple(fields):
            return tuple(field for field in fields if field.checked_type is None)
        case TupleGetItem(value) if value.checked_type is None:
            return (value,)
        case _:
            return ()


def _type_of(expr: Expr) -> Type | None:
    match expr:
        case Var(_, annotation) if annotation is not None and not type_holes(annotation):
            return open_unknowns(annotation, expr.name_hint)
        case Constant(data):
            return TensorType(data.shape, expr.dtype)
        case Tuple(fields):
            types = [field.checked_type for field in fields if field.checked_type is not None]
            return TupleType(tuple(types)) if len(types) == len(fields) else None
        case TupleGetItem(value, index):
            whole = value.checked_type
            return whole.fields[index] if isinstance(whole, TupleType) and 0 <= index < len(whole.fields) else None
        case _:
            return None


__all__ = ["conflict_error", "eager_type", "type_eagerly"]
