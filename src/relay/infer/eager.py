"""Typing a call the moment it is built, so that a mismatch is raised at the user's Python line.

What is still open (unannotated parameters, recursion, polymorphism) waits for the inference of the module.
"""

from __future__ import annotations

from typing import cast

from relay.base.graph import post_order
from relay.infer.unification.dimensions import function_type
from relay.infer.unification.known import annotated_type, field_type, operator_of, outcome_of, result_type
from relay.ir.expr import AnyExpr, Call, Expr, Function, Let, Op, Tuple, TupleGetItem, Var, record_type
from relay.ir.operator import Solved
from relay.ir.type_traversal import type_holes
from relay.ir.types import TupleType, Type


def type_eagerly(call: Call) -> Call:
    """`call` with its type recorded, when the types of its arguments determine it.

    Raises `RelayError` with the rule of the operator's relation when no types could make the call right.
    """
    op = call.op
    if not isinstance(op, Op):
        return call
    operator = operator_of(call, op)
    types: list[Type] = []
    for argument in call.args:
        type_ = eager_type(argument)
        if type_ is None:
            return call
        types.append(type_)
    outcome = outcome_of(call, operator, tuple(types))
    return record_type(call, result_type(op, outcome)) if isinstance(outcome, Solved) else call


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


def typed_by_parts(expr: AnyExpr) -> AnyExpr:
    """A new tuple, field, let or function, or a call of a function on what has the types of its parameters, with the
    type that its parts give it; without, where one of these has none. Passes make such nodes of typed ones.

    >>> from relay.ir.expr import const
    >>> pair = typed_by_parts(Tuple((const(1), const([1.0, 2.0]))))
    >>> print(typed_by_parts(TupleGetItem(pair, 1)).checked_type, typed_by_parts(Function((), pair)).checked_type)
    Tensor[(2,), float32] fn () -> (int32, Tensor[(2,), float32])
    """
    type_ = _type_by_parts(cast(Expr, expr))
    return expr if type_ is None else record_type(expr, type_)


def _type_by_parts(expr: Expr) -> Type | None:
    match expr:
        case Function(params, body, ret_type):
            result = ret_type or body.checked_type
            if result is None or any(param.checked_type is None for param in params):
                return None
            return function_type(params, result)
        case Call(op=Function(body=body)) | Let(body=body):
            return body.checked_type
        case _:
            return _type_of(expr)


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
        case Var():
            type_ = annotated_type(expr)
            return None if type_ is None or type_holes(type_) else type_
        case Tuple(fields):
            types = [field.checked_type for field in fields if field.checked_type is not None]
            return TupleType(tuple(types)) if len(types) == len(fields) else None
        case TupleGetItem(value) if value.checked_type is not None:
            return field_type(expr, value.checked_type)
        case _:
            return None
