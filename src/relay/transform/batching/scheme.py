"""How results are addressed: which tensors they come from, and what the state of linearising holds.

Every clause is a *source* of results: rows that it gave. A clause that runs once gives the rows of all levels; one that
runs on levels gives those of the level below. The *address* of an instance's result is `row << bits | source`, where
the sources are those of its function. Every source has a row, of zeros if need be, so an address that is not looked at
is never out of range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import Enum, auto

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.expr import Expr, GlobalVar, Var, const
from relay.ir.known_types import known_tensor_type, known_type
from relay.ir.types import ANY, TensorType, Type, scalar_type
from relay.ops.elementwise.comparison import equal, where
from relay.ops.elementwise.elementwise_binary import add, bitwise_and, multiply, right_shift
from relay.ops.framework.build import symbol
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims
from relay.transform.batching.definitions import Definitions, Lists
from relay.transform.batching.recursions.clause_form import Branch, ClauseForm
from relay.transform.batching.recursions.recursion import Member, Recursion
from relay.transform.batching.rows import Rows, row_shape, rows_type
from relay.transform.batching.stacking import Stacking

INDEX = scalar_type("int32")


def addresses_type(count: IntExpr) -> TensorType:
    """The type of `count` addresses."""
    return TensorType((count,), INDEX.dtype)


class Role(Enum):
    """What a slot of the state holds."""

    FIELD = auto()  # a list of a field's values, the last instance first
    PLACE = auto()  # a list of the rows that its states are in
    ROW = auto()  # a list of the numbers of the instances, where no other slot has a row for each
    SUB_TREE = auto()  # a list of the values that a call is on, or of lists of them, the last instance first
    COUNT = auto()  # how many instances the clause has


@frozen
class Slot:
    """A part of the state: `position` counts the fields or the branches of clause number `clause`."""

    role: Role
    clause: int
    position: int
    name: str
    type: Type

    @property
    def is_stacked(self) -> bool:
        """Whether its list becomes a tensor, with a row for each instance."""
        return self.role in (Role.FIELD, Role.PLACE, Role.ROW)


@frozen(eq=False)
class BatchedClause:
    """A clause of the recursion as a function of rows. `number` counts those of its member. `fixed`: its result depends
    on no instance, and has one row. `shared(invariants…)`: a tuple of `shared_types` that the function is given
    besides; None for none. `handed_on(fields…, states…, row?, owners…, invariants…)`: the rows of the states that its
    branches hand on; None where they hand on nothing."""

    member: Member
    number: int
    form: ClauseForm
    function: GlobalVar
    fixed: bool
    shared: GlobalVar | None = None
    shared_types: tuple[Type, ...] = ()
    handed_on: GlobalVar | None = None

    @property
    def on_levels(self) -> bool:
        """Whether it runs on each level, not once for all."""
        return not self.fixed and self.member.on_levels(self.form)

    @property
    def has_rows(self) -> bool:
        """Whether a level says the number of each instance."""
        return needs_rows(self.member, self.form)


@frozen(eq=False)
class Scheme:
    """What the generated functions share."""

    recursion: Recursion
    clauses: tuple[BatchedClause, ...]
    definitions: Definitions
    lists: Lists
    stacking: Stacking
    flat: dict[Member, GlobalVar] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        return self.recursion.name.name_hint

    def member(self, name: GlobalVar) -> Member:
        """The function of that name."""
        return next(member for member in self.recursion.members if member.name == name)

    def of(self, member: Member) -> tuple[int, ...]:
        """The numbers of the clauses of one function."""
        return tuple(at for at, clause in enumerate(self.clauses) if clause.member is member)

    def slots(self, on_levels: bool) -> tuple[Slot, ...]:
        """The state of the clauses that run on levels, which begins anew on each, or of those that run once."""
        return tuple(
            slot
            for at, clause in enumerate(self.clauses)
            if clause.on_levels == on_levels and not clause.fixed
            for slot in self._slots(at, clause)
        )

    def _slots(self, at: int, clause: BatchedClause) -> list[Slot]:
        form, found = clause.form, list[Slot]()
        prefix = form.constructor.name_hint.lower()
        for position, var in enumerate(form.fields):
            found.append(Slot(Role.FIELD, at, position, f"{prefix}_{var.name_hint}", self.lists.of(known_type(var))))
        if clause.member.states:
            found.append(Slot(Role.PLACE, at, 0, f"{prefix}_places", self.lists.of(INDEX)))
        if needs_rows(clause.member, form):
            found.append(Slot(Role.ROW, at, 0, f"{prefix}_rows", self.lists.of(INDEX)))
        for position, branch in enumerate(form.branches):
            type_ = self.lists.of(known_type(branch.on))
            found.append(Slot(Role.SUB_TREE, at, position, f"{prefix}_{branch.on.name_hint}", type_))
        found.append(Slot(Role.COUNT, at, 0, f"{prefix}_count", INDEX))
        return found

    def element_type(self, slot: Slot) -> TensorType:
        """Of the list of a slot that is stacked."""
        is_field = slot.role is Role.FIELD
        return known_tensor_type(self.clauses[slot.clause].form.fields[slot.position]) if is_field else INDEX

    def branch(self, slot: Slot) -> Branch:
        """The branch of a slot of sub-trees."""
        return self.clauses[slot.clause].form.branches[slot.position]

    def address(self, count: Expr, clause: int) -> Expr:
        """Of the result of the instance of a clause that has `count` before it."""
        own = self.clauses[clause]
        if own.fixed:
            return const(own.number)
        bits = bits_of(own.member)
        shifted = multiply(count, const(1 << bits)) if bits else count
        return add(shifted, const(own.number)) if own.number else shifted


def bits_of(member: Member) -> int:
    """Of an address, those that tell the source."""
    return (len(member.clauses) - 1).bit_length()


def needs_rows(member: Member, form: ClauseForm) -> bool:
    """Whether something is made for each instance of a clause of which nothing else has a row for each."""
    single = any(not branch.many for branch in form.branches)
    hands_on = any(branch.states for branch in form.branches)
    return not form.fields and not member.states and bool(form.branches) and (hands_on or not single)


Sources = dict[Member, tuple[tuple[Var, ...], ...]]
"""Of each function, for each of its clauses a variable for each tensor of a result."""


def source_parameters(recursion: Recursion) -> Sources:
    """Parameters for the sources of all functions."""
    found: Sources = {}
    for member in recursion.members:
        first = sum(map(len, found.values()))
        found[member] = tuple(
            tuple(
                Var(f"from_{clause.constructor.name_hint.lower()}", rows_type(leaf, symbol(f"m{first + number}")))
                for leaf in member.leaves
            )
            for number, clause in enumerate(member.clauses)
        )
    return found


def flat_sources(sources: Sources) -> tuple[Var, ...]:
    """All of them in order."""
    return tuple(var for of in sources.values() for source in of for var in source)


def result_types(members: Sequence[Member]) -> tuple[TensorType, ...]:
    """The tensors of results, as any number of rows."""
    return tuple(rows_type(leaf, ANY) for member in members for leaf in member.leaves)


def parameters(slots: Sequence[Slot]) -> tuple[Var, ...]:
    """A variable for each slot."""
    return tuple(Var(slot.name, slot.type) for slot in slots)


def gathered(addresses: Expr, sources: Sequence[Sequence[Expr]], leaves: Sequence[TensorType], bits: int) -> list[Rows]:
    """The rows at `addresses` (`int32[n]`), of each tensor of the result; `sources` has its tensors for each clause.
    One kernel reads a tensor from all sources."""
    row = right_shift(addresses, const(bits)) if bits else addresses
    number = bitwise_and(addresses, const((1 << bits) - 1))
    here = [equal(number, const(source)) for source in range(len(sources) - 1)]
    tests: dict[int, list[Expr]] = {}
    found: list[Rows] = []
    for position, leaf in enumerate(leaves):
        rank = len(row_shape(leaf))
        if rank not in tests:
            tests[rank] = [expand_dims(test, 1, rank) if rank else test for test in here]
        value: Expr = take(sources[-1][position], row, axis=0)
        for source, test in reversed(list(zip(sources[:-1], tests[rank], strict=True))):
            value = where(test, take(source[position], row, axis=0), value)
        found.append(Rows(value, leaf))
    return found
