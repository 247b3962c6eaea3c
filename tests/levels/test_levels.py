"""No level of optimization computes more than a lower one, counted in the loops of kernels.

What computes something again says so, and by how much at most: `LARGEST_REPETITION` of a schedule or a pass.
"""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay import nn, testing
from relay.ops.nn.transposed_as_plain import LARGEST_REPETITION as LARGEST_REPETITION_OF_TRANSPOSED
from relay.targets.cpu.schedules.rows import LARGEST_REPETITION
from relay.transform.fusion.evaluations import FREE_OPERATIONS
from tests.arithmetic import Work, program_work, work_of
from tests.levels.__main__ import repeats
from tests.levels.programs import program

TOLERANCE = 1.1
CHUNK = 10


@pytest.mark.parametrize("start", range(0, 60, CHUNK))
def test_generated_programs(start):
    for seed in range(start, start + CHUNK):
        assert repeats(program(seed)) == "", f"program({seed})"


NETWORKS = {
    "mlp": lambda: testing.mlp.get_workload(),
    "dqn": lambda: testing.dqn.get_workload(),
    "dcgan": lambda: testing.dcgan.get_workload(),
    "resnet18": lambda: testing.resnet.get_workload(num_layers=18, image_shape=(3, 64, 64)),
    "resnet50": lambda: testing.resnet.get_workload(num_layers=50, image_shape=(3, 64, 64)),
    "mobilenet": lambda: testing.mobilenet.get_workload(image_shape=(3, 64, 64)),
    "mobilenet v2": lambda: testing.mobilenet.get_workload(version=2, image_shape=(3, 64, 64)),
    "squeezenet": lambda: testing.squeezenet.get_workload(),
    "densenet": lambda: testing.densenet.get_workload(image_shape=(3, 64, 64)),
    "transformer": lambda: testing.transformer.get_workload(num_layers=2),
    "vgg": lambda: testing.vgg.get_workload(),
}


@pytest.mark.parametrize("network", NETWORKS)
def test_networks(network):
    module, params = NETWORKS[network]()
    works = [program_work(module, level, params=params) for level in range(4)]
    tolerance = LARGEST_REPETITION_OF_TRANSPOSED if network == "dcgan" else TOLERANCE
    for level in (1, 2, 3):
        least = min(each.operations for each in works[:level])
        assert works[level].operations <= tolerance * least, f"-O{level}"


def case(build, *shapes) -> relay.Function:
    parameters = [relay.var(f"p{i}", shape=shape, dtype="float32") for i, shape in enumerate(shapes)]
    return relay.Function(parameters, build(*parameters))


def weight(*shape) -> relay.Expr:
    return relay.const(np.ones(shape, np.float32))


READ_SEVERAL_TIMES = {
    "resize": case(lambda x: relay.image.resize2d(relay.sigmoid(x), size=(32, 32)), (1, 32, 16, 16)),
    "upsampling": case(lambda x: nn.upsampling(relay.sigmoid(x), 2, 2), (1, 32, 16, 16)),
    "a row for all rows": case(lambda x, b: x + relay.exp(b), (64, 64), (64,)),
    "an outer product": case(lambda a, b: relay.exp(a) * relay.exp(b), (64, 1), (1, 64)),
    "what is cheap, for all rows": case(lambda x, b, c: x + b * c, (256, 64), (64,), (64,)),
    "a transposition beside": case(lambda x: relay.tanh(x) + relay.transpose(relay.tanh(x)), (32, 32)),
    "backwards beside": case(lambda x: (lambda y: y + relay.reverse(y, axis=0))(relay.sigmoid(x)), (256,)),
    "repeat": case(lambda x: relay.repeat(relay.sigmoid(x), 4, axis=1), (32, 32)),
    "tile": case(lambda x: relay.tile(relay.sigmoid(x), (4, 1)), (32, 32)),
    "broadcast_to": case(lambda x: relay.broadcast_to(relay.sigmoid(x), (64, 32)), (1, 32)),
    "concatenate": case(lambda x: (lambda y: relay.concatenate((y, relay.tanh(y)), 1))(relay.sigmoid(x)), (32, 32)),
    "softmax": case(lambda x: nn.softmax(nn.relu(relay.tanh(x))), (32, 32)),
}


@pytest.mark.parametrize("name", READ_SEVERAL_TIMES)
def test_what_is_read_several_times_is_computed_once(name):
    alone = program_work(READ_SEVERAL_TIMES[name], 0)
    for level in (1, 2, 3):
        assert program_work(READ_SEVERAL_TIMES[name], level).operations <= TOLERANCE * alone.operations


@pytest.mark.parametrize("size", [1, 3])
def test_resize_in_front_of_convolutions(size):
    """The head of a network for segmentation: what is resized is not resized again for each of its uses, nor gathered
    channel by channel; it is resized in the layout of the convolution."""
    weights = weight(64, 64, size, size)

    def head(x):
        return nn.conv2d(relay.image.resize2d(x, size=(64, 64)), weights, padding=(size // 2, size // 2))

    function = case(head, (1, 64, 32, 32))
    for level in (1, 2, 3):
        stages = relay.driver.compile_stages(function, opt_level=level)
        (alone,) = [each.info.name for each in stages.kernels if "resize2d" in each.info.name]
        assert "conv2d" not in alone
        assert "layout" not in alone
        (resized,) = [line for line in stages.optimized.astext().splitlines() if "image.resize2d" in line]
        assert ('layout="NHWC"' in resized) == (level > 1)


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("channels", [1, 3])
def test_resize_behind_convolutions_to_few_channels(channels, size):
    """The head of a network: its few channels would leave vectors empty, and what it reads is not turned for them."""
    weights = weight(channels, 64, size, size)

    def head(x):
        return relay.image.resize2d(nn.conv2d(x, weights, padding=(size // 2, size // 2)), size=(64, 64))

    function = case(head, (1, 64, 32, 32))
    lowest, highest = program_work(function, 0), program_work(function, 3)
    assert highest.operations <= lowest.operations
    assert highest.bytes <= lowest.bytes


def test_a_declared_repetition_is_needed_and_enough():
    """Cheap formulas of a row are computed in each sweep over it."""

    def centred(x):
        for _ in range(4):
            x = x - relay.mean(x, axis=-1, keepdims=True)
        return x

    function = case(centred, (64, 64))
    alone, fused = program_work(function, 0).operations, program_work(function, 3).operations
    assert TOLERANCE * alone < fused <= LARGEST_REPETITION * alone


def test_bytes_shrink_where_elementwise_operators_are_fused():
    function = case(lambda x: nn.relu(relay.tanh(x) + relay.sigmoid(x)), (256, 64))
    alone, fused = program_work(function, 0), program_work(function, 1)
    assert fused.bytes == 4 * 256 * 64 * 2
    assert alone.bytes == 4 * 256 * 64 * (2 + 2 + 3 + 2)


def test_the_counter_counts_what_runs():
    """A product of matrices: a multiplication and an addition for each of m · n · k, and no more."""
    function = case(lambda x: nn.matmul(x, weight(24, 40)), (16, 24))
    (kernel,) = relay.driver.compile_stages(function, opt_level=0).kernels
    work = work_of(kernel.loops())
    assert 2 * 16 * 24 * 40 <= work.operations <= TOLERANCE * 2 * 16 * 24 * 40
    assert isinstance(work + Work(1, 1), Work)
    assert work.operations > FREE_OPERATIONS
