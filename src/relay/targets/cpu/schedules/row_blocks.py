"""Blocks of rows of a convolution over NHWC data: as many as keep what they read in the second-level cache."""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.ir.expr import Expr
from relay.ir.types import TensorType
from relay.ops.nn.conv import Conv2DAttributes
from relay.targets.cpu.schedules.plan import Plan, exceeds, largest_share, least, product

_SMALLEST_SHARE = 4  # of the rows that there is room for


@frozen
class Shape:
    """What a convolution reads and makes: extents of the result, of the window, and bytes of rows."""

    rows: IntExpr
    columns: IntExpr
    channels: IntExpr
    taps_down: int
    stride_down: int
    row_bytes: IntExpr  # of the data, without padding
    result_row_bytes: IntExpr
    weight_bytes: IntExpr  # of one output channel

    def block_bytes(self, rows: int) -> IntExpr:
        """What a block of rows of the result reads of the data."""
        return product((self.row_bytes, (rows - 1) * self.stride_down + self.taps_down))


def convolution_shape(plan: Plan, acc: str) -> Shape:
    """What a convolution over NHWC data reads and makes, by the stage that sums."""
    operation = plan.compute(acc)
    _, rows, columns, channels = (axis.extent for axis in operation.axes)
    attributes, _, data = convolution_of(plan)
    taps = next(axis.extent for axis in operation.reduce_axes if axis.name == "rh")
    item = data.dtype.item_bytes
    return Shape(
        rows, columns, channels,
        (taps - 1) * attributes.dilation[0] + 1 if isinstance(taps, int) else 1,
        attributes.strides[0],
        product((*data.shape[2:], item)),
        product((columns, channels, item)),
        product((*(axis.extent for axis in operation.reduce_axes), item)),
    )  # fmt: skip


def convolution_of(plan: Plan) -> tuple[Conv2DAttributes, Expr, TensorType]:
    """The attributes of the group's convolution, its data, and their type."""
    for call, _ in reversed(plan.group.anchors):
        data = call.args[0].checked_type
        if isinstance(call.attrs, Conv2DAttributes) and isinstance(data, TensorType):
            return call.attrs, call.args[0], data
    raise CompilerBug("schedule", f"{plan.group.name} has no convolution")


def rows_of_block(plan: Plan, shape: Shape, height: int, batch: IntExpr, times: int) -> int | None:
    """Rows of the result in a block, a multiple of `height`: as many as keep what they read (`times` over, where that
    is copied) in half of the second-level cache, and what they write too where weights leave room for it, and give
    threads equal shares. None where blocks are not known, not needed, or cannot be shared out."""
    if not isinstance(shape.rows, int):
        return None
    fit, images = weights_fit(plan, shape), least(batch)
    most = 0
    while most < shape.rows:
        rows = most + height
        taken = shape.block_bytes(rows) * times + product((rows, shape.result_row_bytes if fit else 0))
        if not isinstance(taken, int) or taken > plan.core.l2_bytes // 2:
            break
        most = rows
    best, lowest = None, plan.core.largest_share
    for rows in range(max(most, height) // height * height, 0, -height):
        parts = -(-shape.rows // rows)
        pixels = product((rows, shape.columns))
        many, full = plan.shares_out(parts * images), exceeds(pixels, plan.core.products_hiding_a_far_weight - 1)
        share = largest_share(shape.rows, rows, plan.threads, images) + (0.0 if many else plan.core.slow_thread_share)
        if rows >= most // _SMALLEST_SHARE and parts > 1 and share < lowest and (fit or (many and full)):
            best, lowest = rows, share
    return best


def weights_fit(plan: Plan, shape: Shape) -> bool:
    """Whether all weights stay in half of the second-level cache while a row passes over them."""
    weights_bytes = product((shape.channels, shape.weight_bytes))
    return isinstance(weights_bytes, int) and weights_bytes <= plan.core.l2_bytes // 2
