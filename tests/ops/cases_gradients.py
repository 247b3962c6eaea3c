"""Operators that gradients are made of: those of convolutions by their kernel, and of pooling. PyTorch's gradients are
the oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.nn import functional, grad

from relay.ops.nn.conv_backward_weight import (
    Conv1DBackwardWeightAttributes,
    Conv2DBackwardWeightAttributes,
    Conv3DBackwardWeightAttributes,
)
from relay.ops.nn.pool import MaxPool1DAttributes, MaxPool2DAttributes, MaxPool3DAttributes
from relay.ops.nn.pool_backward import PoolGradAttributes
from tests.ops.case import EXACT, SUMMED, Case, floats, integers


def _by_kernel(rank: int, attributes: Any) -> Callable[..., Any]:
    """PyTorch's gradient of a convolution by its kernel; it pads both sides alike, so data are padded before."""
    found = {1: grad.conv1d_weight, 2: grad.conv2d_weight, 3: grad.conv3d_weight}[rank]

    def oracle(given: Any, data: Any) -> Any:
        sides = list(zip(attributes.padding[:rank], attributes.padding[rank:], strict=True))
        padded = functional.pad(data, [each for pair in reversed(sides) for each in pair])
        channels = given.shape[1], data.shape[1] // attributes.groups
        return found(padded, (*channels, *attributes.kernel_size), given, attributes.strides, 0, attributes.dilation,
                     attributes.groups)  # fmt: skip

    return oracle


def _kernels() -> list[Case]:
    same = Conv2DBackwardWeightAttributes((3, 3), padding=(1, 1, 1, 1))
    strided = Conv2DBackwardWeightAttributes((3, 2), (2, 1), (1, 0, 0, 1), (1, 2), 2)
    each = Conv2DBackwardWeightAttributes((3, 3), (2, 2), (1, 1, 1, 1), groups=4)
    line = Conv1DBackwardWeightAttributes((3,), (2,), (1, 0))
    space = Conv3DBackwardWeightAttributes((2, 1, 3), (1, 1, 2), (1, 0, 1, 0, 0, 1))
    wide, grouped = (floats(2, 6, 5, 7), floats(2, 3, 5, 7, seed=1)), (floats(2, 4, 4, 6), floats(2, 6, 8, 7, seed=1))
    nhwc = replace(same, data_layout="NHWC", kernel_layout="HWIO")
    return [
        Case("nn.conv2d_backward_weight", wide, same, _by_kernel(2, same), SUMMED),
        Case("nn.conv2d_backward_weight", grouped, strided, _by_kernel(2, strided), SUMMED),
        Case("nn.conv2d_backward_weight", (floats(2, 4, 4, 4), floats(2, 4, 7, 8, seed=1)), each, _by_kernel(2, each),
             SUMMED, "depthwise"),
        Case("nn.conv2d_backward_weight", tuple(part.transpose(0, 2, 3, 1).copy() for part in wide), nhwc,
             lambda g, x: _by_kernel(2, same)(g.permute(0, 3, 1, 2), x.permute(0, 3, 1, 2)).permute(2, 3, 1, 0), SUMMED,
             "NHWC"),
        Case("nn.conv1d_backward_weight", (floats(2, 4, 4), floats(2, 3, 8, seed=1)), line, _by_kernel(1, line), SUMMED),
        Case("nn.conv3d_backward_weight", (floats(1, 3, 3, 4, 3), floats(1, 2, 3, 4, 6, seed=1)), space,
             _by_kernel(3, space), SUMMED),
    ]  # fmt: skip


def _pools() -> list[Case]:
    found: list[Case] = []
    for size, stride, padding, ceil in ((3, 2, 1, False), (3, 2, 1, True), (2, 2, 0, False), (3, 1, 1, False)):
        data = integers(2, 3, 7, 8, low=0, high=4).astype(np.float32)  # of which many are equal
        result, places = functional.max_pool2d_with_indices(torch.tensor(data), size, stride, padding, 1, ceil)
        columns = torch.arange(result.shape[3]) * stride - padding
        rows = torch.arange(result.shape[2]) * stride - padding
        taps = ((places // 8 - rows[:, None]) * size + places % 8 - columns).int()
        attributes = MaxPool2DAttributes((size, size), (stride, stride), padding=(padding,) * 4, ceil_mode=ceil)
        label, given = f"{size} {stride} {ceil}", floats(*result.shape)
        windows = PoolGradAttributes((size, size), (stride, stride), (1, 1), (padding,) * 4, (7, 8), "NCHW")
        found += [
            Case("nn.contrib_max_pool2d_taps", (data, result.numpy()), attributes, lambda *_, t=taps: t, EXACT, label),
            Case("nn.contrib_max_pool_grad", (given, taps.numpy()), windows,
                 lambda g, _, a=(data, size, stride, padding, ceil): _gathered(g, *a), SUMMED, label),
        ]  # fmt: skip
    line = PoolGradAttributes((3,), (2,), (1,), (1, 1), (9,), "NCW")
    dilated = PoolGradAttributes((2, 3), (1, 2), (2, 1), (1, 0, 0, 1), (6, 7), "NCHW")
    return [
        *found,
        Case("nn.contrib_max_pool1d_taps", (floats(1, 2, 5), floats(1, 2, 3)), MaxPool1DAttributes((3,)), label="none"),
        Case("nn.contrib_max_pool3d_taps", (np.zeros((1, 1, 3, 3, 3), "f"), np.zeros((1, 1, 2, 2, 2), "f")),
             MaxPool3DAttributes((2, 2, 2)), label="all equal"),
        Case("nn.contrib_avg_pool_grad", (floats(2, 3, 5),), line,
             lambda g: 3 * grad_of(functional.avg_pool1d, torch.zeros(2, 3, 9), g, 3, 2, 1), SUMMED),
        Case("nn.contrib_avg_pool_grad", (floats(1, 2, 5, 3),), dilated, label="dilated", tolerance=SUMMED),
        Case("nn.contrib_max_pool_grad", (floats(1, 2, 5, 3), integers(1, 2, 5, 3, low=0, high=6)), dilated,
             label="dilated", tolerance=SUMMED),
    ]  # fmt: skip


def _gathered(given: Any, data: Any, size: int, stride: int, padding: int, ceil: bool) -> Any:
    return grad_of(functional.max_pool2d, torch.tensor(data), given, size, stride, padding, 1, ceil)


def grad_of(function: Callable[..., Any], data: Any, given: Any, *options: Any) -> Any:
    """PyTorch's gradient of a function by its first argument."""
    data.requires_grad_()
    return torch.autograd.grad(function(data, *options), data, given)[0]


CASES: tuple[Case, ...] = (*_kernels(), *_pools())
