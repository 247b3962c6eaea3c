"""What is read along another axis than it is written is turned in registers: nothing is gathered, nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.driver.compilation import Compilation
from relay.driver.targets import targets_for

TARGETS = ("llvm", "llvm -mattr=+avx,+avx2,+fma", "llvm -mattr=+sse4.2")


def compiled(function: relay.Function, target: str) -> Compilation:
    return Compilation(relay.IRModule.from_expr(function), targets_for(target), 3)


def changed(shape: tuple[int, ...], dtype: str = "float32") -> relay.Function:
    x = relay.var("x", shape=shape, dtype=dtype)
    return relay.Function([x], relay.layout_transform(x, "NCHW", "NHWC"))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("channels", [9, 15, 16, 17, 33])
@pytest.mark.parametrize("columns", [7, 9, 14, 16, 31, 33])
def test_odd_extents(channels: int, columns: int, target: str) -> None:
    x = np.random.default_rng(0).standard_normal((2, channels, 3, columns)).astype(np.float32)
    np.testing.assert_array_equal(
        relay.build(changed(x.shape), target=target)(x), np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    )


@pytest.mark.parametrize("dtype", ["float64", "int8", "int32", "bool", "float16"])
def test_types(dtype: str) -> None:
    x = np.random.default_rng(0).integers(0, 2, (1, 19, 2, 21)).astype(dtype)
    np.testing.assert_array_equal(relay.build(changed(x.shape, dtype))(x), x.transpose(0, 2, 3, 1))


def test_arithmetic_around_it() -> None:
    x, y = relay.var("x", shape=(20, 35)), relay.var("y", shape=(35, 20))
    function = relay.Function([x, y], relay.nn.relu(relay.transpose(x, (1, 0)) + y))
    a, b = (np.random.default_rng(0).standard_normal(shape).astype(np.float32) for shape in ((20, 35), (35, 20)))
    np.testing.assert_array_equal(relay.build(function)(a, b), np.maximum(a.T + b, 0))


def test_nothing_is_gathered() -> None:
    compilation = compiled(changed((1, 64, 8, 64)), "llvm -mattr=+avx,+avx2,+fma,+avx512f,+avx512vl,+avx512dq")
    (kernel,) = compilation.kernels
    assembly = kernel.assembly()
    assert "gather" not in assembly
    assert "vmovss" not in assembly


def test_a_padded_transpose_is_not_taken_for_one() -> None:
    x = relay.var("x", shape=(33, 15))
    function = relay.Function([x], relay.transpose(relay.nn.pad(x, ((1, 0), (1, 2))), (1, 0)))
    a = np.random.default_rng(0).standard_normal((33, 15)).astype(np.float32)
    np.testing.assert_array_equal(relay.build(function)(a), np.pad(a, ((1, 0), (1, 2))).T)


def test_two_transpositions_in_a_row_before_a_convolution():
    """Both stages have tensors of one name: the steps go by the names of stages."""
    x = relay.var("x", shape=(1, 64, 20, 20))
    weight = np.random.default_rng(0).standard_normal((64, 64, 1, 1), np.float32)
    turned = relay.transpose(relay.transpose(x, axes=[0, 2, 3, 1]), axes=[0, 3, 1, 2])
    function = relay.Function([x], relay.nn.conv2d(turned, relay.const(weight)))
    data = np.random.default_rng(1).standard_normal((1, 64, 20, 20), np.float32)
    with relay.PassContext(disabled_pass=["SimplifyExpr"]):
        found = relay.build(function, opt_level=3)(data)
    np.testing.assert_allclose(found, np.einsum("oi,nihw->nohw", weight[:, :, 0, 0], data), rtol=1e-4, atol=1e-4)


def interleaved(x: relay.Expr, y: relay.Expr, columns: int, channels: int) -> relay.Expr:
    together = relay.reshape(relay.concatenate([x, y], 3), (1, 5, 2 * columns, channels))
    cut = relay.strided_slice(together, (1,), (2 * columns,), axes=(2,))
    return relay.nn.relu(relay.transpose(cut, (0, 3, 1, 2)))


@pytest.mark.parametrize("target", TARGETS)
def test_formula_turned_square_by_square(target: str) -> None:
    """What the result reads across is put side by side, and cut: it is computed in registers first."""
    inputs: list[relay.Var] = []
    results: list[relay.Expr] = []
    arrays: list[np.ndarray] = []
    expected: list[np.ndarray] = []
    for columns, channels in [(3, 16), (8, 7), (17, 33), (33, 1), (16, 64)]:
        shape = (1, 5, columns, channels)
        x, y = (relay.var(f"{name}_{columns}", shape=shape) for name in "xy")
        a, b = (np.random.default_rng(seed).standard_normal(shape).astype(np.float32) for seed in (0, 1))
        inputs += [x, y]
        arrays += [a, b]
        results.append(interleaved(x, y, columns, channels))
        whole = np.concatenate([a, b], 3).reshape(1, 5, 2 * columns, channels)
        expected.append(np.maximum(whole[:, :, 1:].transpose(0, 3, 1, 2), 0))
    found = relay.build(relay.Function(inputs, relay.Tuple(results)), target)(*arrays)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_depthwise_transposed_convolutions() -> None:
    """Which remainder a place has is known in each phase of the rows: nothing is chosen, or gathered, at run time."""
    inputs: list[relay.Var] = []
    results: list[relay.Expr] = []
    arrays: list[np.ndarray] = []
    for channels, stride in [(16, 2), (24, 2), (33, 3)]:
        x = np.random.default_rng(0).standard_normal((1, channels, 9, 11)).astype(np.float32)
        weight = relay.const(np.random.default_rng(1).standard_normal((channels, 1, 4, 4)).astype(np.float32))
        inputs.append(relay.var(f"x_{channels}", shape=x.shape))
        arrays.append(x)
        steps = {"strides": (stride, stride), "padding": (1, 1)}
        results.append(relay.nn.conv2d_transpose(inputs[-1], weight, **steps, groups=channels))
    function = relay.Function(inputs, relay.Tuple(results))
    expected = relay.create_executor("interpreter", mod=function).evaluate()(*arrays)
    for ours, theirs in zip(relay.build(function, opt_level=3)(*arrays), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    compilation = compiled(function, "llvm -mattr=+avx,+avx2,+fma,+avx512f,+avx512vl,+avx512dq")
    (joined, *_) = [each for each in compilation.kernels if "concatenate" in each.info.name]
    assert "gather" not in joined.assembly()


def test_a_concatenation_of_single_images() -> None:
    """Where images begin decides which is read, so the only image of each is found without counting."""
    x, y = relay.var("x", shape=(1, 15, 16, 48)), relay.var("y", shape=(1, 16, 48, 15))
    both = relay.concatenate([relay.layout_transform(x, "NCHW", "NHWC"), y], axis=0)
    function = relay.Function([x, y], relay.layout_transform(both, "NHWC", "NCHW"))
    a, b = (
        np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        for shape in ((1, 15, 16, 48), (1, 16, 48, 15))
    )
    np.testing.assert_array_equal(relay.build(function)(a, b), np.concatenate((a, b.transpose(0, 3, 1, 2))))
