"""Rewriting: sharing and types are kept, depth costs memory alone, and what does not end says so."""

import pytest

from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Function,
    GlobalVar,
    If,
    InferredTypes,
    Let,
    Match,
    PatternVar,
    PatternWildcard,
    Tuple,
    TupleGetItem,
    Var,
    const,
    record_type,
    record_type_args,
)
from relay.ir.rewriting import (
    MAX_REPLACEMENTS_IN_A_ROW,
    Endless,
    Replacement,
    rebuild_typed,
    rewrite,
    rewrite_nodes,
    rewrite_to_fixpoint,
    rewrite_with_uses,
    typed_as,
    uses_in,
    with_body,
)
from relay.ir.types import GlobalTypeVar, TensorType, TupleType
from tests.growth import is_linear

FLOAT = TensorType((), "float32")
PAIR = TupleType((FLOAT, FLOAT))
DEPTH = 100_000


def typed_var(name="x"):
    return record_type(Var(name), FLOAT)


def tower(depth, bottom):
    for _ in range(depth):
        bottom = record_type(Tuple((bottom,)), PAIR)
    return bottom


def level_count(expr):
    count = 0
    while isinstance(expr, Tuple):
        expr, count = expr.fields[0], count + 1
    return count, expr


# ------------------------------------------------------------------------------------------------------- rebuilding


def test_a_rebuilt_node_keeps_its_type_and_the_type_arguments_that_inference_found():
    x, y = typed_var("x"), typed_var("y")
    call = record_type(Call(GlobalVar("f"), (x,)), PAIR)
    record_type_args(call, [FLOAT])
    made = rebuild_typed(call, (call.op, y))
    assert (made.checked_type, made.type_args, type(made.type_args)) == (PAIR, (FLOAT,), InferredTypes)
    assert made.args == (y,)
    callee = record_type(Var("g"), FLOAT)
    assert rebuild_typed(call, (callee, x)).type_args == (FLOAT,), "a callee of the same type by another name"


def test_a_node_around_an_untyped_one_is_untyped_too():
    pair = record_type(Tuple((typed_var(), typed_var())), PAIR)
    assert rebuild_typed(pair, (Var("new"), pair.fields[1])).checked_type is None
    assert rebuild_typed(pair, (GlobalVar("f"), pair.fields[1])).checked_type == PAIR, "its type is the module's"


def test_what_stands_for_a_call_keeps_the_type_arguments_of_the_same_callee_only():
    model = record_type(Call(GlobalVar("f"), (typed_var(),)), PAIR)
    record_type_args(model, [FLOAT])
    same, other = (typed_as(Call(GlobalVar(name), (Var("y"),)), model) for name in "fg")
    assert (same.checked_type, same.type_args) == (PAIR, (FLOAT,))
    assert (other.checked_type, other.type_args) == (PAIR, ())


def test_a_type_that_is_there_stays():
    assert typed_as(typed_var(), record_type(Tuple(()), PAIR)).checked_type == FLOAT


def test_the_same_body_is_the_same_function():
    x = typed_var()
    function = record_type(Function((x,), x, attrs={"Primitive": 1}), PAIR)
    assert with_body(function, x) is function
    changed = with_body(function, typed_as(Tuple((x,)), x))
    assert (changed.params, changed.attrs["Primitive"], changed.checked_type) == ((x,), 1, PAIR)


# --------------------------------------------------------------------------------------------------------- bottom-up


def test_a_shared_node_is_rewritten_once_and_stays_shared():
    x, y = typed_var("x"), typed_var("y")
    shared = record_type(Tuple((x,)), PAIR)
    function = Function((x,), record_type(Tuple((shared, TupleGetItem(shared, 0))), PAIR))
    met = []

    def step(node, rebuilt):
        met.append(node)
        return y if rebuilt is x else rebuilt

    body = rewrite_nodes(function, step).body
    assert met == [x, shared, function.body.fields[1], function.body]
    assert body.fields[0] is body.fields[1].tuple_value
    assert body.fields[0].fields == (y,)
    assert body.checked_type == body.fields[0].checked_type == PAIR


def test_what_nothing_changes_is_the_same_object_also_where_two_places_name_one_function():
    cons = [Constructor("Cons", (), GlobalTypeVar("List")) for _ in range(2)]
    inner = Call(GlobalVar("f"), (Call(GlobalVar("f"), (Call(cons[0], (Call(cons[1], ()),)),)),))
    choice = If(Var("c"), inner, Match(Var("d"), (Clause(PatternWildcard(), Let(Var("v"), inner, const(1))),)))
    function = Function((), choice)
    assert rewrite(function, lambda node: node) is function
    assert rewrite_nodes(function, lambda _, new: new) is function
    assert rewrite_to_fixpoint(function, lambda _before, _after: None) is function


