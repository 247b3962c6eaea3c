"""Make functions of names that are used as values: EtaExpand.

    before: @map(Some, %xs)                     @map(@square, %xs)
    after:  @map(fn (%a0) { Some(%a0) }, %xs)   @map(fn (%x) { @square(%x) }, %xs)

A constructor, an operator or a global function that stands where it is not called becomes a function that calls it:
afterwards all constructors and operators are applied, and all globals are callees. Floating point: EXACT.
"""

from __future__ import annotations

from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Op, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite
from relay.ir.traversal import children, rebuild
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, function_pass, pass_factory


@pass_factory
def EtaExpand(expand_constructor: bool = True, expand_global_var: bool = True) -> Pass:
    """Make functions of names that are used as values.

    For constructors and operators, for global functions, or for both.
    """

    @function_pass(level=1)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        def value(expr: Expr) -> Expr:
            match expr:
                case Constructor(inputs=inputs) if expand_constructor and inputs:
                    return _calling(expr, tuple(Var(f"a{i}") for i in range(len(inputs))))
                case Op(operator) if expand_constructor:
                    return _calling(expr, tuple(map(Var, operator.inputs)))
                case GlobalVar() if expand_global_var and expr in module:
                    return _calling(expr, tuple(Var(each.name_hint) for each in module[expr].params))
                case _:
                    return expr

        def step(expr: Expr) -> Expr:
            parts = children(expr)
            called = 1 if isinstance(expr, Call) else 0
            return rebuild(expr, (*parts[:called], *map(value, parts[called:])))

        body = value(rewrite(function.body, step))
        return function if body is function.body else _with_body(function, body)

    return run


def _calling(callee: Expr, params: tuple[Var, ...]) -> Function:
    return Function(params, Call(callee, params), span=callee.span)


def _with_body(function: Function, body: Expr) -> Function:
    """Without a type: that of what is new in the body is still to be found."""
    return Function(function.params, body, function.ret_type, function.type_params, function.attrs, span=function.span)
