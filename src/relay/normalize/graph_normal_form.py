"""Make names into edges: graph normal form of the pure bindings.

    before: let %a = exp(%x); let %b = add(%a, %a); multiply(%b, %a)
    after:  %0 = exp(%x); %1 = add(%0, %0); multiply(%1, %0)

What is bound once is one shared node, evaluated once, so nothing is computed twice; what is bound only to be the result
is the result. Stays bound: a value with an effect, one that may not end, one whose annotation says something else than
its type, one that nobody uses and that checks an extent, a function (which may call itself), and what a
function inside uses: shared, it would be computed whenever that function is called, in every turn of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from relay.analysis.effects import Effects, ModuleEffects
from relay.base.graph import post_order
from relay.ir.expr import Constant, Constructor, Expr, Function, GlobalVar, Let, Op, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rebuild_from, with_body
from relay.ir.traversal import body_nodes, children
from relay.ir.variables import free_vars
from relay.normalize.needed import Needed, with_checks


def to_graph_normal_form(function: Function) -> Function:
    """The function with its pure let bindings replaced by sharing; the same function if it has none."""
    nodes = body_nodes(function)
    lets = [node for node in nodes if isinstance(node, Let)]
    if not lets:
        return function
    captured, kept = _captured(nodes), _kept_for_checks(function, nodes, lets)
    effects = ModuleEffects(IRModule()).of_nodes(function.body)
    bound = {
        let.var: let.value
        for let in lets
        if let not in kept and (let.var not in captured or _costs_nothing(let.value)) and _becomes_an_edge(let, effects)
    }
    if not bound and not any(_is_end(let, let.body) for let in lets):
        return function
    new: dict[Expr, Expr] = {}
    for node in post_order([function.body], _edges(bound)):
        if isinstance(node, Var):
            new[node] = new[bound[node]] if node in bound else node
        elif isinstance(node, Let) and node.var in bound:
            new[node] = new[node.body]
        elif isinstance(node, Let) and _is_end(node, new[node.body]):
            new[node] = new[node.value]
        else:
            new[node] = rebuild_from(node, new)
    return with_body(function, new[function.body])


def _edges(bound: dict[Var, Expr]) -> Callable[[Expr], tuple[Expr, ...]]:
    """The parts of a node, where a bound variable has its value as its part, and its let only the body."""

    def parts(node: Expr) -> tuple[Expr, ...]:
        if isinstance(node, Var):
            return (bound[node],) if node in bound else ()
        if isinstance(node, Let) and node.var in bound:
            return (node.body,)
        return children(node)

    return parts


def _captured(nodes: Sequence[Expr]) -> set[Var]:
    """The variables that a function among the nodes uses and does not bind."""
    found: set[Var] = set()
    for node in nodes:
        if isinstance(node, Function) and not node.attrs.get("Primitive"):
            found.update(free_vars(node))
    return found


def _kept_for_checks(function: Function, nodes: Sequence[Expr], lets: Sequence[Let]) -> set[Let]:
    """The lets whose value nobody uses, but which check an extent."""
    checking = with_checks(nodes, IRModule())
    if not checking:
        return set()
    needed = Needed(nodes, lambda value: value not in checking)
    needed.mark(function.body)
    return {let for let in lets if let.var not in needed.vars and needed.is_kept(let)}


def _costs_nothing(value: Expr) -> bool:
    return isinstance(value, Var | Constant | GlobalVar | Op | Constructor)


def _becomes_an_edge(let: Let, effects: Mapping[Expr, Effects]) -> bool:
    if isinstance(let.value, Function) or not _says_its_type(let):
        return False
    found = effects[let.value]
    return found.is_removable and found.is_repeatable


def _is_end(let: Let, body: Expr) -> bool:
    """Whether a value is bound only to be the result, where `body` stands for the body."""
    is_result = body is let.var and let.checked_type == let.value.checked_type
    return is_result and not isinstance(let.value, Function) and _says_its_type(let)


def _says_its_type(let: Let) -> bool:
    """Whether the variable has no annotation, or one that says the type of the value."""
    return let.var.type_annotation in (None, let.value.checked_type)
