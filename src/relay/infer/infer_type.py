"""The types of whole programs."""

from __future__ import annotations

from relay.base.diagnostics import Origin
from relay.base.graph import strongly_connected
from relay.infer.environment import Environment, Signature
from relay.infer.forms.lets import announced
from relay.infer.forms.node_types import NodeTypes
from relay.infer.forms.walk import walk
from relay.infer.kinds import check_kind
from relay.infer.own_functions import with_own_functions
from relay.infer.unification.explain import mismatch_error
from relay.infer.unification.generalise import open_leaves, quantified
from relay.infer.unification.unify import Mode
from relay.ir.expr import Expr, Function, GlobalVar
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ir.types import FuncType, Type


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
    for data in module.type_definitions.values():
        check_kind(data, module)
    functions = module.functions.items()
    fresh = {name: with_own_functions(function) for name, function in functions if function.checked_type is None}
    module = module.with_functions({**module.functions, **fresh})
    nodes = NodeTypes(Environment(module.type_definitions))
    nodes.environment.add_typed(module.functions.items())
    called = {name: _calls(function, fresh) for name, function in fresh.items()}
    for group in strongly_connected(fresh, called.__getitem__):
        recursive = any(name in called[name] for name in group) or len(group) > 1
        _infer_group(nodes, {name: fresh[name] for name in group}, recursive)
    nodes.record()
    return module


def _calls(function: Function, among: dict[GlobalVar, Function]) -> tuple[GlobalVar, ...]:
    found = (node for node in post_order(function) if isinstance(node, GlobalVar) and node in among)
    return tuple(dict.fromkeys(found))


def _infer_group(nodes: NodeTypes, group: dict[GlobalVar, Function], recursive: bool) -> None:
    signatures = nodes.environment.signatures
    if recursive:
        signatures.update((name, announced(nodes, function, f"@{name.name_hint}")) for name, function in group.items())
    for name, function in group.items():
        walk(nodes, function)
        if name in signatures and signatures[name].being_inferred:
            _same_type(nodes, function, signatures[name].type)
    nodes.solver.finish()
    for function in group.values():
        type_ = nodes.of(function)
        if isinstance(type_, FuncType) and not function.type_params:
            nodes.replace(function, quantified(nodes.unifier, type_, open_leaves(nodes.unifier, type_)))
    nodes.finish()
    signatures.update((name, Signature(nodes.of(function))) for name, function in group.items())


def _same_type(nodes: NodeTypes, function: Function, announced: Type) -> None:
    """A function that calls itself has the type that its calls assumed."""
    mismatch = nodes.relate(nodes.of(function), announced, Mode.EXACT, function)
    if mismatch is not None:
        sides = Origin("function", str(nodes.now(function))), Origin("its calls", str(nodes.unifier.zonk(announced)))
        message = "a function calls itself as if it were of another type"
        raise mismatch_error("recursive-type", message, function.span, mismatch, sides, "declare its result type")


def infer_type_expr(expr: Expr, module: IRModule | None = None) -> Expr:
    """`expr` with the type of every node found. Its free variables have the types of their annotations; it may use
    the functions and data types of `module`.

    >>> from relay.ir.expr import Tuple
    >>> print(infer_type_expr(Tuple(())).checked_type)
    ()
    """
    surroundings = infer_type(module or IRModule())
    nodes = NodeTypes(Environment(surroundings.type_definitions))
    nodes.environment.add_typed(surroundings.functions.items())
    walk(nodes, expr)
    nodes.of(expr)
    nodes.solver.finish()
    nodes.finish()
    nodes.record()
    return expr
