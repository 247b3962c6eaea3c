"""Every rule holds for all small values, and the simplifier and the prover agree with evaluation."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.arith.bounds import NON_NEGATIVE, Interval, bounds_of
from relay.arith.expr import (
    COMPARISON_OPERATORS,
    Comparison,
    IntExpr,
    Symbol,
    evaluate,
    free_symbols,
    maximum,
    minimum,
)
from relay.arith.inequality import is_non_negative
from relay.arith.prove import Proof, prove, prove_equal
from relay.arith.rules import RULES, C, D, N, Rule
from relay.arith.simplify import Assumptions, simplify

I, J, K, F, NN, MM, X, T = (Symbol(name) for name in "ijkfnmxt")  # noqa: E741


def holds(comparison: Comparison, values: dict[Symbol, int]) -> bool:
    return COMPARISON_OPERATORS[comparison.op](evaluate(comparison.left, values), evaluate(comparison.right, values))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_holds_for_all_small_values(rule: Rule) -> None:
    symbols = sorted(free_symbols(rule.left) | free_symbols(rule.right), key=str)
    most = 7 if len(symbols) <= 5 else 3
    integers = range(-most, most + 1)
    domains = [range(1, 4) if s in (C, D) else ([-3, -2, -1, 1, 2, 3] if s is N else integers) for s in symbols]
    met = 0
    for point in itertools.product(*domains):
        values = dict(zip(symbols, point, strict=True))
        if all(holds(condition, values) for condition in rule.when):
            met += 1
            assert evaluate(rule.left, values) == evaluate(rule.right, values), values
    assert met > 5


RANGES = {I: Interval(0, 6), J: Interval(0, 3), K: Interval(-2, 5), F: Interval(0, 23)}


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (J % 4, J),
        ((4 * I + J) // 4, I),
        ((4 * I + J) % 4, J),
        ((I // 4) * 4 + I % 4, I),
        (I - (I // 4) * 4, I % 4),
        (((4 * I + J) % 8) // 4, I % 2),
        ((4 * I + J) // 8, I // 2),
        ((F // 12) * 12 + (F // 4 % 3) * 4 + F % 4, F),
        ((F // 12) * 12 + (F % 12 // 4) * 4 + F % 4, F),
        (F % 12 % 4, F % 4),
        ((4 * (X % 18) + J) // 9 * 9 + (4 * X + J) % 9, 4 * (X % 18) + J),
        (F // 24, 0),
        ((8 * I + 2 * J + 1) // 8, I),
        ((4 * I + J + 4) // 8, (I + 1) // 2),
        (minimum(J, 3), J),
        (minimum(J + 4, I - 3), I - 3),
        (maximum(K, 7), 7),
        ((NN * I + J) % NN, J % NN),
        ((4 * NN * I + J) // (2 * NN), 2 * I + J // (2 * NN)),
        (2 * X + -X % 4 * 2 + J, (X + 3) // 4 * 8 + J),
        (minimum(minimum(K, 3), 9), minimum(K, 3)),
    ],
    ids=str,
)
def test_simplifies(expr: IntExpr, expected: IntExpr) -> None:
    assert simplify(expr, RANGES) == expected


SMALL = {I: Interval(0, 6), J: Interval(0, 3), K: Interval(-3, -1), T: Interval(9, 11), NN: Interval(4, 5)}


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (T // 4, 2),
        (T % 4, T - 8),
        (K // 4, -1),
        (K % 4, K + 4),
        ((8 * X + 4 * J + T) // 16, (2 * X + J + 2) // 4),
        ((8 * X + 4 * J + T) % 16, 4 * ((2 * X + J + 2) % 4) + T - 8),
        ((J + I % 8 + X) % 4, (J + I + X) % 4),
        ((3 * (X % 8) + J + X + 1) % 4, (J + 1) % 4),
        ((J * NN + 2 * NN * X + K) // NN, J + 2 * X + K // NN),
        ((J * NN + 2 * NN * X + K) % NN, K % NN),
        ((NN * J * X) // (NN * X), J),
        (3 * X - 12 * (X // 4) + J + 2, 3 * (X % 4) + J + 2),
        (6 * (X % 8 // 2) + 3 * (X % 2) + J + 1, 3 * (X % 8) + J + 1),
        (6 * ((X % 8 * 5 + I) // 2) + 3 * ((X * 5 + I) % 2) + J + 1, 3 * (5 * (X % 8) + I) + J + 1),
        ((X // NN) * NN * J + (X % NN) * J + K + 1, X * J + K + 1),
        (2 * (X // NN) * NN + 2 * (X % NN) + K, 2 * X + K),
    ],
    ids=str,
)
def test_what_is_around_the_terms_of_a_rule_stays(expr: IntExpr, expected: IntExpr) -> None:
    """Coefficients, constants and other terms, before and behind them."""
    assert simplify(expr, SMALL) == expected


@pytest.mark.parametrize(
    "expr",
    [
        T // NN,  # 2 for some values and 3 for none, but the quotient of its end is no number
        10 // NN,
        T % NN,
        T // -4,
        X % 7 // 3 * 3 + X % 3,  # 7 is no multiple of 3
        X % 6 // -3 * -3 + X % -3,
        X % 6 // 3 * 3 + 2 * (X % 3),
        X % 6 // 3 * 3 + X % 2,
        X % 6 % 4,
        X % -8 % 4,
        X - X // 4 * 3,
        X - X // -4 * -4,
        2 * X - X // 4 * 4,
        X + X // 4 * 4,
        X + 1 - (X + 1) // 4 * 4,
        (X // NN) * NN * J + 2 * (X % NN) * J,
        (X // NN) * NN * J + (X % NN) * T,
        (X // NN) * NN * J + (T % NN) * J,
        (6 * X + 4 * J + 1) // 12,
        (NN * J) // (NN * X),
        (NN * X + J) // (NN + 1),
        minimum(T, 10),
        maximum(J, I),
    ],
    ids=str,
)
def test_what_fits_no_rule_stays_as_it_is(expr: IntExpr) -> None:
    assert simplify(expr, SMALL) == expr


def test_a_division_by_what_is_0_in_code_that_no_run_reaches_stays() -> None:
    """The other branch of `if n > 0` around what divides by `n`."""
    nowhere = Assumptions({NN: Interval(0, 0)})
    for expr in (I % NN, I // NN, 4 * (I % NN) + J):
        assert nowhere.simplify(expr) == expr
    assert nowhere.simplify(NN + J) == J


def test_symbolic_fused_axes() -> None:
    known = Assumptions({NN: Interval(1, None), MM: Interval(1, None)}).with_loop(I, NN).with_loop(J, MM)
    assert known.simplify((I * MM + J) // MM) == I
    assert known.simplify((I * MM + J) % MM) == J
    assert known.simplify((F // MM) * MM + F % MM) == F


def test_facts_from_loops_bound_symbolic_tiles() -> None:
    known = Assumptions({NN: Interval(0, None)}).with_loop(I, NN // 4).with_loop(J, 4)
    assert known.certain(Comparison(4 * I + J, "<", NN))
    assert not known.certain(Comparison(4 * I + J + 4, "<", NN))


def test_a_fused_loop_bounds_the_quotient() -> None:
    """Where an outer loop of 5 iterations and one of a symbolic number are one."""
    tiles = (NN + 13) // 14
    known = Assumptions({NN: Interval(0, None)}).with_loop(F, 5 * tiles)
    assert known.certain(Comparison(F // tiles, "<", 5))
    assert known.certain(Comparison(32 * (F // tiles) + 31, "<", 160))
    assert not known.certain(Comparison(F // tiles, "<", 4))
    assert not Assumptions({}).with_loop(F, 5 * tiles + 1).certain(Comparison(F // tiles, "<", 5))


def test_prove() -> None:
    assert prove(Comparison(I, "<", NN), RANGES) is Proof.UNKNOWN
    assert prove(Comparison(I, "<", NN), RANGES, [Comparison(7, "<=", NN)]) is Proof.YES
    assert prove(Comparison(I, "<", 0), RANGES) is Proof.NO
    assert prove(Comparison(4 * I, "==", 4 * NN + 2), RANGES) is Proof.NO
    assert prove(Comparison(NN, "!=", NN + 1), {}) is Proof.YES
    assert prove_equal((NN + NN) // 2, NN, {}) is Proof.YES
    assert prove_equal(NN, MM, {}) is Proof.UNKNOWN
    assert prove(Comparison(0, "<=", NN), {}) is Proof.UNKNOWN  # a dimension is non-negative only if said
    assert prove(Comparison(0, "<=", minimum(16, NN - 16 * I)), {}, [Comparison(16 * I, "<=", NN)]) is Proof.YES
    tail = Comparison((NN + 15) // 16 - NN // 16, "<=", 1)
    assert prove(tail, {NN: Interval(0, None)}) is Proof.YES


LEAVES = st.sampled_from([I, J, K, F]) | st.integers(-6, 6)


def _combine(children: st.SearchStrategy[IntExpr]) -> st.SearchStrategy[IntExpr]:
    divisor = st.sampled_from([1, 2, 3, 4, 6, 8, -3])
    pair = st.tuples(children, children)
    return st.one_of(
        pair.map(lambda p: p[0] + p[1]),
        pair.map(lambda p: p[0] - p[1]),
        pair.map(lambda p: minimum(*p)),
        pair.map(lambda p: maximum(*p)),
        st.tuples(children, st.integers(-4, 8)).map(lambda p: p[0] * p[1]),
        st.tuples(children, divisor).map(lambda p: p[0] // p[1]),
        st.tuples(children, divisor).map(lambda p: p[0] % p[1]),
    )


EXPRESSIONS = st.recursive(LEAVES, _combine, max_leaves=8)
POINTS = st.fixed_dictionaries({s: st.integers(r.low, r.high) for s, r in RANGES.items()})


@settings(max_examples=400, deadline=None)
@given(EXPRESSIONS, POINTS)
def test_simplified_and_bounded_like_the_original(expr: IntExpr, values: dict[Symbol, int]) -> None:
    value = evaluate(expr, values)
    simplified = simplify(expr, RANGES)
    assert evaluate(simplified, values) == value
    assert simplify(simplified, RANGES) == simplified
    for form in (expr, simplified):
        assert bounds_of(form, RANGES).contains(Interval(value, value))


@settings(max_examples=400, deadline=None)
@given(EXPRESSIONS, EXPRESSIONS, st.sampled_from(list(COMPARISON_OPERATORS)), POINTS, EXPRESSIONS)
def test_proofs_are_sound(left: IntExpr, right: IntExpr, op: str, values: dict[Symbol, int], fact: IntExpr) -> None:
    comparison, premise = Comparison(left, op, right), Comparison(0, "<=", fact)
    facts = [premise] if holds(premise, values) else []
    answer = prove(comparison, RANGES, facts)
    assert answer is not (Proof.NO if holds(comparison, values) else Proof.YES)


@given(st.integers(-5, 5), st.integers(0, 5), st.integers(-5, 5), st.integers(0, 5), st.data())
def test_bounds_of_products_and_symbolic_divisors(a: int, da: int, b: int, db: int, data: st.DataObject) -> None:
    ranges = {I: Interval(a, a + da), J: Interval(b, b + db)}
    values = {I: data.draw(st.integers(a, a + da)), J: data.draw(st.integers(b, b + db))}
    half = {I: Interval(a, None), J: Interval(None, b + db)}
    forms: list[IntExpr] = [I * J, I * I] if values[J] == 0 else [I * J, I // J, I % J]
    for form in forms:
        value = evaluate(form, values)
        for known in (ranges, half):
            assert bounds_of(form, known).contains(Interval(value, value))


def test_a_symbol_of_one_value_is_that_number_in_sums_too() -> None:
    assert Assumptions({I: Interval(3, 3)}).simplify(I + J) == J + 3


def test_equal_assumptions_share_what_they_found(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[IntExpr] = []

    def counted(expr: IntExpr, *known: Any) -> bool:
        asked.append(expr)
        return is_non_negative(expr, *known)

    monkeypatch.setattr("relay.arith.simplify.is_non_negative", counted)
    a, b = Symbol("a"), Symbol("b")
    for _ in range(2):
        known = Assumptions({a: NON_NEGATIVE}, [Comparison(a, "<", b)])
        assert (known.is_non_negative(b - a - 1), known.is_non_negative(a - b)) == (True, False)
    assert asked == [b - a - 1, a - b]
    assert not Assumptions({a: NON_NEGATIVE}).is_non_negative(b - a - 1)
