"""Quantised numbers, (q - zero point) · scale: to them, from them, and products of them in exact integers."""

from __future__ import annotations

from dataclasses import replace

from relay.base.dtypes import DType
from relay.frontend.onnx.converters.casting import as_dtype
from relay.frontend.onnx.converters.spatial.convolution import CONVOLUTION_ATTRIBUTES, convolution
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.onnx.weights import ELEMENT_TYPES
from relay.frontend.shared.formulas.normalizing import as_dtype as in_dtype
from relay.frontend.shared.formulas.products import numpy_product
from relay.frontend.shared.formulas.rounding import round_to_even
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.slicing import slice_axes
from relay.frontend.shared.value import Value, is_symbolic
from relay.ir.expr import Expr
from relay.ops.elementwise.activation import bias_add
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, divide, multiply, subtract
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.manipulation.tile import repeat

# To and from quantised numbers


def _stated_type(node: OnnxNode, name: str) -> DType | None:
    """The element type in the attribute `name`, if it says one."""
    number = node.int(name, 0)
    if number and number not in ELEMENT_TYPES:
        node.unsupported(f"with {name} {number}")
    return ELEMENT_TYPES[number] if number else None


def _spread(node: OnnxNode, value: Value) -> Expr:
    """A scale or zero point so that it broadcasts against the first input: one number, one an entry of an axis, or one
    a block of entries."""
    data = node.value(0)
    if value.rank <= 1 and all(extent == 1 for extent in value.shape):
        return reshape(value.expr, ()) if value.rank else value.expr
    axis, block = node.axis(), node.int("block_size", 0)
    if value.rank == 1:
        trailing = data.rank - axis - 1
        return expand_dims(value.expr, 1, trailing) if trailing else value.expr
    if value.rank != data.rank or block < 1:
        node.unsupported(f"of {data.type} by a scale of type {value.type}")
    return slice_axes(repeat(value.expr, block, axis), data.shape, {axis: (0, data.shape[axis], 1)})


def _quantized(x: Expr, scale: Expr, zero: Expr | None, dtype: DType, precision: DType) -> Expr:
    """round(x / scale) + zero, halves to even, at the ends of `dtype` where it lies beyond; divided in `precision`."""
    ratio = divide(in_dtype(x, precision), in_dtype(scale, precision))
    rounded = round_to_even(in_dtype(ratio, DType.FLOAT32), DType.FLOAT32)
    return cast(rounded if zero is None else add(rounded, cast(zero, DType.FLOAT32)), dtype)


def _quantize(node: OnnxNode) -> Result:
    """Floats of 8 bits and fewer are only rounded to; their zero point is 0."""
    scale, zero = node.value(1), node.optional_value(2)
    stated = _stated_type(node, "output_dtype")
    dtype = zero.dtype if zero is not None else stated or DType.UINT8
    precision = _stated_type(node, "precision") or scale.dtype
    spread = _spread(node, scale)
    if not dtype.is_float:
        moved = None if zero is None else _spread(node, zero)
        return _quantized(node.expr(), spread, moved, dtype, precision)
    ratio = divide(in_dtype(node.expr(), precision), in_dtype(spread, precision))
    return as_dtype(replace(node, inputs=(Value("", ratio, node.type_of(ratio)),)), dtype)


def _dequantize(node: OnnxNode) -> Result:
    x, scale, zero = node.value(0), node.value(1), node.optional_value(2)
    wide = cast(x.expr, DType.FLOAT32)
    if zero is not None:
        wide = subtract(wide, cast(_spread(node, zero), DType.FLOAT32))
    scaled = multiply(wide, in_dtype(_spread(node, scale), DType.FLOAT32))
    return in_dtype(scaled, _stated_type(node, "output_dtype") or scale.dtype)


# Products


