"""Kernels whose extents the run tells: scheduled as those of one image, and right for few rows and many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import relay
from relay.driver.compilation import Compilation
from relay.tir.text.printer import print_primfunc
from tests.targets.cpu.test_schedules import constant, targets

Extent = int | str


def convolution(n: Extent) -> relay.Expr:
    x = relay.var("x", shape=(n, 64, 28, 28))
    return relay.nn.relu(relay.nn.conv2d(x, constant(128, 64, 3, 3), padding=(1, 1)) + constant(128, 1, 1))


def convolution_by_winograd(n: Extent) -> relay.Expr:
    x = relay.var("x", shape=(n, 14, 14, 256))
    kernel = relay.nn.contrib_conv2d_winograd_weight_transform(constant(256, 256, 3, 3), 4)
    packed = relay.layout_transform(kernel, "HWOI", "OHWI32o")
    return relay.nn.contrib_conv2d_winograd_without_weight_transform(x, packed, 4, 1, 256, "OHWI32o")


def convolution_of_many_weights(n: Extent) -> relay.Expr:
    x = relay.var("x", shape=(n, 512, 7, 7))
    return relay.nn.conv2d(x, constant(512, 512, 3, 3), padding=(1, 1))


def convolution_of_large_images(n: Extent) -> relay.Expr:
    x = relay.var("x", shape=(n, 64, 56, 56))
    return relay.nn.conv2d(x, constant(256, 64, 1, 1))


def separable(n: Extent) -> relay.Expr:
    x = relay.var("x", shape=(n, 144, 56, 56))
    spread = relay.nn.relu(relay.nn.conv2d(x, constant(144, 1, 3, 3), padding=(1, 1), groups=144))
    return relay.nn.conv2d(spread, constant(48, 144, 1, 1)) + constant(48, 1, 1)


CONVOLUTIONS = (
    convolution, convolution_by_winograd, convolution_of_many_weights, convolution_of_large_images, separable,
)  # fmt: skip


def _compiled(body: relay.Expr) -> Compilation:
    function = relay.Function(relay.analysis.free_vars(body), body)
    with relay.PassContext(disabled_pass=("Conv2DToWinograd",)):
        return Compilation(relay.IRModule.from_expr(function), targets(), 3)


@pytest.mark.parametrize("make", CONVOLUTIONS, ids=lambda make: make.__name__)
def test_an_open_batch_is_decided_about_as_one_image(make: Callable[[Extent], relay.Expr]) -> None:
    """And asks ahead for the same weights, whatever loops its images are in."""
    open_, one = (_compiled(make(extent)).called_kernels for extent in ("n", 1))
    for kernel, fixed in zip(open_, one, strict=True):
        mine, theirs = kernel.choice(), fixed.choice()
        assert mine is not None
        assert theirs is not None
        assert (mine.family, mine.values) == (theirs.family, theirs.values)
        assert _prefetches(kernel) == _prefetches(fixed)


def _prefetches(kernel) -> int:
    return sum(type(step).__name__.startswith("Prefetch") for step in kernel.schedule())


@pytest.mark.parametrize("threads", [1, 2])
def test_heads_of_an_open_sequence_are_joined_by_the_kernel_of_attention(threads: int) -> None:
    heads, width = 4, 16

    def network(extent: Extent) -> relay.Expr:
        x = relay.var("x", shape=(2, extent, heads * width))
        turned = relay.transpose(relay.reshape(x, (2, extent, heads, width)), (0, 2, 1, 3))
        by_heads = relay.reshape(turned, (2 * heads, extent, width))
        attended = relay.reshape(relay.nn.attention(by_heads, by_heads, by_heads), (2, heads, extent, width))
        return relay.reshape(relay.transpose(attended, (0, 2, 1, 3)), (2, extent, heads * width))

    body = network("s")
    function = relay.Function(relay.analysis.free_vars(body), body)
    run = relay.build(function, f"llvm -mcpu=native -num-threads={threads}", opt_level=3)
    for extent in (1, 3, 14, 15, 64, 101):
        x = np.random.default_rng(extent).standard_normal((2, extent, heads * width)).astype(np.float32)
        q = x.reshape(2, extent, heads, width).transpose(0, 2, 1, 3)
        scores = q @ q.transpose(0, 1, 3, 2) / np.sqrt(width)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        expected = (powers / powers.sum(-1, keepdims=True)) @ q
        expected = expected.transpose(0, 2, 1, 3).reshape(2, extent, heads * width)
        np.testing.assert_allclose(run(x), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_deep_products_of_open_rows(threads: int) -> None:
    """More rows than a block, fewer than a tile, none at all."""
    random = np.random.default_rng(0)
    weight = random.standard_normal((128, 4096)).astype(np.float32)
    x, y = relay.var("x", shape=("s", 4096)), relay.var("y", shape=("s", 128))
    function = relay.Function([x, y], relay.nn.relu(relay.nn.dense(x, relay.const(weight)) + y))
    run = relay.build(function, f"llvm -mcpu=native -num-threads={threads}", opt_level=3)
    for rows in (0, 1, 2, 5, 6, 7, 31, 32, 33, 128, 255, 300, 613):
        data, others = (random.standard_normal((rows, width)).astype(np.float32) for width in (4096, 128))
        expected = np.maximum(data.astype(np.float64) @ weight.T.astype(np.float64) + others, 0)
        np.testing.assert_allclose(run(data, others), expected, rtol=1e-4, atol=1e-2)


def test_a_single_row_is_decided_about_as_where_it_is_known() -> None:
    """It reads panels of weights side by side; other calls of the kernel do not."""
    open_, one = (
        _compiled(relay.nn.dense(relay.var("x", shape=(rows, 1024)), constant(1024, 1024))).called_kernels[0].choice()
        for rows in ("s", 1)
    )
    assert open_ is not None
    assert one is not None
    (alone,) = open_.variants
    assert (str(alone.when), alone.choice.values) == ("s == 1", one.values)
    assert (alone.choice.values["panels"], open_.values.get("panels")) == (4, None)


@pytest.mark.parametrize("threads", [1, 2])
def test_products_of_one_row_and_of_others(threads: int) -> None:
    random = np.random.default_rng(0)
    weight = random.standard_normal((1024, 1024)).astype(np.float32)
    body = relay.nn.relu(relay.nn.dense(relay.var("x", shape=("s", 1024)), relay.const(weight)))
    function = relay.Function(relay.analysis.free_vars(body), body)
    run = relay.build(function, f"llvm -mcpu=native -num-threads={threads}", opt_level=3)
    for rows in (0, 1, 2, 9):
        data = random.standard_normal((rows, 1024)).astype(np.float32)
        np.testing.assert_allclose(run(data), np.maximum(data @ weight.T, 0), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(("batch", "columns"), [(1, "s"), ("s", 256)])
def test_one_row_by_open_columns_or_batches_is_shared_out(batch: Extent, columns: Extent) -> None:
    """The run tells whether that is worth it."""
    a, b = relay.var("a", shape=(batch, 1, 256)), relay.var("b", shape=(batch, 256, columns))
    (kernel,) = _compiled(relay.nn.batch_matmul(a, b, transpose_b=False)).called_kernels
    assert any(type(step).__name__ == "Parallel" for step in kernel.schedule())


def test_calls_of_few_rows_are_left_to_the_plain_product() -> None:
    """Their data fit the caches whole: the compiler makes both, and the call's extent tells which one runs."""
    (kernel,) = _compiled(relay.nn.dense(relay.var("x", shape=("s", 4096)), constant(128, 4096))).called_kernels
    choice = kernel.choice()
    assert choice is not None
    *_, few = choice.variants
    assert (choice.family, str(few.when), few.choice.family) == ("deep_product", "s <= 32", "matmul")
    assert "if holds(s <= 32)" in print_primfunc(kernel.loops())
    fixed = relay.nn.dense(relay.var("x", shape=(128, 4096)), constant(128, 4096))
    assert all(each.choice().variants == () for each in _compiled(fixed).called_kernels)


