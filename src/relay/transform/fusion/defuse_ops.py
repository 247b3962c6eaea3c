"""Put the operators of kernels back where the kernels are called: DefuseOps, the inverse of FuseOps.

    before: fn (%p0, %p1, Primitive=1) { nn.relu(nn.dense(%p0, %p1)) }(%x, %w)
    after:  nn.relu(nn.dense(%x, %w))

Stays: a kernel given to another compiler, one that is no call, and a call some argument of which has an effect or is
dropped by the kernel (its place among effects would be another, or none). Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Callable

from relay.analysis.effects import NONE, ModuleEffects
from relay.base.graph import post_order as graph_post_order
from relay.ir.expr import Call, Expr, Function
from relay.ir.module import IRModule
from relay.ir.rewriting import rebuild_from, with_body
from relay.ir.traversal import LEAVES, body_nodes, children
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.functions.extents import copied


@function_pass(level=0)
def DefuseOps(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Put the operators of kernels back where the kernels are called."""
    if function.attrs.get("Primitive"):
        return function
    return calls_put_in_place(function, module, lambda callee: bool(callee.attrs.get("Primitive")))


def calls_put_in_place(function: Function, module: IRModule, wanted: Callable[[Function], bool]) -> Function:
    """`function` with the bodies of the functions that `wanted` names where these are called, but for those of another
    compiler. The same function when there are none."""
    nodes = _nodes(function.body)
    calls = [node for node in nodes if isinstance(node, Call) and isinstance(node.op, Function)]
    candidates = [node for node in calls if "Compiler" not in node.op.attrs and wanted(node.op)]  # type: ignore[union-attr]
    if not candidates:
        return function
    effects = ModuleEffects(module).of_nodes(function.body)
    chosen = {
        call for call in candidates
        if isinstance(call.op, Function) and _uses_all(call.op, call.args)
        and all(isinstance(each, LEAVES) or effects[each] == NONE for each in call.args)
    }  # fmt: skip
    new: dict[Expr, Expr] = {}
    placed: set[Function] = set()
    for node in nodes:
        if node in chosen and isinstance(node.op, Function):
            callee = copied(node.op) if node.op in placed else node.op
            placed.add(node.op)
            new[node] = _in_place(callee, [new[argument] for argument in node.args])
        else:
            new[node] = rebuild_from(node, new, _parts)
    changed = with_body(function, new[function.body])
    return changed if changed is function else calls_put_in_place(changed, module, wanted)


def _parts(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a node, but for the bodies of kernels and of what other compilers take."""
    opaque = isinstance(expr, Function) and (expr.attrs.get("Primitive") or "Compiler" in expr.attrs)
    return () if opaque else children(expr)


def _nodes(body: Expr) -> list[Expr]:
    return graph_post_order((body,), _parts)


def _uses_all(function: Function, args: tuple[Expr, ...]) -> bool:
    """Whether every argument that is computed is used, and its type is the parameter's."""
    used = set(body_nodes(function))
    return all(
        (isinstance(arg, LEAVES) or param in used) and param.checked_type == arg.checked_type
        for param, arg in zip(function.params, args, strict=True)
    )


def _in_place(function: Function, args: list[Expr]) -> Expr:
    inner = dict[Expr, Expr](zip(function.params, args, strict=True))
    for node in _nodes(function.body):
        if node not in inner:
            inner[node] = rebuild_from(node, inner, _parts)
    return inner[function.body]
