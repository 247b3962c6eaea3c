"""`nonlocal`: what a nested function assigns is the variable of the function around it."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from tests.frontend.python.running import agrees

Vector = relay.Tensor[("n",)]
X = np.array([3, -1, 4, 1, -5], np.float32)


def test_a_function_that_adds_to_a_variable():
    def total(n: int):
        total = 0

        def add(x):
            nonlocal total
            total += x

        for i in range(n):
            add(i)
        add(100)
        return total

    assert agrees(total, np.int32(5)) == 110


def test_several_variables_and_a_value():
    def extremes(x: Vector):
        low, high, seen = x[0], x[0], 0

        def meet(each):
            nonlocal low, high
            nonlocal seen
            seen += 1
            if each < low:
                low = each
                return -1
            if each > high:
                high = each
                return 1
            return 0

        balance = 0
        for each in x:
            balance += meet(each)
        last = meet(100.0)
        meet(x[0])
        return low, high, seen, balance, last

    agrees(extremes, X)


def test_it_is_read_as_it_is_by_others():
    def whole(n: int):
        count = 0

        def tick():
            nonlocal count
            count = count + 1
            return count * 10

        def seen():
            return count

        before = seen()
        while count < n:
            tick()
        return before, seen()

    agrees(whole, np.int32(4))


def test_a_function_ends_early_and_its_result_is_returned():
    def clamped(x: float, steps: int):
        left = x

        def take(amount: float):
            nonlocal left
            if amount > left:
                return
            left -= amount

        def rest(factor):
            nonlocal left
            left = left * factor
            return left + 1

        for i in range(steps):
            take(1.0 + i)
        return rest(2.0)

    for steps in (0, 2, 9):
        agrees(clamped, np.float32(7), np.int32(steps))


def test_a_variable_two_functions_out():
    def nested(n: int):
        total = 0

        def outer(k):
            nonlocal total

            def inner(j):
                nonlocal total
                total += j * k

            inner(1)
            inner(2)

        outer(n)
        outer(3)
        return total

    agrees(nested, np.int32(5))


def as_a_value(n: int):
    total = 0

    def add(x):
        nonlocal total
        total += x
        return total

    table = [add]
    return table[0](n)


def inside_an_expression(n: int):
    total = 0

    def add(x):
        nonlocal total
        total += x
        return total

    return total + add(n)


def in_another_function(n: int):
    total = 0

    def add(x):
        nonlocal total
        total += x

    def twice(x):
        add(x)
        add(x)

    twice(n)
    return total


def of_one_further_out(n: int):
    total = 0

    def outer(k):
        def inner(j):
            nonlocal total
            total += j

        inner(k)

    outer(n)
    return total


def that_calls_itself(n: int):
    total = 0

    def down(k):
        nonlocal total
        total += k
        if k > 0:
            down(k - 1)

    down(n)
    return total


@pytest.mark.parametrize(
    "definition", [as_a_value, inside_an_expression, in_another_function, of_one_further_out, that_calls_itself]
)
def test_what_is_refused(definition):
    with pytest.raises(relay.RelayError) as caught:
        _ = relay.function(definition).module
    assert caught.value.rule == "python-subset"
    text = str(caught.value)
    assert "`nonlocal` cannot become a Relay program" in text
    assert "nonlocal total" in text
    assert "^" in text
    assert "call the function only where it is defined, alone in a statement: f(x) or y = f(x)" in text
