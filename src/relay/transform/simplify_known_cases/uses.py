"""How often the variables of a function in A-normal form are used, and which functions are called in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from relay.arith.expr import Symbol
from relay.ir.expr import Call, Expr, Function, Let, Var
from relay.ir.traversal import children, post_order
from relay.ir.type_traversal import type_symbols
from relay.ir.types import FuncType
from relay.ir.variables import free_vars
from relay.transform.partial_evaluate.functions import has_extents_of


@dataclass(slots=True, eq=False)
class Uses:
    """`entered`: the functions that are bound, and called in one place. `direct`: the calls of functions that stand
    there, by identity. `opaque`: functions into which nobody looks, by identity."""

    counts: Counter[Var]
    entered: Mapping[Var, Function]
    direct: frozenset[int]
    opaque: frozenset[int]

    def of(self, atom: Expr) -> int:
        return self.counts[atom] if isinstance(atom, Var) else 0

    def add(self, atom: Expr, times: int) -> None:
        if isinstance(atom, Var):
            self.counts[atom] += times


def uses_of(function: Function) -> Uses:
    """What one look at a function tells."""
    nodes = post_order(function.body)
    places = [part for node in nodes for part in children(node)] + [function.body]
    counts = Counter(part for part in places if isinstance(part, Var))
    times = Counter(id(part) for part in places if isinstance(part, Function))
    functions = [node for node in nodes if isinstance(node, Function)]
    opaque = frozenset(id(each) for each in functions if each.attrs or times[id(each)] > 1)
    kept = {var for each in functions if id(each) in opaque for var in free_vars(each)}
    type_ = function.checked_type
    symbols = frozenset(type_symbols(type_)) if type_ is not None else frozenset[Symbol]()
    bound = {
        node.var: node.value
        for node in nodes
        if isinstance(node, Let) and isinstance(node.value, Function) and id(node.value) not in opaque
        and counts[node.var] == 1 and node.var not in kept
    }  # fmt: skip
    calls = [node for node in nodes if isinstance(node, Call)]
    entered = {
        call.op: bound[call.op] for call in calls
        if isinstance(call.op, Var) and call.op in bound and _stands_for(bound[call.op], call, symbols)
    }  # fmt: skip
    inside = {id(part) for each in functions if id(each) in opaque for part in post_order(each)}
    direct = frozenset(
        id(call) for call in calls
        if isinstance(call.op, Function) and id(call.op) not in opaque and id(call) not in inside
        and _stands_for(call.op, call, symbols)
    )  # fmt: skip
    return Uses(counts, entered, direct, opaque)


def _stands_for(function: Function, call: Call, symbols: frozenset[Symbol]) -> bool:
    """Whether the body of a function may take the place of its call: all types are the same, and no extent is
    checked."""
    type_ = function.checked_type
    if not isinstance(type_, FuncType) or function.type_params or not has_extents_of(type_, symbols):
        return False
    if function.body.checked_type != call.checked_type or type_.ret_type != call.checked_type:
        return False
    given = [each.checked_type for each in call.args]
    return given == list(type_.arg_types) and [each.checked_type for each in function.params] == given
