"""What changes in place for all who hold it in Python is right in a program, or refused."""

# As people write it:
# ruff: noqa: B007, B008, C416, RUF059

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import relay

from .running import agrees

V = relay.Tensor[(3,)]
X = np.array([1, -2, 3], np.float32)


class Pair(NamedTuple):
    a: V
    n: int


def field(x: V, n: int):
    p = Pair(x + 1, 2)
    v = p.a
    v += 1
    return p.a, v


def default(x: V, n: int):
    def f(a=np.zeros(3)):
        a += 1
        return a

    return f(), f()


def part_of_a_tuple(x: V, n: int):
    t = (x + 1, 2)
    a, b = t
    a += 1
    return t[0], a


def element_of_a_copy(x: V, n: int):
    xs = [x + 1]
    ys = list(xs)
    xs[0] += 1
    return ys[0], xs[0]


def loop_variable(x: V, n: int):
    xs = [x + 1]
    for v in xs:
        v += 1
    return xs[0]


def entry_of_a_dict(x: V, n: int):
    d = {"a": x + 1}
    for k, v in d.items():
        v += 1
    return d["a"]


def element_of_a_slice(x: V, n: int):
    xs = [x + 1, x]
    ys = xs[:]
    ys[0] += 1
    return xs[0]


def list_in_a_list(x: V, n: int):
    xs = [x + 1, x]
    ys = [xs, xs]
    ys[0][0] = x
    return xs[0]


def one_row_many_times(x: V, n: int):
    rows = []
    row = [n]
    for i in range(n):
        rows.append(row)
    rows[0].append(5)
    return len(rows[1])


def element_with_a_name(x: V, n: int):
    m = [x + i for i in range(n)]
    y = m[0]
    m[0] += 1
    return y, m[0]


def element_in_another_list(x: V, n: int):
    m = [x + i for i in range(n)]
    k = [v for v in m]
    m[0] += 1
    return k[0], m[0]


def one_of_two(x: V, n: int):
    z = (x + 1) if n > 2 else (x + 2)
    xs = [z, z]
    xs[0] += 1
    return xs[1]


def row_with_a_name(x: V, n: int):
    m = np.zeros((3, 3))
    r = m[0]
    m[0] += 1
    return r, m


def one_array_twice(x: V, n: int):
    a, b = [x + 1] * 2
    a += 1
    return a, b


def element_of_a_rest(x: V, n: int):
    first, *rest = [x + 1, x + 2, x + 3]
    rest[0] += 1
    return first, rest[0]


def fills_rows(x: V, n: int):
    m = [[0] * 2 for _ in range(3)]
    for i in range(3):
        for j in range(2):
            m[i][j] = i * 10 + j
    return m


def row_by_its_name(x: V, n: int):
    m = [[0] * 2 for _ in range(n)]
    for i in range(n):
        row = m[i]
        row[0] = 5
    return m


def two_entries(x: V, n: int):
    y = x * 2
    d = {"a": y, "b": y}
    d["a"] += 1
    return d["b"]


def trains_a_dict(x: V, n: int):
    w = {"w": x * 2, "b": 0.0}
    for _ in range(n):
        w["w"] -= 0.5 * w["w"]
        w["b"] += 1.0
    return w["w"], w["b"]


def sorts_what_is_known_on_one_way(x: V, n: int):
    order, filled = np.array([3, 1, 2]), np.zeros(3)
    if n > 5:
        order.sort()
        filled.fill(1.0)
    return order, filled


def view_of_what_is_known(x: V, n: int):
    y = np.zeros(4)
    z = y.reshape(2, 2)
    y[0] = n
    return z


def view_by_a_function(x: V, n: int):
    y = np.zeros(4)
    z = np.reshape(y, (2, 2))
    y[0] = n
    return z


OUTSIDE = [1, 2]
ORDER = np.array([3, 1, 2])


def list_of_everyone(x: V, n: int):
    OUTSIDE.append(n)
    return len(OUTSIDE)


def array_of_everyone(x: V, n: int):
    ORDER.sort()
    return ORDER


RIGHT = [fills_rows, trains_a_dict, sorts_what_is_known_on_one_way]
REFUSED = [
    field,
    default,
    part_of_a_tuple,
    element_of_a_copy,
    loop_variable,
    entry_of_a_dict,
    element_of_a_slice,
    list_in_a_list,
    one_row_many_times,
    element_with_a_name,
    element_in_another_list,
    one_of_two,
    row_with_a_name,
    one_array_twice,
    element_of_a_rest,
    row_by_its_name,
    two_entries,
    view_of_what_is_known,
    view_by_a_function,
    list_of_everyone,
    array_of_everyone,
]


@pytest.mark.parametrize("definition", RIGHT)
def test_what_one_name_holds(definition):
    agrees(definition, X, 3)


@pytest.mark.parametrize("definition", REFUSED)
def test_what_others_hold_too(definition):
    with pytest.raises(relay.RelayError, match="something else may hold") as caught:
        relay.function(definition).module.astext()
    assert caught.value.remedy


def test_indices_that_are_arrays_take_copies():
    def copies(x: relay.Tensor[(4,)], places: list[int]):
        by_list, by_known, by_mask = x[places], x[[1, 0]], x[x > 0]
        by_list[0] = 9.0
        by_known += 1
        by_mask[-1] = 7.0
        return x, by_list, by_known, by_mask

    agrees(copies, np.array([1, -2, 3, 0.5], np.float32), [2, 0])


def test_a_change_of_an_array_without_a_name():
    @relay.function
    def partitioned(n: int):
        y = np.array([3, 1, 2])
        if n > 5:
            y.partition(1)
        return y

    with pytest.raises(relay.RelayError, match="which changes an array") as caught:
        _ = partitioned.module
    assert caught.value.remedy
