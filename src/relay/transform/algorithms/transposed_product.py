"""Transposed convolutions as one matrix product and sums of shifted maps, over channels in front of space.

Each input spreads over a window: `product[n, o, kh, kw, h, w] = Σ_i kernel[i, o, kh, kw] · data[n, i, h, w]`. Taps
that reach the same remainder of the stride are shifted and added; then remainders are put side by side, and the result
is cut.

    before: nn.conv2d_transpose(%x, %w, strides=[2, 2], …)
    after:  %0 = nn.batch_matmul(reshape(%w), reshape(%x), transpose_a=True); …; strided_slice(reshape(transpose(…)))

For what `transposed_as_plain` leaves: weights that are not known, dilation, results cut deeply. There are no
products but those of the definition, so what is not finite goes no further.
"""

from __future__ import annotations

from functools import reduce
from itertools import product

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.expr import Expr
from relay.ir.types import Dimension, TensorType
from relay.ops.elementwise.elementwise_binary import add
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.pad import pad
from relay.ops.manipulation.shape import reshape, squeeze
from relay.ops.manipulation.slice import strided_slice
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.conv_transpose import Conv2DTransposeAttributes
from relay.ops.nn.matmul import batch_matmul

_MOST_TAPS = 25  # each is an operand of the sum for its remainder
_KNOWN = 10  # extents: all of data, weight and result, but for the batch


@frozen
class Reach:
    """Where the taps along one axis bring `size` inputs: each to every `stride`-th of `count · stride` places.

    >>> reach = Reach(size=4, stride=2, dilation=1, count=5)
    >>> [(reach.remainder(tap), reach.shift(tap)) for tap in range(3)]
    [(0, (0, 1)), (1, (0, 1)), (0, (1, 0))]
    """

    size: int
    stride: int
    dilation: int
    count: int

    def remainder(self, tap: int) -> int:
        return tap * self.dilation % self.stride

    def shift(self, tap: int) -> tuple[int, int]:
        """Places of its remainder before the inputs, and behind them."""
        before = tap * self.dilation // self.stride
        return before, self.count - self.size - before


def _reach(size: int, taps: int, stride: int, dilation: int, added: int) -> Reach:
    whole = (size - 1) * stride + dilation * (taps - 1) + 1 + added
    return Reach(size, stride, dilation, -(-whole // stride))


def as_product(data: Expr, weight: Expr, attributes: Conv2DTransposeAttributes, result: TensorType) -> Expr | None:
    """The result[n, o, h, w] for data[n, c, h, w] and weight[c, o / groups, h, w]; None where it stays what it is."""
    batch, channels, *size = _shape(data)
    groups, steps = attributes.groups, attributes.strides
    known = [each for each in (channels, *size, *_shape(weight), *result.shape[1:]) if isinstance(each, int) and each]
    is_float32 = {attributes.out_dtype or DType.FLOAT32, result.dtype} == {DType.FLOAT32}
    if len(known) != _KNOWN or not is_float32 or max(steps) == 1 or (groups > 1 and batch != 1):
        return None
    channels, height, width, _, outputs, down, across, _, rows, columns = known
    rests = zip((height, width), (down, across), steps, attributes.dilation, attributes.output_padding, strict=True)
    vertical, horizontal = (_reach(*each) for each in rests)
    remainders = list(product(*map(range, steps)))
    taps = [(a, b) for a in range(down) for b in range(across)]
    by_remainder = {
        each: [tap for tap in taps if (vertical.remainder(tap[0]), horizontal.remainder(tap[1])) == each]
        for each in remainders
    }
    if len(taps) > _MOST_TAPS or not all(by_remainder.values()):
        return None
    maps = _spread(data, weight, groups, (channels, height * width), outputs * down * across)
    maps = reshape(maps, (batch, groups * outputs, down * across, height, width))

    def shifted(a: int, b: int) -> Expr:
        return pad(_map(maps, a * across + b), ((0, 0), (0, 0), vertical.shift(a), horizontal.shift(b)))

    sums = [reduce(add, [shifted(*tap) for tap in by_remainder[each]]) for each in remainders]
    counts = (vertical.count, horizontal.count)
    together = reshape(concatenate(sums, axis=1), (batch, *steps, groups * outputs, *counts))
    turned = transpose(together, (0, 3, 4, 1, 5, 2))
    whole = reshape(turned, (batch, groups * outputs, counts[0] * steps[0], counts[1] * steps[1]))
    top, left, *_ = attributes.padding
    return strided_slice(whole, (top, left), (top + rows, left + columns), axes=(2, 3))


def _shape(expr: Expr) -> tuple[Dimension, ...]:
    type_ = expr.checked_type
    return type_.shape if isinstance(type_, TensorType) else ()


def _spread(data: Expr, weight: Expr, groups: int, extents: tuple[int, int], maps: int) -> Expr:
    """data[n, c, h, w] and weight[c, ..] → [n · groups, maps, h · w]"""
    channels, pixels = extents
    per_group = channels // groups
    matrix = reshape(weight, (groups, per_group, maps))
    return batch_matmul(matrix, reshape(data, (-1, per_group, pixels)), transpose_a=True, transpose_b=False)


def _map(maps: Expr, tap: int) -> Expr:
    """maps[n, o, taps, h, w] → [n, o, h, w] of one tap"""
    return squeeze(strided_slice(maps, (tap,), (tap + 1,), axes=(2,)), axis=(2,))
