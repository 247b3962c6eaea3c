"""From values of a data type to levels: lists of what each level's instances need, and where their results will be.

`walk` takes one list of values apart: fields and sub-trees go to the lists of their clause, and each value's address
is noted. `down` walks the sub-trees of one level, which are the values of the level below, until there are none. What
the values of the level below came to be addressed by is what the level above gathers; so levels come out deepest first.

Each function has a walk of its own. Of a branch that is on all elements of a list, the lists are joined before
(`flat`), and it is noted which instance owns each element. What a level hands on as states are rows for the level
below, those of one branch behind those of another; an instance knows its row by its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from relay.base.frozen import frozen
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Match,
    PatternConstructor,
    PatternVar,
    PatternWildcard,
    Tuple,
    Var,
    const,
)
from relay.ir.known_types import known_type
from relay.ir.rewriting import with_lets
from relay.ir.types import ANY, TensorType, TupleType, Type, TypeCall
from relay.ops.creation.create import zeros
from relay.ops.elementwise.comparison import equal
from relay.ops.elementwise.elementwise_binary import add, maximum, subtract
from relay.ops.indexing.index import take
from relay.ops.manipulation.combine import concatenate
from relay.transform.batching.definitions import items
from relay.transform.batching.flatten import NOBODY, define_flat
from relay.transform.batching.recursions.recursion import Member
from relay.transform.batching.rows import row_shape, rows_type
from relay.transform.batching.scheme import INDEX, BatchedClause, Role, Scheme, Slot, addresses_type, parameters

States = Mapping[Member, Sequence[Expr]]
"""Of each function, the rows of each tensor of its states."""


@frozen(eq=False)
class Linearizer:
    """The functions that linearise, and the data type of levels: `level(fields…, states…, row?, addresses…, owners…,
    level below the next)`, of each clause that runs on levels. `walks` has one for each function."""

    walks: Mapping[Member, GlobalVar]
    down: GlobalVar
    level: Constructor
    top: Constructor
    once: tuple[Slot, ...]
    levelled: tuple[Slot, ...]

    @property
    def level_type(self) -> Type:
        return TypeCall(self.level.belong_to, ())

    @property
    def kept(self) -> tuple[Slot, ...]:
        """What `down` gives besides the levels: the fields of the clauses that run once."""
        return tuple(slot for slot in self.once if slot.role is Role.FIELD)


def define_linearizer(scheme: Scheme) -> Linearizer:
    """Define the functions for one recursion."""
    once, levelled = scheme.slots(on_levels=False), scheme.slots(on_levels=True)
    walks = {member: scheme.definitions.fresh(f"{member.name.name_hint}_walk") for member in scheme.recursion.members}
    for member in walks:
        _define_walk(scheme, member, walks[member], (*once, *levelled))
    fields = [type_ for clause in scheme.clauses if clause.on_levels for type_ in level_types(clause)]
    level, top = scheme.definitions.data(
        f"{scheme.prefix}_Levels", ((f"{scheme.prefix}_Level", (*fields, None)), (f"{scheme.prefix}_Top", ()))
    )
    down = scheme.definitions.fresh(f"{scheme.prefix}_down")
    linearizer = Linearizer(walks, down, level, top, once, levelled)
    scheme.definitions.functions[down] = _Down(scheme, linearizer).function()
    return linearizer


def level_types(clause: BatchedClause) -> tuple[TensorType, ...]:
    """What a level holds of a clause."""
    form = clause.form
    found = [rows_type(type_, ANY) for var in form.fields if isinstance(type_ := known_type(var), TensorType)]
    found += (rows_type(leaf, ANY) for leaf in clause.member.state_leaves)
    found += (addresses_type(ANY),) if clause.has_rows else ()
    for branch in form.branches:
        found += (addresses_type(ANY),) * (2 if branch.many else 1)
    return tuple(found)


def begin(scheme: Scheme, slots: Sequence[Slot]) -> tuple[Expr, ...]:
    """Nothing met yet."""
    return tuple(const(0) if slot.role is Role.COUNT else scheme.lists.empty() for slot in slots)


def none_left(linearizer: Linearizer, state: Sequence[Expr]) -> Expr:
    """Whether a level has no instance; `state` is that of the clauses that run on levels."""
    counts = [value for value, slot in zip(state, linearizer.levelled, strict=True) if slot.role is Role.COUNT]
    return equal(reduce(add, counts), const(0))


def going_on(scheme: Scheme, slots: Sequence[Slot]) -> tuple[Slot, ...]:
    """What `down` is given of the slots of the clauses that run on levels: counts only where rows are numbered."""
    return tuple(
        slot
        for slot in slots
        if slot.role is not Role.COUNT
        or any(branch.many or branch.states for branch in scheme.clauses[slot.clause].form.branches)
    )


# --------------------------------------------------------------------------------------------------------------- walk


def _define_walk(scheme: Scheme, member: Member, name: GlobalVar, slots: tuple[Slot, ...]) -> None:
    """`walk(values, addresses, places?, state…) → (addresses, state…)`; `places`: where the states of what is left end,
    of a function that has states"""
    subject = member.subject_type
    values, value, rest = Var("values", scheme.lists.of(subject)), Var("value", subject), Var("rest")
    addresses, state = Var("addresses", scheme.lists.of(INDEX)), parameters(slots)
    places = (Var("places", INDEX),) if member.states else ()
    place = tuple(subtract(each, const(1)) for each in places)
    clauses: list[Clause] = []
    for number in scheme.of(member):
        clause = scheme.clauses[number]
        variables = [None if var is None else Var(var.name_hint, known_type(var)) for var in clause.form.variables]
        renamed = dict(zip(clause.form.variables, variables, strict=True))
        count = next((v for s, v in zip(slots, state, strict=True) if (s.clause, s.role) == (number, Role.COUNT)), None)
        stepped = [
            _stepped(scheme, slot, var, renamed, (count, *place)) if slot.clause == number else var
            for slot, var in zip(slots, state, strict=True)
        ]
        address = scheme.address(const(0) if count is None else count, number)
        on = (branch.on for branch in clause.form.branches)
        used = {renamed[var] for var in (*clause.form.fields, *on) if not clause.fixed}
        patterns = tuple(PatternVar(v) if v is not None and v in used else PatternWildcard() for v in variables)
        again = Call(name, (rest, scheme.lists.with_first(address, addresses), *place, *stepped))
        clauses.append(Clause(PatternConstructor(clause.form.constructor, patterns), again))
    body = Match(
        values,
        (
            Clause(
                PatternConstructor(scheme.lists.cons, (PatternVar(value), PatternVar(rest))),
                Match(value, tuple(clauses)),
            ),
            Clause(PatternConstructor(scheme.lists.nil), Tuple((addresses, *state))),
        ),
    )
    result = TupleType((scheme.lists.of(INDEX), *(slot.type for slot in slots)))
    scheme.definitions.functions[name] = Function((values, addresses, *places, *state), body, result)


def _stepped(
    scheme: Scheme, slot: Slot, var: Var, renamed: dict[Var | None, Var | None], numbers: Sequence[Expr | None]
) -> Expr:
    """The slot of a clause after one more instance of it; `numbers`: its own, and its place if it has a state."""
    form = scheme.clauses[slot.clause].form
    match slot.role:
        case Role.COUNT:
            return add(var, const(1))
        case Role.ROW | Role.PLACE:
            number = numbers[slot.role is Role.PLACE]
            return var if number is None else scheme.lists.with_first(number, var)
        case Role.FIELD:
            bound = renamed[form.fields[slot.position]]
        case Role.SUB_TREE:
            bound = renamed[form.branches[slot.position].on]
    return var if bound is None else scheme.lists.with_first(bound, var)


# --------------------------------------------------------------------------------------------------------------- down


class _Down:
    """`down(state…, states…, invariants…, levels) → (levels, fields of the clauses that run once…)`; invariants only
    where states are handed on."""

    def __init__(self, scheme: Scheme, linearizer: Linearizer) -> None:
        self.scheme = scheme
        self.linearizer = linearizer
        self.members = scheme.recursion.members
        self.taken = going_on(scheme, linearizer.levelled)
        self.once, self.own = parameters(linearizer.once), parameters(self.taken)
        self.states = state_parameters(scheme)
        self.levels = Var("levels", linearizer.level_type)
        self.invariants = handed_invariants(scheme)
        self.bound: list[tuple[Var, Expr]] = []

    def function(self) -> Function:
        rows = self._rows()
        clauses = [clause for clause in self.scheme.clauses if clause.on_levels]
        lists, owners, counts = self._below()
        handed = {clause: self._handed_on(clause, rows[clause], owners) for clause in clauses}
        state = (*self.once, *begin(self.scheme, self.linearizer.levelled))
        next_states: dict[Member, list[tuple[Expr, ...]]] = {member: [] for member in self.members}
        ends: dict[Member, Expr] = {member: const(0) for member in self.members}
        addresses: dict[Slot, Expr] = {}
        for slot in self.taken:
            if slot.role is not Role.SUB_TREE:
                continue
            branch = self.scheme.branch(slot)
            callee = self.scheme.member(branch.callee)
            place: tuple[Expr, ...] = ()
            if callee.states:
                place = (add(ends[callee], counts[slot]),)
                ends[callee] = add(ends[callee], maximum(counts[slot], const(1)))
                next_states[callee].append(handed[self.scheme.clauses[slot.clause]][slot.position])
            below = Var(f"below_{slot.name}")
            walk = self.linearizer.walks[callee]
            self.bound.append((below, Call(walk, (lists[slot], self.scheme.lists.empty(), *place, *state))))
            first, *rest = items(below, 1 + len(state))
            addresses[slot] = self.scheme.stacking.stacked(first, INDEX, last_first=False)
            state = tuple(rest)
        made = [each for clause in clauses for each in (*rows[clause], *self._addresses(clause, addresses, owners))]
        return self._going_on(made, state, next_states)

    def _rows(self) -> dict[BatchedClause, list[Expr]]:
        """Of each clause the rows of its fields, of its states, and those that are numbered."""
        rows: dict[BatchedClause, list[Expr]] = {clause: [] for clause in self.scheme.clauses}
        for slot, var in zip(self.taken, self.own, strict=True):
            clause = self.scheme.clauses[slot.clause]
            if not slot.is_stacked:
                continue
            stacked = self.scheme.stacking.stacked(var, self.scheme.element_type(slot), last_first=True)
            if slot.role is Role.PLACE:
                rows[clause] += (take(state, stacked, axis=0) for state in self.states[clause.member])
            else:
                rows[clause].append(stacked)
        return rows

    def _below(self) -> tuple[dict[Slot, Expr], dict[Slot, Expr], dict[Slot, Expr]]:
        """Of each branch the values that are walked, who owns each if they come of lists, and how many there are."""
        lists, owners, counts = dict[Slot, Expr](), dict[Slot, Expr](), dict[Slot, Expr]()
        count_of = {slot.clause: v for slot, v in zip(self.taken, self.own, strict=True) if slot.role is Role.COUNT}
        for slot, var in zip(self.taken, self.own, strict=True):
            if slot.role is not Role.SUB_TREE:
                continue
            branch = self.scheme.branch(slot)
            lists[slot], counts[slot] = var, count_of.get(slot.clause, const(0))
            if branch.many:
                flat = Var(f"flat_{slot.name}")
                callee = self.scheme.member(branch.callee)
                self.bound.append((flat, Call(define_flat(self.scheme, callee), (var, counts[slot]))))
                lists[slot], own, counts[slot] = items(flat, 3)
                owners[slot] = self.scheme.stacking.stacked(own, INDEX, last_first=True, nothing=NOBODY)
        return lists, owners, counts

    def _handed_on(
        self, clause: BatchedClause, rows: Sequence[Expr], owners: Mapping[Slot, Expr]
    ) -> list[tuple[Expr, ...]]:
        """Of each branch of a clause the rows of the states that it hands on."""
        if clause.handed_on is None:
            return [()] * len(clause.form.branches)
        made = Var(f"{clause.form.constructor.name_hint.lower()}_states")
        own = [each for slot, each in owners.items() if self.scheme.clauses[slot.clause] is clause]
        self.bound.append((made, Call(clause.handed_on, (*rows, *own, *self.invariants))))
        callees = [self.scheme.member(branch.callee) for branch in clause.form.branches]
        fields = iter(items(made, sum(len(callee.state_leaves) for callee in callees)))
        return [tuple(next(fields) for _ in callee.state_leaves) for callee in callees]

    def _addresses(
        self, clause: BatchedClause, addresses: Mapping[Slot, Expr], owners: Mapping[Slot, Expr]
    ) -> list[Expr]:
        found: list[Expr] = []
        for slot, address in addresses.items():
            if self.scheme.clauses[slot.clause] is clause:
                found += (address, owners[slot]) if slot in owners else (address,)
        return found

    def _going_on(
        self, made: Sequence[Expr], state: Sequence[Expr], states: Mapping[Member, Sequence[tuple[Expr, ...]]]
    ) -> Function:
        """The level made, and the rest done: the levels below it, if there are any."""
        next_levels = Var("next_levels", self.linearizer.level_type)
        self.bound.append((next_levels, Call(self.linearizer.level, (*made, self.levels))))
        once, levelled = state[: len(self.once)], state[len(self.once) :]
        kept = [v for v, s in zip(once, self.linearizer.once, strict=True) if s.role is Role.FIELD]
        going = [v for v, s in zip(levelled, self.linearizer.levelled, strict=True) if s in self.taken]
        joined = [rows for member in self.members for rows in _joined(member, states[member])]
        again = Call(self.linearizer.down, (*once, *going, *joined, *self.invariants, next_levels))
        body: Expr = If(none_left(self.linearizer, levelled), Tuple((next_levels, *kept)), again)
        result = TupleType((self.linearizer.level_type, *(slot.type for slot in self.linearizer.kept)))
        given = [var for of in self.states.values() for var in of]
        params = (*self.once, *self.own, *given, *self.invariants, self.levels)
        return Function(params, with_lets(self.bound, body), result)


def state_parameters(scheme: Scheme) -> dict[Member, tuple[Var, ...]]:
    """Parameters for the rows of states."""
    return {
        member: tuple(Var("states", rows_type(leaf, ANY)) for leaf in member.state_leaves)
        for member in scheme.recursion.members
    }


def handed_invariants(scheme: Scheme) -> tuple[Var, ...]:
    """Parameters for the invariants, where states are made of them."""
    if all(clause.handed_on is None for clause in scheme.clauses):
        return ()
    return tuple(Var(var.name_hint, known_type(var)) for var in scheme.recursion.members[0].invariants)


def _joined(member: Member, branches: Sequence[tuple[Expr, ...]]) -> tuple[Expr, ...]:
    """The states of the level below, one branch behind another; a row of zeros where nothing calls the function."""
    if not branches:
        return tuple(zeros((1, *row_shape(leaf)), leaf.dtype) for leaf in member.state_leaves)
    if len(branches) == 1:
        return branches[0]
    return tuple(concatenate(Tuple(tuple(leaf)), 0) for leaf in zip(*branches, strict=True))
