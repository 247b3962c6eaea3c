"""Where shared nodes are evaluated, walks, and well-formedness."""

from relay.base.span import Source, Span
from relay.ir.expr import Call, Clause, Function, GlobalVar, If, Let, Match, PatternVar, Tuple, TupleGetItem, Var, const
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite
from relay.ir.sharing import scopes, value_node
from relay.ir.structural import structural_equal
from relay.ir.traversal import post_order
from relay.ir.variables import all_vars, bound_vars, free_vars, refresh, substitute
from relay.ir.well_formed import well_formed
from tests.growth import is_linear


def names(scope):
    return [type(node).__name__ for node in scope.order]


def test_a_node_of_both_branches_runs_before_the_if():
    x = Var("x")
    shared = TupleGetItem(x, 0)
    choice = If(Var("c"), Tuple((shared,)), shared)
    found = scopes(choice)
    assert found.root.order == [shared, choice]
    assert [names(inner) for inner in found.inner(choice)] == [["Tuple"], []]


def test_a_node_of_one_branch_stays_in_it():
    used = TupleGetItem(Var("x"), 0)
    choice = If(Var("c"), Tuple((used, used)), const(1))
    found = scopes(choice)
    assert found.of(used) is found.inner(choice)[0]


def test_a_node_of_a_closure_and_of_its_outside_runs_before_the_closure():
    shared = TupleGetItem(Var("x"), 0)
    closure = Function((Var("y"),), shared)
    pair = Tuple((closure, shared))
    assert scopes(pair).root.order == [shared, closure, pair]


def test_what_a_shared_node_uses_is_used_once():
    inner = Tuple(())
    shared = Tuple((inner,))
    found = scopes(Tuple((shared, shared)))
    assert (found.uses(shared), found.uses(inner)) == (2, 1)
    assert [each for each in found.root.order if each is shared] == [shared]


def test_a_let_stands_between_its_value_and_its_body():
    x, y = Var("x"), Var("y")
    value, body = Tuple(()), Tuple((x,))
    let = Let(x, value, body)
    assert scopes(let).root.order == [value, let, body]
    assert value_node(Let(y, const(1), let)) is body


def test_an_inner_let_is_a_block_of_the_text_only():
    x = Var("x")
    body = Tuple((x, x))
    let = Let(x, const(1), body)
    outer = TupleGetItem(let, 0)
    assert scopes(outer).root.order == [let, body, outer]
    found = scopes(outer, text_blocks=True)
    assert found.root.order == [let, outer]
    assert found.inner(let)[0].order == [let, body]


def test_walks_see_each_node_once_and_rewrites_keep_sharing():
    x, y = Var("x"), Var("y")
    expr = x
    for _ in range(100):
        expr = Tuple((expr, expr))
    assert len(post_order(expr)) == 101
    assert rewrite(expr, lambda node: node) is expr
    changed = substitute(expr, {x: y})
    assert len(post_order(changed)) == 101
    assert free_vars(changed) == (y,)


def test_variables():
    x, y, z = Var("x"), Var("y"), Var("z")
    function = Function((x,), Let(y, x, Tuple((y, z))))
    assert free_vars(function) == (z,)
    assert set(bound_vars(function)) == {x, y}
    assert set(all_vars(function)) == {x, y, z}
    copy = refresh(function)
    assert structural_equal(function, copy)
    assert not set(bound_vars(copy)) & {x, y}


def test_twenty_thousand_deep():
    deep(20_000)
    assert is_linear(deep, 1_000)


def deep(size):
    expr = x = Var("x")
    for _ in range(size):
        expr = Call(GlobalVar("f"), (expr,))
    for _ in range(size):
        expr = Let(Var("y"), const(1), expr)
    function = Function((x,), expr)
    module = IRModule({GlobalVar("f"): function})
    assert well_formed(module) == ()
    assert scopes(function).uses(expr) == 1
    assert substitute(expr, {x: const(1)}) is not expr


def reasons(program):
    return [str(reason) for reason in well_formed(program)]


def test_a_variable_bound_twice():
    x = Var("x")
    assert reasons(Let(x, const(1), Let(x, const(2), x))) == ["%x is bound 2 times"]
    let = Let(Var("y"), const(1), const(2))
    assert reasons(Tuple((let, let))) == []
    f = Function((x,), x)
    assert reasons(IRModule({GlobalVar("f"): f, GlobalVar("g"): Function((x,), x)})) == ["%x is bound in @f and in @g"]


def test_a_variable_out_of_its_scope():
    x, y = Var("x"), Var("y")
    outside = ["%x is used outside the scope that binds it"]
    assert reasons(Tuple((Let(x, const(1), x), x))) == outside
    assert reasons(Let(x, Tuple((x,)), x)) == outside
    assert reasons(Let(y, x, Let(x, const(1), y))) == outside
    assert reasons(Tuple((Function((x,), x), x))) == outside
    assert reasons(Tuple((Let(x, TupleGetItem(x, 0), Tuple((x,))), const(1)))) == outside
    shared = TupleGetItem(x, 0)
    assert reasons(Tuple((Function((x,), shared), shared))) == outside
    clause = Clause(PatternVar(x), x)
    assert reasons(Tuple((Match(const(1), (clause,)), x))) == outside
    assert reasons(IRModule.from_expr(Function((), x))) == ["%x is not bound"]


def test_a_use_out_of_scope_is_told_with_its_place_or_else_that_of_what_uses_it():
    use, user = Span(Source("m.py"), 3), Span(Source("m.py"), 4)
    for of_variable, expected in ((use, use), (None, user)):
        program = IRModule.from_expr(Function((), Tuple((Var("x", span=of_variable),), span=user)))
        (reason,) = well_formed(program)
        assert reason.span == expected


def test_what_is_well_formed():
    f, x = Var("f"), Var("x")
    recursive = Let(f, Function((x,), Call(f, (x,))), Call(f, (const(1),)))
    assert reasons(recursive) == []
    nested = Let(Var("a"), const(1), Let(f, Function((x,), If(x, Call(f, (x,)), x)), f))
    assert reasons(nested) == []


def test_unknown_globals_are_reported():
    assert reasons(IRModule.from_expr(Call(GlobalVar("nowhere"), ()))) == ["the module has no function @nowhere"]
