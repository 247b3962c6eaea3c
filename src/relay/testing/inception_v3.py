"""Inception v3 (Szegedy et al. 2015, 1512.00567, table 1)."""

from __future__ import annotations

from collections.abc import Sequence

from relay import nn, op
from relay.ir.expr import Expr, Function
from relay.ir.module import IRModule
from relay.testing.layers import classifier, conv_norm_relu, image_input
from relay.testing.workload import Parameters, create_workload, network

Step = tuple[int, tuple[int, int]]
"""(channels, kernel) of a convolution that keeps the extents."""


def _conv(
    data: Expr, name: str, channels: int, kernel: tuple[int, int] = (1, 1), stride: int = 1,
    padding: tuple[int, int] = (0, 0),
) -> Expr:  # fmt: skip
    return conv_norm_relu(data, name, channels, kernel, (stride, stride), padding, epsilon=2e-5)


def _chain(data: Expr, name: str, steps: Sequence[Step]) -> Expr:
    for number, (channels, kernel) in enumerate(steps):
        data = _conv(data, f"{name}_{number}", channels, kernel, padding=(kernel[0] // 2, kernel[1] // 2))
    return data


def _pooled(data: Expr, name: str, channels: int) -> Expr:
    pooled = nn.avg_pool2d(data, pool_size=(3, 3), strides=(1, 1), padding=(1, 1), count_include_pad=True)
    return _conv(pooled, f"{name}_pool", channels)


def _halved(data: Expr) -> Expr:
    return nn.max_pool2d(data, pool_size=(3, 3), strides=(2, 2))


def inception_a(data: Expr, name: str, pool_channels: int) -> Expr:
    """1×1, 5×5, two 3×3 and a pooling, side by side (figure 5)."""
    branches = [
        _conv(data, f"{name}_1x1", 64),
        _chain(data, f"{name}_5x5", ((48, (1, 1)), (64, (5, 5)))),
        _chain(data, f"{name}_3x3", ((64, (1, 1)), (96, (3, 3)), (96, (3, 3)))),
        _pooled(data, name, pool_channels),
    ]
    return op.concatenate(branches, axis=1)


def inception_b(data: Expr, name: str) -> Expr:
    """Half the extents (figure 10)."""
    double = _chain(data, f"{name}_double", ((64, (1, 1)), (96, (3, 3))))
    branches = [
        _conv(data, f"{name}_3x3", 384, (3, 3), 2), _conv(double, f"{name}_double_2", 96, (3, 3), 2), _halved(data)
    ]  # fmt: skip
    return op.concatenate(branches, axis=1)


def inception_c(data: Expr, name: str, inner: int) -> Expr:
    """7×7 made of 1×7 and 7×1 (figure 6)."""
    wide, tall = (1, 7), (7, 1)
    branches = [
        _conv(data, f"{name}_1x1", 192),
        _chain(data, f"{name}_7x7", ((inner, (1, 1)), (inner, wide), (192, tall))),
        _chain(data, f"{name}_d7", ((inner, (1, 1)), (inner, tall), (inner, wide), (inner, tall), (192, wide))),
        _pooled(data, name, 192),
    ]
    return op.concatenate(branches, axis=1)


def inception_d(data: Expr, name: str) -> Expr:
    """Half the extents."""
    left = _chain(data, f"{name}_3x3", ((192, (1, 1)),))
    right = _chain(data, f"{name}_7x7", ((192, (1, 1)), (192, (1, 7)), (192, (7, 1))))
    branches = [_conv(left, f"{name}_3x3_1", 320, (3, 3), 2), _conv(right, f"{name}_7x7_3", 192, (3, 3), 2)]
    return op.concatenate([*branches, _halved(data)], axis=1)


def inception_e(data: Expr, name: str) -> Expr:
    """3×3 made of 1×3 and 3×1 side by side (figure 7)."""
    middle = _conv(data, f"{name}_3x3", 384)
    deep = _chain(data, f"{name}_d3", ((448, (1, 1)), (384, (3, 3))))
    sides = [
        _conv(source, f"{name}_{part}_{kernel[0]}x{kernel[1]}", 384, kernel, padding=(kernel[0] // 2, kernel[1] // 2))
        for part, source in (("3x3", middle), ("d3", deep))
        for kernel in ((1, 3), (3, 1))
    ]
    return op.concatenate([_conv(data, f"{name}_1x1", 320), *sides, _pooled(data, name, 192)], axis=1)


def get_net(
    batch_size: int | str, num_classes: int = 1000, image_shape: Sequence[int] = (3, 299, 299), dtype: str = "float32"
) -> Function:
    """data[batch, *image_shape] → probabilities[batch, num_classes]. Images have at least 75 × 75 pixels."""
    x = _conv(image_input(batch_size, image_shape, dtype), "conv", 32, (3, 3), 2)
    x = _conv(x, "conv_1", 32, (3, 3))
    x = _halved(_conv(x, "conv_2", 64, (3, 3), padding=(1, 1)))
    x = _halved(_conv(_conv(x, "conv_3", 80), "conv_4", 192, (3, 3)))
    for number, channels in enumerate((32, 64, 64)):
        x = inception_a(x, f"mixed_{number}", channels)
    x = inception_b(x, "mixed_3")
    for number, inner in enumerate((128, 160, 160, 192), start=4):
        x = inception_c(x, f"mixed_{number}", inner)
    x = inception_d(x, "mixed_8")
    for number in (9, 10):
        x = inception_e(x, f"mixed_{number}")
    return network(classifier(nn.global_avg_pool2d(x), "fc1", num_classes))


def get_workload(
    batch_size: int | str = 1, num_classes: int = 1000, image_shape: Sequence[int] = (3, 299, 299),
    dtype: str = "float32", seed: int = 0,
) -> tuple[IRModule, Parameters]:  # fmt: skip
    """The module and its parameters."""
    return create_workload(get_net(batch_size, num_classes, image_shape, dtype), seed)
