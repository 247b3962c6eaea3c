"""Arrays made by extents of parameters have the parameters' extents, so that they meet without a check at run time."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from tests.frontend.python.running import agrees, fails

Rows, Column, Row = relay.Tensor[("n", "d")], relay.Tensor[("n",)], relay.Tensor[("d",)]
Wide = relay.Tensor[("n", 3)]
X = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_zeros_of_an_extent_meet_what_has_it():
    def first_column(x: Rows) -> Column:
        n, d = x.shape
        return np.zeros(n) + x[:, 0] * d

    agrees(first_column, X)
    assert "zeros(shape=[n]" in str(relay.function(first_column).module)


def test_a_loop_that_adds_up_from_zeros():
    def sums(x: Rows) -> Row:
        n, d = x.shape
        total = np.zeros((d,))
        for i in range(n):
            total = total + x[i]
        return total

    agrees(sums, X)
    assert "dyn." not in str(relay.function(sums).module)


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_whatever_is_made_by_a_shape(rows):
    def made(x: Rows):
        n, d = x.shape
        return np.full((n, 2), 7.0), np.ones((n + 1, d)), np.broadcast_to(x.sum(0), (n, d)), np.zeros(x.shape)

    agrees(made, X[:rows])
    assert "dyn." not in str(relay.function(made).module)


def test_an_extent_inside_a_function_inside():
    def scaled(x: Rows):
        def of(factor):
            return np.ones(x.shape[0]) * factor

        return of(2.0) + of(3.0), [of(1.0 * i) for i in range(3)]

    agrees(scaled, X)


def test_an_extent_that_may_be_negative_is_checked_by_the_run():
    @relay.function
    def shorter(x: Rows):
        return np.zeros(x.shape[0] - 2)

    assert shorter(X).shape == (1,)
    with pytest.raises(RelayError, match="an extent of a shape must not be negative"):
        shorter(X[:1])


def test_an_extent_that_the_program_decides():
    def again(x: Rows, k: int):
        y = np.zeros(k)
        return np.ones(y.shape[0]) + y, x

    agrees(again, X, np.int32(4))


def test_a_loop_that_is_unrolled_and_reads_what_is_around_it():
    def of_three(x: Rows):
        sums = np.zeros(3)
        for i in range(3):
            sums[i] += x[i].sum()
        return sums

    agrees(of_three, X)


def test_a_loop_over_a_part_of_what_values_give_an_extent():
    """`arange_0 - 1` does not tell the loop what `arange_0` is: the array that does is there, too."""

    def steps(n: int, x: Column):
        edges = np.linspace(0.0, 1.0, n + 1)
        total = 0.0
        for high, low in zip(edges[1:], edges, strict=False):
            total += (high - low) * x[0]
        behind = 0.0
        for value in x[x > 0.0][1:]:
            behind += value
        for value in np.concatenate([x, np.arange(n)]):
            behind += value
        for value in np.zeros(n + 1)[1:]:
            behind += value + 1.0
        return total, behind

    agrees(steps, np.int32(4), np.array([2, -1, 3, 4], np.float32))


POSITIONS = np.arange(12, dtype=np.float32).reshape(6, 2)


def test_a_slice_of_what_is_known_now_between_computed_bounds():
    def parts(x: Rows, k: int):
        numbers = [1, 2, 3, 4]
        numbers[1:k] = [7, 8, 9]
        return x + POSITIONS[: x.shape[0]], POSITIONS[:, :k], [1, 2, 3][k:], numbers

    agrees(parts, X, np.int32(2))


def test_a_slice_of_a_tuple_is_known_now():
    @relay.function
    def part(k: int):
        return (1, 2, 3)[:k]

    with pytest.raises(RelayError) as caught:
        _ = part.module
    assert caught.value.rule == "bad-index"


VECTOR = np.arange(7, dtype=np.float32)


@pytest.mark.parametrize(("begin", "end", "step"), [(0, 7, 2), (1, 5, 3), (5, 1, -1), (-1, -20, -2), (2, 100, 4)])
def test_slices_in_computed_steps(begin, end, step):
    def parts(x: Column, m: Wide, a: int, b: int, s: int):
        return x[a:b:s], x[::s], x[a::s], x[:b:s], m[::s, ::s], x[a:b:-1], x[b::-2]

    agrees(parts, VECTOR, np.arange(21, dtype=np.float32).reshape(7, 3), *map(np.int32, (begin, end, step)))


@pytest.mark.parametrize("step", [1, 2, 3, -2])
def test_assignments_to_slices_in_computed_steps(step):
    def changed(x: Column, m: Wide, s: int):
        y, z, w = x.copy(), x.copy(), m.copy()
        y[s * s :: s] = 7.0
        z[::s] = np.arange(len(z[::s]))
        w[::s, 1] = 8.0
        w[::s] += 1.0
        return y, z, w

    agrees(changed, VECTOR, np.arange(21, dtype=np.float32).reshape(7, 3), np.int32(step))


def test_lists_are_sliced_in_computed_steps_forwards():
    def parts(n: int):
        numbers = [2 * i for i in range(n)]
        return numbers[:: n - 3], numbers[1 :: n - 4]

    agrees(parts, np.int32(6))


def test_a_step_of_0_ends_the_run():
    def of_an_array(x: Column, s: int):
        return x[::s]

    def of_a_list(x: Column, s: int):
        return [x[0], x[1]][::s]

    for definition in (of_an_array, of_a_list):
        fails(definition, ValueError, "check-failed", VECTOR, np.int32(0))


@pytest.mark.parametrize("number", [3, 7])
def test_a_loop_beside_an_array_of_another_extent(number):
    """The extent of what the loop changes is no other one: that the array of one way has 1 does not make it 1."""

    def counted(n: int):
        if n > 5:
            return np.zeros(1)
        q = np.zeros(n)
        for i in range(n):
            q[i] = i
        return q

    agrees(counted, np.int32(number))
