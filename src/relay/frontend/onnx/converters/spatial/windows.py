"""What convolutions and poolings share: windows that move over the spatial axes of x[batch, channels, ..]."""

from __future__ import annotations

from collections.abc import Sequence

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.frontend.onnx.node import OnnxNode
from relay.frontend.shared.places.windows import same_total, split_padding


@frozen
class Window:
    """`padding` has what comes before each axis, then what comes after each, in elements."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: tuple[int, ...]


def read_window(node: OnnxNode, kernel: Sequence[IntExpr]) -> Window:
    """The window attributes of a node, defaults filled in; `auto_pad` is worked out for the extents of input 0."""
    spatial = node.value(0).rank - 2
    if spatial not in (1, 2, 3) or len(kernel) != spatial:
        node.unsupported(
            f"over {spatial} spatial axes" if spatial not in (1, 2, 3) else "with a kernel of another rank"
        )
    ones = (1,) * spatial
    strides = positive(node, "strides", ones)
    dilations = positive(node, "dilations", ones)
    if any(isinstance(extent, int) and extent < 1 for extent in kernel):
        node.unsupported(f"with a kernel of {tuple(kernel)}")
    return Window(strides, dilations, _padding(node, kernel, strides, dilations))


def positive(node: OnnxNode, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
    """An attribute with one number of at least 1 for each spatial axis."""
    values = node.ints(name, default) or default
    if len(values) != len(default) or any(value < 1 for value in values):
        node.unsupported(f"with {name} {values}")
    return values


def _padding(
    node: OnnxNode, kernel: Sequence[IntExpr], strides: tuple[int, ...], dilations: tuple[int, ...]
) -> tuple[int, ...]:
    none = (0,) * (2 * len(kernel))
    mode = node.text("auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        known = [extent for extent in kernel if isinstance(extent, int)]
        if len(known) < len(kernel):
            node.unsupported("with auto_pad for a kernel of symbolic extents")
        spans = [(extent - 1) * dilation + 1 for extent, dilation in zip(known, dilations, strict=True)]
        totals = [_same_total(node, axis, spans[axis], strides[axis]) for axis in range(len(kernel))]
        return split_padding(totals, upper=mode == "SAME_UPPER")
    if mode not in ("NOTSET", "VALID"):
        node.unsupported(f"with auto_pad {mode!r}")
    pads = (node.ints("pads", none) or none) if mode == "NOTSET" else none
    if len(pads) != len(none) or any(pad < 0 for pad in pads):
        node.unsupported(f"with pads {pads}")
    return pads


def _same_total(node: OnnxNode, axis: int, span: int, stride: int) -> int:
    """Padding of an axis, so that there is one window for each stride begun."""
    extent = node.value(0).shape[axis + 2]
    if stride == 1:
        return span - 1
    if not isinstance(extent, int):
        node.unsupported("with auto_pad and strides over a symbolic extent")
    return same_total(extent, span, stride)
