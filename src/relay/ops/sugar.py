"""`x + y` on expressions: the operators behind Python's, for `ir.sugar`."""

from __future__ import annotations

from typing import Any

from relay.ir.expr import Call, Expr, Tuple, TupleGetItem
from relay.ir.types import TupleType
from relay.ops.elementwise.comparison import COMPARISONS
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import BINARY, binary_call
from relay.ops.elementwise.elementwise_unary import UNARY
from relay.ops.framework.build import call, with_known_type

_RECORDS = {record.name: record for record in (*BINARY, *COMPARISONS, *UNARY)}


class BuilderArithmetic:
    """Calls of operators by name; a Python number takes the element type of the other side."""

    def binary(self, name: str, left: Any, right: Any) -> Call:
        return binary_call(_RECORDS[name], left, right)

    def unary(self, name: str, operand: Expr) -> Call:
        return call(_RECORDS[name], (operand,))

    def cast(self, data: Expr, dtype: str) -> Call:
        return cast(data, dtype)

    def fields(self, value: Expr) -> tuple[Expr, ...] | None:
        if isinstance(value, Tuple):
            return value.fields
        match with_known_type(value).checked_type:
            case TupleType(types):
                return tuple(with_known_type(TupleGetItem(value, index)) for index in range(len(types)))
            case _:
                return None
