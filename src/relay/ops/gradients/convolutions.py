"""Gradients of convolutions (LeCun et al. 1998), transposed ones, and of their gradients by the kernel."""

from __future__ import annotations

from typing import Any

from relay.base.diagnostics import RelayError
from relay.ir.expr import Call, Expr
from relay.ir.types import TensorType
from relay.ops.framework.build import call as call_of
from relay.ops.framework.window import full_padding, pads_of, per_axis, spatial_axes
from relay.ops.gradients.shared import tensor_of
from relay.ops.manipulation.layout_transform import in_layout
from relay.ops.manipulation.slice import strided_slice
from relay.ops.nn.conv import CONVOLUTIONS, ConvAttributes
from relay.ops.nn.conv_backward_weight import WEIGHT_GRADIENTS, ConvBackwardWeightAttributes
from relay.ops.nn.conv_transpose import TRANSPOSED_CONVOLUTIONS, Conv2DTransposeAttributes, ConvTransposeAttributes
from relay.ops.nn.transposed_as_plain import as_convolutions

Entries = tuple[Expr | None, ...]


def of_conv(call: Call, given: Expr) -> Entries:
    """By the data the transposed convolution of the output gradient, by the kernel their sums under each tap: in the
    plain layouts."""
    attributes = call.attrs
    assert isinstance(attributes, ConvAttributes)
    plain, kernels = _plain(attributes.rank, "NC"), _plain(attributes.rank, "OI")
    data = in_layout(call.args[0], attributes.data_layout, plain)
    given = in_layout(given, attributes.out_layout or attributes.data_layout, plain)
    padded = in_layout(call.args[1], attributes.kernel_layout, kernels)
    kernel = strided_slice(padded, [0], [tensor_of(given).shape[1]], axes=[0])  # without what fills blocks
    return (
        in_layout(_spread(given, kernel, data, attributes), plain, attributes.data_layout),
        in_layout(_under_taps(given, data, kernel, attributes), kernels, attributes.kernel_layout),
    )


def of_conv_transpose(call: Call, given: Expr) -> Entries:
    """By the data the convolution that it transposes, by the kernel that one's gradient with data and result the other
    way round."""
    attributes = call.attrs
    assert isinstance(attributes, ConvTransposeAttributes)
    plain, kernels = _plain(attributes.rank, "NC"), _plain(attributes.rank, "IO")
    data = in_layout(call.args[0], attributes.data_layout, plain)
    kernel = in_layout(call.args[1], attributes.kernel_layout, kernels)
    given = in_layout(given, attributes.out_layout or attributes.data_layout, plain)
    return (
        in_layout(_convolved(given, kernel, attributes), plain, attributes.data_layout),
        in_layout(_under_taps(data, given, kernel, attributes), kernels, attributes.kernel_layout),
    )


def of_conv_backward_weight(call: Call, given: Expr) -> Entries:
    """It is linear in both: by the output gradient the convolution of the data with `given` for a kernel, by the data
    the transposed convolution of the output gradient with that."""
    attributes = call.attrs
    assert isinstance(attributes, ConvBackwardWeightAttributes)
    plain, layout = _plain(attributes.rank, "NC"), attributes.data_layout
    output_gradient, data = (in_layout(each, layout, plain) for each in call.args)
    kernel = in_layout(given, attributes.kernel_layout, _plain(attributes.rank, "OI"))
    return (
        in_layout(_convolved(data, kernel, attributes), plain, layout),
        in_layout(_spread(output_gradient, kernel, data, attributes), plain, layout),
    )


def _plain(rank: int, first: str) -> str:
    return first + "".join(spatial_axes(rank))


def _convolved(data: Expr, kernel: Expr, attributes: Any) -> Expr:
    record = CONVOLUTIONS[attributes.rank - 1]
    made: Any = record.attributes
    options = _steps(attributes)
    return call_of(record, (data, kernel), made(**options))


def _under_taps(given: Expr, data: Expr, kernel: Expr, attributes: Any) -> Expr:
    """`[O, I, taps]`: how far the output gradient and the data under each tap go together."""
    record = WEIGHT_GRADIENTS[attributes.rank - 1]
    made: Any = record.attributes
    taps = tuple(_numbers(kernel, "a kernel"))
    return call_of(record, (given, data), made(kernel_size=taps, **_steps(attributes)))


def _spread(given: Expr, kernel: Expr, data: Expr, attributes: Any) -> Expr:
    """The output gradient spread over the data, `[N, C, space]`: by plain convolutions where it is made of them, with
    their products with the zeros around it."""
    rank, options = attributes.rank, _steps(attributes)
    left = [
        (size + before + after - d * (k - 1) - 1) % s
        for size, (before, after), d, k, s in zip(
            _numbers(data, "data"), pads_of(options["padding"]), options["dilation"], _numbers(kernel, "a kernel"),
            options["strides"], strict=True,
        )
    ]  # fmt: skip
    record = TRANSPOSED_CONVOLUTIONS[rank - 1]
    made: Any = record.attributes
    spread = made(output_padding=tuple(left), **options)
    if isinstance(spread, Conv2DTransposeAttributes):
        plain = as_convolutions(given, kernel, spread, tensor_of(data))
        if plain is not None:
            return plain
    return call_of(record, (given, kernel), spread)


def _steps(attributes: Any) -> dict[str, Any]:
    """What all kinds of convolutions say alike, with everything spelled out."""
    rank = attributes.rank
    return {
        "strides": per_axis(attributes.strides, rank), "padding": full_padding(attributes.padding, rank),
        "dilation": per_axis(attributes.dilation, rank), "groups": attributes.groups,
    }  # fmt: skip


def _numbers(expr: Expr, what: str) -> list[int]:
    """The extents of space of a tensor `[.., .., space]`, which must be numbers here."""
    type_: TensorType = tensor_of(expr)
    known = [extent for extent in type_.shape[2:] if isinstance(extent, int)]
    if len(known) < len(type_.shape) - 2:
        raise RelayError(
            rule="no-gradient", message=f"a convolution with {what} of unknown extents has no gradient yet",
            found=str(type_), expected="extents of space that are numbers",
        )  # fmt: skip
    return known
