"""MobileNet v1 (Howard et al. 2017, 1704.04861, table 1) and v2 (Sandler et al. 2018, 1801.04381, table 2)."""

from __future__ import annotations

from collections.abc import Sequence

from relay import nn, op
from relay.base.diagnostics import RelayError
from relay.ir.expr import Expr, Function
from relay.ir.module import IRModule
from relay.testing.layers import (
    batch_norm_infer,
    channels_of,
    classifier,
    conv2d,
    conv_norm_relu,
    image_input,
    sum_of,
)
from relay.testing.workload import Parameters, create_workload, network

_SEPARABLE = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1))
_INVERTED = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""(expansion, channels, repeats, stride of the first)"""


def separable_conv_block(data: Expr, name: str, channels: int, stride: int, layout: str = "NCHW") -> Expr:
    """A 3×3 convolution of each channel by itself, then a 1×1 across channels."""
    groups = channels_of(data, layout)
    strides = (stride, stride)
    x = conv_norm_relu(data, f"{name}_depthwise", groups, (3, 3), strides, (1, 1), groups, layout)
    return conv_norm_relu(x, f"{name}_pointwise", channels, (1, 1), layout=layout)


def inverted_residual(data: Expr, name: str, expansion: int, channels: int, stride: int, layout: str) -> Expr:
    """1×1 up, 3×3 of each channel, 1×1 down without activation; added to the data where the shapes agree."""
    axis, before = layout.index("C"), channels_of(data, layout)
    inner = before * expansion

    def relu6(x: Expr, part: str) -> Expr:
        return op.clip(batch_norm_infer(x, f"{name}_{part}_bn", axis=axis), 0.0, 6.0)

    x = data if expansion == 1 else relu6(conv2d(data, f"{name}_up_conv", inner, (1, 1), layout=layout), "up")
    x = relu6(conv2d(x, f"{name}_conv", inner, (3, 3), (stride, stride), (1, 1), inner, layout), "depthwise")
    x = batch_norm_infer(conv2d(x, f"{name}_down_conv", channels, (1, 1), layout=layout), f"{name}_down_bn", axis=axis)
    return sum_of(x, data) if stride == 1 and before == channels else x


def mobile_net(data: Expr, num_classes: int = 1000, alpha: float = 1.0, layout: str = "NCHW") -> Expr:
    """Version 1; `alpha` scales the channels."""
    x = conv_norm_relu(data, "conv_block_1", int(32 * alpha), (3, 3), (2, 2), (1, 1), layout=layout)
    for number, (channels, stride) in enumerate(_SEPARABLE, start=1):
        x = separable_conv_block(x, f"separable_conv_block_{number}", int(channels * alpha), stride, layout)
    return classifier(nn.global_avg_pool2d(x, layout=layout), "fc", num_classes)


def mobile_net_v2(data: Expr, num_classes: int = 1000, alpha: float = 1.0, layout: str = "NCHW") -> Expr:
    """Version 2; `alpha` scales the channels."""
    axis = layout.index("C")
    x = conv2d(data, "first_conv", int(32 * alpha), (3, 3), (2, 2), (1, 1), layout=layout)
    x = op.clip(batch_norm_infer(x, "first_bn", axis=axis), 0.0, 6.0)
    number = 0
    for expansion, channels, repeats, first in _INVERTED:
        for index in range(repeats):
            stride = 1 if index else first
            x = inverted_residual(x, f"block{number}", expansion, int(channels * alpha), stride, layout)
            number += 1
    x = conv2d(x, "last_conv", int(1280 * max(1.0, alpha)), (1, 1), layout=layout)
    x = op.clip(batch_norm_infer(x, "last_bn", axis=axis), 0.0, 6.0)
    return classifier(nn.global_avg_pool2d(x, layout=layout), "fc", num_classes)


_VERSIONS = {1: mobile_net, 2: mobile_net_v2}


def get_net(
    batch_size: int | str, num_classes: int = 1000, image_shape: Sequence[int] = (3, 224, 224), dtype: str = "float32",
    layout: str = "NCHW", version: int = 1, alpha: float = 1.0,
) -> Function:  # fmt: skip
    """data[batch, *image_shape] → probabilities[batch, num_classes]; `image_shape` is in `layout` without N."""
    if version not in _VERSIONS:
        raise RelayError(
            rule="no-such-version", message="there is no such MobileNet", expected="1 or 2", found=str(version)
        )
    return network(_VERSIONS[version](image_input(batch_size, image_shape, dtype), num_classes, alpha, layout))


def get_workload(
    batch_size: int | str = 1, num_classes: int = 1000, image_shape: Sequence[int] = (3, 224, 224),
    dtype: str = "float32", layout: str = "NCHW", version: int = 1, alpha: float = 1.0, seed: int = 0,
) -> tuple[IRModule, Parameters]:  # fmt: skip
    """The module and its parameters. Raises `RelayError`: `no-such-version`, `bad-layout`.

    >>> module, _ = get_workload(version=2, image_shape=(3, 33, 35), alpha=0.25, num_classes=5)
    >>> print(module["main"].body.checked_type)
    Tensor[(1, 5), float32]
    """
    return create_workload(get_net(batch_size, num_classes, image_shape, dtype, layout, version, alpha), seed)
