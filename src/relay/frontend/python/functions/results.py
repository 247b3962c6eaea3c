"""What a call of a function of the program may keep, and how its result is held."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block
from relay.frontend.python.facts.ownership import Held
from relay.frontend.python.syntax.arguments import Arguments
from relay.ir.expr import Expr
from relay.ir.types import FuncType, GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall, type_parts


def called(block: Block, function: Expr, given: Sequence[Any], span: Span) -> Expr:
    """A call of a function of the program. What it gives is held as its body gave it; what it is given is shared, if
    that may be in there."""
    type_, held = block.type_of(function), block.session.gives.get(function, Held.SHARED)
    made = block.bind("value", dispatch.call(block, function, Arguments(list(given), {}, span)), span)
    if held is not Held.WITH_PARTS and _may_keep(type_):
        for each in given:
            block.ownership.share(each)
    return block.ownership.own(made, held)


def _may_keep(type_: Type) -> bool:
    """Whether a call of a function may leave what it is given in its result, or in a reference."""
    if not isinstance(type_, FuncType):
        return True
    has_refs = any(isinstance(part, RefType) for each in type_.arg_types for part in type_parts(each))
    return has_refs or not all(map(_is_of_numbers, type_parts(type_.ret_type)))


def _is_of_numbers(part: Type) -> bool:
    match part:
        case TensorType(shape=shape):
            return shape == ()
        case TypeCall(func=GlobalTypeVar(name="Option")) | GlobalTypeVar(name="Option") | TupleType():
            return True  # as far as its parts are
        case _:
            return False
