"""Transposed convolutions with constant weights become plain ones, and give the same."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.arith.expr import Symbol
from relay.driver.compilation import Compilation
from relay.driver.targets import targets_for

# input channels, extents, output channels, window, strides, padding, output_padding
CASES = [
    (3, (4, 5), 2, (4, 4), (2, 2), (1, 1, 1, 1), (0, 0)),
    (17, (7, 3), 33, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    (5, (3, 7), 7, (3, 5), (2, 3), (0, 1, 1, 0), (0, 2)),
    (16, (1, 1), 31, (4, 4), (1, 1), (0, 0, 0, 0), (0, 0)),
    (8, (5, 5), 16, (2, 2), (2, 2), (0, 0, 0, 0), (0, 0)),
    (4, (6, 6), 3, (5, 5), (1, 1), (2, 1, 0, 2), (0, 0)),
    (2, (5, 4), 1, (6, 4), (3, 2), (2, 1, 1, 1), (0, 1)),
]


def spread(case: tuple, batch: object = 2, weight: np.ndarray | None = None, groups: int = 1) -> relay.Function:
    inputs, extents, outputs, window, strides, padding, added = case
    rng = np.random.default_rng(0)
    if weight is None:
        weight = rng.standard_normal((inputs, outputs // groups, *window)).astype(np.float32)
    x = relay.var("x", shape=(batch, inputs, *extents))
    y = relay.nn.conv2d_transpose(
        x, relay.const(weight), strides=strides, padding=padding, output_padding=added, channels=outputs,
        kernel_size=window, groups=groups,
    )  # fmt: skip
    return relay.Function([x], relay.nn.relu(y))


def spread_row(case: tuple, groups: int = 1) -> relay.Function:
    """The same over the last axis alone."""
    inputs, extents, outputs, window, strides, padding, added = case
    weight = np.random.default_rng(0).standard_normal((inputs, outputs // groups, window[1])).astype(np.float32)
    x = relay.var("x", shape=(2, inputs, extents[1]))
    y = relay.nn.conv1d_transpose(
        x, relay.const(weight), strides=strides[1], padding=(padding[1], padding[3]), output_padding=added[1],
        channels=outputs, kernel_size=window[1], groups=groups,
    )  # fmt: skip
    return relay.Function([x], relay.nn.relu(y))


def optimized(function: relay.Function) -> str:
    return str(Compilation(relay.IRModule.from_expr(function), targets_for("llvm"), 2).optimized)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gives_the_same(case: tuple) -> None:
    module = relay.IRModule.from_expr(spread(case))
    x = np.random.default_rng(1).standard_normal((2, case[0], *case[1])).astype(np.float32)
    expected = relay.create_executor("debug", module).evaluate()(x)
    assert "nn.conv2d_transpose" not in optimized(spread(case))
    np.testing.assert_allclose(relay.build(module)(x), np.asarray(expected), rtol=1e-4, atol=1e-4)


def check(function: relay.Function) -> None:
    module = relay.IRModule.from_expr(function)
    shape = function.params[0].checked_type.shape
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    expected = relay.create_executor("debug", module).evaluate()(x)
    assert "d_transpose" not in optimized(function)
    np.testing.assert_allclose(relay.build(module)(x), np.asarray(expected), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gives_the_same_over_rows(case: tuple) -> None:
    check(spread_row(case))


GROUPED = [
    (4, (6, 5), 4, (4, 4), (2, 2), (1, 1, 1, 1), (0, 0), 4),
    (3, (5, 5), 6, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), 3),
    (6, (3, 7), 34, (4, 5), (2, 3), (0, 1, 1, 0), (0, 2), 2),
    (10, (4, 4), 32, (2, 3), (1, 1), (0, 1, 1, 0), (0, 0), 2),
]


@pytest.mark.parametrize("case", GROUPED, ids=str)
def test_gives_the_same_with_groups(case: tuple) -> None:
    check(spread(case[:-1], groups=case[-1]))
    check(spread_row(case[:-1], groups=case[-1]))


@pytest.mark.parametrize("case", CASES[:3], ids=str)
@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_spreads_what_is_not_finite_no_further(case: tuple, special: float) -> None:
    module = relay.IRModule.from_expr(spread(case))
    x = np.zeros((2, case[0], *case[1]), np.float32)
    x[1, 0, 1, 2] = special
    expected = np.asarray(relay.create_executor("debug", module).evaluate()(x))
    np.testing.assert_array_equal(np.isfinite(relay.build(module)(x)), np.isfinite(expected))


def test_knows_batches_of_any_size() -> None:
    module = relay.IRModule.from_expr(spread(CASES[1], Symbol("n")))
    x = np.random.default_rng(1).standard_normal((3, 17, 7, 3)).astype(np.float32)
    expected = relay.create_executor("debug", module).evaluate()(x)
    assert "nn.conv2d_transpose" not in optimized(spread(CASES[1], Symbol("n")))
    np.testing.assert_allclose(relay.build(module)(x), np.asarray(expected), rtol=1e-4, atol=1e-4)


PRODUCTS = [
    (3, (9, 9), 2, (2, 2), (2, 2), (3, 3, 3, 3), (0, 0), 1, 1),
    (5, (3, 7), 7, (3, 5), (2, 3), (0, 1, 1, 0), (0, 2), 1, 1),
    (17, (7, 3), 33, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), 3, 1),
    (2, (5, 4), 1, (3, 2), (3, 1), (2, 0, 1, 1), (0, 0), 2, 1),
    (6, (3, 5), 4, (3, 4), (2, 2), (0, 1, 1, 0), (0, 1), 1, 2),
]
"""As `CASES`, then dilation and groups."""


def spread_by(case: tuple, rank: int, batch: object) -> relay.Function:
    """With weights that are not known."""
    inputs, extents, outputs, window, strides, padding, added, dilation, groups = case
    sides = {2: padding, 1: (padding[1], padding[3])}[rank]
    last = slice(2 - rank, None)
    x, w = (
        relay.var("x", shape=(batch, inputs, *extents[last])),
        relay.var("w", shape=(inputs, outputs // groups, *window[last])),
    )
    operator = relay.nn.conv2d_transpose if rank == 2 else relay.nn.conv1d_transpose
    y = operator(
        x, w, strides=strides[last], padding=sides, output_padding=added[last], dilation=(dilation,) * rank,
        channels=outputs, kernel_size=window[last], groups=groups,
    )  # fmt: skip
    return relay.Function([x, w], relay.nn.relu(y))


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_is_a_product_with_weights_that_are_not_known(case: tuple, rank: int) -> None:
    function = spread_by(case, rank, 1 if case[-1] > 1 else Symbol("n"))
    module, random = relay.IRModule.from_expr(function), np.random.default_rng(1)
    batch = 1 if case[-1] > 1 else 2
    x = random.standard_normal((batch, case[0], *case[1][2 - rank :])).astype(np.float32)
    w = random.standard_normal((case[0], case[2] // case[-1], *case[3][2 - rank :])).astype(np.float32)
    x[0, 0, ..., 1], w[0, 0, ..., 0] = np.inf, np.nan
    text = optimized(function)
    if (case[4][2 - rank :]) != (1,):  # of a stride of 1 it stays
        assert "d_transpose" not in text
        assert "batch_matmul" in text
    expected = np.asarray(relay.create_executor("debug", module).evaluate()(x, w))
    np.testing.assert_allclose(relay.build(module)(x, w), expected, rtol=1e-4, atol=1e-4)


def test_is_a_product_with_weights_that_are_not_finite() -> None:
    weight = np.ones((3, 2, 4, 4), np.float32)
    weight[0, 0, 0, 0] = np.inf
    assert "batch_matmul" in optimized(spread(CASES[0], weight=weight))


def test_is_a_product_where_the_result_is_cut_deeply() -> None:
    assert "batch_matmul" in optimized(spread((3, (9, 9), 2, (2, 2), (2, 2), (3, 3, 3, 3), (0, 0))))


def test_stays_where_places_get_nothing() -> None:
    function = spread_by((3, (9, 9), 2, (2, 2), (3, 3), (0, 0, 0, 0), (0, 0), 1, 1), 2, 1)
    assert "nn.conv2d_transpose" in optimized(function)
