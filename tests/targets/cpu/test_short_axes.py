"""Results whose last axis is shorter than a vector: rows of them are computed in vectors, and each lane is right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import relay

SHORT = [2, 3, 4, 5, 6, 7, 8]


def computed(make: Callable[..., relay.Expr], *arrays: np.ndarray) -> np.ndarray:
    variables = [relay.var(f"x{i}", shape=each.shape, dtype=each.dtype.name) for i, each in enumerate(arrays)]
    return relay.build(relay.Function(variables, make(*variables)), opt_level=3)(*arrays)


def given(*shape: int, dtype: str = "float32") -> np.ndarray:
    return (np.random.default_rng(0).standard_normal(shape) * 9).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
@pytest.mark.parametrize("short", SHORT)
def test_matrices_of_few_columns_are_transposed(short: int, dtype: str) -> None:
    x = given(5, short, 11, dtype=dtype)
    np.testing.assert_array_equal(computed(lambda x: relay.transpose(x, (0, 2, 1)), x), x.transpose(0, 2, 1))


@pytest.mark.parametrize("short", SHORT)
def test_pixels_are_shuffled(short: int) -> None:
    x = given(1, 2 * short * short, 5, 7)

    def shuffle(x: relay.Expr) -> relay.Expr:
        by_blocks = relay.reshape(x, (1, 2, short, short, 5, 7))
        return relay.reshape(relay.transpose(by_blocks, (0, 1, 4, 2, 5, 3)), (1, 2, 5 * short, 7 * short))

    expected = x.reshape(2, short, short, 5, 7).transpose(0, 3, 1, 4, 2).reshape(1, 2, 5 * short, 7 * short)
    np.testing.assert_array_equal(computed(shuffle, x), expected)


@pytest.mark.parametrize("short", SHORT)
def test_columns_and_rows_are_spread(short: int) -> None:
    """One operand lies along both axes, others along one of them."""
    x, column, row = given(9, 10, short), given(9, 10, 1), given(short)
    np.testing.assert_array_equal(computed(relay.multiply, x, column), x * column)
    np.testing.assert_array_equal(computed(relay.multiply, x, row), x * row)
    np.testing.assert_array_equal(computed(lambda x: relay.reverse(x, axis=2), x), x[:, :, ::-1])
