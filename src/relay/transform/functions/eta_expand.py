"""Make functions of names that are used as values: EtaExpand.

    before: @map(Some, %xs)                     @map(@square, %xs)
    after:  @map(fn (%a0) { Some(%a0) }, %xs)   @map(fn (%x) { @square(%x) }, %xs)

A constructor, an operator or a global function that stands where it is not called becomes a function that calls it:
afterwards all constructors and operators are applied, and all globals are callees. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Let, Op, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite
from relay.ir.traversal import children, rebuild
from relay.ir.type_traversal import instantiated
from relay.ir.types import FuncType, Type, TypeVar
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, function_pass, pass_factory


@pass_factory
def EtaExpand(
    expand_constructor: bool = True, expand_global_var: bool = True, expand_operator: bool | None = None
) -> Pass:
    """Make functions of names that are used as values.

    For constructors, for global functions, for operators; for these with constructors, if nothing is said of them.
    """
    operators = expand_constructor if expand_operator is None else expand_operator

    @function_pass(level=0)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        def value(expr: Expr, wanted: Type | None = None) -> Expr:
            match expr:
                case Constructor(inputs=inputs) if expand_constructor and inputs:
                    return _calling(expr, [f"a{i}" for i in range(len(inputs))], wanted)
                case Op(operator) if operators:
                    return _calling(expr, operator.inputs, wanted, operator.attributes())
                case GlobalVar() if expand_global_var and expr in module:
                    return _calling(expr, [each.name_hint for each in module[expr].params], wanted)
                case _:
                    return expr

        def step(expr: Expr) -> Expr:
            if isinstance(expr, Let):
                return rebuild(expr, (value(expr.value, expr.var.type_annotation), value(expr.body)))
            parts = children(expr)
            called = 1 if isinstance(expr, Call) else 0
            return rebuild(expr, (*parts[:called], *map(value, parts[called:])))

        body = value(rewrite(function.body, step))
        return function if body is function.body else _with_body(function, body)

    return run


def _calling(callee: Expr, names: Sequence[str], wanted: Type | None, attributes: Attributes | None = None) -> Function:
    """The function that calls `callee`, of the type `wanted` where that works for every type: it must say so itself."""
    if not isinstance(wanted, FuncType) or not wanted.type_params:
        params = tuple(map(Var, names))
        return Function(params, Call(callee, params, attributes), span=callee.span)
    own = {each: TypeVar(each.name, each.kind) for each in wanted.type_params}
    typed = [instantiated(each, own) for each in (*wanted.arg_types, wanted.ret_type)]
    params = tuple(map(Var, names, typed))
    return Function(params, Call(callee, params, attributes), typed[-1], tuple(own.values()), span=callee.span)


def _with_body(function: Function, body: Expr) -> Function:
    """Without a type: that of what is new in the body is still to be found."""
    return Function(function.params, body, function.ret_type, function.type_params, function.attrs, span=function.span)
