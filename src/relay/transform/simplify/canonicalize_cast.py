"""Widen elements where they are used: CanonicalizeCast.

    before: %0 = cast(%x, dtype="int32"); (add(%0, 1), multiply(%0, 2))                        %x is of int8
    after:  (add(cast(%x, dtype="int32"), 1), multiply(cast(%x, dtype="int32"), 2))

A cast to a wider type that several users share keeps a large tensor alive between them; a cast of its own fuses into
each. Users that a cast cannot be fused into (products, what is no operator) go on sharing the old one. Narrowing casts
stay as they are. EliminateCommonSubexpr undoes this, so it comes first. Floating point: EXACT.
"""

from __future__ import annotations

from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import rebuild_typed, typed_as, with_body
from relay.ir.traversal import body_nodes, children
from relay.ir.types import TensorType
from relay.ops.elementwise.convert import CastAttributes
from relay.ops.framework.record import FusionKind, OperatorRecord
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass


@function_pass(level=3)
def CanonicalizeCast(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Give each user of a widening cast a cast of its own."""
    if function.attrs.get("Primitive"):
        return function
    order = body_nodes(function)
    users: dict[Expr, set[Expr]] = {}
    for expr in order:
        for child in children(expr):
            if _is_widening(child):
                users.setdefault(child, set()).add(expr)
    shared = {cast for cast, of_cast in users.items() if len(of_cast) > 1}
    new: dict[Expr, Expr] = {}
    for expr in order:
        parts = [new[child] for child in children(expr)]
        if _takes_elements(expr):
            copies = {
                child: _copied(new[child]) for child in children(expr) if child in shared
            }  # the same for a user that reads it twice
            parts = [copies.get(child, part) for child, part in zip(children(expr), parts, strict=True)]
        new[expr] = rebuild_typed(expr, parts)
    return with_body(function, new[function.body])


def _is_widening(expr: Expr) -> bool:
    match expr:
        case Call(args=(data,), attrs=CastAttributes(dtype=dtype)):
            return isinstance(data.checked_type, TensorType) and dtype.item_bytes > data.checked_type.dtype.item_bytes
        case _:
            return False


def _takes_elements(expr: Expr) -> bool:
    """Whether work in front of an operator can be done inside its loops."""
    match expr:
        case Call(op=Op(operator=OperatorRecord(fusion=fusion))):
            return fusion <= FusionKind.COMM_REDUCE
        case _:
            return False


def _copied(expr: Expr) -> Expr:
    """A cast, and the widening ones in front of it, once more. There are no more of these than there are widths."""
    match expr:
        case Call(op, (data,), attrs):
            data = _copied(data) if _is_widening(data) else data
            return typed_as(Call(op, (data,), attrs, span=expr.span), expr)
        case _:
            return expr
