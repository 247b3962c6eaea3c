"""Python as people write it without knowing the front end: each function gives what Python and NumPy give."""

# ruff: noqa: B905, C416, E741, RUF007, SIM110
from __future__ import annotations

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np
import pytest

import relay

from .running import agrees, fails

V = relay.Tensor[(4,)]
M = relay.Tensor[(3, 4)]
S = relay.Tensor[("n",)]
I = relay.Tensor[(4,), "int32"]
WideV = relay.Tensor[(4,), "float64"]
WideI = relay.Tensor[(4,), "int64"]
Places = relay.Tensor[(2,), "int32"]
Bools = relay.Tensor[(3,), "bool"]
Grid = relay.Tensor[("n", "d")]
VECTOR = np.array([1, -2, 3, 0.5], np.float32)
MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4)
WHOLE = np.array([3, 1, 2, 0], np.int32)


@relay.datatype
class Shape:
    class Circle:
        radius: float

    class Rect:
        width: float
        height: float


@relay.datatype
class Point:
    x: float
    y: float


class Pair(NamedTuple):
    first: float
    second: float


@dataclasses.dataclass(frozen=True)
class Scales:
    inner: float
    outer: float


# ------------------------------------------------------------------------------------------------------------- match


def of_guards(n: int):
    match n:
        case k if k < 0:
            return -k
        case 0:
            return 100
        case _:
            return n + 1


def of_alternatives(n: int):
    match n:
        case 1 | 2:
            r = 10
        case 3 if n > 5:
            r = 20
        case 3:
            r = 25
        case _:
            r = 30
    return r + n


def of_nothing_that_fits(n: int):
    r = 7
    match n:
        case 1:
            r = 8
    return r


def of_fields_by_name(a: float):
    match Shape.Rect(a, 2.0):
        case Shape.Circle(radius=q):
            return q
        case Shape.Rect(height=h) if h > a:
            return h
        case Shape.Rect(width=w, height=h):
            return w * h


def of_any_constructor(a: float):
    match Shape.Circle(a):
        case Shape.Circle(q) | Shape.Rect(q, _):
            return q


def of_a_whole(a: float):
    match Shape.Circle(a):
        case Shape.Rect() as s:
            return s, 1
        case Shape.Circle() as s:
            return s, 2


def of_tuples(a: int, b: int):
    match (a, b):
        case (1, y):
            return y
        case (x, 2) if x > 3:
            return x
        case (x, y):
            return x * 10 + y


@pytest.mark.parametrize("n", [-3, 0, 1, 2, 3, 9])
@pytest.mark.parametrize("definition", [of_guards, of_alternatives, of_nothing_that_fits])
def test_cases_that_guards_and_numbers_decide(definition, n):
    agrees(definition, n)


@pytest.mark.parametrize("a", [1.0, 5.0])
@pytest.mark.parametrize("definition", [of_fields_by_name, of_any_constructor])
def test_cases_of_data(definition, a):
    agrees(definition, a)


@pytest.mark.parametrize("pair", [(1, 5), (4, 2), (2, 2), (3, 7)])
def test_cases_of_tuples(pair):
    agrees(of_tuples, *pair)


def test_a_value_that_may_be_missing():
    def first(x: float | None, fallback: float):
        if x is None:
            return fallback
        return x * 2

    def second(x: float | None):
        r = 1.0
        if x is not None:
            r = x
        return r

    assert relay.function(first)(None, 3.0) == first(None, 3.0)
    assert relay.function(first)(5.0, 3.0) == first(5.0, 3.0)
    assert relay.function(second)(None) == second(None)
    assert relay.function(second)(4.0) == second(4.0)


# ----------------------------------------------------------------------------------------------------------- records


def reads_fields(a: float):
    p = Point(y=a, x=2.0)
    q = dataclasses.replace(p, x=7.0)
    return p.x - p.y, q.x * q.y


def loops_with_a_record(n: int):
    p = Point(0.0, 1.0)
    for _ in range(n):
        p = Point(p.y, p.x + p.y)
    return p.x


def tuples_with_names(a: float):
    p = Pair(a, second=2.0)
    q = p._replace(second=9.0)
    x, y = q
    s = Scales(a, outer=4.0)
    return p.first * p.second + p[0], x + y, dataclasses.replace(s, inner=1.0).inner + s.outer


def test_records():
    agrees(reads_fields, 1.5)
    agrees(loops_with_a_record, 9)
    agrees(tuples_with_names, 1.5)


def test_a_field_that_a_record_has_not():
    def misspelt(a: float):
        return Point(a, a).z

    with pytest.raises(relay.RelayError, match="has no `z`") as caught:
        relay.function(misspelt).module.astext()
    assert "one of x, y" in str(caught.value)


# ------------------------------------------------------------------------------------------------------------- loops


