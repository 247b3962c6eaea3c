"""What a program checks of its own values (`checked`): a branch to where the run fails.

before: let %j = fn (%p0, %p1, Primitive=1) { checked(%p0, %p1, message="out of range") }(%i, %inside)
after:  if %inside block1 else block2;  block2: fail 1;  block1: … with %j held where %i is
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, Function, Op
from relay.ops.checked import CHECKED, CheckedAttributes


@frozen(eq=False)
class ValueCheck:
    """`data` where the bool scalar `holds` is true; elsewhere the run ends, which `message` explains."""

    data: Expr
    holds: Expr
    message: str


def is_check(function: Function) -> bool:
    """Whether a primitive function checks a value.

    >>> from relay.ops.build import var
    >>> from relay.ops.checked import checked
    >>> i, inside = var("i", "int32"), var("inside", "bool")
    >>> is_check(Function((i, inside), checked(i, inside, "the index is out of range")))
    True
    """
    return isinstance(function.body, Call) and isinstance(function.body.op, Op) and (
        function.body.op.operator is CHECKED
    )  # fmt: skip


def check_of(function: Function, args: Sequence[Expr]) -> ValueCheck | None:
    """The check that the call of a primitive function with these arguments makes, if it is one. Constants stand in its
    body."""
    match function.body:
        case Call(args=(data, holds), attrs=CheckedAttributes(message=message)) if is_check(function):
            given = dict(zip(function.params, args, strict=True))
            found = [given.get(each, each) for each in (data, holds)]  # type: ignore[call-overload]
            return ValueCheck(found[0], found[1], message)
        case _:
            return None
