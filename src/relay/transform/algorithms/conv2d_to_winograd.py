"""Compute convolutions of 3×3 by Winograd's minimal filtering where that is faster: Conv2DToWinograd, a target's rule.

    before: nn.conv2d(%x, W, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="OHWI32o")
    after:  nn.contrib_conv2d_winograd_without_weight_transform(%x, U, tile_size=4, padding=[1, 1, 1, 1],
              kernel_layout="OHWI32o")        U = W transformed, which folds to a constant

Of float32, at stride 1, without dilation and groups, of images whose space is known, with constant kernels, once
AlterOpLayout has put channels last. Floating point: NONFINITE_MAY_SPREAD. Results in a tile are sums and differences of
the same terms: an infinity or NaN among the data makes NaN of neighbours that the convolution itself would not let it
reach, and rounding errors are those of the largest results of a tile (about 1e-5 of them for tiles of 4 × 4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.types import TensorType
from relay.ops.framework.layouts import parse_layout
from relay.ops.manipulation.layout_transform import in_layout
from relay.ops.nn.conv import Conv2DAttributes
from relay.ops.nn.convolution_text import convolution_text
from relay.ops.nn.winograd import (
    ALGORITHMS,
    TAPS,
    contrib_conv2d_winograd_weight_transform,
    contrib_conv2d_winograd_without_weight_transform,
)
from relay.te.schedule.records import ScheduleRecords
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, function_pass, pass_factory

_PLAIN, _TRANSFORMED = "OIHW", "HWOI"
_SPACE = ("H", "W")


@frozen
class ConvolutionExtents:
    """What a convolution of one image makes, and the channels that it sums over."""

    rows: int
    columns: int
    channels: int
    depth: int


WinogradTile: TypeAlias = Callable[[ConvolutionExtents], int]
"""How many results along each axis of a tile make a convolution of 3×3, at stride 1 in float32, the fastest: 2 or 4; 0
where plain sums do."""


@pass_factory
def Conv2DToWinograd(choose: WinogradTile) -> Pass:
    """Compute 3×3 convolutions with fewer multiplications, in the tiles that `choose` gives for their extents.

    Schedules on record come before it."""

    @function_pass(level=3, floating_point=FloatingPointClass.NONFINITE_MAY_SPREAD)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        return rewrite_nodes(function, lambda _, expr: _by_winograd(expr, choose, context.schedules))

    return run


def _by_winograd(expr: Expr, choose: WinogradTile, records: ScheduleRecords) -> Expr:
    """A call of a convolution as a record, or else `choose`, wants it; other expressions as they are."""
    match expr:
        case Call(op=Op(name="nn.conv2d"), args=(data, weight), attrs=Conv2DAttributes() as attributes):
            extents = _extents(expr, attributes, data, weight)
            if extents is None:
                return expr
            algorithm = records.decided(convolution_text(expr), "algorithm", tuple(ALGORITHMS))
            tile = choose(extents) if algorithm is None else ALGORITHMS[algorithm]
            return _rewritten(data, weight, attributes, tile) if tile else expr
        case _:
            return expr


def _extents(call: Call, attributes: Conv2DAttributes, data: Expr, weight: Expr) -> ConvolutionExtents | None:
    """The extents of a convolution that can be computed so; None of others."""
    result, image, kernel = call.checked_type, data.checked_type, weight.checked_type
    if not isinstance(result, TensorType) or not isinstance(image, TensorType) or not isinstance(kernel, TensorType):
        return None
    layout = parse_layout(attributes.kernel_layout)
    taps = layout.extents(kernel.shape)
    plain = (
        attributes.data_layout == "NHWC"
        and attributes.out_layout in ("", "NHWC")
        and attributes.strides == attributes.dilation == (1, 1)
        and attributes.groups == 1
        and all(taps[axis] == TAPS for axis in _SPACE)
    )
    narrow = any(type_.dtype is not DType.FLOAT32 for type_ in (image, kernel, result))
    extents = [extent for extent in (*result.shape[1:], image.shape[-1]) if isinstance(extent, int)]
    if not plain or narrow or not _is_constant(weight) or len(extents) < len(image.shape):
        return None
    return ConvolutionExtents(*extents)


def _is_constant(weight: Expr) -> bool:
    """Whether a kernel is constant, or one that AlterOpLayout has packed."""
    match weight:
        case Call(op=Op(name="layout_transform"), args=(inner,)):
            return isinstance(inner, Constant)
        case _:
            return isinstance(weight, Constant)


def _rewritten(data: Expr, weight: Expr, attributes: Conv2DAttributes, tile: int) -> Expr:
    layout = attributes.kernel_layout
    points = contrib_conv2d_winograd_weight_transform(in_layout(weight, layout, _PLAIN), tile)
    kernel = in_layout(points, _TRANSFORMED, layout)
    return contrib_conv2d_winograd_without_weight_transform(
        data, kernel, tile, attributes.padding, attributes.channels, layout
    )
