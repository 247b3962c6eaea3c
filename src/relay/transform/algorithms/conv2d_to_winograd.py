"""Compute convolutions of 3×3 by Winograd's minimal filtering where that is faster: Conv2DToWinograd, a target's rule.

    before: nn.conv2d(%x, W, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="OHWI32o")
    after:  nn.contrib_conv2d_winograd_without_weight_transform(%x, U, tile_size=4, padding=[1, 1, 1, 1],
              kernel_layout="OHWI32o")        U = W transformed, which folds to a constant

Of float32, at stride 1, without dilation and groups, of images whose space is known, with constant kernels, once
AlterOpLayout has put channels last (`convolution_space` says which). Floating point: NONFINITE_MAY_SPREAD. Results in a
tile are sums and differences of the same terms: an infinity or NaN among the data makes NaN of neighbours that the
convolution itself would not let it reach, and rounding errors are those of the largest results of a tile (about 1e-5 of
them for tiles of 4 × 4).
"""

from __future__ import annotations

from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ops.manipulation.layout_transform import in_layout
from relay.ops.nn.conv import Conv2DAttributes
from relay.ops.nn.winograd import (
    contrib_conv2d_winograd_weight_transform,
    contrib_conv2d_winograd_without_weight_transform,
)
from relay.transform.algorithms.convolution_space import chosen_convolution
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass

_PLAIN, _TRANSFORMED = "OIHW", "HWOI"


@function_pass(level=3, floating_point=FloatingPointClass.NONFINITE_MAY_SPREAD)
def Conv2DToWinograd(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Compute 3×3 convolutions with fewer multiplications, in the tiles that the target gives for their extents.

    Convolutions on record come before it."""
    if context.layouts.winograd_tile is None and not context.schedules.best:
        return function
    return rewrite_nodes(function, lambda _, expr: _by_winograd(expr, context))


def _by_winograd(expr: Expr, context: PassContext) -> Expr:
    """A call of a convolution as was chosen; other expressions as they are."""
    match expr:
        case Call(op=Op(name="nn.conv2d"), args=(data, weight), attrs=Conv2DAttributes() as attributes):
            if attributes.data_layout != "NHWC" or attributes.out_layout not in ("", "NHWC"):
                return expr
            tile = chosen_convolution(expr, context.layouts, context.schedules).tile
            return _rewritten(data, weight, attributes, tile) if tile else expr
        case _:
            return expr


def _rewritten(data: Expr, weight: Expr, attributes: Conv2DAttributes, tile: int) -> Expr:
    layout = attributes.kernel_layout
    points = contrib_conv2d_winograd_weight_transform(in_layout(weight, layout, _PLAIN), tile)
    kernel = in_layout(points, _TRANSFORMED, layout)
    return contrib_conv2d_winograd_without_weight_transform(
        data, kernel, tile, attributes.padding, attributes.channels, layout
    )
