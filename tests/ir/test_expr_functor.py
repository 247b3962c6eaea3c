"""`ExprFunctor`, `ExprVisitor` and `ExprMutator`, as users of Relay know them."""

from collections import Counter

import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.ir.expr import (
    Call,
    Clause,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    PatternVar,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    const,
    record_type,
)
from relay.ir.structural import structural_equal
from relay.ir.types import TensorType

x, y, v = Var("x"), Var("y"), Var("v")


def every_form():
    match = Match(Tuple((x,)), (Clause(PatternVar(v), v),))
    ref = RefCreate(If(x, TupleGetItem(match, 0), const(1)))
    return Function((x,), Let(y, ref, Call(GlobalVar("f"), (RefRead(y), RefWrite(y, const(2))))))


def deep(expr, levels):
    for _ in range(levels):
        expr = Tuple((expr,))
    return expr


def test_a_functor_is_worked_out_once_for_each_node():
    class Size(relay.ExprFunctor):
        met = 0

        def visit_var(self, _):
            return 1

        def visit_tuple(self, whole):
            self.met += 1
            return sum(map(self.visit, whole.fields))

    expr = x
    for _ in range(30):
        expr = Tuple((expr, expr))
    size = Size()
    assert (size.visit(expr), size.met) == (2**30, 30)
    assert size.memo_map[x] == 1


def test_a_functor_says_which_method_it_has_not():
    class OnlyVariables(relay.ExprFunctor):
        def visit_var(self, var):
            return var

    with pytest.raises(RelayError) as caught:
        OnlyVariables().visit(RefCreate(x))
    assert caught.value.rule == "no-visit-method"
    assert "OnlyVariables does not say what becomes of a RefCreate" in str(caught.value)
    assert "give it a method visit_ref_create" in str(caught.value)


def test_a_visitor_meets_every_node_and_what_each_binds_once_in_the_order_of_the_text():
    class Order(relay.ExprVisitor):
        def __init__(self):
            super().__init__()
            self.names = []

        def visit_var(self, var):
            self.names.append(var.name_hint)

        def visit_constant(self, constant):
            self.names.append(constant.data.item())

        def visit_global_var(self, name):
            self.names.append(name.name_hint)

    order = Order()
    order.visit(every_form())
    assert order.names == ["x", "y", "v", 1, "f", 2]


def test_a_visitor_goes_on_inside_when_it_says_so_only():
    class Calls(relay.ExprVisitor):
        def __init__(self, goes_on):
            super().__init__()
            self.goes_on = goes_on
            self.met = Counter()

        def visit_call(self, call):
            self.met["calls"] += 1
            if self.goes_on:
                super().visit_call(call)

        def visit_global_var(self, name):
            self.met[name.name_hint] += 1

    nested = Call(GlobalVar("f"), (Call(GlobalVar("g"), (x,)),))
    for goes_on, met in ((True, {"calls": 2, "f": 1, "g": 1}), (False, {"calls": 1})):
        calls = Calls(goes_on)
        calls.visit(Tuple((nested, nested)))
        assert calls.met == met


def test_a_node_that_a_method_went_into_is_not_visited_again():
    class Met(relay.ExprVisitor):
        def __init__(self):
            super().__init__()
            self.nodes = []

        def visit_tuple_getitem(self, projection):
            self.nodes.append(projection)
            self.visit(projection.tuple_value)

        def visit_ref_create(self, ref):
            self.nodes.append(ref)
            super().visit_ref_create(ref)

    shared = RefCreate(x)
    first = TupleGetItem(Tuple((shared,)), 0)
    met = Met()
    met.visit(Tuple((first, shared)))
    assert met.nodes == [first, shared]


def test_a_mutator_that_changes_nothing_gives_the_same_object():
    expr = every_form()
    assert relay.ExprMutator().visit(expr) is expr


def test_a_mutator_changes_what_it_overrides_where_it_is_bound_and_used():
    class Fresh(relay.ExprMutator):
        def visit_var(self, var):
            return Var(f"new_{var.name_hint}")

    expr = every_form()
    renamed = Fresh().visit(expr)
    assert structural_equal(renamed, expr)
    assert (renamed.params[0].name_hint, renamed.body.var.name_hint) == ("new_x", "new_y")
    assert renamed.body.value.value.true_branch.tuple_value.clauses[0].lhs.var.name_hint == "new_v"


def test_a_mutator_rewrites_from_the_leaves_up_keeps_sharing_and_leaves_types_to_inference():
    class Unwrapped(relay.ExprMutator):
        def visit_tuple_getitem(self, projection):
            whole = self.visit(projection.tuple_value)
            return whole.fields[projection.index] if isinstance(whole, Tuple) else TupleGetItem(whole, projection.index)

    inner = TupleGetItem(Tuple((TupleGetItem(Tuple((x,)), 0),)), 0)
    outer = record_type(RefCreate(inner), TensorType((), "int8"))
    made = Unwrapped().visit(Tuple((outer, outer)))
    assert made.fields[0].value is x
    assert made.fields[0] is made.fields[1]
    assert made.fields[0].checked_type is None


def test_forms_that_are_not_overridden_cost_no_recursion():
    class Renamed(relay.ExprMutator):
        def visit_var(self, var):
            return y

    class Met(relay.ExprVisitor):
        found = ()

        def visit_var(self, var):
            self.found += (var,)

    met = Met()
    met.visit(deep(x, 100_000))
    assert met.found == (x,)
    made = Renamed().visit(deep(x, 100_000))
    for _ in range(100_000):
        made = made.fields[0]
    assert made is y
