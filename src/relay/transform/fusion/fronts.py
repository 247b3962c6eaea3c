"""Which heavy operators can make their data themselves, from what cheap formulas in front of them read.

    a convolution that copies its data into their padding:   nn.conv2d(nn.relu(%x), %w, padding=[1, 1, 1, 1])
    a matrix product with many rows and few columns:         nn.dense(multiply(%x, %s), %w)

A convolution computes an element once for each copy of it: there is one in each block of rows that reads it. What takes
up to `MOST_OPERATIONS_OF_A_FRONT` takes no longer than storing and reading it. Convolutions by minimal filtering take
nothing: their transform reads an element (tile + 2)² / tile² times, 2.25 or 4. A product goes over its rows once for
each panel of columns, and makes them anew each time, in vectors, a tile of rows at a time; so it takes arithmetic and
gathered rows only, and has few columns. Others read an element so often, and so far apart, that it is better made once:
convolutions without padding and depthwise ones, sums along both matrices (of a few rows), second matrices.
"""

from __future__ import annotations

import math

from relay.ir.types import TensorType
from relay.ops.framework.layouts import parse_layout
from relay.ops.indexing.index import TakeAttributes
from relay.ops.nn.conv import CONV2D, Conv1DAttributes, Conv2DAttributes
from relay.ops.nn.matmul import BatchMatmulAttributes, DensePackAttributes, MatmulAttributes
from relay.transform.fusion.graph import Node, shape_of
from relay.transform.fusion.rows import is_arithmetic

# Against rows that a kernel of their own makes, those that the product makes have 1.04 to 3 times the speed with up to
# 128 columns, 0.9 to 1 with 256 and 768, and 0.9 where there are 1 or 7 of them.
_MOST_COLUMNS = 128
_FEWEST_ROWS = 64
MOST_OPERATIONS_OF_A_FRONT = 8
"""Of what a convolution copies: of 21, it has 0.88 to 1.15 times the speed that it has where they are a kernel of their
own; of 41, 0.86 to 1."""
_FEW_WEIGHTS = 1 << 14  # elements of a 1×1 convolution
_LONGEST_ROW = 1024  # elements, so that a tile of rows stays in the first-level cache


def copies_its_data(node: Node) -> bool:
    """Whether a convolution copies its data into their padding."""
    match node.call.attrs:
        case Conv1DAttributes(padding=padding, groups=1) | Conv2DAttributes(padding=padding, groups=1):
            return any(padding)
        case _:
            return False


def is_depthwise(node: Node) -> bool:
    """Whether a call is a convolution of each channel by itself, channels innermost."""
    match node.call.attrs:
        case Conv2DAttributes(data_layout="NHWC", kernel_layout="HWOI", groups=groups, channels=channels):
            return node.record is CONV2D and groups > 1 and channels == groups
        case _:
            return False


def joins_channels(node: Node) -> bool:
    """Whether a call is a 1×1 convolution, channels innermost, that has weights in panels, and either few of them or
    makes at most half as many channels as it reads.

    Made in front of it, block of rows by block of rows, these are not slower, and 1.02 to 1.1 times as fast (MobileNet
    V1 as a whole, whose first layers have few weights: 1.03 where the third-level cache is slow); in front of one with
    more weights 0.85 to 1: there the data of a block compete with them for the cache.
    """
    match node.call.attrs, node.operands[0].checked_type:
        case (
            Conv2DAttributes(data_layout="NHWC", groups=1, strides=(1, 1), padding=(0, 0, 0, 0), kernel_size=(1, 1)),
            TensorType(shape=(_, _, _, int(read))),
        ):
            made = node.call.attrs.channels
            packed = node.record is CONV2D and bool(parse_layout(node.call.attrs.kernel_layout).blocks)
            return packed and _is_at_most(made, max(read // 2, _FEW_WEIGHTS // max(read, 1)))
        case _:
            return False


def takes_rows(node: Node) -> bool:
    """Whether a matrix product can make its rows, a tile at a time."""
    match node.call.attrs:
        case DensePackAttributes():
            pass
        case MatmulAttributes(transpose_a=False, transpose_b=False):
            pass
        case BatchMatmulAttributes(transpose_a=False, transpose_b=False):
            pass
        case _:
            return False
    shape, row = shape_of(node), getattr(node.operands[0].checked_type, "shape", ())
    if not shape or not row:
        return False
    *batch, count, columns = (1, *shape)
    extents = (count,) if isinstance(node.call.attrs, BatchMatmulAttributes) else (*batch, count)
    rows = math.prod(extent for extent in extents if isinstance(extent, int))
    return rows >= _FEWEST_ROWS and _is_at_most(columns, _MOST_COLUMNS) and _is_at_most(row[-1], _LONGEST_ROW)


def _is_at_most(extent: object, most: int) -> bool:
    return isinstance(extent, int) and extent <= most


def makes_rows(node: Node) -> bool:
    """Whether a call makes a row from rows, at the cost of an instruction or two for each element."""
    if isinstance(node.call.attrs, TakeAttributes):
        return node.call.attrs.axis == 0 and node.call.attrs.batch_dims == 0
    return is_arithmetic(node)
