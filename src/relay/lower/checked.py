"""What a program checks of its own values (`checked`): a branch to where the run fails.

before: let %j = fn (%p0, %p1, Primitive=1) { checked(%p0, %p1, message="out of range") }(%i, %inside)
after:  if %inside block1 else block2;  block2: fail 1;  block1: … with %j held where %i is
"""

from __future__ import annotations

from relay.ir.expr import Call, Function, Op
from relay.ops.checked import CHECKED, CheckedAttributes


def failure_of(function: Function) -> str | None:
    """What the check that a primitive function makes says when it fails; None where it makes none.

    >>> from relay.ops.build import var
    >>> from relay.ops.checked import checked
    >>> i, inside = var("i", "int32"), var("inside", "bool")
    >>> failure_of(Function((i, inside), checked(i, inside, "the index is out of range")))
    'the index is out of range'
    """
    match function.body:
        case Call(op=Op(operator=operator), attrs=CheckedAttributes(message=message)) if operator is CHECKED:
            return message
        case _:
            return None
