"""The deep Q-network of Mnih et al. 2015 (Nature 518, extended data table 1)."""

from __future__ import annotations

from collections.abc import Sequence

from relay import nn
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.testing.layers import bias_add, conv2d, dense_add_bias, image_input
from relay.testing.workload import Parameters, create_workload, network


def get_net(
    batch_size: int | str, num_actions: int = 18, image_shape: Sequence[int] = (4, 84, 84), dtype: str = "float32",
    layout: str = "NCHW",
) -> Function:  # fmt: skip
    """data[batch, *image_shape] → values of actions[batch, num_actions]; `image_shape` is in `layout` without N."""
    x = image_input(batch_size, image_shape, dtype)
    for number, (channels, kernel, stride) in enumerate(((32, 8, 4), (64, 4, 2), (64, 3, 1)), start=1):
        x = conv2d(x, f"conv{number}", channels, (kernel, kernel), (stride, stride), layout=layout)
        x = nn.relu(bias_add(x, f"conv{number}", axis=layout.index("C")))
    x = nn.relu(dense_add_bias(nn.batch_flatten(x), "dense1", 512))
    return network(dense_add_bias(x, "dense2", num_actions))


def get_workload(
    batch_size: int | str = 1, num_actions: int = 18, image_shape: Sequence[int] = (4, 84, 84), dtype: str = "float32",
    layout: str = "NCHW", seed: int = 0,
) -> tuple[IRModule, Parameters]:  # fmt: skip
    """The module and its parameters."""
    return create_workload(get_net(batch_size, num_actions, image_shape, dtype, layout), seed)
