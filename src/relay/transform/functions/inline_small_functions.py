"""Put the bodies of small functions where they are called: InlineSmallFunctions.

    before: def @square(%a: float32) { multiply(%a, %a) }    def @main(%x: float32) { add(@square(tanh(%x)), %x) }
    after:  def @main(%x: float32) { %0 = tanh(%x); add(multiply(%0, %0), %x) }            (@square stays)

A function is put in place when it is small, called in one place only, or marked; Inline, which does so with those that
are marked alone, says which are not. So constants that are handed to a function are constants in its body. Floating
point: EXACT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container

from relay.ir.expr import Call, Function, GlobalVar
from relay.ir.module import IRModule
from relay.ir.traversal import body_nodes
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.budgets import BUDGETS
from relay.transform.functions.inline import calls_in_place, is_marked


@module_pass(level=2)
def InlineSmallFunctions(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Put the bodies of small functions where they are called."""
    named = Counter(node for function in module.functions.values() for node in _named(function))

    def wanted(name: GlobalVar, callee: Function) -> bool:
        return named[name] == 1 or is_marked(callee) or len(body_nodes(callee)) <= BUDGETS.inlined_nodes

    return calls_in_place(module, wanted)


def lone_calls_in_place(module: IRModule, kept: Container[GlobalVar] = ()) -> IRModule:
    """The module with the bodies of functions that are called in one place only there, but for those `kept`: no code is
    copied."""
    named = Counter(node for function in module.functions.values() for node in _named(function))
    return calls_in_place(module, lambda name, _: named[name] == 1 and name not in kept)


def _named(function: Function) -> list[GlobalVar]:
    """Every place in a function that names a global one."""
    places: list[GlobalVar] = []
    for node in body_nodes(function):
        if isinstance(node, Call):
            places += [part for part in (node.op, *node.args) if isinstance(part, GlobalVar)]
    return places
