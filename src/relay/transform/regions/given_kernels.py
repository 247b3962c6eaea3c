"""Functions that a program marks as kernels itself, before anything is fused.

A mark `Primitive` stays on a function that one kernel can be: it is closed, called where it stands, and its body is
calls of operators alone. What FuseOps made is. From all others the mark is taken, so that they are optimized and fused
as what they are; so it is from a region that no PartitionGraph made a function of its own. Floating point: EXACT.
"""

from __future__ import annotations

from relay.ir.expr import Call, Constant, Expr, Function, Op, Tuple, TupleGetItem, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.traversal import body_nodes, children
from relay.ir.types import TensorType
from relay.ops.framework.record import FromTypes, OperatorRecord
from relay.transform.regions.regions import COMPILER

PRIMITIVE = "Primitive"


def with_possible_kernels(module: IRModule) -> IRModule:
    """`module` where only what can be a kernel is marked as one; the same module when nothing changes."""
    functions = {
        name: function if COMPILER in function.attrs else _unmarked_inside(function.without_attr(PRIMITIVE))
        for name, function in module.functions.items()
    }
    changed = any(functions[name] is not function for name, function in module.functions.items())
    return module.with_functions(functions) if changed else module


def _unmarked_inside(function: Function) -> Function:
    nodes = body_nodes(function)
    marked = {node for node in nodes if isinstance(node, Function) and PRIMITIVE in node.attrs}
    if not marked:
        return function
    kept = {each for each in marked if is_kernel(each)}
    for node in nodes:
        used = node.args if isinstance(node, Call) else children(node)
        kept.difference_update(part for part in used if isinstance(part, Function))
    if kept == marked:
        return function
    wrong = marked - kept

    def step(before: Expr, after: Expr) -> Expr:
        return after.without_attr(PRIMITIVE) if before in wrong and isinstance(after, Function) else after

    return rewrite_nodes(function, step)


def is_kernel(function: Function) -> bool:
    """Whether the body of a closed function is operators alone, which one kernel can compute."""
    nodes = body_nodes(function)
    calls = [node for node in nodes if isinstance(node, Call)]
    results = function.body.fields if isinstance(function.body, Tuple) else (function.body,)
    return (
        COMPILER not in function.attrs
        and all(isinstance(parameter.checked_type, TensorType) for parameter in function.params)
        and all(isinstance(result, Call) for result in results)
        and all(_fits(node, function) for node in nodes)
        and (len(calls) == 1 or all(_record(call).extents == FromTypes() for call in calls))
    )


def _record(call: Call) -> OperatorRecord:
    assert isinstance(call.op, Op)
    assert isinstance(call.op.operator, OperatorRecord)
    return call.op.operator


def _fits(node: Expr, function: Function) -> bool:
    match node:
        case Call(op=Op(operator=OperatorRecord(compute=compute))):
            return callable(compute)
        case Constant(data=data):
            return data.size <= 1
        case Var():
            return node in function.params
        case _:
            return isinstance(node, Op | Tuple | TupleGetItem)
