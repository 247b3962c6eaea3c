"""Extents: whether two are the same, what makes them the same, and what becomes of those that nobody knows."""

import pytest

from relay.arith.expr import Symbol, minimum
from relay.infer.unification.dimensions import agreement, close_symbols, function_type, open_unknowns, solve_for
from relay.ir.expr import Var
from relay.ir.types import ANY, FuncType, GlobalTypeVar, Kind, RefType, TensorType, TupleType, TypeCall, TypeVar

N, M, K = (Symbol(name) for name in "nmk")
BOX = GlobalTypeVar("Box", Kind.ADT_HANDLE)


def tensor(*shape):
    return TensorType(shape, "int8")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (3, 3, "always"),
        (3, 4, "never"),
        (N + 1, 1 + N, "always"),
        (N, N + 1, "never"),
        (N, 4, "undecided"),
        (N, 0, "undecided"),
        (2 * N, 5, "never"),
        (2 * N, 6, "undecided"),
        (2 * N, 4 * M + 1, "never"),
        (2 * N, 4 * M + 2, "undecided"),
        (N + M, -1, "never"),  # extents are natural numbers
        (N + M + 1, 0, "never"),
        (N - M, -1, "undecided"),
        (N + 3, M + 2, "undecided"),
        (-1 - N, M, "never"),
        (N * N, N * N, "always"),
        (N * M, M * N, "always"),
        (N * N, -1, "never"),
        (N * N, 4, "undecided"),
        (N // 2, N, "undecided"),
        (N % 2, 2, "never"),
        (minimum(N, 3), 4, "never"),
        (ANY, ANY, "undecided"),
        (ANY, 3, "undecided"),
        (3, ANY, "undecided"),
    ],
)
def test_agreement(left, right, expected):
    assert agreement(left, right).value == expected


@pytest.mark.parametrize(
    ("left", "right", "unknowns", "expected"),
    [
        (N, 3, {N}, (N, 3)),
        (3, N, {N}, (N, 3)),
        (N, M, {N, M}, (N, M)),
        (N, M, {M}, (M, N)),
        (N, M, {K}, None),
        (2 * N + 1, 7, {N}, (N, 3)),
        (2 * N + 1, 8, {N}, None),
        (2 * N, 4 * M + 6, {N}, (N, 2 * M + 3)),
        (6, 2 * N + 4 * M, {N}, (N, 3 - 2 * M)),
        (2 * N, M, {N}, None),
        (2 * N, M, {N, M}, (M, 2 * N)),
        (N * N, 4, {N}, None),
        (N + N * N, 6, {N}, None),
        (N + M * M, 6, {N}, (N, 6 - M * M)),
        (N * M, N, {N}, None),
        (M + N * M, N, {N}, None),
        (3, 3, {N}, None),
    ],
)
def test_solving(left, right, unknowns, expected):
    solution = solve_for(left, right, unknowns)
    assert (None if solution is None else (solution.symbol, solution.value)) == expected


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (tensor(ANY, 4, ANY), "Tensor[(x_0, 4, x_2), int8]"),
        (tensor(N, 4), "Tensor[(n, 4), int8]"),
        (TupleType((tensor(ANY), tensor(4, ANY))), "(Tensor[(x_0_0,), int8], Tensor[(4, x_1_1), int8])"),
        (FuncType((tensor(ANY),), tensor(ANY)), "fn (Tensor[(?,), int8]) -> Tensor[(?,), int8]"),
        (RefType(tensor(ANY)), "ref(Tensor[(?,), int8])"),
        (TypeCall(BOX, (tensor(ANY),)), "Box[Tensor[(?,), int8]]"),
    ],
)
def test_what_is_unknown_is_one_extent_of_a_value(type_, expected):
    opened = open_unknowns(type_, "x")
    assert str(opened) == expected
    assert (opened is type_) == (str(type_) == expected)


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (tensor(N, M, N + M, 4, ANY), "Tensor[(n, ?, ?, 4, ?), int8]"),
        (TupleType((tensor(N), tensor(M))), "(Tensor[(n,), int8], Tensor[(?,), int8])"),
        (RefType(tensor(M)), "ref(Tensor[(?,), int8])"),
        (TypeCall(BOX, (tensor(M), tensor(N))), "Box[Tensor[(?,), int8], Tensor[(n,), int8]]"),
        (TypeVar("a"), "a"),
        (
            FuncType((tensor(M),), TupleType((tensor(M, K), tensor(N)))),
            "fn (Tensor[(m,), int8]) -> (Tensor[(m, ?), int8], Tensor[(n,), int8])",
        ),
        (  # what a function inside quantifies means nothing outside of it
            TupleType((FuncType((tensor(M),), tensor(M)), tensor(M))),
            "(fn (Tensor[(m,), int8]) -> Tensor[(m,), int8], Tensor[(?,), int8])",
        ),
        (FuncType((), FuncType((tensor(M),), tensor(M), (TypeVar("a"),))),
         "fn () -> fn [a](Tensor[(m,), int8]) -> Tensor[(m,), int8]"),
    ],
)  # fmt: skip
def test_extents_that_are_not_visible_are_unknown(type_, expected):
    assert str(close_symbols(type_, {N})) == expected


def test_the_type_of_a_function_says_what_its_parameters_determine():
    x = Var("x", tensor(N, ANY))
    object.__setattr__(x, "checked_type", tensor(N))
    assert str(function_type((x,), tensor(N, M))) == "fn (Tensor[(n,), int8]) -> Tensor[(n, ?), int8]"