def _shifted(node: OnnxNode, value: Value, zero: Value | None, trailing: int) -> Expr:
    """q - zero point, in 16 bits, which hold every difference of two numbers of 8 bits. A zero point of one axis is
    that of the axis before `trailing` others."""
    if value.dtype not in (DType.INT8, DType.UINT8):
        node.unsupported(f"of {value.dtype}")
    wide = cast(value.expr, DType.INT16)
    if zero is None or _is_zero(zero):
        return wide
    point = cast(zero.expr, DType.INT16)
    return subtract(wide, expand_dims(point, 1, trailing) if zero.rank == 1 and trailing else point)


def _is_zero(zero: Value) -> bool:
    return zero.known is not None and not is_symbolic(zero.known) and not zero.known.any()


def _integer_product(node: OnnxNode, a: Value, b: Value, zeros: tuple[Value | None, Value | None]) -> Expr:
    """Zero points of rows of a and of columns of b; sums in 32 bits."""
    left, right = _shifted(node, a, zeros[0], 1), _shifted(node, b, zeros[1], 0)
    return numpy_product(node, left, right, DType.INT32)


def _integer_convolution(node: OnnxNode, x: Value, w: Value, zeros: tuple[Value | None, Value | None]) -> Expr:
    """Zero points of x and of the output channels of w; what is put around x stands for 0."""
    shifted = (_shifted(node, x, zeros[0], 0), _shifted(node, w, zeros[1], w.rank - 1))
    inputs = tuple(Value("", each, node.type_of(each)) for each in shifted)
    return convolution(replace(node, inputs=inputs), DType.INT32)


def _matmul_integer(node: OnnxNode) -> Result:
    return _integer_product(node, node.value(0), node.value(1), (node.optional_value(2), node.optional_value(3)))


def _conv_integer(node: OnnxNode) -> Result:
    return _integer_convolution(node, node.value(0), node.value(1), (node.optional_value(2), node.optional_value(3)))


def _requantized(node: OnnxNode, total: Expr, left: Expr, right: Expr) -> Expr:
    """Sums of products of scales `left` and `right`, by the scale and the zero point of the result, inputs 6 and 7."""
    scale, zero = node.value(6), node.value(7)
    if scale.rank > 1 or any(extent != 1 for extent in (*scale.shape, *zero.shape)):
        node.unsupported(f"to a scale of type {scale.type}")
    # ONNX multiplies by one number, which it computes in the type of the scales.
    factor = cast(divide(multiply(left, right), reshape(scale.expr, ())), DType.FLOAT32)
    rounded = round_to_even(multiply(cast(total, DType.FLOAT32), factor), DType.FLOAT32)
    return cast(add(rounded, cast(reshape(zero.expr, ()), DType.FLOAT32)), zero.dtype)


def _qlinear_matmul(node: OnnxNode) -> Result:
    """a, its scale and zero point, b, its scale and zero point, the result's: a's may be of rows, b's of columns."""
    total = _integer_product(node, node.value(0), node.value(3), (node.value(2), node.value(5)))
    left = expand_dims(node.expr(1), 1) if node.value(1).rank == 1 else node.expr(1)
    return _requantized(node, total, left, node.expr(4))


def _qlinear_conv(node: OnnxNode) -> Result:
    """x, its scale and zero point, w, its scale and zero point, the result's, and a bias in the scale of the sums."""
    x, w, bias = node.value(0), node.value(3), node.optional_value(8)
    total = _integer_convolution(node, x, w, (node.value(2), node.value(5)))
    if bias is not None:
        total = bias_add(total, bias.expr, axis=1)
    scale = node.value(4)
    of_channels = expand_dims(scale.expr, 1, x.rank - 2) if scale.rank == 1 else scale.expr
    return _requantized(node, total, node.expr(1), of_channels)


QUANTIZATION: tuple[Converter, ...] = (
    converter("QuantizeLinear", _quantize, "axis", "block_size", "output_dtype", "precision", "saturate"),
    converter("DequantizeLinear", _dequantize, "axis", "block_size", "output_dtype"),
    converter("MatMulInteger", _matmul_integer),
    converter("ConvInteger", _conv_integer, *CONVOLUTION_ATTRIBUTES),
    converter("QLinearMatMul", _qlinear_matmul),
    converter("QLinearConv", _qlinear_conv, *CONVOLUTION_ATTRIBUTES),
)
