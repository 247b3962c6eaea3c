"""Arrays made by extents of parameters have the parameters' extents, so that they meet without a check at run time."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from tests.frontend.python.running import agrees

Rows, Column, Row = relay.Tensor[("n", "d")], relay.Tensor[("n",)], relay.Tensor[("d",)]
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
