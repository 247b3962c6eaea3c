"""Gather operators into groups that one kernel computes: FuseOps.

    before: %0 = nn.conv2d(%x, %w); %1 = add(%0, %b); nn.relu(%1)
    after:  %0 = fn (%p0, %p1, %p2, Primitive=1) { nn.relu(add(nn.conv2d(%p0, %p1), %p2)) }; %0(%x, %w, %b)

    before: %0 = exp(%x); (%0, tanh(%0))
    after:  %0 = fn (%p0, Primitive=1) { %1 = exp(%p0); (%1, tanh(%1)) }; %2 = %0(%x); (%2.0, %2.1)

First groups grow along the data flow (`vertical`): elementwise work behind a heavy operator or a reduction, injective
work in front of anything up to a reduction and in front of a convolution that copies its data anyhow, chains of
reductions over the same rows. Then groups of one iteration space are joined into groups of several outputs (`outputs`).
A group has at most one heavy operator (or a depthwise convolution and the 1×1 one that joins its channels), and
computes nothing twice.

Every scope (function body, branch, clause) is fused by itself: a group never crosses `let`, branches or closures. Does
not look into functions that are primitive already. Floating point: EXACT.
"""

from __future__ import annotations

from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.fusion.graph import fusion_graph
from relay.transform.fusion.outputs import join_outputs
from relay.transform.fusion.rebuild import rebuilt
from relay.transform.fusion.tuples import opened_tuples
from relay.transform.fusion.vertical import (
    arithmetic_with_product,
    depthwise_with_pointwise,
    heavy_with_elementwise,
    injective_with_padding,
    injective_with_reduction,
    layout_before_attention,
    layout_before_convolution,
    layout_behind_attention,
    layout_behind_convolution,
    reduction_with_arithmetic,
    rows_in_cache,
)

_PHASES = (
    layout_behind_attention,
    heavy_with_elementwise,
    depthwise_with_pointwise,
    layout_behind_convolution,
    reduction_with_arithmetic,
    injective_with_reduction,
    rows_in_cache,
    injective_with_padding,
    layout_before_convolution,
    arithmetic_with_product,
    layout_before_attention,
)


@function_pass(level=0)
def FuseOps(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Make every operator call of a function part of a primitive function; below level 1, each one of its own."""
    if function.attrs.get("Primitive"):
        return function
    function = opened_tuples(function)
    graph = fusion_graph(function.body)
    if context.opt_level >= 1:
        for phase in _PHASES:
            for node in graph.nodes:
                phase(node, context.fusion)
        join_outputs(graph, context.fusion)
    return rebuilt(function, graph) if graph.nodes else function
