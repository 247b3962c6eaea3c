"""Who holds lists and arrays that functions are given and give, and that loops go over: a change in place of what is
held twice is refused, and nothing else is."""

# ruff: noqa: B007, B905, C416, E731, RET504, RUF005, RUF059
from __future__ import annotations

import numpy as np
import pytest

import relay

from .running import agrees

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


@relay.function
def fresh(xs: list[int]):
    ys = [x + 1 for x in xs]
    return ys


@relay.function
def wrap(xs: list[int]):
    return [xs]


@relay.function
def pick(xs: list[int], ys: list[int]) -> list[int]:
    if xs[0] > ys[0]:
        return xs
    return ys


def undec(xs):
    return xs


def undec2(xs, n):
    if n > 2:
        return xs
    return [n]


def appends_to_a_fresh_result(n: int):
    xs = [n]
    ys = fresh(xs)
    ys.append(3)
    xs.append(4)
    return xs, ys


def appends_to_a_list_around_it(n: int):
    xs = [n]
    ys = wrap(xs)
    ys.append([3])
    return xs, ys


def changes_what_a_result_holds(n: int):
    xs = [n]
    ys = wrap(xs)
    xs.append(3)
    return xs, ys


def changes_what_was_picked(n: int):
    xs, zs = [n], [3]
    ys = pick(xs, zs)
    xs.append(3)
    return xs, ys


def changes_what_was_given_back(n: int):
    xs = [n]
    ys = undec(xs)
    xs.append(3)
    return xs, ys


def changes_what_may_be_given_back(n: int):
    xs = [n]
    ys = undec2(xs, n)
    xs.append(3)
    return xs, ys


def changes_a_result_that_may_be_the_argument(n: int):
    xs = [n]
    ys = undec2(xs, n)
    ys.append(3)
    return xs, ys


def changes_what_was_only_read(n: int):
    xs = [n]

    def peek(ys, k):
        total = 0
        for y in ys:
            total += y * k
        return total

    t = peek(xs, 2)
    xs.append(3)
    return xs, t + peek(xs, 1)


def changes_its_argument(n: int):
    xs = [n]

    def bad(ys):
        ys.append(1)
        return 1

    t = bad(xs)
    return xs, t


def changes_a_new_argument(n: int):
    def ok(ys):
        ys.append(1)
        return ys

    t = ok([n])
    t.append(2)
    return t


def changes_one_of_two(n: int):
    xs = [n]
    ys = xs or [3]
    xs.append(1)
    return xs, ys


def changes_the_chosen(n: int):
    xs = [n]
    ys = xs if n > 1 else [2]
    xs.append(1)
    return xs, ys


def a_result_of_a_loop(n: int):
    xs = [n]

    def loops(ys):
        for k in range(2):
            ys = ys + [k]
        return ys

    zs = loops(xs)
    zs.append(7)
    xs.append(1)
    return xs, zs


def changes_what_a_loop_may_leave(n: int):
    xs = [n]

    def loops(ys):
        for k in range(n):
            if k > 2:
                ys = ys + [k]
        return ys

    zs = loops(xs)
    xs.append(1)
    return xs, zs


def changes_an_element_that_was_given(n: int):
    xs = [[n], [2]]

    def first(rows):
        return rows[0]

    y = first(xs)
    xs[0].append(1)
    return xs, y


def changes_what_a_tuple_has(n: int):
    xs = [n]

    def both(ys):
        return ys, 1

    zs, one = both(xs)
    xs.append(1)
    return xs, zs


def changes_what_a_closure_gives(n: int):
    xs = [n]

    def inside():
        return xs

    zs = inside()
    xs.append(1)
    return xs, zs


def takes_parts_of_a_result(n: int):
    def pop(heap):
        top = heap[0]
        heap = heap[1:]
        return top, heap

    h = [n, 2, 3]
    while len(h) > 1:
        t, h = pop(h)
        h.append(1)
        h = h[1:]
    return h


@relay.function
def popd(heap: list[int]):
    top = heap[0]
    heap = heap[1:]
    return top, heap


def takes_parts_of_a_decorated_result(n: int):
    h = [n, 2, 3]
    t, h = popd(h)
    h.append(5)
    return t, h


def changes_what_got_another_name(n: int):
    x = np.zeros(3, np.float32)

    def setz(y):
        z = y
        return z * 2

    w = setz(x)
    x[0] = 1
    return x, w


def changes_what_a_view_shows(n: int):
    x = np.zeros(3, np.float32)

    def view(y):
        return y[1:]

    w = view(x)
    x[1] = 1
    return x, w


def changes_what_a_lambda_gives(n: int):
    x = [n]
    f = lambda y: y
    w = f(x)
    x.append(2)
    return x, w


