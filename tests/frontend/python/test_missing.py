"""None on one way and a value on another, as people write it without annotations."""

# ruff: noqa: RET503, RET505
from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import relay

from .running import agrees, fails


def by_statement(x: float):
    if x < 0:
        return None
    return x


def by_expression(x: float):
    return None if x < 0 else x


def off_the_end(x: float):
    if x > 0:
        return x * 2


def with_nothing(x: float):
    if x < 0:
        return None
    return x


def pair_or_none(x: float):
    if x < 0:
        return None
    return (x, x + 1)


def half_a_pair(x: float):
    if x < 0:
        return None, 0
    return x, 1


def of_a_nested_function(x: float):
    def root(y):
        if y < 0:
            return None
        return y**0.5

    found = root(x)
    if found is None:
        return -1.0
    return found + 1


def one_of_three(x: float):
    if x < -1:
        return None
    elif x < 0:
        y = None
    else:
        y = x
    return y


def variable_on_one_way(x: float):
    y = None
    if x > 0:
        y = x
    return y


def there_in_the_end(x: float):
    y = None
    if x > 0:
        y = x
    if y is None:
        y = -1.0
    return y + 1


@pytest.mark.parametrize(
    "definition",
    [
        there_in_the_end, by_statement, by_expression, off_the_end, with_nothing, pair_or_none, half_a_pair,
        of_a_nested_function,
        one_of_three, variable_on_one_way,
    ],
)  # fmt: skip
@pytest.mark.parametrize("x", [4.0, -0.5, -2.0])
def test_what_a_function_gives_may_be_missing(definition, x):
    agrees(definition, x)


def largest(xs: list[float]):
    best = None
    for x in xs:
        if best is None or x > best:
            best = x
    return best


def largest_in_steps(xs: list[float]):
    best = None
    for x in xs:
        if best is None or x > best:
            best = x
    return best


def two_largest(xs: list[float]):
    first = None
    second = None
    for x in xs:
        if first is None or x > first:
            second = first
            first = x
        elif second is None or x > second:
            second = x
    return first, second


def where_largest(xs: list[float]):
    best, place = None, None
    for i, x in enumerate(xs):
        if best is None or x > best:
            best, place = x, i
    return best, place


def best_pair(xs: list[float]):
    best = None
    for i, x in enumerate(xs):
        if best is None or x > best[1]:
            best = (i, x)
    return best


def previous(xs: list[float]):
    before = None
    rises = 0
    for x in xs:
        if before is not None and x > before:
            rises += 1
        before = x
    return rises, before


def forgets(xs: list[float]):
    last = 0.0
    for x in xs:
        if x < 0:
            last = None
        else:
            last = x
    return last


def first_negative(xs: list[float]):
    for i, x in enumerate(xs):
        if x < 0:
            return i
    return None


def first_pair(xs: list[float]):
    for i, x in enumerate(xs):
        for j in range(i + 1, len(xs)):
            if x + xs[j] == 3:
                return i, j
    return None


def off_the_end_of_a_loop(xs: list[float]):
    for x in xs:
        if x < 0:
            return x


def found_before_a_break(xs: list[float]):
    found = None
    for x in xs:
        if x < 0:
            found = x
            break
    return found


@pytest.mark.parametrize(
    "definition",
    [
        largest, largest_in_steps, two_largest, where_largest, best_pair, previous, forgets, first_negative, first_pair,
        off_the_end_of_a_loop, found_before_a_break,
    ],
)  # fmt: skip
@pytest.mark.parametrize("xs", [[], [2.0], [1.0, 5.0, 2.0, 7.0], [1.0, -1.0, 2.0, -3.0]])
def test_variables_of_loops_begin_as_none(definition, xs):
    agrees(definition, xs)


def several_kinds(x: float):
    if x < 0:
        return 1 < 2
    return x


def test_ways_of_other_types_are_told_apart():
    with pytest.raises(relay.RelayError, match="another type on one way") as caught:
        _ = relay.function(several_kinds).module
    assert "%" not in str(caught.value)


def by_length(xs: list[int]):
    match xs:
        case []:
            return 0
        case [x]:
            return x
        case [_, _, third] if third > 2:
            return third * 100
        case [a, b, *_]:
            return a * 10 + b


def guarded_first(xs: list[int]):
    match xs:
        case [x] if x > 3:
            return x
        case [x]:
            return -x
        case [a, _, *_] if a > 0:
            return a
        case _:
            return 100


def some_lengths(xs: list[int]):
    match xs:
        case [x]:
            return x
        case [a, b]:
            return a + b


def some_lengths_and_more(xs: list[int]):
    total = 0
    match xs:
        case [x]:
            total = x
        case [a, *rest] if len(rest) > 1:
            total = a * 10
    return total + 1


@pytest.mark.parametrize("definition", [by_length, guarded_first, some_lengths, some_lengths_and_more])
@pytest.mark.parametrize("xs", [[], [2], [9], [3, 4], [1, 2, 3], [0, 2, 1], [5, 6, 7, 8]])
def test_cases_that_python_may_leave(definition, xs):
    agrees(definition, xs)


class Order(NamedTuple):
    price: float
    coupon: float | None = None


def discounted(orders: list[Order]):
    net = 0.0
    for order in orders:
        price = order.price
        if order.coupon is not None:
            price *= 1 - order.coupon
        net += price
    return net


def two_that_are_there_together(xs: list[float]):
    low = high = None
    for x in xs:
        if low is None:
            low, high = x, x
        else:
            low = 0.5 * low + x
            high = high + x
    return high - low, abs(high), -low, high > low, np.sqrt(high), max(high, low)


def test_what_may_be_missing_is_used_as_python_does():
    assert float(relay.function(discounted)([Order(2.0), Order(3.0, 0.5)])) == 3.5
    agrees(two_that_are_there_together, [1.0, 2.0])
    fails(two_that_are_there_together, TypeError, "check-failed", [])


def test_arrays_and_indices_that_may_be_missing_are_used():
    def used(x: relay.Tensor[(2,)] | None, place: int | None):
        return x.sum(), x[0], np.maximum(x, 0) @ x, [1, 2, 3][place], x.shape[0]

    agrees(used, np.ones(2, np.float32), np.int32(1))
    fails(used, (TypeError, AttributeError), "check-failed", None, np.int32(1))
    fails(used, TypeError, "check-failed", np.ones(2, np.float32), None)
