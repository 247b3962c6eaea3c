"""Kernels that change a part of a tensor: they write that part into memory which holds the tensor already.

    before: fn (%p0: Tensor[(4096, 1024), float32], …, Primitive=1) { strided_set(%p0, …) }       writes all
    after:  fn (%p0: Tensor[(4096, 1024), float32], …, Primitive=1, Update=1) { strided_set(%p0, …) }   writes the part

Where nobody else has a use for %p0 the result is its memory, and nothing is copied.
"""

from __future__ import annotations

from relay.ir.expr import Call, Function, Op, Var
from relay.ir.known_types import known_type
from relay.ir.types import TensorType
from relay.lower.kernels.index_faults import tells_of_body
from relay.ops.framework.record import OperatorRecord, Update

UPDATE = "Update"
"""The attribute of a primitive function whose result holds its first argument before it runs."""


def as_update(function: Function) -> Function:
    """A primitive function as one that only writes a part of its result, where it changes a parameter that it reads
    nowhere else; others as they are."""
    match function.body:
        case Call(op=Op(operator=OperatorRecord(update=update)), args=(Var() as data, *others)) if update is not None:
            is_alone = data in function.params and data not in others and not tells_of_body(function)
            return function.with_attr(UPDATE, 1) if is_alone else function
        case _:
            return function


def updated_part(function: Function) -> TensorType | None:
    """The type of what a primitive function has for the part that it changes; None if it writes all."""
    match function.body:
        case Call(op=Op(operator=OperatorRecord(update=Update(part=part))), args=args) if UPDATE in function.attrs:
            type_ = known_type(args[part])
            return type_ if isinstance(type_, TensorType) else None
        case _:
            return None


def updated_input(function: Function) -> int | None:
    """The position of the parameter that a primitive function changes a part of; None if it writes all."""
    match function.body:
        case Call(args=(Var() as data, *_)) if UPDATE in function.attrs:
            return function.params.index(data)
        case _:
            return None
