"""How often the variables of a function in A-normal form are used, and which functions are called in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from relay.arith.expr import Symbol
from relay.ir.expr import Call, Constant, Expr, Function, If, Let, Match, RefCreate, RefRead, RefWrite, Var
from relay.ir.traversal import children, post_order
from relay.ir.type_traversal import type_symbols
from relay.ir.types import FuncType, RefType
from relay.ir.variables import free_vars
from relay.transform.functions.partial_evaluate.functions import has_extents_of


@dataclass(slots=True, eq=False)
class Uses:
    """`entered`: the functions that are bound, and called in one place. `direct`: the calls of functions that stand
    there. `opaque`: functions into which nobody looks. `refs`: the refs whose contents are
    known wherever they are read."""

    counts: Counter[Var]
    entered: Mapping[Var, Function]
    direct: frozenset[Call]
    opaque: frozenset[Function]
    refs: frozenset[Var]

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
    times = Counter(part for part in places if isinstance(part, Function))
    functions = [node for node in nodes if isinstance(node, Function)]
    opaque = frozenset(each for each in functions if each.attrs or times[each] > 1)
    kept = {var for each in functions if each in opaque for var in free_vars(each)}
    type_ = function.checked_type
    symbols = frozenset(type_symbols(type_)) if type_ is not None else frozenset[Symbol]()
    bound = {
        node.var: node.value
        for node in nodes
        if isinstance(node, Let) and isinstance(node.value, Function) and node.value not in opaque
        and counts[node.var] == 1 and node.var not in kept
    }  # fmt: skip
    calls = [node for node in nodes if isinstance(node, Call)]
    entered = {
        call.op: bound[call.op] for call in calls
        if isinstance(call.op, Var) and call.op in bound and _stands_for(bound[call.op], call, symbols)
    }  # fmt: skip
    inside = {part for each in functions if each in opaque for part in post_order(each)}
    direct = frozenset(
        call for call in calls
        if isinstance(call.op, Function) and call.op not in opaque and call not in inside
        and _stands_for(call.op, call, symbols)
    )  # fmt: skip
    return Uses(counts, entered, direct, opaque, frozenset(_known_refs(function, nodes, counts)))


def _known_refs(function: Function, nodes: Sequence[Expr], counts: Mapping[Var, int]) -> Iterator[Var]:
    """The refs that are only read and written, in the function that makes them, and written only in the scope that
    makes them: so the last write before a read is the one that stands before it."""
    if not any(isinstance(node, RefCreate) for node in nodes):
        return
    made: dict[Var, tuple[int, Function]] = {}
    used: Counter[Var] = Counter()
    elsewhere: set[Var] = set()
    scopes: list[tuple[Expr, Function]] = [(function.body, function)]
    for scope, (expr, home) in enumerate(scopes):
        while isinstance(expr, Let):
            value = expr.value
            match value:
                case RefCreate(Var() | Constant() as content) if value.checked_type == _ref_to(content):
                    made[expr.var] = (scope, home)
                case RefRead(Var() as ref):
                    used[ref] += 1
                    if ref not in made or made[ref][1] is not home:
                        elsewhere.add(ref)
                case RefWrite(Var() as ref, Var() | Constant() as content) if ref.checked_type == _ref_to(content):
                    used[ref] += 1
                    if made.get(ref) != (scope, home):
                        elsewhere.add(ref)
                case _:
                    pass
            inner = [part for part in children(value) if isinstance(part, Function)]
            scopes += [(part.body, part) for part in inner]
            if isinstance(value, If | Match):
                scopes += [(part, home) for part in children(value)[1:]]
            elif isinstance(value, Function):
                scopes.append((value.body, value))
            expr = expr.body
        if isinstance(expr, Function):
            scopes.append((expr.body, expr))
    yield from (ref for ref in made if used[ref] == counts[ref] and ref not in elsewhere)


def _ref_to(content: Expr) -> RefType | None:
    return None if content.checked_type is None else RefType(content.checked_type)


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
