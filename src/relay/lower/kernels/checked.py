"""What a program checks of its own values (`checked`): a branch to where the run fails.

before: let %j = fn (%p0, %p1, Primitive=1) { checked(%p0, %p1, message="out of range") }(%i, %inside)
after:  if %inside block1 else block2;  block2: fail 1;  block1: … with %j held where %i is
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, Function, Op
from relay.ops.framework.record import OperatorRecord, StatementFault


@frozen(eq=False)
class ValueCheck:
    """`data` where the bool scalar `holds` is true; elsewhere the run ends, which `message` explains."""

    data: Expr
    holds: Expr
    message: str


def is_check(function: Function) -> bool:
    """Whether a primitive function checks a value.

    >>> from relay.ops.framework.build import var
    >>> from relay.ops.checked import checked
    >>> i, inside = var("i", "int32"), var("inside", "bool")
    >>> is_check(Function((i, inside), checked(i, inside, "the index is out of range")))
    True
    """
    return _fault(function.body) is not None


def check_of(function: Function, args: Sequence[Expr]) -> ValueCheck | None:
    """The check that the call of a primitive function with these arguments makes, if it is one. Constants stand in its
    body."""
    fault = _fault(function.body)
    if fault is None or not isinstance(function.body, Call):
        return None
    given: dict[Expr, Expr] = dict(zip(function.params, args, strict=True))
    data, holds = (given.get(each, each) for each in function.body.args)
    return ValueCheck(data, holds, fault.message(function.body.attrs))


def _fault(body: Expr) -> StatementFault | None:
    match body:
        case Call(op=Op(operator=OperatorRecord(fault=StatementFault() as fault))):
            return fault
        case _:
            return None
