"""Write transposed convolutions by plain ones or a product, for which targets have kernels: DecomposeConvTranspose.

    before: nn.conv2d_transpose(%x, W, strides=[2, 2], …)
    after:  %0 = layout_transform(nn.conv2d(%x, (taps of remainder 0, 1, 2, 3), …), "NCHW", "NHWC");
            layout_transform((%0 side by side, cut), "NHWC", "NCHW")

With constant weights that are finite they become plain convolutions (`transposed_as_plain`), else a product and sums
of shifted maps (`transposed_product`), and stay what they are where they are neither. What is one-dimensional, NCW, is
an image of one row here (`row_convolution`). A rule for targets that have no kernels of their own for them:
AlterOpLayout lays the convolutions out. Floating point: ROUNDING.
"""

from __future__ import annotations

import numpy as np

from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Constant, Expr, Function
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.types import TensorType
from relay.ops.nn.conv_transpose import Conv1DTransposeAttributes, Conv2DTransposeAttributes
from relay.ops.nn.transposed_as_plain import as_convolutions
from relay.transform.algorithms.row_convolution import image_of, image_shape, of_image_transposed, row_of
from relay.transform.algorithms.transposed_product import as_product
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.simplify.fold_constant import fold_call


@function_pass(level=2, floating_point=FloatingPointClass.ROUNDING)
def DecomposeConvTranspose(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Write transposed convolutions by plain ones, or by a product."""
    return rewrite_nodes(function, lambda _, expr: _decomposed(expr) or expr)


def _decomposed(expr: Expr) -> Expr | None:
    match expr:
        case Call(
            args=(data, weight),
            attrs=Conv2DTransposeAttributes(data_layout="NCHW", kernel_layout="IOHW", out_layout="") as attributes,
            checked_type=TensorType() as result,
        ):
            return _image(data, weight, attributes, result)
        case Call(
            args=(data, weight),
            attrs=Conv1DTransposeAttributes(data_layout="NCW", kernel_layout="IOW", out_layout="") as attributes,
            checked_type=TensorType(shape, dtype),
        ):
            result = TensorType(image_shape(shape), dtype)
            image = _image(image_of(data), image_of(weight), of_image_transposed(attributes), result)
            return None if image is None else row_of(image)
        case _:
            return None


def _image(data: Expr, weight: Expr, attributes: Conv2DTransposeAttributes, result: TensorType) -> Expr | None:
    is_finite = isinstance(weight, Constant) and np.isfinite(weight.data.astype(np.float64)).all()
    plain = as_convolutions(data, weight, attributes, result, _folded) if is_finite else None
    return plain or as_product(data, weight, attributes, result)


def _folded(kernel: Expr) -> Expr:
    """What is made of constant weights, as a constant: layouts of those are chosen next."""
    return rewrite_nodes(Function((), kernel), lambda _, expr: fold_call(expr)).body
