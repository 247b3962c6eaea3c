"""What runs on levels: each clause once a level, on the rows of all its instances there; then the results wanted."""

from __future__ import annotations

from collections.abc import Sequence

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
    const,
)
from relay.ir.known_types import known_type, typed_var
from relay.ir.rewriting import rewrite, rewrite_nodes, with_lets
from relay.ir.types import ANY, TensorType, TupleType, Type
from relay.ops.creation.create import zeros
from relay.ops.framework.build import symbol
from relay.ops.manipulation.shape import expand_dims
from relay.transform.batching.clause import Below, batched_body, batched_value, spread
from relay.transform.batching.definitions import items
from relay.transform.batching.linearize import Linearizer, begin, going_on, handed_invariants, level_types, none_left
from relay.transform.batching.recursions.clause_form import ClauseForm
from relay.transform.batching.recursions.recursion import Member, Recursion
from relay.transform.batching.rows import (
    Batched,
    Refusal,
    Rows,
    Shared,
    has_unit_axis,
    leaf_types,
    leaves_of,
    nested,
    repeated,
    row_shape,
    rows_type,
)
from relay.transform.batching.scheme import (
    INDEX,
    BatchedClause,
    Role,
    Scheme,
    Sources,
    addresses_type,
    bits_of,
    flat_sources,
    gathered,
    needs_rows,
    result_types,
    source_parameters,
)
from relay.transform.batching.shared import shared_parts


@frozen(eq=False)
class ClauseFunction:
    """A clause on rows: `function(fields…, states…, row?, addresses…, owners…, sources…, invariants…, shared…)`, the
    sources of the functions that it calls. `shared(invariants…)` gives the last ones, which are computed once for all
    levels; None for none. `handed_on`: as in `BatchedClause`. Of a `fixed` one there are the invariants alone."""

    function: Function
    fixed: bool
    shared: Function | None
    handed_on: Function | None


@frozen(eq=False)
class _Given:
    """The parameters of a clause on rows, as far as they are of its own instances, and what its variables are."""

    rows: tuple[Var, ...]
    row: Rows | None
    variables: dict[Var, Batched]
    addresses: tuple[Var, ...]
    owners: dict[Call, Var]
    invariants: tuple[Var, ...]


def _given(recursion: Recursion, member: Member, clause: ClauseForm) -> _Given:
    count = symbol("n")
    rows, variables = list[Var](), dict[Var, Batched]()
    for var in clause.fields:
        type_ = known_type(var)
        assert isinstance(type_, TensorType)
        rows.append(Var(var.name_hint, rows_type(type_, count)))
        variables[var] = Rows(rows[-1], type_)
    for state in member.states:
        leaves = [
            Rows(Var(state.name_hint, rows_type(leaf, count)), leaf) for leaf in leaf_types(known_type(state)) or ()
        ]
        rows += (leaf.expr for leaf in leaves if isinstance(leaf.expr, Var))
        variables[state] = nested(known_type(state), leaves)
    first = next((leaf for each in variables.values() for leaf in leaves_of(each) if isinstance(leaf, Rows)), None)
    if needs_rows(member, clause):
        rows.append(Var("row", addresses_type(count)))
        first = Rows(rows[-1], INDEX)
    addresses, owners = list[Var](), dict[Call, Var]()
    elements = list(dict.fromkeys(branch.element for branch in clause.branches))
    for branch in clause.branches:
        of = addresses_type(count if branch.element is None else symbol(f"e{elements.index(branch.element)}"))
        addresses.append(Var(f"of_{branch.on.name_hint}", of))
        if branch.element is not None:
            owners[branch.call] = Var(f"owners_of_{branch.on.name_hint}", of)
        elif first is None:
            first = Rows(addresses[-1], INDEX)
    invariants = [typed_var(var.name_hint, known_type(var)) for var in recursion.members[0].invariants]
    for var, own in zip(member.invariants, invariants, strict=True):
        type_ = known_type(var)
        if isinstance(type_, TensorType):
            variables[var] = Shared(own, type_)
    return _Given(tuple(rows), first, variables, tuple(addresses), owners, tuple(invariants))


