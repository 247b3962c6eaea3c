"""All functions that batch one recursive function, put together."""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.ir.expr import GlobalVar
from relay.ir.types import TupleType
from relay.transform.batching.choice import Choice, define_choice
from relay.transform.batching.costs import costs_of
from relay.transform.batching.definitions import Definitions, Lists
from relay.transform.batching.levels import ClauseFunction, clause_function, define_batch, define_up
from relay.transform.batching.linearize import define_linearizer
from relay.transform.batching.recursion import ClauseForm, Recursion
from relay.transform.batching.rows import Refusal
from relay.transform.batching.scheme import BatchedClause, Scheme, source_parameters
from relay.transform.batching.stacking import Stacking
from relay.transform.framework.context import Rates


@frozen(eq=False)
class Batches:
    """`batch(values, invariants…)` gives the rows of the results of `recursion` on a list of values, last first;
    `each`, which is defined where it is needed, the list of the results on a list of values. `choice`: whether that is
    faster than the recursion; None where nobody knows what the machine does."""

    recursion: Recursion
    batch: GlobalVar
    each: GlobalVar
    lists: Lists
    choice: Choice | None


def define_batches(
    recursion: Recursion, definitions: Definitions, blocks: tuple[int, ...] = (), rates: Rates | None = None
) -> Batches | Refusal:
    """Define the functions in `definitions`; nothing is defined if the recursion is refused. `blocks`: the widths of
    panels in which matrices that are given are packed; none for matrices as they are."""
    costs = None if rates is None else costs_of(recursion, rates)
    if costs is not None and not costs.may_pay:
        return Refusal(recursion.name, "would be no faster by levels", recursion.function.span)
    bits = (len(recursion.clauses) - 1).bit_length()
    sources = source_parameters(recursion)
    functions = [clause_function(recursion, clause, sources, bits, blocks) for clause in recursion.clauses]
    for found in functions:
        if isinstance(found, Refusal):
            return found
    lists = definitions.lists()
    if lists is None:
        return Refusal(recursion.name, "is in a module that defines its own List", recursion.function.span)
    clauses: list[BatchedClause] = []
    for form, found in zip(recursion.clauses, functions, strict=True):
        if isinstance(found, Refusal):
            raise CompilerBug("AutoBatch", "a refusal was taken for a function")
        clauses.append(_defined(f"{recursion.name.name_hint}_{form.constructor.name_hint}", form, found, definitions))
    stacking = Stacking(recursion.name.name_hint, definitions, lists)
    scheme = Scheme(recursion, tuple(clauses), definitions, lists, stacking)
    linearizer = define_linearizer(scheme)
    up = define_up(scheme, linearizer)
    batch = define_batch(scheme, linearizer, up)
    choice = None if costs is None else define_choice(recursion, costs, definitions, lists)
    return Batches(recursion, batch, definitions.fresh(f"{recursion.name.name_hint}_each"), lists, choice)


def _defined(hint: str, form: ClauseForm, found: ClauseFunction, definitions: Definitions) -> BatchedClause:
    name = definitions.fresh(hint)
    definitions.functions[name] = found.function
    if found.shared is None:
        return BatchedClause(form, name, found.fixed)
    shared = definitions.fresh(f"{hint}_shared")
    definitions.functions[shared] = found.shared
    assert isinstance(found.shared.ret_type, TupleType)
    return BatchedClause(form, name, found.fixed, shared, found.shared.ret_type.fields)
