"""Make functions inside functions global: LambdaLift (Johnsson 1985).

    before: def @main(%x: float32) { let %f = fn (%y: float32) { add(%x, %y) }; %f(%x) }
    after:  def @main(%x: float32) { let %f = @main_f(%x); %f(%x) }
            def @main_f(%x: float32) { fn (%y: float32, Closure=1) { add(%x, %y) } }

What a function takes from around it becomes the parameters of a global function that gives the closure; one that takes
nothing becomes a global function as it is. A function that calls itself through its let calls the global one. Primitive
functions and closures that are lifted already stay, and so does a function with types of extents of the function around
it which nothing that it takes tells. Values that cross scopes are named first (basic-block normal form),
so that nothing is computed twice. Floating point: EXACT.
"""

from __future__ import annotations

from relay.base.names.fresh_names import FreshNames
from relay.ir.expr import Expr, Function, GlobalVar, Let
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.traversal import body_nodes
from relay.normalize.basic_block_normal_form import to_basic_block_normal_form
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.lifting import Lifting, captures_of, tells_extents


@module_pass(level=1)
def LambdaLift(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Make every function inside a function global."""
    lifting = Lifting(FreshNames(module.__contains__), {})
    changed = {name: _without_inner(name, function, lifting) for name, function in module.functions.items()}
    return module.with_functions({**changed, **lifting.functions}) if lifting.functions else module


def _without_inner(name: GlobalVar, function: Function, lifting: Lifting) -> Function:
    if "Compiler" in function.attrs or not any(map(_is_liftable, body_nodes(function))):
        return function
    function = to_basic_block_normal_form(function)
    bound = {node.value: node.var for node in body_nodes(function) if isinstance(node, Let)}

    def step(node: Expr, rebuilt: Expr) -> Expr:
        own = bound.get(node)
        if not isinstance(rebuilt, Function) or not _is_liftable(rebuilt) or not tells_extents(rebuilt, own):
            return rebuilt
        return lifting.lift_closure(lifting.lifted(name, own, captures_of(rebuilt, own)), rebuilt, own)

    return rewrite_nodes(function, step)


def _is_liftable(node: Expr) -> bool:
    return isinstance(node, Function) and not node.attrs.get("Primitive") and not node.attrs.get("Closure")
