"""Conv and ConvTranspose.   x[batch, in, ..] × w → [batch, out, ..]"""

from __future__ import annotations

from collections.abc import Sequence

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.frontend.onnx.converters.spatial.windows import positive, read_window
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.told import with_extents
from relay.frontend.shared.places.windows import split_padding
from relay.ir.expr import Expr
from relay.ir.types import ANY
from relay.ops.elementwise.activation import bias_add
from relay.ops.nn.conv import conv1d, conv2d, conv3d
from relay.ops.nn.conv_transpose import conv1d_transpose, conv2d_transpose, conv3d_transpose

_CONVOLUTIONS = {1: conv1d, 2: conv2d, 3: conv3d}
_TRANSPOSED = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}
"""By the number of spatial axes."""


def _weight(node: OnnxNode) -> tuple[Expr, tuple[IntExpr, ...]]:
    """The weight, and its spatial extents, which the attribute may repeat: it tells those that the type does not."""
    weight = node.value(1)
    extents = weight.shape[2:]
    told = node.ints("kernel_shape") if node.has("kernel_shape") else None
    if weight.rank != node.value(0).rank or (ANY in extents and told is None):
        node.unsupported(f"with a weight of type {weight.type}")
    if told is None:
        return weight.expr, extents
    return with_extents(node, weight, dict(enumerate(told, start=2))), told


def _size(kernel: Sequence[IntExpr]) -> tuple[int, ...] | None:
    """The extents as an attribute of a convolution, which takes symbolic ones from its weight."""
    known = tuple(extent for extent in kernel if isinstance(extent, int))
    return known if len(known) == len(kernel) else None


def _groups(node: OnnxNode) -> int:
    groups = node.int("group")
    if groups < 1:
        node.unsupported(f"with group {groups}")
    return groups


def convolution(node: OnnxNode, out_dtype: DType | None = None) -> Expr:
    """The first input times w[out, in / groups, ..]; `out_dtype` is the type that sums are kept and given in."""
    weight, kernel = _weight(node)
    window = read_window(node, kernel)
    return _CONVOLUTIONS[len(kernel)](
        node.expr(0), weight, strides=window.strides, padding=window.padding, dilation=window.dilations,
        groups=_groups(node), channels=node.value(1).shape[0], kernel_size=_size(kernel), out_dtype=out_dtype,
    )  # fmt: skip


def _biased(node: OnnxNode, result: Expr) -> Expr:
    bias = node.optional_value(2)
    return result if bias is None else bias_add(result, bias.expr, axis=1)


def _conv_transpose(node: OnnxNode) -> Result:
    """w[in, out / groups, ..]. `output_shape`, when given, decides the padding (ONNX, ConvTranspose)."""
    weight, kernel = _weight(node)
    spatial = len(kernel)
    if spatial not in _TRANSPOSED:
        node.unsupported(f"over {spatial} spatial axes")
    zeros, ones = (0,) * spatial, (1,) * spatial
    strides, dilations = positive(node, "strides", ones), positive(node, "dilations", ones)
    extra = node.ints("output_padding", zeros) or zeros
    if len(extra) != spatial or any(not 0 <= e < max(s, d) for e, s, d in zip(extra, strides, dilations, strict=True)):
        node.unsupported(f"with output_padding {extra}")
    padding, extra = _transpose_padding(node, kernel, strides, dilations, extra)
    groups = _groups(node)
    result = _TRANSPOSED[spatial](
        node.expr(0), weight, strides=strides, padding=padding, dilation=dilations, groups=groups,
        channels=node.value(1).shape[1] * groups, kernel_size=_size(kernel), output_padding=extra,
    )  # fmt: skip
    return _biased(node, result)


def _transpose_padding(
    node: OnnxNode, kernel: Sequence[IntExpr], strides: tuple[int, ...], dilations: tuple[int, ...],
    extra: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]]:  # fmt: skip
    """The padding, and what is added behind: more than is asked for where `output_shape` is larger than the result."""
    mode, wanted = node.text("auto_pad"), node.ints("output_shape", ())
    spatial = len(kernel)
    if mode == "VALID" and not wanted:
        return (0,) * (2 * spatial), extra
    if mode == "NOTSET" and not wanted:
        pads = node.ints("pads", (0,) * (2 * spatial)) or (0,) * (2 * spatial)
        if len(pads) != 2 * spatial or any(pad < 0 for pad in pads):
            node.unsupported(f"with pads {pads}")
        return pads, extra
    totals: list[int] = []
    behind = list(extra)
    for axis in range(spatial):
        extent = node.value(0).shape[axis + 2]
        if extent is ANY:
            node.unsupported(f"with an output shape fixed for {node.value(0).type}")
        full = (extent - 1) * strides[axis] + (kernel[axis] - 1) * dilations[axis] + 1 + extra[axis]
        total = full - (wanted[axis - spatial] if len(wanted) >= spatial else extent * strides[axis])
        if not isinstance(total, int):
            node.unsupported("with an output shape fixed over a symbolic extent")
        behind[axis] += max(0, -total)
        if total < 0 and behind[axis] >= max(strides[axis], dilations[axis]):
            node.unsupported(f"with output_shape {wanted}, larger than the result")
        totals.append(max(0, total))
    return split_padding(totals, upper=mode != "SAME_LOWER" if mode != "NOTSET" else False), tuple(behind)


CONVOLUTION_ATTRIBUTES = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")

CONVOLUTIONS: tuple[Converter, ...] = (
    converter("Conv", lambda node: _biased(node, convolution(node)), *CONVOLUTION_ATTRIBUTES),
    converter(
        "ConvTranspose", _conv_transpose, "auto_pad", "dilations", "group", "kernel_shape", "output_padding",
        "output_shape", "pads", "strides",
    ),
)  # fmt: skip