def smallest_divisor(n: int):
    for i in range(2, n):
        if n % i == 0:
            r = i
            break
    else:
        r = n
    return r


def searched(n: int, wanted: int):
    i = 0
    while i < n:
        i += 1
        if i == wanted:
            break
    else:
        i = -i
    return i


def searched_in_a_list(wanted: int):
    for i in [3, 1, 4]:
        if i == wanted:
            break
    else:
        return -1
    return i


def with_positions(x: S):
    t = 0.0
    for i, a in enumerate(x, 1):
        t += a * i
    for i, (a, b) in enumerate(zip(x, x[::-1])):
        t += a * b - i
    return t


def backwards(x: S, n: int):
    t = 0.0
    for a in reversed(x):
        t = t * 2 + a
    k = 0
    for i in reversed(range(n)):
        k = k * 3 + i
    for i in reversed(range(1, n, 2)):
        k = k * 3 + i
    for i in range(n, 0, -2):
        k = k * 2 + i
    return t, k


def several_lists(n: int):
    xs = [i * i for i in range(n)]
    t = 0
    for i, a in enumerate(xs):
        t += i * a
    for a, b in zip(xs, xs[1:]):
        t += a * b
    for a, b, c in zip(xs, range(100), reversed(xs)):
        t += a * b - c
    return t


def truths(n: int, x: S):
    t = 0
    while n:
        if n % 2:
            t += n
        n -= 1
    xs = [a for a in x if a > 0]
    return t, 1 if xs else 2, not n


def left_in_a_branch(n: int):
    y = 0
    if n > 3:
        for i in range(n % 3):
            if i == 1:
                z = 5
                break
        else:
            z = 7
            y = n
    else:
        z = 1
    return y, z


def left_in_a_branch_of_turns(n: int):
    y = 0
    for turn in range(3):
        if turn < n:
            for i in (1, 2, 3):
                if i == n - turn:
                    y = y + 5
                    break
            else:
                y = y + 7
                continue
        y = y + 100
    return y


def endless_in_a_branch(n: int):
    if n > 3:
        while True:
            z = n * 2
            if z > n:
                break
    else:
        z = 1
    return z


def element_behind_all(n: int):
    i, y = 10, 0
    for i in range(n):
        if i > 4:
            break
    else:
        y = i * 2
    return y


@pytest.mark.parametrize("n", range(8))
def test_a_branch_holds_a_loop_that_break_leaves(n):
    agrees(left_in_a_branch, n)
    agrees(left_in_a_branch_of_turns, n)
    agrees(endless_in_a_branch, n)
    agrees(element_behind_all, n)


@pytest.mark.parametrize("n", [2, 7, 9])
def test_a_loop_with_else(n):
    agrees(smallest_divisor, n)
    agrees(searched, 5, n)
    agrees(searched_in_a_list, n)
    agrees(searched_in_a_list, 4)


def test_what_is_gone_over_together():
    agrees(with_positions, VECTOR)
    agrees(backwards, VECTOR, 6)
    agrees(backwards, VECTOR, 0)
    agrees(several_lists, 5)
    agrees(truths, 5, VECTOR)
    agrees(truths, 5, -np.abs(VECTOR))


# ------------------------------------------------------------------------------------------------------------- lists


def comprehensions(n: int):
    pairs = [i * 10 + j for i in range(n) for j in range(i) if (i + j) % 2]
    return sum(pairs), len(pairs), sum(i * i for i in range(1, n, 2) if i != 3), [a - b for a, b in enumerate(range(n))]


def asked_of_lists(n: int):
    xs = [i * (7 - i) for i in range(n)]
    return (
        any(i == 6 for i in xs), all(i < 3 for i in xs), max(xs), min(xs), 6 in xs, 5 in xs, 5 not in xs, n in (1, 6),
    )  # fmt: skip


def slices(n: int):
    xs = [i * i for i in range(n)]
    return xs[-1] + xs[-2], xs[1:3], xs[:-1], xs[::2], xs[::-1], xs[-3:], xs[2:100], xs[n - 2 :], xs[1:-1:2]


def changes_elements(n: int):
    xs = [i for i in range(n)]
    xs[1] = 77
    xs[-1] += 5
    ys = [1, 2, 3]
    ys[0] = n
    return xs, ys[0] + ys[1], list(range(n)), divmod(n, 4)


@pytest.mark.parametrize("n", [3, 6])
@pytest.mark.parametrize("definition", [comprehensions, asked_of_lists, slices, changes_elements])
def test_lists(definition, n):
    agrees(definition, n)