def clause_function(
    recursion: Recursion, member: Member, clause: ClauseForm, sources: Sources, blocks: tuple[int, ...]
) -> ClauseFunction | Refusal:
    """The function of one clause, or why there is none. `sources` are its parameters if it has calls, `blocks` the
    widths of panels that matrices are packed in."""
    given = _given(recursion, member, clause)
    of = {each.name: each for each in recursion.members}
    callees = [of[branch.callee] for branch in clause.branches]
    results = {
        branch.call: nested(callee.result, gathered(address, sources[callee], callee.leaves, bits_of(callee)))
        for branch, callee, address in zip(clause.branches, callees, given.addresses, strict=True)
    }
    owners = {b.element: given.owners[b.call] for b in clause.branches if b.element is not None}
    below = Below(results, clause.sums, clause.elements, owners, given.row)
    found = batched_body(member.name, clause, given.variables, below, blocks)
    if isinstance(found, Refusal):
        return found
    all_shared = all(isinstance(leaf, Shared) for leaf in found)
    if clause.branches and all_shared:
        return Refusal(member.name, "has a clause that uses nothing of what it calls itself for", clause.body.span)
    fixed = not clause.branches and all_shared
    leaves = Tuple(tuple(_one_row(leaf) if isinstance(leaf, Shared) else leaf.expr for leaf in found))
    result = TupleType(tuple(rows_type(leaf, 1 if fixed else symbol("n")) for leaf in member.leaves))
    params: list[Var] = []
    if not fixed:
        params += given.rows
        for branch, address in zip(clause.branches, given.addresses, strict=True):
            params += (address, given.owners[branch.call]) if branch.many else (address,)
        params += flat_sources({each: sources[each] for each in recursion.members if each in callees})
    params += given.invariants
    parts = shared_parts(leaves, given.invariants) if member.on_levels(clause) and not fixed else ()
    own = {part: Var("shared", known_type(part)) for part in parts}
    function = Function((*params, *own.values()), leaves, result)
    function = rewrite_nodes(function, lambda node, rebuilt: own.get(node, rebuilt))
    handed_on = _handed_on(recursion, member, clause)
    if isinstance(handed_on, Refusal):
        return handed_on
    return ClauseFunction(function, fixed, _function_of(given.invariants, parts) if parts else None, handed_on)


def _handed_on(recursion: Recursion, member: Member, clause: ClauseForm) -> Function | Refusal | None:
    """The function of a clause that gives the states which it hands on."""
    if not any(branch.states for branch in clause.branches):
        return None
    given = _given(recursion, member, clause)
    found, types = list[Expr](), list[TensorType]()
    for branch in clause.branches:
        value = batched_value(member.name, Tuple(branch.states), given.variables)
        if isinstance(value, Refusal):
            return value
        callee = next(each for each in recursion.members if each.name == branch.callee)
        owners = given.owners.get(branch.call)
        assert given.row is not None
        for leaf in leaves_of(value):
            rows = repeated(leaf, given.row)
            found += (each.expr for each in leaves_of(rows if owners is None else spread(rows, owners)))
        types += (rows_type(leaf, ANY) for leaf in callee.state_leaves)
    return Function(
        (*given.rows, *given.owners.values(), *given.invariants), Tuple(tuple(found)), TupleType(tuple(types))
    )


def _function_of(variables: Sequence[Var], parts: Sequence[Expr]) -> Function:
    """A function of copies of `variables` that gives `parts`."""
    own = {var: Var(var.name_hint, known_type(var)) for var in variables}
    body = rewrite(Tuple(tuple(parts)), lambda node: own.get(node, node) if isinstance(node, Var) else node)
    return Function(tuple(own.values()), body, TupleType(tuple(map(known_type, parts))))


def _one_row(leaf: Shared) -> Expr:
    return leaf.expr if has_unit_axis(leaf.type) else expand_dims(leaf.expr, 0)


# ----------------------------------------------------------------------------------------------------------------- up