def changes_what_was_put_into_a_list(n: int):
    x = [n]

    def keep(y):
        out = []
        out.append(y)
        return 1

    w = keep(x)
    x.append(2)
    return x, w


def changes_a_row_that_was_kept(n: int):
    rows = [[n], [2]]
    keep = [0]
    for i, row in enumerate(rows):
        keep = row
    rows[0].append(1)
    rows[1].append(1)
    return rows, keep


def changes_a_computed_row_that_was_kept(n: int):
    rows = [[k] for k in range(n)]
    keep = [0]
    for i, row in enumerate(rows):
        keep = row
    rows[n - 1].append(1)
    return rows, keep


def changes_a_row_of_a_plain_loop(n: int):
    rows = [[k] for k in range(n)]
    keep = [0]
    for row in rows:
        keep = row
    rows[n - 1].append(1)
    return rows, keep


def appends_behind_a_loop_over_it(n: int):
    hist = [n]
    for k in range(n):
        for i, old in enumerate(hist):
            if old == k + 100:
                return hist, i
        hist.append(k)
    return hist, -1


def changes_rows_of_an_array(x: relay.Tensor[(3, 2)]):
    y = x * 2
    keep = x[0]
    for i, row in enumerate(y):
        keep = row
    y[2] = 7
    return y, keep


def changes_an_array_that_was_gone_over(x: relay.Tensor[(3, 2)]):
    y = x * 2
    total = 0
    for i, (row, r2) in enumerate(zip(y, reversed(y))):
        total += (row * r2).sum() * i
    y[2] = 7
    return y, total


def changes_an_element_of_a_comprehension(n: int):
    rows = [[k] for k in range(n)]
    firsts = [r for i, r in enumerate(rows)]
    rows[0].append(1)
    return rows, firsts


def changes_what_a_zip_will_read(n: int):
    xs = [n, 2]
    z = zip(xs, [3, 4])
    xs[0] = 9
    return [a * b for a, b in z]


def changes_what_it_goes_over(n: int):
    xs = [k for k in range(n)]
    for i, x in enumerate(xs):
        xs[n - 1] = 50 + i
    return xs


def changes_rows_it_goes_over(n: int):
    rows = [[k] for k in range(n)]
    for i, row in enumerate(rows):
        rows[i] = row + [1]
    return rows


def changes_lists_of_numbers(n: int):
    xs = [k for k in range(n)]
    ys = [x * i for i, x in enumerate(xs)]
    xs.append(1)
    rows = [[1], [2]]
    z = [r + [k] for r, k in zip(rows, xs)]
    xs[0] = 9
    return xs, ys, z


def changes_rows_of_two(n: int):
    rows = [[1], [n]]
    z = [r for r, k in zip(rows, [1, 2])]
    rows[0].append(3)
    return rows, z


@pytest.mark.parametrize(
    "definition",
    [
        appends_to_a_fresh_result,
        appends_to_a_list_around_it,
        changes_what_was_only_read,
        changes_a_new_argument,
        a_result_of_a_loop,
        takes_parts_of_a_result,
        takes_parts_of_a_decorated_result,
        appends_behind_a_loop_over_it,
        changes_lists_of_numbers,
    ],
)
@pytest.mark.parametrize("n", [1, 5])
def test_what_is_held_once_changes(definition, n):
    agrees(definition, np.int32(n))


def test_an_array_that_was_gone_over_changes():
    agrees(changes_an_array_that_was_gone_over, ROWS)


@pytest.mark.parametrize(
    "definition",
    [
        changes_what_a_result_holds,
        changes_what_was_picked,
        changes_what_was_given_back,
        changes_what_may_be_given_back,
        changes_a_result_that_may_be_the_argument,
        changes_its_argument,
        changes_one_of_two,
        changes_the_chosen,
        changes_what_a_loop_may_leave,
        changes_an_element_that_was_given,
        changes_what_a_tuple_has,
        changes_what_a_closure_gives,
        changes_what_got_another_name,
        changes_what_a_view_shows,
        changes_what_a_lambda_gives,
        changes_what_was_put_into_a_list,
        changes_a_row_that_was_kept,
        changes_a_computed_row_that_was_kept,
        changes_a_row_of_a_plain_loop,
        changes_an_element_of_a_comprehension,
        changes_what_a_zip_will_read,
        changes_what_it_goes_over,
        changes_rows_it_goes_over,
        changes_rows_of_two,
    ],
)
def test_what_may_be_held_twice_does_not(definition):
    with pytest.raises(relay.RelayError) as caught:
        relay.function(definition)(3)
    assert caught.value.rule == "python-subset"
    assert "hold too" in caught.value.message


def test_rows_of_an_array_that_are_kept_do_not():
    with pytest.raises(relay.RelayError) as caught:
        relay.function(changes_rows_of_an_array)(ROWS)
    assert "hold too" in caught.value.message
