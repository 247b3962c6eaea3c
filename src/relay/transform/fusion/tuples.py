"""Operators take the fields of tuples: no kernel is given a tuple as one value."""

from __future__ import annotations

from relay.infer.eager import typed_by_parts
from relay.ir.expr import Call, Expr, Function, Op, Tuple, TupleGetItem
from relay.ir.rewriting import rewrite_nodes, typed_as
from relay.ir.types import TupleType


def opened_tuples(function: Function) -> Function:
    """`function` with `(%t.0, %t.1)` for each tuple `%t` that an operator is given.

    before: concatenate(%t, axis=0)        after: concatenate((%t.0, %t.1), axis=0)
    """
    return rewrite_nodes(function, lambda _, expr: _with_fields(expr))


def _with_fields(expr: Expr) -> Expr:
    match expr:
        case Call(op=Op(), args=args, attrs=attrs, type_args=type_args):
            opened = tuple(map(_opened, args))
            same = all(one is other for one, other in zip(opened, args, strict=True))
            return expr if same else Call(expr.op, opened, attrs, type_args, span=expr.span)
        case _:
            return expr


def _opened(argument: Expr) -> Expr:
    type_ = argument.checked_type
    if isinstance(argument, Tuple) or not isinstance(type_, TupleType):
        return argument
    fields = [typed_by_parts(TupleGetItem(argument, index)) for index in range(len(type_.fields))]
    return typed_as(Tuple(tuple(fields)), argument)
