"""All functions that batch one recursive function, put together."""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.ir.expr import GlobalVar
from relay.transform.auto_batch.definitions import Definitions, Lists
from relay.transform.auto_batch.levels import clause_function, define_batch, define_up
from relay.transform.auto_batch.linearize import define_linearizer
from relay.transform.auto_batch.recursion import Recursion
from relay.transform.auto_batch.rows import Refusal
from relay.transform.auto_batch.scheme import BatchedClause, Scheme, source_parameters
from relay.transform.auto_batch.stacking import Stacking


@frozen(eq=False)
class Batches:
    """`batch(values, invariants…)` gives the rows of the results of `recursion` on a list of values, last first;
    `each`, which is defined where it is needed, the list of the results on a list of values."""

    recursion: Recursion
    batch: GlobalVar
    each: GlobalVar
    lists: Lists


def define_batches(recursion: Recursion, definitions: Definitions) -> Batches | Refusal:
    """Define the functions in `definitions`; nothing is defined if the recursion is refused."""
    bits = (len(recursion.clauses) - 1).bit_length()
    functions = [clause_function(recursion, clause, source_parameters(recursion), bits) for clause in recursion.clauses]
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
        name = definitions.fresh(f"{recursion.name.name_hint}_{form.constructor.name_hint}")
        definitions.functions[name] = found.function
        clauses.append(BatchedClause(form, name, found.fixed))
    stacking = Stacking(recursion.name.name_hint, definitions, lists)
    scheme = Scheme(recursion, tuple(clauses), definitions, lists, stacking)
    linearizer = define_linearizer(scheme)
    up = define_up(scheme, linearizer)
    batch = define_batch(scheme, linearizer, up)
    return Batches(recursion, batch, definitions.fresh(f"{recursion.name.name_hint}_each"), lists)
