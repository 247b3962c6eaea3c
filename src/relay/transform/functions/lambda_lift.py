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

from dataclasses import field

from relay.base.fresh_names import FreshNames
from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes, typed_as
from relay.ir.traversal import post_order
from relay.ir.type_variables import free_type_vars
from relay.ir.types import TypeVar
from relay.ir.variables import free_vars
from relay.normalize.basic_block_normal_form import to_basic_block_normal_form
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.extents import copied
from relay.transform.functions.known_functions import tells_extents


@module_pass(level=1)
def LambdaLift(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Make every function inside a function global."""
    lifting = _Lifting(FreshNames(module.__contains__))
    changed = {name: lifting.without_inner(name, function) for name, function in module.functions.items()}
    return module.with_functions({**changed, **lifting.made}) if lifting.made else module


@frozen
class _Lifting:
    names: FreshNames
    made: dict[GlobalVar, Function] = field(default_factory=dict)

    def without_inner(self, name: GlobalVar, function: Function) -> Function:
        if "Compiler" in function.attrs or not any(map(_is_liftable, post_order(function.body))):
            return function
        function = to_basic_block_normal_form(function)
        own = {node.value: node.var for node in post_order(function.body) if isinstance(node, Let)}

        def step(node: Expr, rebuilt: Expr) -> Expr:
            if isinstance(rebuilt, Function) and _is_liftable(rebuilt) and tells_extents(rebuilt, own.get(node)):
                return self._maker(rebuilt, own.get(node), name)
            return rebuilt

        return rewrite_nodes(function, step)

    def _maker(self, function: Function, own: Var | None, outer: GlobalVar) -> Expr:
        """What stands for a function: the global one that it becomes, or the call that makes its closure."""
        name = GlobalVar(self.names.take(f"{outer.name_hint}_{own.name_hint if own else 'fn'}"))
        captures = tuple(var for var in free_vars(function) if var is not own)
        maker: Expr = Call(name, captures, span=function.span) if captures else name
        if own is not None:
            function = rewrite_nodes(function, lambda _, new: maker if new is own else new)
        if captures:
            lifted = Function(captures, function.with_attr("Closure", 1), span=function.span)
        else:
            lifted = function
        self.made[name] = copied(_quantified(lifted, (*captures, function)))
        return typed_as(maker, function)


def _is_liftable(node: Expr) -> bool:
    return isinstance(node, Function) and not node.attrs.get("Primitive") and not node.attrs.get("Closure")


def _quantified(function: Function, typed: tuple[Expr, ...]) -> Function:
    """The function, generic in the type variables of its surroundings."""
    own = {each for node in post_order(function) if isinstance(node, Function) for each in node.type_params}
    around: dict[TypeVar, None] = {}
    for each in typed:
        if each.checked_type is not None:
            around.update((variable, None) for variable in free_type_vars(each.checked_type) if variable not in own)
    type_params = (*around, *function.type_params)
    return Function(function.params, function.body, function.ret_type, type_params, function.attrs, span=function.span)
