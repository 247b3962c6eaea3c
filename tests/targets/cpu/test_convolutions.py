"""Convolutions at odd shapes, on machines whose caches are so small that every way to cut them is taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import relay
from relay.driver.compilation import Compilation
from relay.driver.targets import targets_for
from tests.targets.cpu.machines import CASCADE_LAKE, MACHINES, ZEN_3, as_far_as_here

SMALL_L2_BYTES = (16384, 4096, 1024, 65536)
HERE_LIKE = tuple(map(as_far_as_here, (ZEN_3, CASCADE_LAKE)))
SMALL_CACHES = (
    "llvm", *map(str, HERE_LIKE),
    *(str(replace(machine, l2_bytes=size)) for machine, size in zip(HERE_LIKE * 2, SMALL_L2_BYTES, strict=True)),
)  # fmt: skip
# input channels, extents, output channels, window, strides, padding, dilation, groups
CASES = [
    (16, (13, 17), 33, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1),
    (64, (31, 7), 64, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1),
    (32, (15, 15), 31, (3, 2), (2, 1), (0, 2, 1, 0), (1, 2), 1),
    (256, (9, 5), 96, (1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 1),
    (17, (7, 33), 48, (1, 1), (2, 2), (0, 0, 0, 0), (1, 1), 1),
    (3, (31, 29), 16, (7, 7), (2, 2), (3, 3, 3, 3), (1, 1), 1),
    (64, (14, 14), 96, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 2),
    (24, (9, 17), 24, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 6),
    (15, (8, 8), 35, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), 5),
    (33, (17, 15), 33, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 33),
    (40, (7, 7), 40, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 40),
    (24, (14, 9), 24, (5, 5), (2, 2), (2, 2, 2, 2), (1, 1), 24),
    (20, (4, 23), 20, (3, 3), (1, 2), (2, 2, 2, 2), (2, 2), 20),
    (20, (11, 13), 20, (7, 7), (1, 1), (3, 3, 3, 3), (1, 1), 20),
    (12, (13, 9), 24, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 12),
    (2, (9, 11), 32, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), 2),
    (48, (28, 34), 64, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), 1),
]


def convolution(case: tuple) -> relay.Function:
    inputs, extents, outputs, window, strides, padding, dilation, groups = case
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((outputs, inputs // groups, *window)).astype(np.float32)
    x = relay.var("x", shape=(2, inputs, *extents))
    y = relay.nn.conv2d(
        x, relay.const(weight), strides=strides, padding=padding, dilation=dilation, groups=groups, channels=outputs,
        kernel_size=window,
    )  # fmt: skip
    bias = relay.const(rng.standard_normal((outputs, 1, 1)).astype(np.float32))
    return relay.Function([x], relay.nn.relu(y + bias))


@pytest.mark.parametrize("target", SMALL_CACHES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gives_the_meaning(case: tuple, target: str) -> None:
    module = relay.IRModule.from_expr(convolution(case))
    x = np.random.default_rng(1).standard_normal((2, case[0], *case[1])).astype(np.float32)
    x[1, 0, 1, 1], x[0, -1, 2, 3] = np.nan, np.inf
    expected = np.asarray(relay.create_executor("debug", module).evaluate()(x))
    found = relay.build(module, target=target, opt_level=2)(x)  # -O3 may let what is not finite reach neighbours
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


# channels, extents, output channels (more than stay with channels in front), strides, whether arithmetic stands between
SEPARABLE = [
    (64, (28, 28), 40, (1, 1), True),
    (48, (17, 31), 48, (2, 2), True),
    (33, (9, 15), 39, (2, 1), False),
    (96, (31, 7), 48, (1, 1), False),
    (32, (15, 30), 64, (1, 1), True),
]


def separable(case: tuple) -> relay.Function:
    channels, extents, outputs, strides, between = case
    rng = np.random.default_rng(0)
    window, weight, bias = (
        relay.const(rng.standard_normal(shape).astype(np.float32))
        for shape in ((channels, 1, 3, 3), (outputs, channels, 1, 1), (channels, 1, 1))
    )
    x = relay.var("x", shape=(2, channels, *extents))
    y = relay.nn.conv2d(x, window, strides=strides, padding=(1, 1), groups=channels)
    return relay.Function([x], relay.nn.relu(relay.nn.conv2d(relay.nn.relu(y + bias) if between else y, weight)))


@pytest.mark.parametrize("target", SMALL_CACHES)
@pytest.mark.parametrize("case", SEPARABLE, ids=str)
def test_a_depthwise_convolution_with_the_one_that_joins_its_channels(case: tuple, target: str) -> None:
    module = relay.IRModule.from_expr(separable(case))
    x = np.random.default_rng(1).standard_normal((2, case[0], *case[1])).astype(np.float32)
    x[1, 0, 1, 1], x[0, -1, 2, 3] = np.nan, np.inf
    expected = np.asarray(relay.create_executor("debug", module).evaluate()(x))
    compilation = Compilation(module, targets_for(target), 3)
    assert sum("nn_conv2d" in kernel.info.name for kernel in compilation.kernels) == 1
    found = relay.build(module, target=target, opt_level=3)(x)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


def test_a_depthwise_convolution_goes_with_one_other() -> None:
    """Of two 1×1 convolutions behind it, the second has a kernel of its own."""
    function = separable((96, (14, 14), 48, (1, 1), True))
    second = relay.const(np.random.default_rng(2).standard_normal((40, 48, 1, 1)).astype(np.float32))
    module = relay.IRModule.from_expr(relay.Function(function.params, relay.nn.conv2d(function.body, second)))
    x = np.random.default_rng(1).standard_normal((2, 96, 14, 14)).astype(np.float32)
    expected = np.asarray(relay.create_executor("debug", module).evaluate()(x))
    names = [kernel.info.name for kernel in Compilation(module, targets_for(CASCADE_LAKE), 3).kernels]
    assert sorted(name.count("nn_conv2d") for name in names if "conv2d" in name) == [1, 2]
    np.testing.assert_allclose(relay.build(module, opt_level=3)(x), expected, rtol=2e-4, atol=2e-3)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("extent", [7, 14, 112])
def test_a_depthwise_convolution_of_its_own_has_its_lanes_along_rows(extent: int, machine: str) -> None:
    """Nothing is turned, whatever is elementwise around it; over a large window channels are the lanes."""
    for taps, is_turned in ((3, False), (5, False), (7, True)):
        case = (32, (extent, extent), 32, (taps, taps), (1, 1), (taps // 2,) * 4, (1, 1), 32)
        targets = targets_for(MACHINES[machine].with_threads(1))
        kernels = Compilation(relay.IRModule.from_expr(convolution(case)), targets, 3).kernels
        names = [kernel.info.name for kernel in kernels]
        assert any("layout_transform" in name for name in names) == is_turned


def steps_of(case: tuple, l2_bytes: int) -> str:
    """The steps of the one kernel of a convolution, on a machine of vectors of 512 bits."""
    targets = targets_for(replace(CASCADE_LAKE, num_threads=1, l2_bytes=l2_bytes))
    (kernel,) = Compilation(relay.IRModule.from_expr(convolution(case)), targets, 2).kernels
    return "\n".join(str(step) for step in kernel.schedule())


def test_turns_a_row_for_its_padding() -> None:
    """What is turned and then padded never goes to memory in between."""
    steps = steps_of((128, (56, 56), 128, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), 1), 1 << 20)
    assert "ComputeAt(stage='layout_transform', target='data_pad'" in steps
    assert "ComputeAt(stage='data_pad'" in steps


def test_takes_blocks_of_rows_and_parts_of_the_window() -> None:
    """What a block reads is padded in it; the sums of a panel over a block are kept while parts of the window go."""
    steps = steps_of((64, (28, 28), 64, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1), 1 << 18)
    assert "RFactor" in steps
    assert "ComputeAt(stage='data_pad'" in steps
