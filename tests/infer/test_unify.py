"""Unification: when two types are the same, or one may stand for the other; and that a failure leaves no trace."""

import pytest

from relay.arith.expr import Symbol, maximum
from relay.infer.unification.join import join
from relay.infer.unification.unify import Mode, Undecided, Unifier, place_of
from relay.ir.types import (
    ANY,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    Kind,
    RefType,
    TensorType,
    TupleType,
    TypeCall,
    TypeVar,
    scalar_type,
)

BOOL, INT = scalar_type("bool"), scalar_type("int32")
LIST = GlobalTypeVar("List", Kind.ADT_HANDLE)
OTHER = GlobalTypeVar("Tree", Kind.ADT_HANDLE)
A, B, C = TypeVar("a"), TypeVar("b"), TypeVar("c")
N, M, J, K = (Symbol(name) for name in "nmjk")


def tensor(*shape, dtype="int8"):
    return TensorType(shape, dtype)


def pair(one, other):
    return TupleType((one, other))


@pytest.mark.parametrize(
    ("found", "expected", "exact", "assign"),
    [
        (tensor(3, N), tensor(3, N), "", ""),
        (tensor(3), tensor(4), "3 is not 4", "3 is not 4"),
        (tensor(3), tensor(3, dtype="bool"), "int8 is not bool", "int8 is not bool"),
        (tensor(3), tensor(3, 1), "rank 1 is not rank 2", "rank 1 is not rank 2"),
        (tensor(3), tensor(ANY), "3 is not ?: the extent is unknown here", ""),
        (tensor(ANY), tensor(3), "? is not 3: the extent is unknown here", "? is not 3: the extent is unknown here"),
        (tensor(ANY), tensor(ANY), "", ""),
        (tensor(N + 1), tensor(N), "n + 1 is not n", "n + 1 is not n"),
        (pair(INT, BOOL), pair(INT, BOOL), "", ""),
        (pair(INT, BOOL), pair(INT, INT), "bool is not int32", "bool is not int32"),
        (pair(INT, INT), TupleType((INT,)), "2 fields are not 1", "2 fields are not 1"),
        (pair(INT, tensor(2)), pair(INT, tensor(ANY)), "2 is not ?: the extent is unknown here", ""),
        (RefType(INT), RefType(INT), "", ""),
        (RefType(INT), INT, "ref(int32) is not int32", "ref(int32) is not int32"),
        (  # a cell that is read and written is of one type
            RefType(tensor(2)),
            RefType(tensor(ANY)),
            "2 is not ?: the extent is unknown here",
            "2 is not ?: the extent is unknown here",
        ),
        (TypeCall(LIST, (INT,)), TypeCall(LIST, (INT,)), "", ""),
        (TypeCall(LIST, (INT,)), TypeCall(LIST, (BOOL,)), "int32 is not bool", "int32 is not bool"),
        (TypeCall(LIST, (INT,)), TypeCall(OTHER, (INT,)), "List[int32] is not Tree[int32]", None),
        (TypeCall(LIST, (INT,)), TypeCall(LIST, (INT, INT)), "List[int32] is not List[int32, int32]", None),
        (LIST, TypeCall(LIST, ()), "", ""),
        (FuncType((INT,), BOOL), FuncType((INT,), BOOL), "", ""),
        (FuncType((INT,), BOOL), FuncType((INT, INT), BOOL), "1 parameters are not 2", None),
        (FuncType((INT,), BOOL), FuncType((BOOL,), BOOL), "bool is not int32", None),
        (FuncType((INT,), BOOL), FuncType((INT,), INT), "bool is not int32", None),
        (  # a function that takes any extent takes this one, not the other way round
            FuncType((tensor(ANY),), INT),
            FuncType((tensor(2),), INT),
            "2 is not ?: the extent is unknown here",
            "",
        ),
        (FuncType((tensor(2),), INT), FuncType((tensor(3),), INT), "3 is not 2", "3 is not 2"),
        (FuncType((tensor(N),), tensor(N)), FuncType((tensor(3),), tensor(3)), "", ""),
        (FuncType((tensor(N),), tensor(N)), FuncType((tensor(3),), tensor(4)), "3 is not 4", "3 is not 4"),
        (FuncType((A,), A, (A,)), FuncType((B,), B, (B,)), "", ""),
        (FuncType((A, B), A, (A, B)), FuncType((A, B), A, (B, A)), "", ""),
        (FuncType((A,), A, (A,)), FuncType((INT,), INT), "the functions have different numbers of type parameters", ""),
        (FuncType((A,), A, (A,)), FuncType((INT,), BOOL), "the functions have different numbers of type parameters",
         "int32 is not bool"),
        (FuncType((A, B), A, (A, B)), FuncType((A, A), A, (A,)),
         "the functions have different numbers of type parameters", ""),
        (FuncType((A, A), A, (A,)), FuncType((A, B), A, (A, B)),
         "the functions have different numbers of type parameters", "b is not a"),
        (FuncType((A, B), A, (A, B)), FuncType((A, B), B, (A, B)), "a is not b", "a is not b"),
        (FuncType((INT,), INT), FuncType((A,), A, (A,)), "the functions have different numbers of type parameters",
         "a is not int32"),
        (FuncType((INT,), INT, (A,)), FuncType((INT,), INT, (A,)), "", ""),  # though nothing determines its parameter
        (A, B, "a is not b", "a is not b"),
    ],
)  # fmt: skip
def test_relations(found, expected, exact, assign):
    """`assign` None: as for exact."""
    for mode, fact in ((Mode.EXACT, exact), (Mode.ASSIGN, exact if assign is None else assign)):
        mismatch = Unifier().relate(found, expected, mode)
        assert (mismatch.fact if mismatch else "") == fact


