"""The form of one clause of a recursive function: what it is given, what it calls, and its body without lets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from relay.base.frozen import frozen
from relay.base.graph import post_order
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Let,
    Op,
    PatternConstructor,
    PatternVar,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefWrite,
    Var,
)
from relay.ir.known_types import known_type
from relay.ir.operator import Effect
from relay.ir.traversal import children
from relay.ir.traversal import post_order as all_nodes
from relay.ir.types import TensorType
from relay.transform.batching.definitions import Lists
from relay.transform.batching.recursions.sums import Sum, Sums
from relay.transform.batching.rows import Refusal


@frozen(eq=False)
class Branch:
    """A call of a function of the recursion, on the field `on` or, if there is an `element`, on each of that. `states`:
    what it hands on that is no invariant, in the order of the callee's states."""

    call: Call
    callee: GlobalVar
    on: Var
    element: Var | None
    states: tuple[Expr, ...] = ()

    @property
    def many(self) -> bool:
        """Whether it is on each element of a list."""
        return self.element is not None

    def with_states(self, states: tuple[Expr, ...]) -> Branch:
        return replace(self, states=states)


@frozen(eq=False)
class ClauseForm:
    """A clause of a recursive function. `fields`: the variables of tensors that its body uses; `variables`: all that
    the pattern binds, by position. The body has neither lets nor loops, and `sums` are what its other variables stand
    for. `nodes`: all that it is made of, each after its parts; `elements`: those that are computed for each element of
    a list, with that element."""

    constructor: Constructor
    variables: tuple[Var | None, ...]
    fields: tuple[Var, ...]
    branches: tuple[Branch, ...]
    body: Expr
    sums: Mapping[Var, Sum]
    nodes: tuple[Expr, ...]
    elements: Mapping[Expr, Var]

    @property
    def only_many(self) -> bool:
        """Whether it calls nothing where its lists are empty."""
        return all(branch.many for branch in self.branches)

    def with_branches(self, branches: tuple[Branch, ...]) -> ClauseForm:
        """The clause with the same branches, which know more."""
        return replace(self, branches=branches)

    def problem_of_states(self, states: Sequence[Expr]) -> str:
        """Why these cannot be computed before the calls are made; empty if they can."""
        calls = {branch.call for branch in self.branches}
        below = any(node in calls or node in self.sums for node in all_nodes(*states))
        return "hands on to one call what depends on the result of another" if below else ""


