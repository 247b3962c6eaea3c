"""How results are addressed: which tensors they come from, and what the state of linearising holds.

Every clause is a *source* of results: rows that it gave. A clause that ends the recursion gives the rows of all levels
at once; one that recurses gives those of the level below. The *address* of an instance's result is
`row << bits | source`. Every source has a row, of zeros if need be, so an address that is not looked at is never out of
range.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.expr import Expr, GlobalVar, Var, const
from relay.ir.known_types import known_type
from relay.ir.types import ANY, TensorType, Type, scalar_type
from relay.ops.elementwise.comparison import equal, where
from relay.ops.elementwise.elementwise_binary import add, bitwise_and, multiply, right_shift
from relay.ops.framework.build import symbol
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims
from relay.transform.batching.definitions import Definitions, Lists
from relay.transform.batching.recursion import ClauseForm, Recursion
from relay.transform.batching.rows import Rows, row_shape, rows_type
from relay.transform.batching.stacking import Stacking

INDEX = scalar_type("int32")


def addresses_type(count: IntExpr) -> TensorType:
    """The type of `count` addresses."""
    return TensorType((count,), INDEX.dtype)


class Role(Enum):
    """What a slot of the state holds."""

    FIELD = auto()  # a list of a field's values, the last instance first
    SUB_TREE = auto()  # a list of the values that a call is on, the last instance first
    COUNT = auto()  # how many instances the clause has


@frozen
class Slot:
    """A part of the state: `position` counts the fields or the calls of clause number `clause`."""

    role: Role
    clause: int
    position: int
    name: str
    type: Type


@frozen(eq=False)
class BatchedClause:
    """A clause of the recursion as a function of rows. `fixed`: its result depends on no instance, and has one row.
    `shared(invariants…)`: a tuple of `shared_types` that the function is given besides; None for none."""

    form: ClauseForm
    function: GlobalVar
    fixed: bool
    shared: GlobalVar | None = None
    shared_types: tuple[Type, ...] = ()


@frozen(eq=False)
class Scheme:
    """What the generated functions share."""

    recursion: Recursion
    clauses: tuple[BatchedClause, ...]
    definitions: Definitions
    lists: Lists
    stacking: Stacking

    @property
    def prefix(self) -> str:
        return self.recursion.name.name_hint

    @property
    def bits(self) -> int:
        return (len(self.clauses) - 1).bit_length()

    def slots(self, of_steps: bool) -> tuple[Slot, ...]:
        """The state of the clauses that recurse, which begins anew on each level, or of those that end."""
        found: list[Slot] = []
        for number, clause in enumerate(self.clauses):
            form = clause.form
            if bool(form.calls) != of_steps or clause.fixed:
                continue
            prefix = form.constructor.name_hint.lower()
            for position, var in enumerate(form.fields):
                found.append(
                    Slot(Role.FIELD, number, position, f"{prefix}_{var.name_hint}", self.lists.of(known_type(var)))
                )
            for position, var in enumerate(form.sub_trees):
                type_ = self.lists.of(self.recursion.subject_type)
                found.append(Slot(Role.SUB_TREE, number, position, f"{prefix}_{var.name_hint}", type_))
            found.append(Slot(Role.COUNT, number, 0, f"{prefix}_count", INDEX))
        return tuple(found)

    def address(self, count: Expr, clause: int) -> Expr:
        """Of the result of the instance of a clause that has `count` before it."""
        if self.clauses[clause].fixed:
            return const(clause)
        shifted = multiply(count, const(1 << self.bits))
        return add(shifted, const(clause)) if clause else shifted

    def rows_types(self) -> tuple[TensorType, ...]:
        """The tensors of a result, as any number of rows."""
        return tuple(rows_type(leaf, ANY) for leaf in self.recursion.leaves)


def source_parameters(recursion: Recursion) -> tuple[tuple[Var, ...], ...]:
    """Parameters for the sources: for each clause one for each tensor of a result."""
    return tuple(
        tuple(
            Var(f"from_{clause.constructor.name_hint.lower()}", rows_type(leaf, symbol(f"m{number}")))
            for leaf in recursion.leaves
        )
        for number, clause in enumerate(recursion.clauses)
    )


def parameters(slots: Sequence[Slot]) -> tuple[Var, ...]:
    """A variable for each slot."""
    return tuple(Var(slot.name, slot.type) for slot in slots)


def gathered(addresses: Expr, sources: Sequence[Sequence[Expr]], leaves: Sequence[TensorType], bits: int) -> list[Rows]:
    """The rows at `addresses` (`int32[n]`), of each tensor of the result; `sources` has its tensors for each clause.
    One kernel reads a tensor from all sources."""
    row = right_shift(addresses, const(bits))
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