def test_a_function_of_one_type_does_not_work_for_every_type():
    """What it takes is to be found, and cannot be whatever its callers choose."""
    unifier, hole = Unifier(), IncompleteType()
    mismatch = unifier.relate(FuncType((hole,), hole), FuncType((A, B), B, (A, B)), Mode.ASSIGN)
    assert mismatch.fact == "1 parameters are not 2"
    mismatch = unifier.relate(FuncType((hole, INT), hole), FuncType((A, INT), A, (A,)), Mode.ASSIGN)
    assert mismatch.fact == "the function does not work for every a"
    assert unifier.resolve(hole) is hole
    mismatch = unifier.relate(FuncType((hole, B), B, (B,)), FuncType((A, B), B, (A, B)), Mode.ASSIGN)
    assert mismatch.fact == "the function does not work for every a"


def test_variables_become_what_they_meet():
    unifier, hole, other = Unifier(), IncompleteType(), IncompleteType()
    part = pair(IncompleteType(), BOOL)
    assert unifier.relate(pair(hole, INT), pair(part, other), Mode.EXACT) is None
    assert (str(unifier.zonk(other)), str(unifier.zonk(pair(hole, other)))) == ("int32", "((_, bool), int32)")
    assert unifier.resolve(hole) is part
    assert unifier.newly_solved() == [hole, other]
    assert unifier.newly_solved() == []


def test_a_variable_may_become_another():
    unifier, one, other = Unifier(), IncompleteType(), IncompleteType()
    assert unifier.relate(one, other, Mode.EXACT) is None
    assert unifier.relate(other, one, Mode.EXACT) is None
    assert unifier.relate(one, INT, Mode.EXACT) is None
    assert unifier.zonk(other) is unifier.zonk(one) is INT


def test_a_type_cannot_contain_itself():
    unifier, hole, other = Unifier(), IncompleteType(), IncompleteType()
    assert unifier.bind(other, TupleType((hole,))) is None
    mismatch = unifier.bind(hole, RefType(other))
    assert (mismatch.fact, str(mismatch.expected)) == ("a type cannot contain itself", "ref((_,))")
    assert unifier.resolve(hole) is hole
    mismatch = unifier.relate(pair(INT, hole), pair(INT, TupleType((hole,))), Mode.EXACT)
    assert (mismatch.fact, mismatch.where) == ("a type cannot contain itself", "field 1")


def test_extents_are_solved():
    unifier = Unifier()
    n = unifier.fresh_symbol("n")
    shape = tensor(2 * n + 1, n)
    assert unifier.relate(shape, tensor(7, 3), Mode.EXACT) is None
    assert unifier.extent(n) == 3
    assert unifier.newly_solved() == [n]
    assert unifier.relate(shape, tensor(7, 4), Mode.EXACT).fact == "3 is not 4"
    assert str(unifier.zonk(FuncType((tensor(n * n),), tensor(n)))) == ("fn (Tensor[(9,), int8]) -> Tensor[(3,), int8]")


