"""Convolutions by minimal filtering: what kernels give, how far it is off, and which convolutions are computed so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay
from relay.arith.expr import Symbol
from relay.base.target import Target
from relay.driver.compilation import Compilation
from relay.driver.targets import targets_for
from relay.ops.nn.winograd import MINIMAL
from relay.targets.cpu.target import CpuTarget
from relay.targets.cpu.winograd_model import WinogradModel
from relay.transform import ConvolutionExtents

NARROW = "llvm -mtriple=x86_64-unknown-linux-gnu -mattr=+avx,+avx2,+fma"
WIDE = CpuTarget(vector_bits=512)


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def exact(data: np.ndarray, kernel: np.ndarray, padding: tuple[int, int, int, int]) -> np.ndarray:
    """data[N, H, W, C] and kernel[O, C, 3, 3] convolved in float64."""
    top, left, bottom, right = padding
    padded = np.pad(data.astype(np.float64), ((0, 0), (top, bottom), (left, right), (0, 0)))
    taps = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    return np.einsum("nhwcrs,ocrs->nhwo", taps, kernel.astype(np.float64), optimize=True)


def by_winograd(
    x: relay.Expr, kernel: np.ndarray, tile: int, padding: tuple[int, int, int, int], block: int = 32
) -> relay.Expr:
    points = relay.nn.contrib_conv2d_winograd_weight_transform(relay.const(kernel), tile)
    layout = f"OHWI{block}o"
    return relay.nn.contrib_conv2d_winograd_without_weight_transform(
        x, relay.layout_transform(points, "HWOI", layout), tile, padding, kernel.shape[0], layout
    )


def run(x: relay.Var, body: relay.Expr, data: np.ndarray, target: str, level: int = 3) -> Any:
    return relay.build(relay.Function([x], body), target=target, opt_level=level)(data)


def worst(found: Any, expected: np.ndarray) -> float:
    """The largest difference, relative to the largest number."""
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("tile", MINIMAL)
@pytest.mark.parametrize(
    ("target", "shape", "outputs", "padding"),
    [
        ("llvm -num-threads=1", (1, 7, 7, 5), 6, (1, 1, 1, 1)),
        ("llvm -num-threads=2", (2, 9, 4, 3), 2, (0, 0, 0, 0)),
        ("llvm -num-threads=1", (1, 3, 3, 4), 4, (0, 1, 2, 0)),
        ("llvm -num-threads=2", (1, 17, 31, 33), 40, (1, 1, 1, 1)),
        ("llvm -num-threads=2", (1, 56, 56, 32), 64, (1, 1, 1, 1)),
        ("llvm -num-threads=2", (1, 15, 13, 160), 33, (1, 1, 1, 1)),
        (f"{NARROW} -num-threads=1", (1, 33, 15, 24), 100, (1, 1, 1, 1)),
        (f"{NARROW} -num-threads=2", (3, 5, 5, 16), 32, (2, 2, 2, 2)),
    ],
)  # fmt: skip
def test_odd_extents(
    tile: int, target: str, shape: tuple[int, ...], outputs: int, padding: tuple[int, int, int, int]
) -> None:
    data, kernel = floats(*shape), floats(outputs, shape[-1], 3, 3, seed=1)
    x = relay.var("x", shape=shape)
    found = run(x, by_winograd(x, kernel, tile, padding), data, target)
    assert worst(found, exact(data, kernel, padding)) < 1e-5


@pytest.mark.parametrize("tile", MINIMAL)
@pytest.mark.parametrize("depth", [64, 512, 1024])
def test_errors_stay_within_a_ten_thousandth_of_the_largest_result(tile: int, depth: int) -> None:
    """Data that are all positive, whose terms cancel the most, among them."""
    x = relay.var("x", shape=(1, 12, 12, depth))
    kernel = floats(8, depth, 3, 3, seed=1)
    body = by_winograd(x, kernel, tile, (1, 1, 1, 1))
    executable = relay.build(relay.Function([x], body), target="llvm -num-threads=1", opt_level=3)
    for data in (floats(1, 12, 12, depth), np.abs(floats(1, 12, 12, depth)), 100 + floats(1, 12, 12, depth)):
        assert worst(executable(data), exact(data, kernel, (1, 1, 1, 1))) < 1e-4


def test_what_follows_is_fused_whatever_its_layout() -> None:
    data, residual, kernel = floats(1, 14, 14, 32), floats(1, 14, 14, 40, seed=2), floats(40, 32, 3, 3, seed=1)
    x, r = relay.var("x", shape=data.shape), relay.var("r", shape=residual.shape)
    sums = relay.add(by_winograd(x, kernel, 4, (1, 1, 1, 1)), r)
    expected = exact(data, kernel, (1, 1, 1, 1)) + residual
    bodies = {
        relay.nn.relu(sums): (np.maximum(expected, 0),),
        relay.layout_transform(relay.nn.relu(sums), "NHWC", "NCHW"): (np.maximum(expected, 0).transpose(0, 3, 1, 2),),
        relay.Tuple([relay.nn.relu(sums), relay.negative(sums)]): (np.maximum(expected, 0), -expected),
    }
    for body, wanted in bodies.items():
        found = relay.build(relay.Function([x, r], body), target="llvm -num-threads=2", opt_level=3)(data, residual)
        for one, other in zip(found if len(wanted) > 1 else (found,), wanted, strict=True):
            assert worst(one, other) < 1e-5


def test_batches_and_images_of_unknown_extents() -> None:
    data, kernel = floats(3, 9, 11, 5), floats(7, 5, 3, 3, seed=1)
    n, h = Symbol("n"), Symbol("h")
    for shape in ((n, 9, 11, 5), (3, h, 11, 5), (n, h, 11, 5)):
        x = relay.var("x", shape=shape)
        found = run(x, by_winograd(x, kernel, 4, (1, 1, 1, 1)), data, "llvm -num-threads=2")
        assert worst(found, exact(data, kernel, (1, 1, 1, 1))) < 1e-5


def test_a_nan_reaches_the_tiles_that_read_it_and_no_others() -> None:
    """Of plain sums, it would reach three rows and columns; here it reaches whole tiles."""
    data = floats(1, 16, 16, 8)
    data[0, 6, 6, 3] = np.nan
    x = relay.var("x", shape=data.shape)
    found = np.asarray(run(x, by_winograd(x, floats(16, 8, 3, 3), 4, (1, 1, 1, 1)), data, "llvm -num-threads=1"))
    assert np.isnan(found[0, 5:8, 5:8]).all()
    spread = np.isnan(found).any(axis=(0, 3))
    assert spread[4:8, 4:8].all()
    assert not spread[:, 8:].any()
    assert not spread[8:].any()
    assert not spread[:4].any()
    assert not spread[:, :4].any()


def kernels_at(level: int, disabled: tuple[str, ...] = ()) -> list[str]:
    x = relay.var("x", shape=(1, 64, 56, 56))
    body = relay.nn.relu(relay.nn.conv2d(x, relay.const(floats(64, 64, 3, 3)), padding=(1, 1)))
    module = relay.IRModule.from_expr(relay.Function([x], body))
    with relay.PassContext(opt_level=level, disabled_pass=disabled):
        compilation = Compilation(module, targets_for(Target.parse("llvm")), level)
        return [kernel.info.name for kernel in compilation.called_kernels]


def test_only_the_third_level_computes_so_and_it_can_be_told_not_to() -> None:
    assert any("winograd" in name for name in kernels_at(3))
    assert not any("winograd" in name for name in kernels_at(2))
    assert not any("winograd" in name for name in kernels_at(3, ("Conv2DToWinograd",)))


def test_the_model_takes_large_images_of_many_channels() -> None:
    model = WinogradModel(WIDE)
    tiles = {
        (side, channels): model(ConvolutionExtents(side, side, channels, channels))
        for side, channels in ((224, 64), (112, 128), (56, 64), (56, 256), (28, 128), (28, 512), (14, 256), (7, 512))
    }
    assert tiles == {
        (224, 64): 4, (112, 128): 4, (56, 64): 4, (56, 256): 4, (28, 128): 4, (28, 512): 4, (14, 256): 2, (7, 512): 0,
    }  # fmt: skip


def test_the_model_leaves_few_channels_and_unmeasured_depths() -> None:
    model = WinogradModel(WIDE)
    assert model(ConvolutionExtents(224, 224, 64, 3)) == 0
    assert model(ConvolutionExtents(56, 56, 64, 4096)) == 0