def define_up(scheme: Scheme, linearizer: Linearizer) -> GlobalVar:
    """`up(levels, sources…, invariants…, shared…)` → the rows of the clauses that run on levels, on the top level"""
    name = scheme.definitions.fresh(f"{scheme.prefix}_up")
    recursion = scheme.recursion
    levels, rest = Var("levels", linearizer.level_type), Var("rest")
    sources = source_parameters(recursion)
    invariants = tuple(Var(var.name_hint, known_type(var)) for var in recursion.members[0].invariants)
    shared = [_shared_variables(clause) for clause in scheme.clauses]
    handed_on = (*invariants, *(var for each in shared for var in each))
    patterns: list[Var] = []
    bound: list[tuple[Var, Expr]] = []
    after: list[Expr] = []
    for clause, own in zip(scheme.clauses, shared, strict=True):
        if not clause.on_levels:
            after += sources[clause.member][clause.number]
            continue
        rows = [Var(hint) for hint in _row_names(clause)]
        callees = {scheme.member(branch.callee) for branch in clause.form.branches}
        used = flat_sources({each: sources[each] for each in recursion.members if each in callees})
        patterns += rows
        made = Var(clause.form.constructor.name_hint.lower())
        bound.append((made, Call(clause.function, (*rows, *used, *invariants, *own))))
        after += items(made, len(clause.member.leaves))
    body: Expr = Call(name, (rest, *after, *handed_on))
    body = with_lets(bound, body)
    top = Tuple(
        tuple(v for clause in scheme.clauses if clause.on_levels for v in sources[clause.member][clause.number])
    )
    clauses = (
        Clause(PatternConstructor(linearizer.level, tuple(map(PatternVar, (*patterns, rest)))), body),
        Clause(PatternConstructor(linearizer.top), top),
    )
    result = TupleType(result_types([clause.member for clause in scheme.clauses if clause.on_levels]))
    params = (levels, *flat_sources(sources), *handed_on)
    scheme.definitions.functions[name] = Function(params, Match(levels, clauses), result)
    return name


def _row_names(clause: BatchedClause) -> list[str]:
    """For what a level holds of a clause, in its order."""
    names = [var.name_hint for var in clause.form.fields]
    names += ["state"] * len(clause.member.state_leaves)
    names += ["row"] if clause.has_rows else []
    for branch in clause.form.branches:
        names += [f"of_{branch.on.name_hint}", *([f"owners_of_{branch.on.name_hint}"] if branch.many else [])]
    assert len(names) == len(level_types(clause))
    return names


def _shared_variables(clause: BatchedClause) -> tuple[Var, ...]:
    return tuple(Var("shared", type_) for type_ in clause.shared_types)


# -------------------------------------------------------------------------------------------------------------- batch


