"""SqueezeNet (Iandola et al. 2016, 1602.07360, table 1), versions 1.0 and 1.1."""

from __future__ import annotations

from collections.abc import Sequence

from relay import nn, op
from relay.base.diagnostics import RelayError
from relay.ir.expr import Expr, Function
from relay.ir.module import IRModule
from relay.testing.layers import bias_add, conv2d, image_input
from relay.testing.workload import Parameters, create_workload, network

_FIRST = {"1.0": (96, 7), "1.1": (64, 3)}  # channels and kernel
_FIRES = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))  # squeeze, expand
_POOLS_BEFORE = {"1.0": (0, 3, 7), "1.1": (0, 2, 4)}


def _conv_relu(data: Expr, name: str, channels: int, kernel: int, stride: int = 1, padding: int = 0) -> Expr:
    conv = conv2d(data, name, channels, (kernel, kernel), (stride, stride), (padding, padding))
    return nn.relu(bias_add(conv, name))


def fire(data: Expr, name: str, squeeze: int, expand: int) -> Expr:
    """1×1 down, then 1×1 and 3×3 up side by side."""
    narrow = _conv_relu(data, f"{name}_squeeze1x1", squeeze, 1)
    left = _conv_relu(narrow, f"{name}_expand1x1", expand, 1)
    right = _conv_relu(narrow, f"{name}_expand3x3", expand, 3, padding=1)
    return op.concatenate([left, right], axis=1)


def get_net(
    batch_size: int | str, image_shape: Sequence[int] = (3, 224, 224), num_classes: int = 1000, version: str = "1.0",
    dtype: str = "float32",
) -> Function:  # fmt: skip
    """data[batch, *image_shape] → probabilities[batch, num_classes]"""
    if version not in _FIRST:
        raise RelayError(
            rule="no-such-version", message="there is no such SqueezeNet", expected=" or ".join(_FIRST), found=version
        )
    channels, kernel = _FIRST[version]
    x = _conv_relu(image_input(batch_size, image_shape, dtype), "conv1", channels, kernel, stride=2)
    for number, (squeeze, expand) in enumerate(_FIRES):
        if number in _POOLS_BEFORE[version]:
            x = nn.max_pool2d(x, pool_size=(3, 3), strides=(2, 2))
        x = fire(x, f"fire{number + 2}", squeeze, expand)
    x = _conv_relu(nn.dropout(x, rate=0.5), "conv10", num_classes, 1)
    return network(nn.softmax(nn.batch_flatten(nn.global_avg_pool2d(x))))


def get_workload(
    batch_size: int | str = 1, num_classes: int = 1000, version: str = "1.0",
    image_shape: Sequence[int] = (3, 224, 224), dtype: str = "float32", seed: int = 0,
) -> tuple[IRModule, Parameters]:  # fmt: skip
    """The module and its parameters. Raises `RelayError`: `no-such-version`.

    >>> module, _ = get_workload(version="1.1", image_shape=(3, 33, 35), num_classes=5)
    >>> print(module["main"].body.checked_type)
    Tensor[(1, 5), float32]
    """
    return create_workload(get_net(batch_size, image_shape, num_classes, version, dtype), seed)