def test_a_step_without_types_leaves_what_is_around_its_changes_to_inference():
    x = typed_var()
    before = record_type(Tuple((record_type(Tuple((x,)), PAIR), record_type(Tuple(()), PAIR))), PAIR)
    after = rewrite(before, lambda node: const(1) if node is x else node)
    assert (after.checked_type, after.fields[0].checked_type, after.fields[1]) == (None, None, before.fields[1])


def test_patterns_and_bound_variables_stay_where_they_are():
    v, data = Var("v"), Var("data")
    match = Match(data, (Clause(PatternVar(v), v),), complete=False)
    changed = rewrite(match, lambda node: const(1) if node is v else node)
    assert (changed.clauses[0].lhs.var, changed.complete, changed.data) == (v, False, data)


@pytest.mark.parametrize(
    "rewritten",
    [
        lambda expr, old, new: rewrite(expr, lambda node: new if node is old else node),
        lambda expr, old, new: rewrite_nodes(Function((), expr), lambda node, made: new if node is old else made).body,
        lambda expr, old, new: rewrite_with_uses(Function((), expr), lambda made, _: new if made is old else made).body,
        lambda expr, old, new: rewrite_to_fixpoint(
            expr, lambda node, _: Replacement(new, "new", is_final=True) if node is old else None
        ),
    ],
    ids=["rewrite", "rewrite_nodes", "rewrite_with_uses", "rewrite_to_fixpoint"],
)
def test_depth_costs_memory_alone_and_time_is_linear(rewritten):
    old, new = typed_var("old"), typed_var("new")
    assert level_count(rewritten(tower(DEPTH, old), old, new)) == (DEPTH, new)
    towers = {depth: tower(depth, old) for depth in (500, 1000)}
    assert is_linear(lambda depth: rewritten(towers[depth], old, new), 500)


# -------------------------------------------------------------------------------------------------------------- uses


def test_uses_are_counted_place_by_place():
    x = Var("x")
    pair = Tuple((x, x))
    uses = uses_in(Tuple((pair, pair, TupleGetItem(x, 0))))
    assert [uses.of(node) for node in (x, pair)] == [3, 2]
    assert uses.of(Tuple(())) == 1, "what was just made has one use"


def test_a_replacement_has_the_uses_of_what_it_stands_for():
    x = typed_var()
    shared = Tuple((x,))
    met = {}

    def step(expr, uses):
        if isinstance(expr, Tuple) and len(expr.fields) == 1:
            return TupleGetItem(expr, 0)
        met.update((part, uses.of(part)) for part in getattr(expr, "fields", ()))
        return expr

    body = rewrite_with_uses(Function((x,), Tuple((shared, shared, x))), step).body
    assert met == {body.fields[0]: 2, x: 2}


# ---------------------------------------------------------------------------------------------------------- fixpoint


def test_what_replaces_a_node_is_seen_again_until_nothing_is_left_to_do():
    def unwrapped(_, node):
        return Replacement(node.fields[0], "unwrap") if isinstance(node, Tuple) else None

    assert rewrite_to_fixpoint(tower(50, x := typed_var()), unwrapped) is x


def test_a_final_replacement_is_not_seen_again():
    made = rewrite_to_fixpoint(typed_var(), lambda _, node: Replacement(Tuple((node,)), "wrap", is_final=True))
    assert level_count(made)[0] == 1


def test_rewriting_in_circles_ends_after_a_hundred_replacements_and_names_what_made_them():
    steps = []

    def there_and_back(_, node):
        steps.append(node)
        return Replacement(Var("b"), "there") if node.name_hint == "a" else Replacement(Var("a"), "back")

    with pytest.raises(Endless, match=r"there, back, there, back"):
        rewrite_to_fixpoint(Var("a"), there_and_back)
    assert len(steps) == MAX_REPLACEMENTS_IN_A_ROW + 1


def test_a_replacement_that_holds_what_it_replaces_does_not_end():
    def wrapped(before, _):
        return Replacement(Tuple((before,)), "wrap") if isinstance(before, Var) else None

    with pytest.raises(Endless, match="wrap"):
        rewrite_to_fixpoint(typed_var(), wrapped)


def test_functions_that_are_not_looked_into_stay():
    kernel = Function((), TupleGetItem(Tuple((const(1),)), 0), attrs={"Primitive": 1})
    met = []

    def step(_, node):
        met.append(node)

    assert rewrite_to_fixpoint(kernel, step, lambda _: ()) is kernel
    assert met == [kernel]
