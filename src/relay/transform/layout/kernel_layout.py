"""In which layout the kernel of a convolution over NHWC data is."""

from __future__ import annotations

import math

from relay.ir.expr import Constant, Expr
from relay.ir.types import TensorType
from relay.ops.manipulation.layout_transform import layout_transform
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.conv import Conv2DAttributes
from relay.transform.framework.context import fitting_block

OF_FEW_CHANNELS = "HWIO"
OPEN = "IHWO"
"""Of kernels that only the run knows and that fill no blocks: to give them it turns one matrix."""
_TURNED = {"OIHW": (0, 3, 2, 1), "IOHW": (1, 3, 0, 2)}
"""The axes of blocks of output channels, taps, input channels and channels of a block, in a kernel so divided."""


def layout_of_kernel(
    attributes: Conv2DAttributes, weight: TensorType, is_constant: bool, blocks: tuple[int, ...]
) -> str:
    """The layout for `weight[o, i, h, w]`: output channels innermost, in one of the `blocks`. Those of constants may be
    filled up; if there are groups, each block lies in one. `OF_FEW_CHANNELS` or `OPEN` where that cannot be.

    >>> from relay.base.dtypes import DType
    >>> kernel = TensorType((64, 32, 3, 3), DType.FLOAT32)
    >>> [layout_of_kernel(Conv2DAttributes(), kernel, is_constant, (32, 16)) for is_constant in (True, False)]
    ['OHWI32o', 'OHWI32o']
    >>> layout_of_kernel(Conv2DAttributes(groups=64), TensorType((64, 1, 3, 3), DType.FLOAT32), True, (32, 16))
    'HWOI'
    """
    outputs, per_group = weight.shape[0], weight.shape[1]
    if attributes.groups > 1 and per_group == 1 and outputs == attributes.groups:
        return "HWOI"
    if not isinstance(outputs, int):
        return OF_FEW_CHANNELS
    if attributes.groups > 1:
        blocks = tuple(block for block in blocks if (outputs // attributes.groups) % block == 0)[:1]
    if not is_constant:
        blocks = tuple(block for block in blocks if outputs % block == 0)
    if not blocks:
        return OF_FEW_CHANNELS if is_constant else OPEN
    return f"OHWI{fitting_block(blocks, outputs)}o"


def kernel_in_layout(weight: Expr, layout: str, wanted: str) -> Expr:
    """A kernel in another layout. One that the run brings is turned in squares where output channels come last, in
    blocks or not: one matrix, or one for each tap of a window in each block."""
    type_ = weight.checked_type
    assert isinstance(type_, TensorType)
    known = [extent for extent in type_.shape if isinstance(extent, int)]
    if layout not in _TURNED or len(known) < len(type_.shape) or isinstance(weight, Constant):
        return weight if layout == wanted else layout_transform(weight, layout, wanted)
    window = known[2:]
    if wanted == OPEN and layout == "OIHW":
        outputs, inputs = known[:2]
        turned = transpose(reshape(weight, (1, outputs, inputs * math.prod(window))), (0, 2, 1))
        return reshape(turned, (inputs, *window, outputs))
    outputs, inputs = known[layout.index("O")], known[layout.index("I")]
    block = int(wanted.removeprefix("OHWI").removesuffix("o")) if wanted.startswith("OHWI") and wanted[-1] == "o" else 0
    if not block or outputs % block:
        return weight if layout == wanted else layout_transform(weight, layout, wanted)
    blocks = {"OIHW": (outputs // block, block, inputs), "IOHW": (inputs, outputs // block, block)}[layout]
    turned = transpose(reshape(weight, (*blocks, math.prod(window))), _TURNED[layout])
    return reshape(turned, (outputs // block, *window, inputs, block))


def kernel_from_open(kernel: Expr) -> Expr:
    """A kernel in `OPEN` as OIHW."""
    type_ = kernel.checked_type
    assert isinstance(type_, TensorType)
    *rest, outputs = type_.shape
    window = math.prod(extent for extent in rest if isinstance(extent, int))
    return reshape(transpose(reshape(kernel, (window, outputs)), (1, 0)), (outputs, *rest))
