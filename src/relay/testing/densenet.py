"""DenseNet (Huang et al. 2016, 1608.06993, table 1)."""

from __future__ import annotations

from collections.abc import Sequence

from relay import nn, op
from relay.base.diagnostics import RelayError
from relay.ir.expr import Expr, Function
from relay.ir.module import IRModule
from relay.testing.layers import batch_norm_infer, channels_of, classifier, conv2d, image_input
from relay.testing.workload import Parameters, create_workload, network

_SIZES = {
    121: (64, 32, (6, 12, 24, 16)), 161: (96, 48, (6, 12, 36, 24)), 169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
}  # fmt: skip
"""(first channels, growth, layers of each block)"""


def _active(data: Expr, name: str) -> Expr:
    return nn.relu(batch_norm_infer(data, name))


def dense_layer(data: Expr, name: str, growth: int) -> Expr:
    """`growth` channels more: 1×1 to four times that, 3×3, joined to the data."""
    x = conv2d(_active(data, f"{name}_bn1"), f"{name}_conv1", 4 * growth, (1, 1))
    x = conv2d(_active(x, f"{name}_bn2"), f"{name}_conv2", growth, (3, 3), padding=(1, 1))
    return op.concatenate([data, x], axis=1)


def transition(data: Expr, name: str) -> Expr:
    """Half the channels, half the height and width."""
    x = conv2d(_active(data, f"{name}_bn"), f"{name}_conv", channels_of(data, "NCHW") // 2, (1, 1))
    return nn.avg_pool2d(x, pool_size=(2, 2), strides=(2, 2))


def get_net(
    densenet_size: int, classes: int, batch_size: int | str, image_shape: Sequence[int] = (3, 224, 224),
    dtype: str = "float32",
) -> Function:  # fmt: skip
    """data[batch, *image_shape] → scores[batch, classes]"""
    if densenet_size not in _SIZES:
        raise RelayError(
            rule="no-such-depth", message="there is no DenseNet of this depth",
            expected="one of " + ", ".join(map(str, _SIZES)), found=str(densenet_size),
        )  # fmt: skip
    first, growth, blocks = _SIZES[densenet_size]
    x = conv2d(image_input(batch_size, image_shape, dtype), "conv1", first, (7, 7), (2, 2), (3, 3))
    x = nn.max_pool2d(_active(x, "bn1"), pool_size=(3, 3), strides=(2, 2), padding=(1, 1))
    for block, count in enumerate(blocks, start=1):
        for layer in range(1, count + 1):
            x = dense_layer(x, f"block{block}_layer{layer}", growth)
        if block < len(blocks):
            x = transition(x, f"transition{block}")
    return network(classifier(nn.global_avg_pool2d(_active(x, "bn_last")), "dense", classes))


def get_workload(
    densenet_size: int = 121, classes: int = 1000, batch_size: int | str = 4,
    image_shape: Sequence[int] = (3, 224, 224), dtype: str = "float32", seed: int = 0,
) -> tuple[IRModule, Parameters]:  # fmt: skip
    """The module and its parameters. Raises `RelayError`: `no-such-depth`."""
    return create_workload(get_net(densenet_size, classes, batch_size, image_shape, dtype), seed)