class ClauseReader:
    """Reads the clauses of the function `name`. `places`: of each function of the recursion the position of its
    subject; `component`: these and `loops`, the functions that are put in place as sums."""

    def __init__(
        self,
        name: GlobalVar,
        places: Mapping[GlobalVar, int],
        component: Sequence[GlobalVar],
        loops: Mapping[GlobalVar, Function],
        lists: Lists,
    ) -> None:
        self.name = name
        self.places = places
        self.component = component
        self.loops = loops
        self.lists = lists

    def read(self, clause: Clause) -> ClauseForm | Refusal:
        """The form of a clause, or why it has another."""
        variables = _variables(clause)
        if variables is None or not isinstance(clause.lhs, PatternConstructor):
            return Refusal(self.name, "looks at more than one constructor at once", clause.rhs.span)
        problem = self._unused_problem(clause.rhs, variables)
        if problem:
            return Refusal(self.name, problem, clause.rhs.span)
        sums = Sums.of(self.lists, self.loops, clause.rhs)
        body = sums.straight(clause.rhs)
        nodes = tuple(post_order([body], sums.parts))
        branches: list[Branch] = []
        for node in nodes:
            if isinstance(node, Call) and node.op in self.places:
                branch = self._branch(node, variables, sums)
                if isinstance(branch, Refusal):
                    return branch
                branches.append(branch)
            elif isinstance(node, Call) and (node.op in self.component or _is_loop_of(node, sums, self.component)):
                return Refusal(
                    self.name, "goes over a list otherwise than by adding up what it calls itself for", node.span
                )
        if any(each in _value_parts(node) for node in nodes for each in self.component):
            return Refusal(self.name, "uses itself as a value", clause.rhs.span)
        used = {node for node in nodes if isinstance(node, Var)}
        fields = tuple(v for v in variables if v is not None and v in used and isinstance(known_type(v), TensorType))
        found = {var: each for var, each in sums.found.items() if var in used}
        elements = _elements(nodes, branches, found)
        own = {branch.element for branch in branches}
        if any(each.element not in own for each in found.values()):
            return Refusal(self.name, "goes over a list without calling itself on its elements", clause.rhs.span)
        return ClauseForm(clause.lhs.constructor, variables, fields, tuple(branches), body, found, nodes, elements)

    def _branch(self, call: Call, variables: Sequence[Var | None], sums: Sums) -> Branch | Refusal:
        assert isinstance(call.op, GlobalVar)
        on = call.args[self.places[call.op]]
        of = next((each for each in sums.found.values() if each.element is on), None)
        found = on if of is None else of.values
        if not isinstance(found, Var) or found not in variables:
            reason = "calls itself on something else than a field of what it matched"
            return Refusal(self.name, reason, call.span)
        return Branch(call, call.op, found, None if of is None else of.element)

    def _unused_problem(self, body: Expr, variables: Sequence[Var | None]) -> str:
        """Why a binding that nothing uses cannot be left out; empty if there is none. Calls of the recursion on fields
        can: they end, and have no effects."""
        nodes = all_nodes(body)
        bound = {node.var: node.value for node in nodes if isinstance(node, Let)}

        def parts(node: Expr) -> tuple[Expr, ...]:
            if isinstance(node, Var):
                return (bound[node],) if node in bound else ()
            return (node.body,) if isinstance(node, Let) else children(node)

        used = set(post_order([body], parts))
        for node in nodes:
            match node:
                case _ if node in used:
                    pass
                case Call(op=Op() as op) if op.operator.effect is not Effect.PURE:
                    return f"calls {op.name}, which has effects"
                case Call(op=GlobalVar() as callee, args=args) if callee in self.places:
                    if args[self.places[callee]] not in variables:
                        return "calls itself on something else than a field of what it matched"
                case Call(op=GlobalVar() as callee) if callee in self.component:
                    return "has a clause that uses nothing of what it calls itself for"
                case Call(op=GlobalVar() | Var() | Function()):
                    return "calls another function inside a clause"
                case RefCreate() | RefRead() | RefWrite():
                    return "uses refs"
                case _:
                    pass
        return ""


def _elements(nodes: Sequence[Expr], branches: Sequence[Branch], sums: Mapping[Var, Sum]) -> dict[Expr, Var]:
    found: dict[Expr, Var] = {branch.call: branch.element for branch in branches if branch.element is not None}
    for node in nodes:
        if node not in found and node not in sums:
            below = next((found[part] for part in children(node) if part in found), None)
            if below is not None:
                found[node] = below
    return found


def _variables(clause: Clause) -> tuple[Var | None, ...] | None:
    if not isinstance(clause.lhs, PatternConstructor):
        return None
    found: list[Var | None] = []
    for pattern in clause.lhs.patterns:
        match pattern:
            case PatternVar(var):
                found.append(var)
            case PatternWildcard():
                found.append(None)
            case _:
                return None
    return tuple(found)


def _is_loop_of(call: Call, sums: Sums, component: Sequence[GlobalVar]) -> bool:
    """Whether a function is called that is written inside the clause, and calls the recursion."""
    function = sums.bound.get(call.op) if isinstance(call.op, Var) else None
    return function is not None and any(each in component for each in all_nodes(function))


def _value_parts(node: Expr) -> tuple[Expr, ...]:
    return node.args if isinstance(node, Call) else children(node)
