"""What runs on levels: each clause once a level, on the rows of all its instances there; then the results wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.base.frozen import frozen
from relay.ir.expr import (
    Call,
    Clause,
    Expr,
    Function,
    GlobalVar,
    If,
    Match,
    PatternConstructor,
    PatternVar,
    Tuple,
    Var,
)
from relay.ir.known_types import known_type, typed_var
from relay.ir.rewriting import rewrite, rewrite_nodes, with_lets
from relay.ir.types import TensorType, TupleType
from relay.ops.creation.create import zeros
from relay.ops.framework.build import symbol
from relay.ops.manipulation.shape import expand_dims
from relay.transform.batching.clause import batched_body
from relay.transform.batching.definitions import items
from relay.transform.batching.linearize import Linearizer, begin, none_left
from relay.transform.batching.recursion import ClauseForm, Recursion
from relay.transform.batching.rows import (
    Batched,
    Refusal,
    Rows,
    Shared,
    has_unit_axis,
    nested,
    row_shape,
    rows_type,
)
from relay.transform.batching.scheme import (
    INDEX,
    BatchedClause,
    Role,
    Scheme,
    addresses_type,
    gathered,
    source_parameters,
)
from relay.transform.batching.shared import shared_parts


@frozen(eq=False)
class ClauseFunction:
    """A clause on rows: `function(fields…, addresses…, sources…, invariants…, shared…)`, the first three as `fixed` and
    calls demand. `shared(invariants…)` gives the last ones, which are computed once for all levels; None for none."""

    function: Function
    fixed: bool
    shared: Function | None


def clause_function(
    recursion: Recursion, clause: ClauseForm, sources: Sequence[Sequence[Var]], bits: int, blocks: tuple[int, ...]
) -> ClauseFunction | Refusal:
    """The function of one clause, or why there is none. `sources` are its parameters if it has calls, `blocks` the
    widths of panels that matrices are packed in."""
    fields = [Var(var.name_hint, rows_type(type_, symbol("n"))) for var, type_ in _fields(clause)]
    addresses = [Var(f"of_{var.name_hint}", addresses_type(symbol("n"))) for var in clause.sub_trees]
    invariants = [typed_var(var.name_hint, known_type(var)) for var in recursion.invariants]
    known: dict[Var, Batched] = {
        var: Rows(mine, type_) for (var, type_), mine in zip(_fields(clause), fields, strict=True)
    }
    known.update(_invariants(recursion, invariants))
    results = {
        call: nested(recursion.result, gathered(address, sources, recursion.leaves, bits))
        for call, address in zip(clause.calls, addresses, strict=True)
    }
    found = batched_body(recursion.name, clause, known, results, blocks)
    if isinstance(found, Refusal):
        return found
    fixed = not clause.calls and all(isinstance(leaf, Shared) for leaf in found)
    if clause.calls and all(isinstance(leaf, Shared) for leaf in found):
        return Refusal(recursion.name, "has a clause that uses nothing of what it calls itself for", clause.body.span)
    leaves = Tuple(tuple(_one_row(leaf) if isinstance(leaf, Shared) else leaf.expr for leaf in found))
    result = TupleType(tuple(rows_type(leaf, 1 if fixed else symbol("n")) for leaf in recursion.leaves))
    used = [var for source in sources for var in source] if clause.calls else []
    params = invariants if fixed else [*fields, *addresses, *used, *invariants]
    parts = shared_parts(leaves, invariants) if clause.calls else ()
    own = {part: Var("shared", known_type(part)) for part in parts}
    function = Function((*params, *own.values()), leaves, result)
    function = rewrite_nodes(function, lambda node, rebuilt: own.get(node, rebuilt))
    return ClauseFunction(function, fixed, _function_of(invariants, parts) if parts else None)


def _function_of(variables: Sequence[Var], parts: Sequence[Expr]) -> Function:
    """A function of copies of `variables` that gives `parts`."""
    own = {var: Var(var.name_hint, known_type(var)) for var in variables}
    body = rewrite(Tuple(tuple(parts)), lambda node: own.get(node, node) if isinstance(node, Var) else node)
    return Function(tuple(own.values()), body, TupleType(tuple(map(known_type, parts))))


def _fields(clause: ClauseForm) -> list[tuple[Var, TensorType]]:
    return [(var, type_) for var in clause.fields if isinstance(type_ := known_type(var), TensorType)]


def _invariants(recursion: Recursion, mine: Sequence[Var]) -> Mapping[Var, Batched]:
    found: dict[Var, Batched] = {}
    for var, own in zip(recursion.invariants, mine, strict=True):
        type_ = known_type(var)
        if isinstance(type_, TensorType):
            found[var] = Shared(own, type_)
    return found


def _one_row(leaf: Shared) -> Expr:
    return leaf.expr if has_unit_axis(leaf.type) else expand_dims(leaf.expr, 0)


# ----------------------------------------------------------------------------------------------------------------- up


def define_up(scheme: Scheme, linearizer: Linearizer) -> GlobalVar:
    """`up(levels, sources…, invariants…, shared…)` → the rows of the clauses that recurse, on the top level"""
    name = scheme.definitions.fresh(f"{scheme.prefix}_up")
    recursion = scheme.recursion
    levels, rest = Var("levels", linearizer.level_type), Var("rest")
    sources = source_parameters(recursion)
    invariants = tuple(Var(var.name_hint, known_type(var)) for var in recursion.invariants)
    shared = [_shared_variables(clause) for clause in scheme.clauses]
    flat = tuple(var for source in sources for var in source)
    handed_on = (*invariants, *(var for each in shared for var in each))
    patterns: list[Var] = []
    bound: list[tuple[Var, Expr]] = []
    after: list[Expr] = []
    for clause, source, own in zip(scheme.clauses, sources, shared, strict=True):
        if not clause.form.calls:
            after += source
            continue
        fields = [Var(var.name_hint) for var in clause.form.fields]
        addresses = [Var(f"of_{var.name_hint}") for var in clause.form.sub_trees]
        patterns += (*fields, *addresses)
        made = Var(clause.form.constructor.name_hint.lower())
        bound.append((made, Call(clause.function, (*fields, *addresses, *flat, *invariants, *own))))
        after += items(made, len(recursion.leaves))
    body: Expr = Call(name, (rest, *after, *handed_on))
    body = with_lets(bound, body)
    top = Tuple(_of_steps(scheme, sources))
    clauses = (
        Clause(PatternConstructor(linearizer.level, tuple(map(PatternVar, (*patterns, rest)))), body),
        Clause(PatternConstructor(linearizer.top), top),
    )
    result = TupleType(scheme.rows_types() * len(recursion.steps))
    scheme.definitions.functions[name] = Function((levels, *flat, *handed_on), Match(levels, clauses), result)
    return name


def _shared_variables(clause: BatchedClause) -> tuple[Var, ...]:
    return tuple(Var("shared", type_) for type_ in clause.shared_types)


def _of_steps(scheme: Scheme, sources: Sequence[Sequence[Expr]]) -> tuple[Expr, ...]:
    return tuple(v for c, source in zip(scheme.clauses, sources, strict=True) if c.form.calls for v in source)


# -------------------------------------------------------------------------------------------------------------- batch


def define_batch(scheme: Scheme, linearizer: Linearizer, up: GlobalVar) -> GlobalVar:
    """`batch(values, invariants…)` → the rows of the results, for a list of values, last first"""
    recursion, lists = scheme.recursion, scheme.lists
    values = Var("values", lists.of(recursion.subject_type))
    invariants = tuple(Var(var.name_hint, known_type(var)) for var in recursion.invariants)
    slots = (*linearizer.ends, *linearizer.steps)
    top, levels = Var("top"), Var("levels")
    first, *state = items(top, 1 + len(slots))
    ends, steps = state[: len(linearizer.ends)], state[len(linearizer.ends) :]
    going = [v for v, s in zip(steps, linearizer.steps, strict=True) if s.role is not Role.COUNT]
    kept = [v for v, s in zip(ends, linearizer.ends, strict=True) if s.role is Role.FIELD]
    no_levels = Call(linearizer.top, ())
    linearized = If(
        none_left(linearizer, steps), Tuple((no_levels, *kept)), Call(linearizer.down, (*ends, *going, no_levels))
    )
    bound: list[tuple[Var, Expr]] = [
        (top, Call(linearizer.walk, (values, lists.empty(), *begin(scheme, slots)))),
        (levels, linearized),
    ]
    deepest, *all_kept = items(levels, 1 + len(kept))
    sources = _end_sources(scheme, linearizer, all_kept, invariants, bound)
    raised, shared = Var("raised"), list[Expr]()
    for clause in scheme.clauses:
        if clause.shared is not None:
            once = Var("shared")
            bound.append((once, Call(clause.shared, invariants)))
            shared += items(once, len(clause.shared_types))
    bound.append((raised, Call(up, (deepest, *(v for source in sources for v in source), *invariants, *shared))))
    on_top = iter(items(raised, len(recursion.leaves) * len(recursion.steps)))
    found = [
        tuple(next(on_top) for _ in recursion.leaves) if clause.form.calls else source
        for clause, source in zip(scheme.clauses, sources, strict=True)
    ]
    addresses = scheme.stacking.stacked(first, INDEX, last_first=False)
    body: Expr = Call(_define_results(scheme), (addresses, *(v for source in found for v in source)))
    body = with_lets(bound, body)
    return scheme.definitions.function(
        f"{scheme.prefix}_batch", (values, *invariants), body, TupleType(scheme.rows_types())
    )


def _end_sources(
    scheme: Scheme,
    linearizer: Linearizer,
    kept: Sequence[Expr],
    invariants: Sequence[Var],
    bound: list[tuple[Var, Expr]],
) -> list[tuple[Expr, ...]]:
    """The sources that `up` begins with: the clauses that end, and a row of zeros for those that recurse."""
    sources: list[tuple[Expr, ...]] = []
    for number, clause in enumerate(scheme.clauses):
        if clause.form.calls:
            leaves = scheme.recursion.leaves
            sources.append(tuple(zeros((1, *row_shape(leaf)), leaf.dtype) for leaf in leaves))
            continue
        made = Var(clause.form.constructor.name_hint.lower())
        lists = [v for v, slot in zip(kept, linearizer.kept, strict=True) if slot.clause == number]
        stacked = [
            scheme.stacking.stacked(elements, type_, last_first=True)
            for elements, (_, type_) in zip(lists, _fields(clause.form) if lists else [], strict=True)
        ]
        bound.append((made, Call(clause.function, (*stacked, *invariants))))
        sources.append(items(made, len(scheme.recursion.leaves)))
    return sources


def _define_results(scheme: Scheme) -> GlobalVar:
    """`results(addresses, sources…)` → the rows at these addresses"""
    addresses = Var("addresses", addresses_type(symbol("n")))
    sources = source_parameters(scheme.recursion)
    leaves = scheme.recursion.leaves
    found = tuple(rows.expr for rows in gathered(addresses, sources, leaves, scheme.bits))
    result = TupleType(tuple(rows_type(leaf, symbol("n")) for leaf in leaves))
    flat = tuple(var for source in sources for var in source)
    return scheme.definitions.function(f"{scheme.prefix}_results", (addresses, *flat), Tuple(found), result)
