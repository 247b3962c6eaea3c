"""What native code cannot run yet, said in one way."""

from __future__ import annotations

from relay.base.diagnostics import RelayError
from relay.ir.expr import Expr


def not_native(expr: Expr, what: str) -> RelayError:
    """The refusal of a function that does `what`."""
    return RelayError(
        rule="not-native-yet",
        message=f"the function {what}, which native code cannot run yet",
        span=expr.span,
        remedy='run it with relay.create_executor("interpreter")',
    )


def not_crossing(expr: Expr, what: str) -> RelayError:
    """The refusal of what is generic between a program and its caller."""
    return RelayError(
        rule="generic-at-boundary",
        message=f"{what}, and what is generic cannot cross the boundary of native code",
        span=expr.span,
        expected="values and functions whose types are written out",
        remedy="annotate the function with the types that it is called with",
    )