def test_extents_may_be_solved_by_other_extents():
    unifier = Unifier()
    n, m = unifier.fresh_symbol("n"), unifier.fresh_symbol("m")
    assert unifier.relate(tensor(n, m), tensor(m + 1, K), Mode.ASSIGN) is None
    assert unifier.extent(n) == K + 1
    assert unifier.undecided == unifier.postponed == []


def test_what_the_run_must_tell_and_what_waits():
    unifier = Unifier()
    n = unifier.fresh_symbol("n")
    assert unifier.relate(tensor(J, n * n), tensor(K, M), Mode.EXACT) is None
    assert unifier.undecided == [Undecided(J, K)]
    assert unifier.take_postponed() == [Undecided(n * n, M)]
    assert unifier.take_postponed() == []


def test_a_failure_leaves_no_trace():
    """Each kind of thing that a relation notes, before it fails."""
    unifier = Unifier()
    hole, n, m = IncompleteType(), unifier.fresh_symbol("n"), unifier.fresh_symbol("m")
    noted = (hole, tensor(n), tensor(J), tensor(m * m))
    met = (INT, tensor(3), tensor(K), tensor(4))
    assert unifier.relate(TupleType((*noted, INT)), TupleType((*met, BOOL)), Mode.EXACT).fact == "int32 is not bool"
    assert unifier.resolve(hole) is hole
    assert unifier.extent(n) is n
    assert unifier.undecided == unifier.postponed == unifier.newly_solved() == []
    assert (
        unifier.relate(TupleType((hole, tensor(n), tensor(m))), TupleType((BOOL, tensor(5), tensor(3))), Mode.EXACT)
        is None
    )
    assert unifier.zonk(pair(hole, tensor(n, m))) == pair(BOOL, tensor(5, 3))


def test_what_failed_does_not_bind_what_is_found_later():
    """Of the two ways to choose between a function of one type and a polymorphic one, the first fails after it has
    noted that k*k is 4; what is found of k later has nothing to do with it."""
    unifier = Unifier()
    k = unifier.fresh_symbol("k")
    attempt = unifier.relate(pair(tensor(k * k), INT), pair(tensor(4), BOOL), Mode.ASSIGN)
    assert attempt is not None
    assert unifier.relate(tensor(k), tensor(3), Mode.ASSIGN) is None
    assert [unifier.relate_extents(each.found, each.expected, Mode.EXACT) for each in unifier.take_postponed()] == []


def test_a_failure_keeps_what_was_before():
    unifier = Unifier()
    hole, n = IncompleteType(), unifier.fresh_symbol("n")
    before = (pair(hole, tensor(J, n * n)), pair(INT, tensor(K, M)))
    assert unifier.relate(*before, Mode.EXACT) is None
    assert unifier.relate(pair(tensor(J), INT), pair(tensor(M), BOOL), Mode.EXACT) is not None
    assert unifier.resolve(hole) is INT
    assert unifier.undecided == [Undecided(J, K)]
    assert unifier.postponed == [Undecided(n * n, M)]
    assert unifier.newly_solved() == [hole]


def test_forgetting_leaves_nothing():
    unifier = Unifier()
    hole, n = IncompleteType(), unifier.fresh_symbol("n")
    m = unifier.fresh_symbol("m")
    unifier.relate(pair(hole, tensor(n, J, m * m)), pair(INT, tensor(3, K, J)), Mode.EXACT)
    unifier.newly_solved()
    unifier.forget()
    assert unifier == Unifier()
    assert unifier.bind(hole, BOOL) is None
    assert unifier.newly_solved() == [hole]


def test_symbols_of_functions_around_are_nobodys_own():
    outer = FuncType((tensor(N),), tensor(N))
    assert Unifier().relate(outer, FuncType((tensor(3),), tensor(3)), Mode.EXACT) is None
    unifier = Unifier(visible=frozenset({N}))
    assert unifier.relate(outer, FuncType((tensor(3),), tensor(3)), Mode.EXACT) is None
    assert unifier.undecided == [Undecided(3, N), Undecided(N, 3)]


