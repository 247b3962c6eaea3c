"""Replace operator calls whose arguments are all constants by their value: FoldConstant.

    before: add(multiply(2f, 3f), %x)
    after:  add(6f, %x)

Values come from the operators' own meaning. Does not fold what may fail or has state, nor what would make a constant
much larger than all that it is made of (`zeros` of a large shape stays a call).
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from relay.analysis.effects import ModuleEffects
from relay.dataflow.effects import field_taken
from relay.ir.expr import Call, Constant, Expr, Function, Op, Tuple, TupleGetItem, record_type
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.rewriting import rewrite_nodes
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.record import OperatorRecord
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass

_LARGEST_GROWN_CONSTANT_BYTES = 1 << 16
_LARGEST_GROWTH = 4  # times what it is made of: what transforming a kernel of 3×3 for Winograd's F(4, 3) makes of it


@function_pass(level=2)
def FoldConstant(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Evaluate what is constant."""
    effects = ModuleEffects(IRModule())

    def step(expr: Expr) -> Expr:
        return field_taken(effects, expr) if isinstance(expr, TupleGetItem) else fold_call(expr)

    return rewrite_nodes(function, lambda _, expr: step(expr))


def fold_call(expr: Expr) -> Expr:
    """The value of a pure call of constants; other expressions as they are."""
    match expr:
        case Call(op=Op(operator=OperatorRecord() as record), args=args) if record.effect is Effect.PURE:
            arguments = [_value(argument) for argument in args]
            if any(argument is None for argument in arguments):
                return expr
            return _folded(expr, record, arguments)
        case _:
            return expr


def _value(expr: Expr) -> object | None:
    """The array of a constant, or the arrays of a tuple of constants."""
    match expr:
        case Constant(data=data):
            return data
        case Tuple(fields=fields):
            values = tuple(_value(field) for field in fields)
            return None if any(value is None for value in values) else values
        case _:
            return None


def _folded(call: Call, record: OperatorRecord, arguments: list[object | None]) -> Expr:
    known = [type_ for type_ in (call.checked_type,) if type_ is not None]
    if not known or _bytes_of(known[0]) is None:
        return call
    size_bytes = _bytes_of(known[0]) or 0
    if size_bytes > max(_LARGEST_GROWN_CONSTANT_BYTES, _LARGEST_GROWTH * sum(map(_array_bytes, arguments))):
        return call
    with np.errstate(all="ignore"):
        value: Any = record.meaning(call.attrs, *arguments)
    return _constant(value, known[0], call)


def _constant(value: object, type_: Type, call: Call) -> Expr:
    if isinstance(type_, TupleType) and isinstance(value, tuple):
        parts = cast("tuple[object, ...]", value)
        fields = tuple(_constant(part, field, call) for part, field in zip(parts, type_.fields, strict=True))
        return record_type(Tuple(fields, span=call.span), type_)
    array = np.asarray(value)
    if 0 in array.strides:  # repeated elements; other views, as of a transposed matrix, are copied by who packs them
        array = np.ascontiguousarray(array)
    return record_type(Constant(array, span=call.span), type_)


def _bytes_of(type_: Type) -> int | None:
    match type_:
        case TensorType(shape, dtype):
            total = dtype.item_bytes
            for extent in shape:
                if not isinstance(extent, int):
                    return None
                total *= extent
            return total
        case TupleType(fields):
            sizes = [_bytes_of(field) for field in fields]
            return None if any(size is None for size in sizes) else sum(size or 0 for size in sizes)
        case _:
            return None


def _array_bytes(argument: object) -> int:
    if isinstance(argument, np.ndarray):
        return argument.nbytes
    return sum(map(_array_bytes, argument)) if isinstance(argument, tuple) else 0