def test_functions_of_a_module_that_are_called_as_methods_that_change_lists_are():
    def smallest_doubled(x: V):
        while np.sum(x) < 100:
            x = np.sort(x) * 2
        return x

    def each_way(x: V, n: int):
        def ordered(y):
            return np.sort(y)

        for i in range(n):
            x = np.append(ordered(x)[1:], x[:1]) if i % 2 == 0 else np.sort(x)[::-1]
        else:
            x = np.sort(x) + 1
        for scale in [1.0, 2.0]:
            x = np.sort(x) * scale
        return x

    agrees(smallest_doubled, VECTOR)
    agrees(each_way, VECTOR, 3)


def test_a_number_that_a_loop_begins_with_is_as_wide_as_the_loop_makes_it():
    def sums(x: WideV):
        total, last, rate = 0.0, 0.0, 0.5
        for e in x:
            last = total
            total += e
            rate = rate * 0.5
        return total, last, rate

    def digits(x: WideI):
        found, turns = 0, 0
        while turns < 4:
            found = found * 1000 + x[turns]
            turns += 1
        return found, turns

    found = agrees(sums, VECTOR.astype(np.float64) / 3)
    assert [str(each.dtype) for each in found] == ["float64", "float64", "float32"]  # no wide number makes the rate one
    agrees(digits, np.array([31, 1, 200, 7]))


# ----------------------------------------------------------------------------------------------------------- tensors


def by_bools(x: V, m: M, b: Bools):
    y = x.copy()
    y[y < 0] = 0
    return x[x > 0], m[b], m[m > 5], y


def by_several(m: M, i: Places, j: Places):
    return m[i, j], m[:, j], m[i], m[1, j]


def stores_parts(m: M, i: int):
    y = m.copy()
    y[0] = 1.0
    y[1, 2:] = y[2, :2]
    y[-1, -1] += 5.0
    y[:, i] = y[:, 0] * 2
    z = np.zeros_like(m)
    for k in range(3):
        z[k] = m[k] * k
    return y, z


def stores_elements(x: Grid):
    n, d = x.shape
    y = np.zeros((d, n), np.float32)
    for i in range(n):
        for j in range(d):
            y[j, i] = x[i, j]
    return y


def stores_at_places(x: V, i: Places):
    y = x + 1
    y[i] = 9.0
    y[0], y[1] = y[1], y[0]
    return y


def test_parts_of_tensors():
    agrees(by_bools, VECTOR, MATRIX, np.array([True, False, True]))
    agrees(by_several, MATRIX, np.array([2, 0], np.int32), np.array([1, 3], np.int32))
    agrees(stores_elements, MATRIX)
    agrees(stores_at_places, VECTOR, np.array([1, -1], np.int32))


@pytest.mark.parametrize("i", [0, 2, -1])
def test_changes_of_parts(i):
    agrees(stores_parts, MATRIX, i)


def test_a_place_outside():
    def outside(x: V, i: int):
        y = x + 1
        y[i] = 0.0
        return y

    fails(outside, IndexError, "check-failed", VECTOR, 4)


def products(m: M, x: V):
    return (
        np.matmul(m, x), np.dot(m, m.T), np.einsum("ij,kj->ik", m, m), np.einsum("ij,j->i", m, x),
        np.einsum("ij->ji", m), np.outer(x, x), np.dot(x, x), np.linalg.norm(m), np.linalg.norm(m, axis=1),
        np.trace(np.outer(x, x)), np.vdot(x, x),
    )  # fmt: skip


def arrangements(m: M, x: V):
    return (
        np.sort(x), np.argsort(x), np.split(x, 2), np.broadcast_to(x, (2, 4)), np.full_like(x, 3), np.flip(m),
        np.flip(m, 1), np.pad(x, 1), np.pad(m, ((1, 0), (0, 2)), constant_values=7), np.roll(x, 1), np.triu(m),
        np.tril(m, 1), np.diff(x), np.vstack([x, x]), np.hstack([x, x]), np.column_stack([x, x]), np.moveaxis(m, 0, 1),
        np.round(x * 1.234, 1),
    )  # fmt: skip


