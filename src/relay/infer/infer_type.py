"""The types of whole programs."""

from __future__ import annotations

from relay.base.graph import strongly_connected
from relay.infer.kinds import check_kind
from relay.infer.lets import announced
from relay.infer.own_functions import with_own_functions
from relay.infer.walk import Inference
from relay.ir.expr import Expr, Function, GlobalVar
from relay.ir.module import IRModule
from relay.ir.traversal import post_order


def infer_type(module: IRModule) -> IRModule:
    """`module` with the type of every node found (`node.checked_type`). Only nodes without a type are looked at, so
    it costs O(new nodes). Groups of functions that call each other are inferred together, callees first. Functions
    inside that have no annotations are copied before, since another program may use them at other types.

    Raises `RelayError` (rules `arity`, `argument-type`, `branch-mismatch`, `unresolved-types`, ... and those of the
    operators' relations); then nothing has been written.

    >>> from relay.ir.expr import Var
    >>> from relay.ir.types import scalar_type
    >>> x = Var("x", scalar_type("float32"))
    >>> print(infer_type(IRModule.from_expr(Function((x,), x)))["main"].checked_type)
    fn (float32) -> float32
    """
    inference = Inference(module.type_definitions)
    for data in module.type_definitions.values():
        check_kind(data, module)
    given = {name: function for name, function in module.functions.items() if function.checked_type is None}
    fresh = {name: with_own_functions(function) for name, function in given.items()}
    if any(fresh[name] is not function for name, function in given.items()):
        module = module.with_functions({**module.functions, **fresh})
    for name, function in module.functions.items():
        if function.checked_type is not None:
            inference.signatures[name] = (function.checked_type, True)
    called = {name: _calls(function, fresh) for name, function in fresh.items()}
    for group in strongly_connected(fresh, called.__getitem__):
        recursive = any(name in called[name] for name in group) or len(group) > 1
        _infer_group(inference, {name: fresh[name] for name in group}, recursive)
    inference.record()
    return module


def _calls(function: Function, among: dict[GlobalVar, Function]) -> tuple[GlobalVar, ...]:
    found = (node for node in post_order(function) if isinstance(node, GlobalVar) and node in among)
    return tuple(dict.fromkeys(found))


def _infer_group(inference: Inference, group: dict[GlobalVar, Function], recursive: bool) -> None:
    if recursive:
        for name, function in group.items():
            inference.signatures[name] = announced(inference, function, f"@{name.name_hint}")
    for name, function in group.items():
        inference.walk(function)
        assumed, declared = inference.signatures.get(name, (None, True))
        if assumed is not None and not declared:
            inference.same_type(function, assumed)
    inference.finish(group.values())
    for name, function in group.items():
        inference.signatures[name] = (inference.final_type(function), True)


def infer_type_expr(expr: Expr, module: IRModule | None = None) -> Expr:
    """`expr` with the type of every node found. Its free variables have the types of their annotations; it may use
    the functions and data types of `module`.

    >>> from relay.ir.expr import Tuple
    >>> print(infer_type_expr(Tuple(())).checked_type)
    ()
    """
    surroundings = infer_type(module or IRModule())
    inference = Inference(surroundings.type_definitions)
    for name, function in surroundings.functions.items():
        if function.checked_type is not None:
            inference.signatures[name] = (function.checked_type, True)
    inference.walk(expr)
    inference.type_of(expr)
    inference.finish()
    inference.record()
    return expr
