"""Proofs: what each step of the search is needed for, and what cannot be shown."""

from itertools import pairwise

import pytest

from relay.arith.bounds import Interval
from relay.arith.expr import Comparison, Symbol, maximum, minimum
from relay.arith.inequality import is_non_negative, non_negative_forms
from relay.arith.prove import Proof, prove
from relay.arith.simplify import Assumptions

I, J, K, M, N = (Symbol(name) for name in "ijkmn")  # noqa: E741
NATURAL = {N: Interval(0, None), M: Interval(0, None)}


@pytest.mark.parametrize(
    ("op", "forms"),
    [("<", ["j - i - 1"], ), ("<=", ["j - i"]), ("==", ["j - i", "-j + i"]), ("!=", [])],
)  # fmt: skip
def test_forms(op, forms):
    assert [str(form) for form in non_negative_forms(Comparison(I, op, J))] == forms


def test_other_signs_are_no_comparisons():
    with pytest.raises(ValueError, match="`>` is not a comparison"):
        non_negative_forms(Comparison(I, ">", J))
    with pytest.raises(ValueError, match="`>` is not a comparison"):
        prove(Comparison(I, ">", J), {})


@pytest.mark.parametrize(
    ("expr", "facts", "expected"),
    [
        (0, (), True),
        (-1, (), False),
        (N, (), True),
        (N - 1, (), False),
        (-N, (), False),
        (-N, (-N,), True),
        (N - I, (N - I,), True),
        (N - I, (N - I - 1,), True),
        (N - I - 1, (N - I,), False),
        (2 * N - 2 * I, (N - I,), True),
        (2 * N - 2 * I + 1, (N - I,), True),
        (2 * N - 2 * I - 1, (N - I,), False),
        (3 * J - 3 * I, (2 * J - 2 * I,), True),
        (J - I, (2 * J - 2 * I + 1,), True),  # integers: 2e >= -1 is e >= 0
        (J - I, (2 * J - 2 * I + 2,), False),
        (K - I, (J - I, K - J), True),
        (K - I, (J - I,), False),
        (I - K, (J - I, K - J), False),
        (minimum(N, M), (), True),
        (minimum(N, I), (), False),
        (maximum(N, I), (), True),
        (maximum(I, N), (), True),
        (maximum(I, J) - J, (), True),  # one side does, whatever the other is
        (J - minimum(I, J), (), True),
        (minimum(I, J) - J, (), False),
        (-maximum(-N, -M), (), True),
        (-maximum(-N, I), (), False),
        (-minimum(-N, I), (), True),
        (3 - minimum(I, 3), (), True),
        (2 - minimum(I, 3), (), False),
        (maximum(I, 3) - 3, (), True),
        (N // 4, (), True),
        (I - 4 * (I // 4), (), True),
        (4 * (I // 4) + 3 - I, (), True),
        (4 * (I // 4) + 2 - I, (), False),
        (I - 4 * (I // 4) - 1, (), False),
        (2 * (I // 4) - 2 * (J // 4), (I - J,), False),
        (N - 3 * (N // 3), (), True),
        (N - 2 * (N // 3), (), True),
        ((N + 15) // 16 * 16 - N, (), True),
        (N - (N + 14) // 16 * 16, (), False),
    ],
    ids=str,
)
def test_what_is_certain(expr, facts, expected):
    assert is_non_negative(expr, NATURAL, facts) is expected


def test_the_search_ends():
    """A long chain of facts is beyond it; what it says then is that nothing is proven."""
    symbols = [Symbol(f"s{i}") for i in range(12)]
    facts = [b - a for a, b in pairwise(symbols)]
    assert is_non_negative(symbols[4] - symbols[0], {}, facts)
    assert not is_non_negative(symbols[11] - symbols[0], {}, facts)
    everything = [a - b for a in symbols for b in symbols if a is not b]
    assert not is_non_negative(sum(symbols, -1), {}, everything)


@pytest.mark.parametrize(
    ("left", "op", "right", "expected"),
    [
        (N, "<", N + 1, Proof.YES),
        (N + 1, "<", N + 1, Proof.NO),
        (N, "<", N + M, Proof.UNKNOWN),
        (N, "<=", N + M, Proof.YES),
        (N + 1, "<=", N, Proof.NO),
        (N, "<=", M, Proof.UNKNOWN),
        (N, "==", N, Proof.YES),
        (N, "==", N + 1, Proof.NO),
        (N, "==", M, Proof.UNKNOWN),
        (N, "==", -1, Proof.NO),
        (-1 - N, "==", M, Proof.NO),
        (2 * N, "==", 2 * M + 1, Proof.NO),
        (2 * N, "==", 4 * M + 2, Proof.UNKNOWN),
        (N, "!=", N, Proof.NO),
        (N, "!=", N + 1, Proof.YES),
        (N, "!=", M, Proof.UNKNOWN),
        (minimum(N, M), "==", N, Proof.UNKNOWN),
        (minimum(N, N + M), "==", N, Proof.YES),
    ],
)
def test_proofs(left, op, right, expected):
    assert prove(Comparison(left, op, right), NATURAL) is expected


def test_both_sides_of_an_equality_may_be_shown():
    known = (Comparison(I, "<=", J), Comparison(J, "<=", I))
    assert prove(Comparison(I, "==", J), {}, known) is Proof.YES
    assert prove(Comparison(I, "==", J), {}, known[:1]) is Proof.UNKNOWN
    assert prove(Comparison(I, "!=", J), {}, [Comparison(I, "==", J)]) is Proof.NO


# ---------------------------------------------------------------------------------------------- assumptions


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (Comparison(I, "<", 4), (None, 3)),
        (Comparison(I, "<=", 4), (None, 4)),
        (Comparison(4, "<", I), (5, None)),
        (Comparison(4, "<=", I), (4, None)),
        (Comparison(I, "==", 4), (4, 4)),
        (Comparison(I, "!=", 4), (None, None)),
        (Comparison(3 * I, "<=", 10), (None, 3)),
        (Comparison(10, "<=", 3 * I), (4, None)),
        (Comparison(10, "<=", -3 * I), (None, -4)),
        (Comparison(I, "<", J), (None, None)),
        (Comparison(I, "<=", minimum(J, 5)), (None, 5)),
        (Comparison(I, "<=", maximum(J, 5)), (None, None)),
        (Comparison(I * I, "<=", 10), (None, None)),
    ],
    ids=str,
)
def test_a_fact_about_one_symbol_narrows_its_range(fact, expected):
    known = Assumptions({}).assuming(fact)
    assert known.bounds(I) == expected
    assert known.has_facts == (fact.op != "!=")
    assert Assumptions({}, [fact]).has_facts == known.has_facts


def test_ranges_are_narrowed_and_never_widened():
    known = Assumptions({I: Interval(2, 6)})
    assert known.assuming(Comparison(I, "<", 9), Comparison(0, "<", I)).bounds(I) == (2, 6)
    assert known.assuming(Comparison(I, "<", 5), Comparison(3, "<", I)).bounds(I) == (4, 4)
    assert known.bounds(I) == (2, 6)
    assert not known.has_facts
    assert known.with_range(I).bounds(I) == (0, None)
    assert known.with_range(J, Interval(1, 2)).bounds(I + J) == (3, 8)
    assert known.assuming(Comparison(I, "<", 5)).with_range(J).has_facts


def test_loops():
    known = Assumptions({N: Interval(0, 7)}).assuming(Comparison(M, "<=", K))
    assert known.with_loop(I, 4).bounds(I) == (0, 3)
    assert known.with_loop(I, N).bounds(I) == (0, 6)
    assert not Assumptions({}).with_loop(I, 4).has_facts, "its range says it all"
    assert Assumptions({}).with_loop(I, N).has_facts
    assert known.with_loop(I, K).bounds(I) == (0, None)
    for extent in (4, N):
        assert known.with_loop(I, extent).certain(Comparison(M, "<=", K))
    assert known.with_loop(I, N).certain(Comparison(I, "<", N))
    assert not known.with_loop(I, N).certain(Comparison(I + 1, "<", N))
    assert known.with_loop(I, 3 * K).certain(Comparison(I // K, "<", 3))
    assert not known.with_loop(I, 3 * K).certain(Comparison(I // K, "<", 2))
    assert not known.with_loop(I, 3 * K + 1).certain(Comparison(I // K, "<", 3))
    assert not Assumptions({}).certain(Comparison(I, "!=", I + 1)), "it has no form that is not negative"


@pytest.mark.parametrize(
    ("fact", "follows"),
    [
        (Comparison(I, "<=", minimum(J, K)), [Comparison(I, "<=", J), Comparison(I, "<=", K)]),
        (Comparison(maximum(I, J), "<=", K), [Comparison(I, "<=", K), Comparison(J, "<=", K)]),
        (Comparison(1, "<=", maximum(J, 0)), [Comparison(1, "<=", J)]),
        (Comparison(I, "<=", minimum(J, minimum(K, M))), [Comparison(I, "<=", M), Comparison(I, "<=", J)]),
    ],
    ids=str,
)
def test_facts_about_minima_and_maxima(fact, follows):
    for known in (Assumptions({}, [fact]), Assumptions({}).assuming(fact)):
        assert all(known.certain(comparison) for comparison in follows)
