"""Which functions recurse over data types in a form whose calls can be taken by levels, and the parts of that form.

    def @f(%t: T, %w, %s) -> R {
      match (%t) {
        C(%x, %left, %children) => body of %x, %s, @f(%left, %w, g(%x, %s)), and sums of @f(%c, %w, …) of %children } }

One data value is taken apart (`subject`), each constructor by a clause of its own; calls inside, of `f` or of functions
that call it, are on fields of the clause or on all elements of a field that is a list (`sums`). What a call hands on as
it is, is the same for all (`invariants`); the rest, which the clause computes of its fields and of what it was given
itself, is a state of each instance (`states`). So the calls of one clause depend on nothing but what is above and what
is below them, and whether there are any depends on constructors alone, not on values of tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from relay.analysis.call_graph import call_graph
from relay.base.frozen import frozen
from relay.ir.expr import Function, GlobalVar, Match, Var
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.types import TensorType, Type
from relay.transform.batching.definitions import Definitions, Lists
from relay.transform.batching.recursions.clause_form import Branch, ClauseForm, ClauseReader
from relay.transform.batching.recursions.sums import Sums
from relay.transform.batching.rows import Refusal, leaf_types


@frozen(eq=False)
class Member:
    """One of the functions of a recursion. `leaves`: the tensors of its result; `state_leaves`: those of its states.
    `invariants` are the parameters that stand for those of the recursion, in one order for all members."""

    name: GlobalVar
    function: Function
    subject: Var
    invariants: tuple[Var, ...]
    states: tuple[Var, ...]
    result: Type
    leaves: tuple[TensorType, ...]
    state_leaves: tuple[TensorType, ...]
    clauses: tuple[ClauseForm, ...]

    @property
    def subject_type(self) -> Type:
        """The data type that is taken apart."""
        return known_type(self.subject)

    @property
    def others(self) -> tuple[Var, ...]:
        """The parameters but the subject."""
        return tuple(param for param in self.function.params if param is not self.subject)

    def on_levels(self, clause: ClauseForm) -> bool:
        """Whether a clause runs level by level: it needs what is below, or what is above. All others run once."""
        return bool(clause.branches or self.states)


@frozen(eq=False)
class Recursion:
    """Functions that call one another, in that form. `component`: these, and loops that are sums in their clauses."""

    members: tuple[Member, ...]
    component: tuple[GlobalVar, ...]

    @property
    def name(self) -> GlobalVar:
        """The name of the first."""
        return self.members[0].name

    @property
    def clauses(self) -> tuple[tuple[Member, ClauseForm], ...]:
        """The clauses of all members."""
        return tuple((member, clause) for member in self.members for clause in member.clauses)

    @property
    def branches(self) -> bool:
        """Whether one value may have several instances on a level: else only several values do."""
        return any(len(clause.branches) > 1 or any(b.many for b in clause.branches) for _, clause in self.clauses)


def recursions(module: IRModule) -> tuple[Recursion | Refusal, ...]:
    """For each function of a typed module that can reach itself: the recursion that it is part of, or why it has
    another form."""
    graph, lists = call_graph(module), Definitions.of(module).lists()
    order = {name: at for at, name in enumerate(module.functions)}
    found: list[Recursion | Refusal] = []
    for component in graph.components:
        if component[0] in graph.recursive:
            names = tuple(sorted(component, key=order.__getitem__))
            recursion = _read(module, names, lists)
            if isinstance(recursion, Recursion):
                found.append(recursion)
            else:
                found += (of_member(each, recursion) for each in names)
    return tuple(found)


def _read(module: IRModule, names: tuple[GlobalVar, ...], lists: Lists | None) -> Recursion | Refusal:
    if lists is None:
        return Refusal(names[0], "is in a module that defines its own List", module[names[0]].span)
    return _Reader(module, names, lists).read()


def of_member(name: GlobalVar, refusal: Refusal) -> Refusal:
    """What is said of one function of a recursion of which one is refused."""
    if name == refusal.function:
        return refusal
    return Refusal(name, f"is recursive through @{refusal.function.name_hint}, which {refusal.reason}", refusal.span)


class _Reader:
    """Reads the functions of one component."""

    def __init__(self, module: IRModule, component: tuple[GlobalVar, ...], lists: Lists) -> None:
        self.lists = lists
        self.functions = {name: module[name] for name in component}
        self.component = component
        self.loops: dict[GlobalVar, Function] = {}
        if len(component) > 1:
            self.loops = {name: each for name, each in self.functions.items() if self._is_loop(name, each)}
        if len(self.loops) == len(component):
            self.loops = {}
        self.names = tuple(name for name in component if name not in self.loops)

    def _is_loop(self, name: GlobalVar, function: Function) -> bool:
        return Sums.of(self.lists, self.functions, function.body).is_loop(name, function)

    def read(self) -> Recursion | Refusal:
        heads: dict[GlobalVar, Match] = {}
        for name in self.names:
            head = _head(name, self.functions[name])
            if isinstance(head, Refusal):
                return head
            heads[name] = head
        subjects = {name: head.data for name, head in heads.items() if isinstance(head.data, Var)}
        places = {name: self.functions[name].params.index(subjects[name]) for name in self.names}
        forms: dict[GlobalVar, tuple[ClauseForm, ...]] = {}
        for name, head in heads.items():
            reader = ClauseReader(name, places, self.component, self.loops, self.lists)
            clauses = [reader.read(clause) for clause in head.clauses]
            for clause in clauses:
                if isinstance(clause, Refusal):
                    return clause
            forms[name] = tuple(clause for clause in clauses if isinstance(clause, ClauseForm))
        invariants = _invariants(self.functions, places, forms)
        members: list[Member] = []
        for name in self.names:
            member = self._member(name, subjects[name], invariants, heads[name], forms[name])
            if isinstance(member, Refusal):
                return member
            members.append(member)
        recursion = Recursion(tuple(members), self.component)
        problem = _problem_of_ends([clause for _, clause in recursion.clauses])
        if problem:
            return Refusal(self.names[0], problem, self.functions[self.names[0]].span)
        return _with_states(recursion)

    def _member(
        self, name: GlobalVar, subject: Var, invariants: Mapping[Var, int], head: Match, clauses: tuple[ClauseForm, ...]
    ) -> Member | Refusal:
        function = self.functions[name]
        result = known_type(head)
        leaves = leaf_types(result)
        if not leaves:
            return Refusal(name, f"gives a value of type {result}, not tensors of known extents", function.span)
        others = [param for param in function.params if param is not subject]
        same = sorted((param for param in others if param in invariants), key=invariants.__getitem__)
        states = tuple(param for param in others if param not in invariants)
        state_leaves: list[TensorType] = []
        for state in states:
            found = leaf_types(known_type(state))
            if found is None:
                reason = f"calls itself with another %{state.name_hint} than it was given"
                return Refusal(name, f"{reason}, of type {known_type(state)}", function.span)
            state_leaves += found
        return Member(name, function, subject, tuple(same), states, result, leaves, tuple(state_leaves), clauses)


def _problem_of_ends(clauses: Sequence[ClauseForm]) -> str:
    """Why there are no levels; empty if there are."""
    if not any(clause.branches for clause in clauses):
        return "uses nothing of what it calls itself for"
    return "" if any(clause.only_many for clause in clauses) else "has no clause that ends"


def _head(name: GlobalVar, function: Function) -> Match | Refusal:
    match function.body:
        case Match(data=Var() as subject) as head if subject in function.params:
            pass
        case _:
            return Refusal(name, "does not begin with a match of a parameter", function.span)
    if not head.complete:
        return Refusal(name, "matches a value that may have no clause", function.body.span)
    return Refusal(name, "is generic", function.span) if function.type_params else head


def _invariants(
    functions: Mapping[GlobalVar, Function],
    places: Mapping[GlobalVar, int],
    forms: Mapping[GlobalVar, Sequence[ClauseForm]],
) -> dict[Var, int]:
    """The parameters that every call hands on as they are, each with the number of the parameter of the first function
    that it always is."""
    first, *rest = forms
    number: dict[Var, int | None] = {
        param: at for at, param in enumerate(functions[first].params) if at != places[first]
    }
    branches = [branch for clauses in forms.values() for clause in clauses for branch in clause.branches]
    changes = True
    while changes:
        changes = False
        for branch in branches:
            for at, (param, arg) in enumerate(zip(functions[branch.callee].params, branch.call.args, strict=True)):
                if at == places[branch.callee] or (
                    isinstance(arg, Var) and arg not in number and _is_param(arg, rest, functions)
                ):
                    continue
                given = number.get(arg) if isinstance(arg, Var) else None
                now = given if number.get(param, given) == given else None
                if param not in number or number[param] != now:
                    number[param], changes = now, True
    return {param: at for param, at in number.items() if at is not None}


def _is_param(var: Var, names: Sequence[GlobalVar], functions: Mapping[GlobalVar, Function]) -> bool:
    return any(var in functions[name].params for name in names)


def _with_states(recursion: Recursion) -> Recursion | Refusal:
    """The recursion whose branches know what they hand on as states."""
    of = {member.name: member for member in recursion.members}
    made: list[Member] = []
    for member in recursion.members:
        clauses: list[ClauseForm] = []
        for clause in member.clauses:
            branches: list[Branch] = []
            for branch in clause.branches:
                callee = of[branch.callee]
                at = [callee.function.params.index(state) for state in callee.states]
                states = tuple(branch.call.args[position] for position in at)
                problem = clause.problem_of_states(states)
                if problem:
                    return Refusal(member.name, problem, branch.call.span)
                branches.append(branch.with_states(states))
            clauses.append(clause.with_branches(tuple(branches)))
        made.append(replace(member, clauses=tuple(clauses)))
    return Recursion(tuple(made), recursion.component)
