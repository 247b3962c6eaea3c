"""Kernels of training steps give what their operators mean: gradients of convolutions by kernels and data, convolutions
of small images with kernels that only the run knows, products with a transposed first matrix."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay import nn


def drawn(*shape: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def checked(function: relay.Function, *arrays: np.ndarray) -> None:
    """That native code agrees with the interpreter."""
    found = relay.build(function, opt_level=3)(*arrays)
    wanted = relay.create_executor("debug", relay.IRModule.from_expr(function)).evaluate()(*arrays)
    for ours, exact in zip(np.atleast_1d(found), np.atleast_1d(wanted), strict=True):
        np.testing.assert_allclose(ours, exact, atol=1e-4 * np.abs(exact).max())


CONVOLUTIONS = [
    (2, 16, 32, 8, 3, 1, 1), (2, 3, 40, 9, 7, 2, 1), (3, 24, 24, 6, 3, 2, 24), (2, 20, 12, 7, 1, 2, 1),
    (2, 64, 64, 2, 3, 1, 1), (1, 8, 16, 5, 3, 1, 4),
]  # fmt: skip
"""(images, channels, outputs, size, taps, stride, groups)"""


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_gradients_of_a_convolution(case: tuple[int, ...]) -> None:
    images, channels, outputs, size, taps, stride, groups = case
    data, kernel = drawn(images, channels, size, size, seed=0), drawn(outputs, channels // groups, taps, taps, seed=1)
    x, w = relay.var("x", shape=data.shape), relay.var("w", shape=kernel.shape)
    made = nn.conv2d(x, w, strides=stride, padding=taps // 2, groups=groups)
    loss = relay.Function([x, w], relay.sum(made * relay.tanh(made)))
    module = relay.grad(loss)
    ours = relay.build(module, opt_level=3)(data, kernel)
    exact = relay.create_executor("debug", module).evaluate()(data, kernel)
    for found, wanted in zip(ours, exact, strict=True):
        np.testing.assert_allclose(found, wanted, atol=2e-4 * np.abs(wanted).max())


def test_small_images_pass_over_a_panel_of_weights_together() -> None:
    data, kernel = drawn(5, 2, 2, 256, seed=0), drawn(256, 256, 3, 3, seed=1)
    x, w = relay.var("x", shape=data.shape), relay.var("w", shape=kernel.shape)
    checked(
        relay.Function([x, w], nn.conv2d(x, w, padding=1, data_layout="NHWC", channels=256, kernel_size=(3, 3))),
        data, kernel,
    )  # fmt: skip


def test_rows_of_a_transposed_matrix_are_packed() -> None:
    left, right = drawn(96, 512, seed=0), drawn(96, 128, seed=1)
    a, b = relay.var("a", shape=left.shape), relay.var("b", shape=right.shape)
    checked(relay.Function([a, b], nn.matmul(a, b, transpose_a=True)), left, right)