def searches(x: V, i: I):
    return (
        np.unique(i // 2), np.searchsorted(np.sort(x), 0.7), np.count_nonzero(x), np.allclose(x, x + 1e-9),
        np.array_equal(x, x), np.ptp(x), np.nonzero(x > 0)[0], np.flatnonzero(i > 1), np.average(x),
    )  # fmt: skip


def of_mixed_types(x: V, i: I):
    return x + i, (x > 0) * x, np.where(x > 0, x, 0), i / 2, i + True, i * 2.5


def test_functions_of_numpy():
    agrees(products, MATRIX, VECTOR)
    agrees(arrangements, MATRIX, VECTOR)
    agrees(searches, VECTOR, WHOLE)
    agrees(of_mixed_types, VECTOR, WHOLE)


# -------------------------------------------------------------------------------------------------------- assertions


def test_an_assertion():
    def asserted(n: int):
        assert n > 3, "n is too small"
        return n * 2

    agrees(asserted, 5)
    fails(asserted, AssertionError, "check-failed", 2)
    with pytest.raises(relay.RelayError, match="n is too small"):
        relay.function(asserted)(2)


# ------------------------------------------------------------------------------------------------------------ checks


def looked_at_in_a_branch(n: int, x: S):
    if n > 0:
        _ = x[9]
    return n


def looked_at_where_a_list_is_known(n: int, x: S):
    match [n, n + 1]:
        case [_, *_]:
            y = x[9]
        case _:
            y = 0.0
    return y


def looked_at_for_nothing_where_a_list_is_known(n: int, x: S):
    match [n, n + 1]:
        case [_, *_]:
            _ = x[9]
        case _:
            pass
    return n


@pytest.mark.parametrize("opt_level", range(4))
@pytest.mark.parametrize(
    "function", [looked_at_in_a_branch, looked_at_where_a_list_is_known, looked_at_for_nothing_where_a_list_is_known]
)
def test_an_index_in_a_branch_is_checked(function, opt_level):
    """Whether or not somebody uses what is there, and whether or not the branch is known by then."""
    executable = relay.build(relay.function(function).module, opt_level=opt_level)
    executable(np.int32(1), np.arange(10, dtype=np.float32))
    with pytest.raises(relay.RelayError, match="the index is out of range"):
        executable(np.int32(1), np.arange(9, dtype=np.float32))


def pair(n: int) -> tuple[int, int] | None:
    if n < 0:
        return None
    return (n, n + 1)


def pair_at_once(n: int) -> tuple[int, int] | None:
    return (n, n + 1) if n >= 0 else None


def items_of(n: int) -> list[int] | None:
    return None if n < 0 else [n, n + 1]


def without_annotation(n: int):
    return (n, n + 1) if n >= 0 else None


@pytest.mark.parametrize("definition", [pair, pair_at_once, items_of, without_annotation])
def test_what_may_be_missing_is_of_any_type(definition):
    defined = relay.function(definition)
    there, missing = defined(2), defined(-2)
    assert missing is None
    assert [int(each) for each in there] == [2, 3]


def test_a_variable_that_one_way_leaves_at_none_may_be_missing():
    def next_of(n: int):
        found = None
        if n > 3:
            found = n
        return -1 if found is None else found + 1

    for n in (1, 5):
        agrees(next_of, n)


def test_a_slice_of_a_list_is_a_list_of_its_own():
    def changed(xs: list[int]):
        whole, rest = xs[:], xs[1:]
        whole[0] = 7
        rest.append(9)
        return xs, whole, rest

    def given(xs: list[int]):
        ys = xs[:]
        xs[0] = 7
        return ys

    agrees(changed, [1, 2, 3])
    with pytest.raises(relay.RelayError, match="something else may hold"):
        relay.function(given)([1, 2, 3])


def largest(xs: list[float]):
    best: float | None = None
    for x in xs:
        if best is None or x > best:
            best = x
    return -1.0 if best is None else best


def above(xs: list[float], limit: float | None):
    return [x for x in xs if limit is not None and x > limit and limit > 0]


def test_behind_a_test_for_none_a_value_is_there():
    for xs in ([1.0, 5.0, 2.0], [], [-3.0]):
        agrees(largest, xs)
    agrees(above, [1.0, 2.0, 3.0], 1.5)
    assert list(relay.function(above)([1.0, 2.0], None)) == []


def differences(xs: list[int]):
    return [b - a for a, b in itertools.pairwise(xs)]


def rises(xs: list[float]):
    for a, b in itertools.pairwise(xs):
        if b < a:
            return False
    return True


def steps_of_rows(x: M):
    total = 0.0
    for before, row in itertools.pairwise(x):
        total += float((row - before).sum())
    return total


def products_of_neighbours(n: int):
    return [a * b for a, b in itertools.pairwise(range(n))]


def test_pairs_of_neighbours():
    for xs in ([1, 4, 9], [], [3]):
        agrees(differences, xs)
    for xs in ([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]):
        agrees(rises, xs)
    agrees(steps_of_rows, MATRIX)
    agrees(products_of_neighbours, 5)


@relay.function
def counted_up(r: relay.Ref[float]):
    r.value = r.value + 1.0


def test_what_gives_nothing_is_none():
    def of_a_function(x: float, c: bool):
        def nothing(y):
            return None

        r = nothing(x) if c else None
        return 1 if r is None else 2

    def with_effects(x: float, c: bool):
        r = relay.ref(x)
        done = counted_up(r) if c else None
        if counted_up(r) is None and done is None:
            return r.value
        return -1.0

    for c in (True, False):
        agrees(of_a_function, 1.0, c)
        assert relay.function(with_effects)(1.0, c) == 2.0 + c
