"""Operators that have no value where an index lies outside of an axis (`check_indices`).

Such an operator is a kernel group of its own. Before it, a kernel finds an index that lies outside, if there is one: it
gives an index and how many entries its axis has, which the code around it compares.

    before: let %v = fn (%p0: Tensor[(128), int64], Primitive=1) { check_indices(%p0, extents=[1000], …) }(%ids)
    after:  arena[0] = check_indices_fault(input[0])
            check index arena[0] else fail 1
"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.ir.expr import Call, Function, Op
from relay.ir.types import TensorType
from relay.lower.kernels.value_extents import EXTENTS
from relay.ops.framework.record import IndexFault, OperatorRecord

FAULT = "Fault"
"""The attribute of a primitive function that stands for an index which its body refuses, not for its value."""

FAULT_TYPE = TensorType((2,), DType.INT64)
"""An index, and how many entries its axis has."""


def index_user(function: Function) -> str:
    """Who is given the indices some of which the body of a primitive function refuses; empty where it refuses none."""
    match function.body:
        case Call(op=Op(operator=OperatorRecord(fault=IndexFault() as fault)), attrs=attrs):
            return fault.what(attrs)
        case _:
            return ""


def fault_function(function: Function) -> Function:
    """The primitive function of an index that another refuses."""
    attrs = {**function.attrs, "name": f"{function.attrs.get('name', 'kernel')}_fault", FAULT: 1}
    return Function(function.params, function.body, FAULT_TYPE, attrs=attrs, span=function.span)


def tells_of_body(function: Function) -> bool:
    """Whether a primitive function stands for something else than the value of its body: its extents, or a fault."""
    return EXTENTS in function.attrs or FAULT in function.attrs