def test_whoever_is_called_is_given_some_extent():
    """A function that needs its parameters to agree may be called with what is unknown: the run checks."""
    needs = FuncType((tensor(N), tensor(N)), INT)
    assert Unifier().relate(needs, FuncType((tensor(ANY), tensor(ANY)), INT), Mode.ASSIGN) is None
    assert Unifier().relate(needs, FuncType((tensor(ANY), tensor(ANY)), INT), Mode.EXACT) is not None


def test_an_instance_has_symbols_and_arguments_of_its_own():
    unifier = Unifier()
    type_ = FuncType((A, tensor(N, M)), tensor(N + M), (A,))
    instance = unifier.instance(type_, {A: INT}, {N})
    assert str(instance) == "fn (int32, Tensor[(n, m), int8]) -> Tensor[(n + m,), int8]"
    (n,) = unifier.flexible
    assert instance.arg_types[1].shape == (n, M)
    assert instance.ret_type.shape == (n + M,)
    assert n is not N
    assert unifier.instance(instance, {}, set()) is instance


@pytest.mark.parametrize(
    ("found", "expected", "where"),
    [
        (INT, BOOL, ""),
        (pair(INT, INT), pair(INT, BOOL), "field 1"),
        (RefType(INT), RefType(BOOL), "the content"),
        (TypeCall(LIST, (INT,)), TypeCall(LIST, (BOOL,)), "argument 0 of List"),
        (FuncType((BOOL, INT), INT), FuncType((BOOL, BOOL), INT), "parameter 1"),
        (FuncType((BOOL,), pair(INT, INT)), FuncType((BOOL,), pair(BOOL, INT)), "field 0 of the result"),
        (pair(BOOL, INT), pair(INT, BOOL), "field 0"),
        (pair(INT, INT), RefType(BOOL), ""),
    ],
)
def test_the_place_of_parts(found, expected, where):
    assert place_of((INT, BOOL), found, expected) == where


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        (tensor(3, 1), tensor(4, 1), tensor(ANY, 1)),
        (tensor(ANY, 1), tensor(ANY, ANY), tensor(ANY, ANY)),
        (tensor(N), tensor(N), tensor(N)),
        (tensor(N), tensor(M), tensor(ANY)),
        (tensor(ANY, 1), tensor(1), "rank 2 is not rank 1"),
        (tensor(1), tensor(1, dtype="bool"), "int8 is not bool"),
        (pair(tensor(3), INT), pair(tensor(4), INT), pair(tensor(ANY), INT)),
        (pair(tensor(3), INT), pair(tensor(4), BOOL), "int32 is not bool"),
        (pair(INT, INT), TupleType((INT,)), "2 fields are not 1"),
        (TypeCall(LIST, (tensor(3),)), TypeCall(LIST, (tensor(4),)), TypeCall(LIST, (tensor(ANY),))),
        (TypeCall(LIST, (BOOL,)), TypeCall(LIST, (INT,)), "bool is not int32"),
        (TypeCall(LIST, (INT,)), TypeCall(OTHER, (INT,)), "List[int32] is not Tree[int32]"),
        (TypeCall(LIST, (INT,)), TypeCall(LIST, (INT, INT)), "List[int32] is not List[int32, int32]"),
        (RefType(INT), RefType(INT), RefType(INT)),
        (RefType(tensor(3)), RefType(tensor(4)), "3 is not 4"),
        (FuncType((INT,), INT), FuncType((A,), A, (A,)), FuncType((INT,), INT)),
        (FuncType((A,), A, (A,)), FuncType((INT,), INT), FuncType((INT,), INT)),
        (FuncType((A,), A, (A,)), FuncType((INT,), BOOL), "int32 is not bool"),
    ],
)
def test_join(one, other, joined):
    assert join(Unifier(), one, other) == joined


def test_a_choice_may_decide_an_extent_or_a_type():
    unifier, hole = Unifier(), IncompleteType()
    n = unifier.fresh_symbol("n")
    assert join(unifier, tensor(n), tensor(3)) == tensor(3)
    assert unifier.extent(n) == 3
    assert unifier.zonk(join(unifier, hole, INT)) is INT


def test_extents_that_are_equal_whatever_they_are_leave_nothing_to_check():
    unifier = Unifier()
    assert unifier.relate(tensor(maximum(N, 0)), tensor(N), Mode.EXACT) is None
    assert unifier.undecided == []
