"""From values of a data type to levels: lists of what each level's instances need, and where their results will be.

`walk` takes one list of values apart: fields and sub-trees go to the lists of their clause, and each value's address
is noted. `down` walks the sub-trees of one level, which are the values of the level below, until there are none. What
the values of the level below came to be addressed by is what the level above gathers; so levels come out deepest first.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from relay.ir.known_types import known_tensor_type, known_type
from relay.ir.rewriting import with_lets
from relay.ir.types import ANY, TupleType, Type, TypeCall
from relay.ops.elementwise.comparison import equal
from relay.ops.elementwise.elementwise_binary import add
from relay.transform.batching.definitions import items
from relay.transform.batching.rows import rows_type
from relay.transform.batching.scheme import INDEX, Role, Scheme, Slot, addresses_type, parameters


@frozen(eq=False)
class Linearizer:
    """The functions that linearise, and the data type of levels: `level(fields…, addresses…, level below the next)`."""

    walk: GlobalVar
    down: GlobalVar
    level: Constructor
    top: Constructor
    ends: tuple[Slot, ...]
    steps: tuple[Slot, ...]

    @property
    def level_type(self) -> Type:
        return TypeCall(self.level.belong_to, ())

    @property
    def kept(self) -> tuple[Slot, ...]:
        """What `down` gives besides the levels: the fields of the clauses that end."""
        return _of(self.ends, Role.FIELD)


def define_linearizer(scheme: Scheme) -> Linearizer:
    """Define the functions for one recursion."""
    ends, steps = scheme.slots(of_steps=False), scheme.slots(of_steps=True)
    walk = _define_walk(scheme, ends, steps)
    fields: list[Type | None] = []
    for clause in scheme.recursion.steps:
        fields += (rows_type(known_tensor_type(var), ANY) for var in clause.fields)
        fields += (addresses_type(ANY) for _ in clause.calls)
    level, top = scheme.definitions.data(
        f"{scheme.prefix}_Levels", ((f"{scheme.prefix}_Level", (*fields, None)), (f"{scheme.prefix}_Top", ()))
    )
    down = scheme.definitions.fresh(f"{scheme.prefix}_down")
    linearizer = Linearizer(walk, down, level, top, ends, steps)
    scheme.definitions.functions[down] = _down(scheme, linearizer)
    return linearizer


def begin(scheme: Scheme, slots: Sequence[Slot]) -> tuple[Expr, ...]:
    """Nothing met yet."""
    return tuple(const(0) if slot.role is Role.COUNT else scheme.lists.empty() for slot in slots)


def none_left(linearizer: Linearizer, state: Sequence[Expr]) -> Expr:
    """Whether a level has no instance that recurses; `state` is that of the steps."""
    counts = [value for value, slot in zip(state, linearizer.steps, strict=True) if slot.role is Role.COUNT]
    return equal(reduce(add, counts), const(0))


def _of(slots: Sequence[Slot], role: Role) -> tuple[Slot, ...]:
    return tuple(slot for slot in slots if slot.role is role)


# --------------------------------------------------------------------------------------------------------------- walk


def _define_walk(scheme: Scheme, ends: tuple[Slot, ...], steps: tuple[Slot, ...]) -> GlobalVar:
    """`walk(values, addresses, state…) → (addresses, state…)`"""
    name = scheme.definitions.fresh(f"{scheme.prefix}_walk")
    subject, slots = scheme.recursion.subject_type, (*ends, *steps)
    values, value, rest = Var("values", scheme.lists.of(subject)), Var("value", subject), Var("rest")
    addresses, state = Var("addresses", scheme.lists.of(INDEX)), parameters(slots)
    clauses: list[Clause] = []
    for number, clause in enumerate(scheme.clauses):
        variables = [None if var is None else Var(var.name_hint, known_type(var)) for var in clause.form.variables]
        renamed = dict(zip(clause.form.variables, variables, strict=True))
        stepped = [
            _stepped(scheme, slot, var, renamed) if slot.clause == number else var
            for slot, var in zip(slots, state, strict=True)
        ]
        count = next((v for s, v in zip(slots, state, strict=True) if (s.clause, s.role) == (number, Role.COUNT)), None)
        address = scheme.address(const(0) if count is None else count, number)
        used = {renamed[var] for var in (*clause.form.fields, *clause.form.sub_trees) if not clause.fixed}
        patterns = tuple(PatternVar(v) if v is not None and v in used else PatternWildcard() for v in variables)
        again = Call(name, (rest, scheme.lists.with_first(address, addresses), *stepped))
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
    scheme.definitions.functions[name] = Function((values, addresses, *state), body, result)
    return name


def _stepped(scheme: Scheme, slot: Slot, var: Var, renamed: dict[Var | None, Var | None]) -> Expr:
    """The slot of a clause after one more instance of it."""
    form = scheme.clauses[slot.clause].form
    if slot.role is Role.COUNT:
        return add(var, const(1))
    bound = renamed[(form.fields if slot.role is Role.FIELD else form.sub_trees)[slot.position]]
    return var if bound is None else scheme.lists.with_first(bound, var)


# --------------------------------------------------------------------------------------------------------------- down


def _down(scheme: Scheme, linearizer: Linearizer) -> Function:
    """`down(state…, levels) → (levels, fields of the clauses that end…)`"""
    ends, steps = linearizer.ends, linearizer.steps
    taken = tuple(slot for slot in steps if slot.role is not Role.COUNT)
    levels = Var("levels", linearizer.level_type)
    end_vars, step_vars = parameters(ends), parameters(taken)
    bound: list[tuple[Var, Expr]] = []
    state = (*end_vars, *begin(scheme, steps))
    addresses: list[Expr] = []
    for slot, var in zip(taken, step_vars, strict=True):
        if slot.role is Role.SUB_TREE:
            below = Var(f"below_{slot.name}")
            bound.append((below, Call(linearizer.walk, (var, scheme.lists.empty(), *state))))
            first, *rest = items(below, 1 + len(state))
            addresses.append(scheme.stacking.stacked(first, INDEX, last_first=False))
            state = tuple(rest)
    next_levels = Var("next_levels", linearizer.level_type)
    bound.append((next_levels, Call(linearizer.level, (*_level(scheme, taken, step_vars, addresses), levels))))
    after_ends, after_steps = state[: len(ends)], state[len(ends) :]
    done = Tuple((next_levels, *(v for v, s in zip(after_ends, ends, strict=True) if s.role is Role.FIELD)))
    going = tuple(v for v, s in zip(after_steps, steps, strict=True) if s.role is not Role.COUNT)
    again = Call(linearizer.down, (*after_ends, *going, next_levels))
    body: Expr = If(none_left(linearizer, after_steps), done, again)
    body = with_lets(bound, body)
    result = TupleType((linearizer.level_type, *(slot.type for slot in linearizer.kept)))
    return Function((*end_vars, *step_vars, levels), body, result)


def _level(
    scheme: Scheme, taken: Sequence[Slot], step_vars: Sequence[Var], addresses: Sequence[Expr]
) -> tuple[Expr, ...]:
    """The fields of a level: of each clause the rows of its fields, then the addresses of its calls' results."""
    made: list[Expr] = []
    remaining = iter(addresses)
    for slot, var in zip(taken, step_vars, strict=True):
        if slot.role is Role.FIELD:
            field = scheme.clauses[slot.clause].form.fields[slot.position]
            made.append(scheme.stacking.stacked(var, known_tensor_type(field), last_first=True))
        else:
            made.append(next(remaining))
    return tuple(made)
