"""Types and passes on a single expression, as tests of passes need them."""

from __future__ import annotations

from collections.abc import Callable

from relay.driver.program import given_program
from relay.infer.infer_type import infer_type
from relay.ir.expr import Expr, Function
from relay.ir.module import IRModule


def run_infer_type(expr: Expr) -> Expr:
    """`expr` with the types that inference finds.

    >>> import relay
    >>> x = relay.var("x", shape=(3,))
    >>> run_infer_type(relay.Function([x], x + x)).checked_type.ret_type.concrete_shape
    (3,)
    """
    return run_opt_pass(expr, infer_type)


def run_opt_pass(expr: Expr, opt_pass: Callable[[IRModule], IRModule]) -> Expr:
    """What a pass makes of `expr`: of a function, or of a body whose free variables stay free.

    >>> import relay
    >>> run_opt_pass(relay.const(1) + relay.const(2), relay.transform.FoldConstant())
    3
    """
    module, _ = given_program(expr)
    main = opt_pass(infer_type(module))["main"]
    return main if isinstance(expr, Function) else main.body
