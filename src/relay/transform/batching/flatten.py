"""The elements of many lists as one list, and whose each is."""

from __future__ import annotations

from relay.ir.expr import Call, Clause, Function, GlobalVar, Match, PatternConstructor, PatternVar, Tuple, Var, const
from relay.ir.types import TupleType
from relay.ops.elementwise.elementwise_binary import add, subtract
from relay.transform.batching.recursions.recursion import Member
from relay.transform.batching.scheme import INDEX, Scheme

NOBODY = (1 << 31) - 1
"""Who owns the one row that stands where there are none: nothing is added to a row of this number."""


def define_flat(scheme: Scheme, member: Member) -> GlobalVar:
    """`flat(lists, count) → (values, owners, number of values)`: the lists of `count` owners, last first, as one list,
    last first, and beside it who owns each value. It is defined once for each function that is called on elements."""
    if member not in scheme.flat:
        scheme.flat[member] = _define(scheme, member)
    return scheme.flat[member]


def _define(scheme: Scheme, member: Member) -> GlobalVar:
    prefix, lists = member.name.name_hint, scheme.lists
    of_values, of_lists = lists.of(member.subject_type), lists.of(lists.of(member.subject_type))
    rest_of_one, rest = Var("elements", of_values), Var("lists", of_lists)
    owner, count = Var("owner", INDEX), Var("count", INDEX)
    values, owners = Var("values", of_values), Var("owners", lists.of(INDEX))
    name = scheme.definitions.fresh(f"{prefix}_flattened")
    first, more, next_one, others = Var("value"), Var("more"), Var("next"), Var("rest")
    taken = Call(
        name,
        (more, rest, owner, lists.with_first(first, values), lists.with_first(owner, owners), add(count, const(1))),
    )
    ended = Call(name, (next_one, others, subtract(owner, const(1)), values, owners, count))
    next_list = Match(
        rest,
        (
            Clause(PatternConstructor(lists.cons, (PatternVar(next_one), PatternVar(others))), ended),
            Clause(PatternConstructor(lists.nil), Tuple((values, owners, count))),
        ),
    )
    body = Match(
        rest_of_one,
        (
            Clause(PatternConstructor(lists.cons, (PatternVar(first), PatternVar(more))), taken),
            Clause(PatternConstructor(lists.nil), next_list),
        ),
    )
    result = TupleType((of_values, lists.of(INDEX), INDEX))
    scheme.definitions.functions[name] = Function((rest_of_one, rest, owner, values, owners, count), body, result)
    all_lists, number = Var("lists", of_lists), Var("count", INDEX)
    start = Call(name, (lists.empty(), all_lists, number, lists.empty(), lists.empty(), const(0)))
    return scheme.definitions.function(f"{prefix}_flat", (all_lists, number), start, result)