@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 63, 64, 65, 200])
def test_rows_of_open_length_are_reduced_in_lanes(length: int) -> None:
    x = relay.var("x", shape=("n", "s"))
    body = relay.Tuple([relay.nn.softmax(x), relay.sum(x, axis=-1), relay.max(x, axis=-1), relay.argmax(x, axis=-1)])
    run = relay.build(relay.Function([x], body), opt_level=3)
    data = np.random.default_rng(length).standard_normal((3, length)).astype(np.float32)
    powers = np.exp(data - data.max(-1, keepdims=True))
    softmax, total, largest, where = run(data)
    np.testing.assert_allclose(softmax, powers / powers.sum(-1, keepdims=True), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(total, data.astype(np.float64).sum(-1), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(largest, data.max(-1))
    np.testing.assert_array_equal(where, data.argmax(-1))


@pytest.mark.parametrize("reduce", [relay.sum, relay.max, relay.prod], ids=lambda reduce: reduce.__name__)
def test_partial_results_of_rows_of_open_length_stay_in_registers(reduce: Callable[..., relay.Expr]) -> None:
    """At the end of a row some of their lanes keep what they have. A masked store would write the others to memory, and
    the next vector would wait for it."""
    (kernel,) = _compiled(reduce(relay.var("x", shape=("n", "s")), axis=-1)).called_kernels
    text = kernel.source()
    assert "masked.load" in text  # of the row
    assert "masked.store" not in text
