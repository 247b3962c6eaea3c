"""Convolutions.   x[batch, in, ..] × w → [batch, out, ..]"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay.frontend.shared.node import Result
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr
from relay.ops.elementwise.activation import bias_add
from relay.ops.manipulation.shape import expand_dims, squeeze
from relay.ops.nn.conv import conv1d, conv2d, conv3d
from relay.ops.nn.conv_transpose import conv1d_transpose, conv2d_transpose, conv3d_transpose

_CONVOLUTIONS = {1: conv1d, 2: conv2d, 3: conv3d}
_TRANSPOSED = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}
"""By the number of spatial axes."""


def _kernel(node: TorchNode) -> tuple[int, ...]:
    extents = node.value(1).shape
    plain = tuple(extent for extent in extents if isinstance(extent, int))
    if len(plain) != len(extents) or not 1 <= len(plain) - 2 <= 3:
        node.unsupported(f"with a weight of type {node.value(1).type}")
    return plain[2:]


def _batched(node: TorchNode, spatial: int, convolution: Callable[[Expr], Expr]) -> Result:
    """A convolution and its bias, of one image too, which has no axis for batches."""
    alone = node.value(0).rank == spatial + 1
    result = convolution(expand_dims(node.expr(), 0) if alone else node.expr())
    bias = node.optional_value(2)
    result = result if bias is None else bias_add(result, bias.expr, axis=1)
    return squeeze(result, [0]) if alone else result


def _padding(node: TorchNode, kernel: Sequence[int], dilations: Sequence[int]) -> tuple[int, ...]:
    """Before each axis, then after each. `same` keeps the extents; an odd amount is larger after."""
    if node.attributes.get("padding") == "valid":
        return (0,) * (2 * len(kernel))
    if node.attributes.get("padding") == "same":
        totals = [dilation * (extent - 1) for extent, dilation in zip(kernel, dilations, strict=True)]
        before = tuple(total // 2 for total in totals)
        return (*before, *(total - first for total, first in zip(totals, before, strict=True)))
    return node.per_axis("padding", len(kernel)) * 2


def _convolution(node: TorchNode) -> Result:
    """w[out, in / groups, ..]"""
    if node.flag("transposed"):
        return _transposed(node)
    kernel, groups = _kernel(node), node.int("groups", 1)
    spatial = len(kernel)
    strides, dilations = node.per_axis("stride", spatial), node.per_axis("dilation", spatial)
    padding = _padding(node, kernel, dilations)
    return _batched(node, spatial, lambda x: _CONVOLUTIONS[spatial](
        x, node.expr(1), strides=strides, padding=padding, dilation=dilations, groups=groups,
        channels=node.value(1).shape[0], kernel_size=kernel,
    ))  # fmt: skip


def _transposed(node: TorchNode) -> Result:
    """w[in, out / groups, ..]"""
    kernel, groups = _kernel(node), node.int("groups", 1)
    spatial = len(kernel)
    strides, dilations = node.per_axis("stride", spatial), node.per_axis("dilation", spatial)
    padding, extra = node.per_axis("padding", spatial), node.per_axis("output_padding", spatial, (0,))
    return _batched(node, spatial, lambda x: _TRANSPOSED[spatial](
        x, node.expr(1), strides=strides, padding=padding * 2, dilation=dilations, groups=groups,
        channels=node.value(1).shape[1] * groups, kernel_size=kernel, output_padding=extra,
    ))  # fmt: skip


_WINDOW = ("stride", "padding", "dilation", "groups")

CONVOLUTIONS: tuple[Converter, ...] = (
    *(
        record
        for rank in (1, 2, 3)
        for record in converters(f"conv{rank}d", _convolution, *_WINDOW, overloads=("default", "padding"))
    ),
    *converters("conv_transpose1d", _transposed, *_WINDOW, "output_padding"),
    *(
        record
        for rank in (2, 3)
        for record in converters(
            f"conv_transpose{rank}d", _transposed, *_WINDOW, "output_padding", overloads=("input",)
        )
    ),
    *converters("convolution", _convolution, *_WINDOW, "transposed", "output_padding"),
)
