"""In which layout the kernel of a convolution over NHWC data is."""

from __future__ import annotations

from relay.ir.types import TensorType
from relay.ops.nn.conv import Conv2DAttributes
from relay.transform.framework.context import fitting_block

OF_FEW_CHANNELS = "HWIO"


def layout_of_kernel(
    attributes: Conv2DAttributes, weight: TensorType, is_constant: bool, blocks: tuple[int, ...]
) -> str:
    """The layout for `weight[o, i, h, w]`: output channels innermost, packed in one of the `blocks` where the weight is
    constant and, if there are groups, each block lies in one; `OF_FEW_CHANNELS` where that cannot be.

    >>> from relay.base.dtypes import DType
    >>> kernel = TensorType((64, 32, 3, 3), DType.FLOAT32)
    >>> [layout_of_kernel(Conv2DAttributes(), kernel, is_constant, (32, 16)) for is_constant in (True, False)]
    ['OHWI32o', 'HWIO']
    >>> layout_of_kernel(Conv2DAttributes(groups=64), TensorType((64, 1, 3, 3), DType.FLOAT32), True, (32, 16))
    'HWOI'
    """
    outputs, per_group = weight.shape[0], weight.shape[1]
    if attributes.groups > 1 and per_group == 1 and outputs == attributes.groups:
        return "HWOI"
    if not is_constant or not isinstance(outputs, int):
        return OF_FEW_CHANNELS
    if attributes.groups > 1:
        blocks = tuple(block for block in blocks if (outputs // attributes.groups) % block == 0)[:1]
    return f"OHWI{fitting_block(blocks, outputs)}o" if blocks else OF_FEW_CHANNELS
