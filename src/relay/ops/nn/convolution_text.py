"""Which convolution a call computes, in words that do not depend on layouts and on the algorithm."""

from __future__ import annotations

from relay.ir.expr import Call, Op
from relay.ir.types import TensorType
from relay.ops.framework.layouts import parse_layout
from relay.ops.framework.window import full_padding
from relay.ops.nn.conv import CONV2D, Conv2DAttributes
from relay.ops.nn.winograd import TAPS, WinogradAttributes


def convolution_text(call: Call) -> str:
    """What a convolution over H and W reads, its kernel, and how that moves; empty for other calls, and where extents
    are not known.

    >>> from relay.ops.framework.build import var
    >>> from relay.ops.nn.conv import conv2d
    >>> x, w = var("x", shape=(1, 56, 56, 64)), var("w", shape=(32, 64, 3, 3))
    >>> convolution_text(conv2d(x, w, padding=1, data_layout="NHWC"))
    'data 1x64x56x56, kernel 32x64x3x3, strides 1x1, padding 1x1x1x1, dilation 1x1, groups 1, float32'
    """
    match call:
        case Call(op=Op(operator=record), attrs=Conv2DAttributes() as plain) if record is CONV2D:
            pass
        case Call(attrs=WinogradAttributes() as attributes):
            plain = _plain(attributes)
        case _:
            return ""
    data, kernel = (argument.checked_type for argument in call.args)
    if not isinstance(data, TensorType) or not isinstance(kernel, TensorType):
        return ""
    image = parse_layout(plain.data_layout).extents(data.shape)
    taps = parse_layout(plain.kernel_layout).extents(kernel.shape)
    outputs = taps["O"] if plain.channels is None else plain.channels
    space = (taps["H"], taps["W"]) if plain.kernel_size is None else plain.kernel_size
    shapes = ([image[axis] for axis in "NCHW"], [outputs, taps["I"], *space])
    if not all(isinstance(extent, int) for shape in shapes for extent in shape):
        return ""
    named = zip(("data", "kernel"), shapes, strict=True)
    moves = (("strides", plain.strides), ("padding", full_padding(plain.padding, 2)), ("dilation", plain.dilation))
    words = [f"{name} {'x'.join(map(str, values))}" for name, values in (*named, *moves)]
    return ", ".join((*words, f"groups {plain.groups}", str(data.dtype)))


def _plain(attributes: WinogradAttributes) -> Conv2DAttributes:
    """The convolution that is computed by minimal filtering."""
    return Conv2DAttributes(
        padding=attributes.padding, channels=attributes.channels, kernel_size=(TAPS, TAPS), data_layout="NHWC",
        kernel_layout=attributes.kernel_layout,
    )  # fmt: skip
