"""`relay.transform.gradient`: the gradient of a function as one function, as Relay has it."""

from __future__ import annotations

from relay.base.arguments import expect
from relay.base.diagnostics import RelayError
from relay.base.span import caller_span
from relay.infer.infer_type import infer_type
from relay.ir.expr import EXPRESSION, Expr, Function, GlobalVar
from relay.ir.module import IRModule
from relay.transform.functions.remove_unused_functions import MAIN
from relay.transform.gradients.apply_transformations import ApplyTransformations
from relay.transform.gradients.derivatives import value_and_cotangents


def gradient(expr: Expr, mod: IRModule | None = None, mode: str = "higher_order") -> Function:
    """The function that gives the value of `expr` and its gradient: `fn (args) -> (value, (gradients,))`, as Relay
    has it. `expr` is a function, or the name of one in `mod`; both modes mean the same.

    Raises `RelayError`: those of `value_and_cotangents`, and `needs-module` where the gradient takes functions or data
    types of its own: ask for that of a module then, `relay.value_and_grad(module)`.
    """
    expect(expr, EXPRESSION, "what is differentiated")
    if mode not in ("higher_order", "first_order"):
        raise RelayError(
            rule="wrong-argument", message="no such mode of differentiation", found=repr(mode), span=caller_span(),
            expected="higher_order or first_order",
        )  # fmt: skip
    module = mod or IRModule()
    function = module[expr] if isinstance(expr, GlobalVar) else expr
    before = IRModule.from_expr(function).functions[MAIN]
    applied = ApplyTransformations(infer_type(module.with_function(MAIN, before)))
    made = value_and_cotangents(applied, range(len(before.params)))
    own = [name for name in made if name not in module and name != MAIN]
    if own:
        raise RelayError(
            rule="needs-module", message="the gradient takes functions of its own", span=caller_span(),
            found=", ".join(f"@{name.name_hint}" for name in own), remedy="relay.value_and_grad(module) has them",
        )  # fmt: skip
    return made[MAIN]
