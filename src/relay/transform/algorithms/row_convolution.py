"""What is one-dimensional as an image of one row, which has layouts, packed weights and tiles: NCW as NCHW, with H = 1.

    before: nn.conv1d(%x, %w, strides=[2], padding=[1, 1])
    after:  %0 = nn.conv2d(expand_dims(%x, axis=2), expand_dims(%w, axis=2), strides=[1, 2], padding=[0, 1, 0, 1])
            squeeze(%0, axis=[2])

Floating point: EXACT, the same products in the same order.
"""

from __future__ import annotations

from relay.ir.expr import Call, Constant, Expr
from relay.ir.types import Dimension, TensorType
from relay.ops.manipulation.shape import ExpandDimsAttributes, SqueezeAttributes, expand_dims, squeeze
from relay.ops.nn.conv import Conv1DAttributes, Conv2DAttributes
from relay.ops.nn.conv_transpose import Conv1DTransposeAttributes, Conv2DTransposeAttributes

ROWS = 2
"""The axis H of NCHW, and of OIHW and IOHW."""
_ROW_RANK, _IMAGE_RANK = 3, 4


def image_axis(axis: int) -> int:
    """Where axis `axis` of NCW is in NCHW.

    >>> [image_axis(axis) for axis in (0, 1, 2, -1)]
    [0, 1, 3, 3]
    """
    return (0, 1, 3)[axis]


def image_shape(shape: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    """The shape of a row in NCW as an image in NCHW.

    >>> image_shape((1, 64, 100))
    (1, 64, 1, 100)
    """
    return (*shape[:ROWS], 1, *shape[ROWS:])


def image_of(row: Expr) -> Expr:
    """row[n, c, w] → image[n, c, 1, w]; the same of weights. Constants stay constants."""
    if isinstance(row, Constant):
        return Constant(row.data[:, :, None])
    return expand_dims(row, axis=ROWS)


def row_of(image: Expr) -> Expr:
    """image[n, c, 1, w] → row[n, c, w]"""
    return squeeze(image, axis=(ROWS,))


def is_row_as_image(expr: Call) -> bool:
    """Whether a call is what `image_of` or `row_of` makes: the same elements, as an image of one row or as that row."""
    (value, *rest), attributes = expr.args, expr.attrs
    if rest or not isinstance(value.checked_type, TensorType):
        return False
    rank = len(value.checked_type.shape)
    match attributes:
        case ExpandDimsAttributes(axis=axis, num_newaxis=1):
            return (rank, axis) == (_ROW_RANK, ROWS)
        case SqueezeAttributes(axis=axes):
            return (rank, axes) == (_IMAGE_RANK, (ROWS,))
        case _:
            return False


def of_image(attributes: Conv1DAttributes) -> Conv2DAttributes:
    """A convolution over W as one over an image of one row, NCHW, with its weights in OIHW."""
    before, after = attributes.padding
    return Conv2DAttributes(
        strides=(1, *attributes.strides),
        padding=(0, before, 0, after),
        dilation=(1, *attributes.dilation),
        groups=attributes.groups,
        channels=attributes.channels,
        kernel_size=None if attributes.kernel_size is None else (1, *attributes.kernel_size),
        out_dtype=attributes.out_dtype,
    )


def of_image_transposed(attributes: Conv1DTransposeAttributes) -> Conv2DTransposeAttributes:
    """A transposed convolution over W as one over an image of one row, NCHW, with its weights in IOHW."""
    before, after = attributes.padding
    return Conv2DTransposeAttributes(
        channels=attributes.channels,
        kernel_size=None if attributes.kernel_size is None else (1, *attributes.kernel_size),
        strides=(1, *attributes.strides),
        output_padding=(0, *attributes.output_padding),
        padding=(0, before, 0, after),
        dilation=(1, *attributes.dilation),
        groups=attributes.groups,
        out_dtype=attributes.out_dtype,
    )
