"""All functions that batch one recursion, put together."""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.frozen import frozen
from relay.ir.expr import GlobalVar
from relay.ir.types import TupleType, Type
from relay.transform.batching.choice import Choice, define_choices
from relay.transform.batching.costs import costs_of
from relay.transform.batching.definitions import Definitions, Lists
from relay.transform.batching.levels import ClauseFunction, clause_function, define_batch, define_up
from relay.transform.batching.linearize import define_linearizer
from relay.transform.batching.recursions.clause_form import ClauseForm
from relay.transform.batching.recursions.recursion import Member, Recursion
from relay.transform.batching.rows import Refusal
from relay.transform.batching.scheme import BatchedClause, Scheme, source_parameters
from relay.transform.batching.stacking import Stacking
from relay.transform.framework.context import Rates


@frozen(eq=False)
class Batches:
    """`batch(values, others…)` gives the rows of the results of `member`, a function of `recursion`, on a list of
    values, last first; `each`, which is defined where it is needed, the list of the results on a list of values.
    `choice`: whether that is faster than the recursion; None where nobody knows what the machine does."""

    recursion: Recursion
    member: Member
    batch: GlobalVar
    each: GlobalVar
    lists: Lists
    choice: Choice | None


def define_batches(
    recursion: Recursion,
    wanted: Sequence[Member],
    definitions: Definitions,
    blocks: tuple[int, ...] = (),
    rates: Rates | None = None,
) -> tuple[Batches, ...] | Refusal:
    """Define the functions in `definitions`, for each function that is wanted; nothing is defined if the recursion is
    refused. `blocks`: the widths of panels in which matrices that are given are packed; none for matrices as they
    are."""
    costs = None if rates is None else costs_of(recursion, rates)
    if costs is not None and not costs.may_pay:
        return Refusal(recursion.name, "would be no faster by levels", recursion.members[0].function.span)
    sources = source_parameters(recursion)
    forms = [(member, number, form) for member in recursion.members for number, form in enumerate(member.clauses)]
    functions: list[ClauseFunction] = []
    for member, _, form in forms:
        found = clause_function(recursion, member, form, sources, blocks)
        if isinstance(found, Refusal):
            return found
        functions.append(found)
    lists = definitions.lists()
    if lists is None:
        return Refusal(recursion.name, "is in a module that defines its own List", recursion.members[0].function.span)
    clauses = [
        _defined(member, number, form, found, definitions)
        for (member, number, form), found in zip(forms, functions, strict=True)
    ]
    stacking = Stacking(recursion.name.name_hint, definitions, lists)
    scheme = Scheme(recursion, tuple(clauses), definitions, lists, stacking)
    linearizer = define_linearizer(scheme)
    up = define_up(scheme, linearizer)
    batches = {member: define_batch(scheme, linearizer, up, member) for member in wanted}
    choices = {} if costs is None else define_choices(recursion, wanted, costs, definitions, lists)
    return tuple(
        Batches(
            recursion, member, batch, definitions.fresh(f"{member.name.name_hint}_each"), lists, choices.get(member)
        )
        for member, batch in batches.items()
    )  # fmt: skip


def _defined(
    member: Member, number: int, form: ClauseForm, found: ClauseFunction, definitions: Definitions
) -> BatchedClause:
    hint = f"{member.name.name_hint}_{form.constructor.name_hint}"
    name = definitions.fresh(hint)
    definitions.functions[name] = found.function
    handed_on = shared = None
    types: tuple[Type, ...] = ()
    if found.handed_on is not None:
        handed_on = definitions.fresh(f"{hint}_states")
        definitions.functions[handed_on] = found.handed_on
    if found.shared is not None:
        shared = definitions.fresh(f"{hint}_shared")
        definitions.functions[shared] = found.shared
        assert isinstance(found.shared.ret_type, TupleType)
        types = found.shared.ret_type.fields
    return BatchedClause(member, number, form, name, found.fixed, shared, types, handed_on)
