"""Long sums in float32 are taken in parts: they are as near to what they mean as NumPy's, which sums pairwise."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import relay
from relay import op
from relay.driver.build import compile_stages
from relay.ir.expr import Expr, Function

LAST_PLACE = 2.0**-24
Axes = tuple[int, ...] | None


@pytest.mark.parametrize(
    ("shape", "axes"), [((1 << 20,), None), ((4, 1 << 18), (1,)), ((1 << 16, 32), (0,)), ((8, 56, 56, 24), (0, 1, 2))],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("reduce", [op.sum, op.mean, op.variance])
def test_a_long_sum_is_off_by_a_few_units_in_the_last_place(
    reduce: Callable[[Expr, Axes], Expr], shape: tuple[int, ...], axes: Axes
) -> None:
    values = np.random.default_rng(0).random(shape, np.float32)
    x = relay.var("x", shape=shape, dtype="float32")
    found = relay.build(Function([x], reduce(x, axes)), opt_level=3)(values)
    exact = {op.sum: np.sum, op.mean: np.mean, op.variance: np.var}[reduce](values.astype(np.float64), axis=axes)
    assert np.max(np.abs(found - exact) / exact) < 16 * LAST_PLACE


@pytest.mark.parametrize("depth", [1024, 4608, 12544])
@pytest.mark.parametrize("rows", [1, 33])
def test_a_product_is_off_as_a_chain_of_1024_multiply_adds(rows: int, depth: int) -> None:
    random = np.random.default_rng(0)
    left, right = (random.standard_normal(shape, np.float32) for shape in ((rows, depth), (depth, 48)))
    a, b = (relay.var(name, shape=each.shape, dtype="float32") for name, each in (("a", left), ("b", right)))
    found = relay.build(Function([a, b], relay.nn.matmul(a, b)), opt_level=3)(left, right)
    exact = left.astype(np.float64) @ right.astype(np.float64)
    assert _distance(found, exact) < math.sqrt(1024) / 2 * LAST_PLACE


def test_a_convolution_of_many_channels_is_off_as_little() -> None:
    data, kernel = (
        np.random.default_rng(0).standard_normal(shape, np.float32) for shape in ((1, 512, 9, 9), (32, 512, 3, 3))
    )
    x = relay.var("x", shape=data.shape, dtype="float32")
    found = relay.build(Function([x], relay.nn.conv2d(x, relay.const(kernel), strides=(2, 2))), opt_level=3)(data)
    windows = np.lib.stride_tricks.sliding_window_view(data.astype(np.float64), (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    exact = np.einsum("nchwyx,ocyx->nohw", windows, kernel.astype(np.float64))
    assert _distance(found, exact) < math.sqrt(1024) / 2 * LAST_PLACE


def test_sums_of_integers_and_largest_elements_are_not_cut() -> None:
    x = relay.var("x", shape=(1 << 16, 32), dtype="int32")
    for reduce in (op.sum, op.max):
        (kernel,) = compile_stages(Function([x], reduce(x, (0,))), opt_level=3).kernels
        assert "rfactor" not in str(kernel.schedule())


def _distance(found: NDArray[np.float32], exact: NDArray[np.float64]) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
