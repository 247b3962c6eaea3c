"""Values that are constants, and back."""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug
from relay.ir.expr import Constant, Expr, Tuple
from relay.ir.types import TupleType, Type
from relay.transform.functions.partial_evaluate.block import Block
from relay.transform.functions.partial_evaluate.values import KnownTensor, KnownTuple, PartialValue


def constant_of(value: PartialValue) -> Expr | None:
    """The value as a constant, or as a tuple of constants; None when a part of it is not known."""
    match value.static:
        case KnownTensor():
            return value.atom
        case KnownTuple(fields):
            constants = [constant_of(each) for each in fields]
            known = [each for each in constants if each is not None]
            return Tuple(tuple(known)) if len(known) == len(fields) else None
        case _:
            return None


def value_of(expr: Expr, type_: Type, home: Block) -> PartialValue:
    """What an operator gave for constants: one, or a tuple of them."""
    if isinstance(expr, Tuple) and isinstance(type_, TupleType):
        fields = tuple(value_of(each, part, home) for each, part in zip(expr.fields, type_.fields, strict=True))
        return PartialValue(KnownTuple(fields), type_, None, home)
    if not isinstance(expr, Constant):
        raise CompilerBug("PartialEvaluate", "an operator on constants gave no constant")
    return PartialValue(KnownTensor(expr.data), type_, expr)
