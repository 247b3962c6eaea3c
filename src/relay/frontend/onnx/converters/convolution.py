"""Conv and ConvTranspose.   x[batch, in, ..] × w → [batch, out, ..]"""

from __future__ import annotations

from relay.frontend.onnx.converters.windows import positive, read_window
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.windows import split_padding
from relay.ir.expr import Expr
from relay.ops.elementwise.activation import bias_add
from relay.ops.nn.conv import conv1d, conv2d, conv3d
from relay.ops.nn.conv_transpose import conv1d_transpose, conv2d_transpose, conv3d_transpose

_CONVOLUTIONS = {1: conv1d, 2: conv2d, 3: conv3d}
_TRANSPOSED = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}
"""By the number of spatial axes."""


def _kernel(node: OnnxNode) -> tuple[int, ...]:
    """The spatial extents of the weight, which the attribute may repeat."""
    extents = node.value(1).shape[2:]
    if node.value(1).rank != node.value(0).rank or not all(isinstance(extent, int) for extent in extents):
        node.unsupported(f"with a weight of type {node.value(1).type}")
    kernel = tuple(extent for extent in extents if isinstance(extent, int))
    if node.has("kernel_shape") and node.ints("kernel_shape") != kernel:
        node.unsupported(f"with kernel_shape {node.ints('kernel_shape')} and a weight of {node.value(1).type}")
    return kernel


def _channels(node: OnnxNode, axis: int) -> int:
    extent = node.value(1).shape[axis]
    if not isinstance(extent, int):
        node.unsupported("with a symbolic number of channels")
    return extent


def _groups(node: OnnxNode) -> int:
    groups = node.int("group")
    if groups < 1:
        node.unsupported(f"with group {groups}")
    return groups


def _biased(node: OnnxNode, result: Expr) -> Expr:
    bias = node.optional_value(2)
    return result if bias is None else bias_add(result, bias.expr, axis=1)


def _conv(node: OnnxNode) -> Result:
    """w[out, in / groups, ..]"""
    window = read_window(node, _kernel(node))
    result = _CONVOLUTIONS[len(window.kernel)](
        node.expr(0), node.expr(1), strides=window.strides, padding=window.padding, dilation=window.dilations,
        groups=_groups(node), channels=_channels(node, 0), kernel_size=window.kernel,
    )  # fmt: skip
    return _biased(node, result)


def _conv_transpose(node: OnnxNode) -> Result:
    """w[in, out / groups, ..]. `output_shape`, when given, decides the padding (ONNX, ConvTranspose)."""
    kernel = _kernel(node)
    spatial = len(kernel)
    if spatial not in _TRANSPOSED:
        node.unsupported(f"over {spatial} spatial axes")
    zeros, ones = (0,) * spatial, (1,) * spatial
    strides, dilations = positive(node, "strides", ones), positive(node, "dilations", ones)
    extra = node.ints("output_padding", zeros) or zeros
    if len(extra) != spatial or any(not 0 <= e < max(s, d) for e, s, d in zip(extra, strides, dilations, strict=True)):
        node.unsupported(f"with output_padding {extra}")
    padding = _transpose_padding(node, kernel, strides, dilations, extra)
    groups = _groups(node)
    result = _TRANSPOSED[spatial](
        node.expr(0), node.expr(1), strides=strides, padding=padding, dilation=dilations, groups=groups,
        channels=_channels(node, 1) * groups, kernel_size=kernel, output_padding=extra,
    )  # fmt: skip
    return _biased(node, result)


def _transpose_padding(
    node: OnnxNode, kernel: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...],
    extra: tuple[int, ...],
) -> tuple[int, ...]:  # fmt: skip
    mode, wanted = node.text("auto_pad"), node.ints("output_shape", ())
    spatial = len(kernel)
    if mode == "VALID" and not wanted:
        return (0,) * (2 * spatial)
    if mode == "NOTSET" and not wanted:
        pads = node.ints("pads", (0,) * (2 * spatial)) or (0,) * (2 * spatial)
        if len(pads) != 2 * spatial or any(pad < 0 for pad in pads):
            node.unsupported(f"with pads {pads}")
        return pads
    totals: list[int] = []
    for axis in range(spatial):
        extent = node.value(0).shape[axis + 2]
        if not isinstance(extent, int):
            node.unsupported("with an output shape fixed over a symbolic extent")
        full = (extent - 1) * strides[axis] + (kernel[axis] - 1) * dilations[axis] + 1 + extra[axis]
        total = full - (wanted[axis - spatial] if len(wanted) >= spatial else extent * strides[axis])
        if total < 0:
            node.unsupported(f"with output_shape {wanted}, larger than the result")
        totals.append(total)
    return split_padding(totals, upper=mode != "SAME_LOWER" if mode != "NOTSET" else False)


CONVOLUTIONS: tuple[Converter, ...] = (
    converter("Conv", _conv, "auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"),
    converter(
        "ConvTranspose", _conv_transpose, "auto_pad", "dilations", "group", "kernel_shape", "output_padding",
        "output_shape", "pads", "strides",
    ),
)  # fmt: skip
