"""Copy functions for the functions that they are given: SpecializeFunctions.

    before: def @main(%k: float32, %xs: List[float32]) { @map(fn (%x: float32) { multiply(%x, %k) }, %xs) }
    after:  def @main(%k: float32, %xs: List[float32]) { @map_main_fn(%k, %xs) }
            def @main_fn(%k: float32, %x: float32) { multiply(%x, %k) }
            def @map_main_fn(%k: float32, %xs: List[float32]) {
              match (%xs) { Cons(%x, %rest) => Cons(@main_fn(%k, %x), @map_main_fn(%k, %rest)), Nil => Nil }
            }                                                                                      (@map stays)

A function that is handed over is known when it is a global one, a constructor, an operator, a function written at the
call or bound by a let, or what a call of a function like `@compose` gives, whose body is a function. What a known
function takes from around it becomes parameters of the copy, where its calls are calls of a global function, without a
closure; so are those of the copy itself. Copies are made once for a function, its types and what is known (Chin and
Darlington, "A Higher-Order Removal Method", 1996). InlineSmallFunctions puts small ones in place afterwards.

It is PartialEvaluate under another policy, which enters nothing, and for which functions are all that is known of
arguments. Not copied for: a parameter that grows at each self-call (`k` where `fn (x) { k(x + 1) }` is handed on);
types that are open or have extents that are no numbers (their calls check extents); functions with attributes. At most
`Budgets.open_copies` copies of a function are made within each other, and all copies together have at most as many
operations as the budget: `relay.SpecializeFunctions.max_nodes`, by default twice the nodes of the program and some
more. Run twice, it may go further where a limit was reached, or where what it removed (it is known, or not needed) was
all that kept a function from being copied. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Container

from relay.base.names.loading import when_called
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Op
from relay.ir.module import IRModule
from relay.ir.traversal import body_nodes
from relay.ir.types import FuncType
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.budgets import BUDGETS

_specialized = when_called("relay.transform.functions.known_values.handing", "specialized")

MAX_NODES = "relay.SpecializeFunctions.max_nodes"


@module_pass(level=2)
def SpecializeFunctions(module: IRModule, context: PassContext) -> IRModule:
    """Copy functions for the functions that they are given."""
    handing = {name for name, each in module.functions.items() if _hands_over_functions(each)}
    callers = [name for name, each in module.functions.items() if _is_caller(name, each, handing)]
    if not callers:
        return module
    budget = context.config.get(MAX_NODES)
    if not isinstance(budget, int):
        budget = BUDGETS.copied_nodes + 2 * sum(len(body_nodes(each)) for each in module.functions.values())
    return _specialized(module, handing, callers, budget)


def _hands_over_functions(function: Function) -> bool:
    """Whether something in a function is called with a function that is not its parameter, or is made by a call."""
    given = frozenset(function.params)
    return any(
        isinstance(node, Call)
        and (isinstance(node.op, Call) or any(_is_function(each) and each not in given for each in node.args))
        for node in body_nodes(function)
    )


def _is_caller(name: GlobalVar, function: Function, handing: Container[GlobalVar]) -> bool:
    """Whether a function, which is no kernel and not generic, hands over functions, or calls one that does."""
    if function.type_params or "Primitive" in function.attrs or "Compiler" in function.attrs:
        return False
    return name in handing or any(isinstance(node, GlobalVar) and node in handing for node in body_nodes(function))


def _is_function(expr: Expr) -> bool:
    return isinstance(expr.checked_type, FuncType) or isinstance(expr, GlobalVar | Constructor | Op)
