"""Leave out what nobody needs: DeadCodeElimination.

    before: let %a = exp(%x); let %r = ref(%x); let %u = ref_write(%r, %a); let %t = @trace(%x); multiply(%x, %x)
    after:  let %t = @trace(%x); multiply(%x, %x)                                  (@trace may not end, so it is called)

A binding goes when its variable is not used and nobody can tell that its value was not computed: what writes, fails,
draws random numbers, may not end or checks an extent stays. A ref that is only written to goes with its writes. A value
that depends on when it is computed (it reads a ref) goes only if no other place computes it too, so no evaluation is
moved. Floating point: EXACT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

from relay.analysis.call_graph import call_graph
from relay.analysis.effects import Effects, ModuleEffects
from relay.ir.expr import Expr, Function, Let, RefCreate, RefWrite, Tuple, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rebuild_from, typed_as, with_body
from relay.ir.traversal import LEAVES, body_nodes, children, post_order
from relay.normalize.needed import Needed, with_checks
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass


@module_pass(level=1)
def DeadCodeElimination(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Leave out what nobody needs, in every function but kernels."""
    effects, graph = ModuleEffects(module), call_graph(module)
    called = {callee for callees in graph.callees.values() for callee in callees}
    functions = dict(module.functions)
    for group in graph.components:  # callees first: a call of what does less by now may go
        after = {name: _unless_kernel(functions[name], module, effects) for name in group}
        if any(name in called and after[name] is not functions[name] for name in group):
            effects.change(after, group[0] in graph.recursive)
        functions |= after
    return module.with_functions(functions)


def _unless_kernel(function: Function, module: IRModule, effects: ModuleEffects) -> Function:
    return function if function.attrs.get("Primitive") else without_dead_code(function, module, effects)


def without_dead_code(function: Function, module: IRModule, effects: ModuleEffects) -> Function:
    """A function of a module without what nobody needs; the same function if all is needed."""
    after = _without_dead_code(function, module, effects)
    while after is not function and any(isinstance(node, RefCreate) for node in post_order(after.body)):
        function = after  # a ref may be needed only by what has gone
        after = _without_dead_code(function, module, effects)
    return after


def _without_dead_code(function: Function, module: IRModule, effects: ModuleEffects) -> Function:
    nodes = body_nodes(function)
    needed = Needed(nodes, Removable(nodes, effects.of_nodes(function.body), module))
    needed.mark(function.body)
    dead = {node for node in nodes if isinstance(node, Let) and not needed.is_kept(node)}
    writes = _writes_nobody_sees(nodes, needed)
    if not dead and not writes:
        return function
    new: dict[Expr, Expr] = {}
    for node in nodes:
        if isinstance(node, Let) and node in dead:
            new[node] = new[node.body]
        elif node in writes:
            new[node] = typed_as(Tuple((), span=node.span), node)
        else:
            new[node] = rebuild_from(node, new)
    return with_body(function, new[function.body])


class Removable:
    """Which parts of a function may be left out where nobody uses their value. `effects` are those of its nodes."""

    def __init__(self, nodes: Sequence[Expr], effects: Mapping[Expr, Effects], module: IRModule) -> None:
        self.nodes = nodes
        self.effects = effects
        self.checked = with_checks(nodes, module)
        self._known: dict[Expr, bool] = {}

    def __call__(self, value: Expr) -> bool:
        """Whether nobody can tell that `value` was not computed."""
        known = self._known.get(value)
        if known is None:
            effects = self.effects[value]
            known = effects.is_removable and value not in self.checked
            if known and not effects.is_repeatable:
                known = self._is_computed_here_only(value)
            self._known[value] = known
        return known

    @cached_property
    def _uses(self) -> Counter[Expr]:
        return Counter(part for node in self.nodes for part in children(node))

    def _is_computed_here_only(self, value: Expr) -> bool:
        """Whether nothing in `value` stands elsewhere too, where it would be computed later if not here."""
        inside = [node for node in post_order(value) if not isinstance(node, LEAVES)]
        within = Counter(part for node in inside for part in children(node))
        return self._uses[value] == 1 and all(self._uses[node] == within[node] for node in inside if node is not value)


def _writes_nobody_sees(nodes: Sequence[Expr], needed: Needed) -> set[Expr]:
    """The writes to refs that are made here and that nothing else is done with. What is written must be
    something that may be left out."""
    local = {node.var for node in nodes if isinstance(node, Let) and isinstance(node.value, RefCreate)}
    writes: list[RefWrite] = []
    for node in nodes:
        if isinstance(node, RefWrite) and isinstance(node.ref, Var):
            writes.append(node)
            can_go = isinstance(node.value, LEAVES) or needed.is_removable(node.value)
            if node.value is node.ref or not can_go:
                local.discard(node.ref)
            if isinstance(node.value, Var):
                local.discard(node.value)
        else:
            local.difference_update(part for part in children(node) if isinstance(part, Var))
    return {write for write in writes if write.ref in local}