def define_batch(scheme: Scheme, linearizer: Linearizer, up: GlobalVar, member: Member) -> GlobalVar:
    """`batch(values, others…)` → the rows of the results of one of the functions for a list of values, last first, of
    which all are given the same others"""
    lists = scheme.lists
    values = Var("values", lists.of(member.subject_type))
    others = {var: Var(var.name_hint, known_type(var)) for var in member.others}
    invariants = tuple(others[var] for var in member.invariants)
    slots = (*linearizer.once, *linearizer.levelled)
    top, levels = Var("top"), Var("levels")
    first, *state = items(top, 1 + len(slots))
    once, levelled = state[: len(linearizer.once)], state[len(linearizer.once) :]
    taken = going_on(scheme, linearizer.levelled)
    going = [v for v, s in zip(levelled, linearizer.levelled, strict=True) if s in taken]
    kept = [v for v, s in zip(once, linearizer.once, strict=True) if s.role is Role.FIELD]
    no_levels = Call(linearizer.top, ())
    given = [rows for each in scheme.recursion.members for rows in _root_states(each, others if each is member else {})]
    handed = invariants if handed_invariants(scheme) else ()
    linearized = If(
        none_left(linearizer, levelled),
        Tuple((no_levels, *kept)),
        Call(linearizer.down, (*once, *going, *given, *handed, no_levels)),
    )
    place = (const(0),) if member.states else ()
    bound: list[tuple[Var, Expr]] = [
        (top, Call(linearizer.walks[member], (values, lists.empty(), *place, *begin(scheme, slots)))),
        (levels, linearized),
    ]
    deepest, *all_kept = items(levels, 1 + len(kept))
    sources = _first_sources(scheme, linearizer, all_kept, invariants, bound)
    raised, shared = Var("raised"), list[Expr]()
    for clause in scheme.clauses:
        if clause.shared is not None:
            once_made = Var("shared")
            bound.append((once_made, Call(clause.shared, invariants)))
            shared += items(once_made, len(clause.shared_types))
    bound.append((raised, Call(up, (deepest, *(v for source in sources for v in source), *invariants, *shared))))
    on_top = iter(items(raised, sum(len(clause.member.leaves) for clause in scheme.clauses if clause.on_levels)))
    found = [
        tuple(next(on_top) for _ in clause.member.leaves) if clause.on_levels else source
        for clause, source in zip(scheme.clauses, sources, strict=True)
    ]
    own = [v for clause, of in zip(scheme.clauses, found, strict=True) if clause.member is member for v in of]
    addresses = scheme.stacking.stacked(first, INDEX, last_first=False)
    body = with_lets(bound, Call(_define_results(scheme, member), (addresses, *own)))
    params = (values, *others.values())
    hint = f"{member.name.name_hint}_batch"
    return scheme.definitions.function(hint, params, body, TupleType(result_types([member])))


def _root_states(member: Member, given: dict[Var, Var]) -> list[Expr]:
    """The one row of states that all roots have; of zeros if the roots are another function's."""
    if not given:
        return [zeros((1, *row_shape(leaf)), leaf.dtype) for leaf in member.state_leaves]
    found: list[Expr] = []
    for state in member.states:
        type_ = known_type(state)
        pairs = zip(leaf_types(type_) or (), _leaf_exprs(given[state], type_), strict=True)
        found += (part if has_unit_axis(leaf) else expand_dims(part, 0) for leaf, part in pairs)
    return found


def _leaf_exprs(expr: Expr, type_: Type) -> list[Expr]:
    """The tensors of a value, left to right."""
    if not isinstance(type_, TupleType):
        return [expr]
    return [
        leaf
        for part, of in zip(items(expr, len(type_.fields)), type_.fields, strict=True)
        for leaf in _leaf_exprs(part, of)
    ]


def _first_sources(
    scheme: Scheme,
    linearizer: Linearizer,
    kept: Sequence[Expr],
    invariants: Sequence[Var],
    bound: list[tuple[Var, Expr]],
) -> list[tuple[Expr, ...]]:
    """The sources that `up` begins with: the clauses that run once, and a row of zeros for those on levels."""
    sources: list[tuple[Expr, ...]] = []
    for number, clause in enumerate(scheme.clauses):
        if clause.on_levels:
            sources.append(tuple(zeros((1, *row_shape(leaf)), leaf.dtype) for leaf in clause.member.leaves))
            continue
        made = Var(clause.form.constructor.name_hint.lower())
        stacked = [
            scheme.stacking.stacked(elements, scheme.element_type(slot), last_first=True)
            for elements, slot in zip(kept, linearizer.kept, strict=True)
            if slot.clause == number
        ]
        bound.append((made, Call(clause.function, (*stacked, *invariants))))
        sources.append(items(made, len(clause.member.leaves)))
    return sources


def _define_results(scheme: Scheme, member: Member) -> GlobalVar:
    """`results(addresses, sources…)` → the rows at these addresses"""
    addresses = Var("addresses", addresses_type(symbol("n")))
    sources = source_parameters(scheme.recursion)[member]
    found = tuple(rows.expr for rows in gathered(addresses, sources, member.leaves, bits_of(member)))
    result = TupleType(tuple(rows_type(leaf, symbol("n")) for leaf in member.leaves))
    flat = tuple(var for source in sources for var in source)
    return scheme.definitions.function(f"{member.name.name_hint}_results", (addresses, *flat), Tuple(found), result)
