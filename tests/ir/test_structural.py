"""Equality up to names, and the hash that goes with it."""

import numpy as np
import pytest

from relay.arith.expr import Symbol
from relay.base.dtypes import DType
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    PatternConstructor,
    PatternVar,
    PatternWildcard,
    Tuple,
    TupleGetItem,
    Var,
    const,
)
from relay.ir.module import IRModule
from relay.ir.structural import structural_equal, structural_hash
from relay.ir.types import FuncType, GlobalTypeVar, TensorType, TupleType, TypeVar, scalar_type
from relay.text.printer import astext


def swap(order):
    x, y = Var("x"), Var("y")
    return Function((x, y), Tuple((x, y) if order else (y, x)))


def test_functions_are_equal_up_to_names_and_not_when_parameters_are_swapped():
    x, y = Var("a"), Var("b")
    renamed = Function((x, y), Tuple((x, y)))
    assert structural_equal(swap(True), renamed)
    assert structural_hash(swap(True)) == structural_hash(renamed)
    assert not structural_equal(swap(True), swap(False))
    assert structural_hash(swap(True)) != structural_hash(swap(False))


def test_free_variables_correspond_only_when_asked():
    x, y, z = Var("x"), Var("y"), Var("z")
    assert structural_equal(Tuple((x, x)), Tuple((x, x)))
    assert not structural_equal(Tuple((x, x)), Tuple((y, y)))
    assert structural_equal(Tuple((x, x)), Tuple((y, y)), map_free_vars=True)
    assert not structural_equal(Tuple((x, x)), Tuple((y, z)), map_free_vars=True)
    assert structural_hash(Tuple((x, y)), map_free_vars=True) == structural_hash(Tuple((y, z)), map_free_vars=True)


def test_a_shared_node_is_not_two_copies():
    x = Var("x")
    once = TupleGetItem(x, 0)
    shared = Tuple((once, once))
    copied = Tuple((TupleGetItem(x, 0), TupleGetItem(x, 0)))
    assert not structural_equal(shared, copied)
    assert not structural_equal(copied, shared)
    assert structural_equal(copied, Tuple((TupleGetItem(x, 0), TupleGetItem(x, 0))))


def test_sharing_of_leaves_means_nothing():
    one = const(1)
    assert structural_equal(Tuple((one, one)), Tuple((const(1), const(1))))


def test_constants_compare_by_type_and_bytes():
    assert structural_equal(const(np.float32(np.nan)), const(np.float32(np.nan)))
    assert not structural_equal(const(np.float32(0.0)), const(np.float32(-0.0)))
    assert not structural_equal(const(1), const(1, "int64"))


def test_symbols_correspond_one_to_one():
    def function(first, second):
        x = Var("x", TensorType((first,), DType.FLOAT32))
        return Function((x,), x, TensorType((second,), DType.FLOAT32))

    n, m, k = Symbol("n"), Symbol("m"), Symbol("k")
    assert structural_equal(function(n, 2 * n + 1), function(m, 2 * m + 1))
    assert not structural_equal(function(n, n), function(m, k))


def test_types():
    a, b = TypeVar("a"), TypeVar("b")
    assert structural_equal(FuncType((a,), a, (a,)), FuncType((b,), b, (b,)))
    assert not structural_equal(a, b)
    assert not structural_equal(TupleType((a,)), TupleType((b,)))


@pytest.mark.parametrize("change", ["order", "complete", "constructor"])
def test_clause_order_completeness_and_constructors_of_a_match_count(change):
    data = GlobalTypeVar("List")
    nil, cons, other = (Constructor(name, (), data, tag) for tag, name in enumerate(("Nil", "Cons", "Other")))

    def build(order=False, complete=True, first=nil):
        clauses = [Clause(PatternConstructor(first), const(1)), Clause(PatternConstructor(cons), const(2))]
        return Match(const(0), tuple(reversed(clauses) if order else clauses), complete)

    changed = {"order": build(order=True), "complete": build(complete=False), "constructor": build(first=other)}
    assert structural_equal(build(), build())
    assert not structural_equal(build(), changed[change])


def test_pattern_variables_are_bound():
    def build(name):
        var = Var(name)
        return Match(const(0), (Clause(PatternVar(var), var), Clause(PatternWildcard(), const(1))))

    assert structural_equal(build("a"), build("b"))


def test_modules_compare_by_name_whatever_the_order():
    f, g = Function((), const(1)), Function((), const(2))
    one = IRModule({GlobalVar("f"): f, GlobalVar("g"): g})
    two = IRModule({GlobalVar("g"): g, GlobalVar("f"): f})
    assert structural_equal(one, two)
    assert structural_hash(one) == structural_hash(two)
    assert not structural_equal(one, IRModule({GlobalVar("f"): g, GlobalVar("g"): f}))


def test_attributes_of_functions_count():
    plain = Function((), const(1))
    assert not structural_equal(plain, plain.with_attr("Primitive", 1))
    assert structural_equal(plain, plain.with_attr("Primitive", 1).without_attr("Primitive"))


def test_the_hash_is_the_same_in_every_process():
    x = Var("x", scalar_type("float32"))
    assert structural_hash(Function((x,), If(const(True), x, const(1.0)))) == 0xD9274F77E5E1899F


def test_long_chains_and_exponential_trees_are_linear():
    deep = Var("x")
    for _ in range(20_000):
        deep = Let(Var("y"), Call(Var("f"), (const(1),)), deep)
    assert isinstance(structural_hash(deep), int)
    wide = Var("x")
    for _ in range(200):
        wide = Tuple((wide, wide))
    assert structural_equal(Function((), wide), Function((), wide))
    assert isinstance(structural_hash(wide), int)


def test_the_empty_tuple_is_one_value_however_often_it_is_made():
    once = Tuple(())
    shared, apart = Tuple((once, once)), Tuple((Tuple(()), Tuple(())))
    assert structural_equal(shared, apart)
    assert structural_hash(shared) == structural_hash(apart)
    assert astext(shared).endswith("((), ())")
