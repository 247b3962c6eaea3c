"""Convolutions of few pixels and their gradients become products with kernels as they lie, and give the same."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.driver.compilation import Compilation
from relay.driver.targets import targets_for

# batch, extents, input channels, output channels, window, padding, strides, dilation
FEW = [
    (1, (2, 2), 48, 64, (3, 3), (1, 1, 1, 1), (1, 1), (1, 1)),
    (2, (1, 3), 48, 48, (1, 3), (0, 1, 0, 1), (1, 1), (1, 1)),
    (1, (3, 2), 64, 50, (3, 2), (1, 0, 1, 1), (1, 1), (1, 1)),
    (1, (4, 1), 40, 40, (3, 1), (2, 0, 2, 0), (1, 1), (2, 1)),
]
STRIDED = (1, (4, 4), 64, 64, (3, 3), (1, 1, 1, 1), (2, 2), (1, 1))
MANY = (8, (8, 8), 32, 32, (3, 3), (1, 1, 1, 1), (1, 1), (1, 1))


def gradient(case: tuple) -> relay.IRModule:
    """The gradients of a convolution by its data and by its kernel."""
    batch, extents, inputs, outputs, window, padding, strides, dilation = case
    x = relay.var("x", shape=(batch, inputs, *extents))
    w = relay.var("w", shape=(outputs, inputs, *window))
    y = relay.nn.conv2d(x, w, padding=padding, strides=strides, dilation=dilation)
    loss = relay.Function([x, w], relay.op.sum(relay.op.multiply(y, y)))
    return relay.grad(loss)


def optimized(module: relay.IRModule) -> str:
    return str(Compilation(module, targets_for("llvm"), 3).optimized)


@pytest.mark.parametrize("case", [*FEW, STRIDED, MANY], ids=str)
def test_gives_the_same(case: tuple) -> None:
    module = gradient(case)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(each.type_annotation.shape).astype(np.float32) for each in module["main"].params]
    found, expected = relay.build(module)(*arrays), relay.create_executor("debug", module).evaluate()(*arrays)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("case", FEW, ids=str)
def test_no_kernel_is_packed(case: tuple) -> None:
    text = optimized(gradient(case))
    assert text.count("nn.matmul(") == 3
    assert "nn.conv2d(" not in text
    assert "nn.conv2d_backward_weight" not in text
    assert "reverse(" not in text


def test_a_part_of_a_kernel_is_no_matrix_as_it_lies() -> None:
    """At a stride of 2 the data's gradient is made of convolutions with parts of the kernel, copied anyhow."""
    assert optimized(gradient(STRIDED)).count("nn.matmul(") == 2


def test_many_pixels_are_convolved() -> None:
    assert "nn.matmul(" not in optimized(gradient(MANY))
