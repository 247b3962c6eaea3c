"""Replace operator calls whose arguments are all constants by their value: FoldConstant.

    before: add(multiply(2f, 3f), %x)
    after:  add(6f, %x)

Values come from the operators' own meaning. Does not fold what fails for its arguments or has state, nor what would
make a constant much larger than all that it is made of (`zeros` of a large shape stays a call).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relay.analysis.effects import ModuleEffects
from relay.base.span import Span
from relay.dataflow.effects import field_taken
from relay.infer.unification.known import attributes_of
from relay.ir.expr import Call, Constant, Expr, Function, Op, Tuple, TupleGetItem, record_type
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.rewriting import rewrite_nodes
from relay.ir.type_traversal import is_closed, tensor_types
from relay.ir.types import TupleType, Type
from relay.ops.framework.known_elements import Known, meaning_of_known
from relay.ops.framework.record import OperatorRecord
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass

_LARGEST_GROWN_CONSTANT_BYTES = 1 << 16
_VALUES_ALONE = (Effect.PURE, Effect.MAY_FAIL)
_LARGEST_GROWTH = 4  # times what it is made of: what transforming a kernel of 3×3 for Winograd's F(4, 3) makes of it


@function_pass(level=2)
def FoldConstant(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Evaluate what is constant."""
    effects = ModuleEffects(IRModule())

    def step(expr: Expr) -> Expr:
        return field_taken(effects, expr) if isinstance(expr, TupleGetItem) else fold_call(expr)

    return rewrite_nodes(function, lambda _, expr: step(expr))


def fold_call(expr: Expr) -> Expr:
    """The value of a call of constants that does nothing else, and does not fail; other expressions as they are."""
    match expr:
        case Call(op=Op(operator=OperatorRecord() as record), args=args) if record.effect in _VALUES_ALONE:
            known = [value for value in map(_constant_elements, args) if value is not None]
            result = expr.checked_type
            if len(known) < len(args) or result is None or not _is_worth_its_bytes(result, known):
                return expr
            types = [each.checked_type for each in args]
            value = meaning_of_known(record, attributes_of(expr, record), known, types, result)
            return expr if value is None else constant_of(value, result, expr.span)
        case _:
            return expr


def constant_of(known: Known, type_: Type, span: Span | None) -> Expr:
    """Known elements that are numbers, as a constant, or as a tuple of constants."""
    if isinstance(type_, TupleType):
        fields = tuple(constant_of(each, field, span) for each, field in zip(known, type_.fields, strict=True))
        return record_type(Tuple(fields, span=span), type_)
    array = np.asarray(known)
    if 0 in array.strides:  # repeated elements; other views, as of a transposed matrix, are copied by who packs them
        array = np.ascontiguousarray(array)
    return record_type(Constant(array, span=span), type_)


def _constant_elements(expr: Expr) -> Known | None:
    match expr:
        case Constant(data):
            return data
        case Tuple(fields):
            known = tuple(each for each in map(_constant_elements, fields) if each is not None)
            return known if len(known) == len(fields) else None
        case _:
            return None


def _is_worth_its_bytes(result: Type, known: Sequence[Known]) -> bool:
    if not is_closed(result):
        return False
    result_bytes = sum(each.dtype.item_bytes * (each.element_count or 0) for each in tensor_types(result))
    return result_bytes <= max(_LARGEST_GROWN_CONSTANT_BYTES, _LARGEST_GROWTH * sum(map(_bytes_of, known)))


def _bytes_of(known: Known) -> int:
    return sum(map(_bytes_of, known)) if isinstance(known, tuple) else known.nbytes
