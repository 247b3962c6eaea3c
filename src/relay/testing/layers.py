"""Layers that models share: an operator and the variables of its weights, named after the layer.

A weight variable is called `<layer>_weight`, `<layer>_bias`, `<layer>_gamma`, …; `create_workload` gives values by
these names.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay import nn, op
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.ir.expr import Expr
from relay.ir.types import Dimension, TensorType
from relay.ops.framework.build import var


def tensor_type_of(data: Expr) -> TensorType:
    """The type of a typed expression. Raises `RelayError` (rule `untyped-data`) when it has none yet."""
    if not isinstance(data.checked_type, TensorType):
        raise RelayError(
            rule="untyped-data", message="a layer needs data of a known shape",
            remedy="give the variable a shape", span=data.span,
        )  # fmt: skip
    return data.checked_type


def channels_of(data: Expr, layout: str) -> int:
    """The number of channels, which weights must know."""
    channels = tensor_type_of(data).shape[layout.index("C")]
    if not isinstance(channels, int):
        raise RelayError(
            rule="symbolic-channels", message="a layer needs a known number of channels", found=str(channels)
        )
    return channels


def conv_kernel_layout(data_layout: str) -> str:
    """The layout of kernels that goes with one of data: OIHW with NCHW, HWIO with NHWC."""
    layouts = {"NCHW": "OIHW", "NHWC": "HWIO"}
    if data_layout not in layouts:
        raise RelayError(
            rule="bad-layout", message="models come in two layouts", expected=" or ".join(layouts), found=data_layout
        )
    return layouts[data_layout]


def conv2d(
    data: Expr, name: str, channels: int, kernel_size: Sequence[int], strides: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0), groups: int = 1, layout: str = "NCHW",
) -> Expr:  # fmt: skip
    """A convolution without bias.   data[n, c, h, w] → [n, channels, h', w'], in `layout`"""
    kernel_layout = conv_kernel_layout(layout)
    extents = {"O": channels, "I": channels_of(data, layout) // groups, "H": kernel_size[0], "W": kernel_size[1]}
    weight = var(f"{name}_weight", shape=[extents[axis] for axis in kernel_layout], dtype=tensor_type_of(data).dtype)
    return nn.conv2d(
        data, weight, strides=strides, padding=padding, groups=groups, channels=channels, kernel_size=kernel_size,
        data_layout=layout, kernel_layout=kernel_layout,
    )  # fmt: skip


def conv2d_transpose(
    data: Expr, name: str, channels: int, kernel_size: Sequence[int], strides: Sequence[int], padding: Sequence[int]
) -> Expr:
    """A transposed convolution without bias, in NCHW.   data[n, c, h, w] → [n, channels, h', w']"""
    shape = (channels_of(data, "NCHW"), channels, *kernel_size)
    weight = var(f"{name}_weight", shape=shape, dtype=tensor_type_of(data).dtype)
    return nn.conv2d_transpose(
        data, weight, strides=strides, padding=padding, channels=channels, kernel_size=kernel_size
    )


def bias_add(data: Expr, name: str, axis: int = 1) -> Expr:
    """data + bias along an axis."""
    type_ = tensor_type_of(data)
    return nn.bias_add(data, var(f"{name}_bias", shape=(type_.shape[axis],), dtype=type_.dtype), axis=axis)


def batch_norm_infer(
    data: Expr, name: str, epsilon: float = 1e-5, scale: bool = True, center: bool = True, axis: int = 1
) -> Expr:
    """Batch normalisation with stored statistics: the first field of Relay's operator."""
    type_ = tensor_type_of(data)
    parts = [
        var(f"{name}_{part}", shape=(type_.shape[axis],), dtype=type_.dtype)
        for part in ("gamma", "beta", "moving_mean", "moving_var")
    ]
    return nn.batch_norm(data, *parts, axis=axis, epsilon=epsilon, scale=scale, center=center)[0]


def conv_norm_relu(
    data: Expr, name: str, channels: int, kernel_size: Sequence[int], strides: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0), groups: int = 1, layout: str = "NCHW", epsilon: float = 1e-5,
) -> Expr:  # fmt: skip
    """Convolution, batch normalisation, relu: the block that most image networks are made of."""
    conv = conv2d(data, f"{name}_conv", channels, kernel_size, strides, padding, groups, layout)
    return nn.relu(batch_norm_infer(conv, f"{name}_bn", epsilon, axis=layout.index("C")))


def dense_add_bias(data: Expr, name: str, units: int) -> Expr:
    """data[.., k] → [.., units]"""
    type_ = tensor_type_of(data)
    weight = var(f"{name}_weight", shape=(units, type_.shape[-1]), dtype=type_.dtype)
    return bias_add(nn.dense(data, weight, units=units), name, axis=-1)


def layer_norm(data: Expr, name: str, epsilon: float = 1e-5) -> Expr:
    """Over the last axis."""
    type_ = tensor_type_of(data)
    gamma, beta = (var(f"{name}_{part}", shape=type_.shape[-1:], dtype=type_.dtype) for part in ("gamma", "beta"))
    return nn.layer_norm(data, gamma, beta, axis=-1, epsilon=epsilon)


def image_input(
    batch_size: Dimension | str, image_shape: Sequence[Dimension | str], dtype: str | DType, name: str = "data"
) -> Expr:
    """The variable of a batch of images; `batch_size` may be the name of a symbolic extent."""
    return var(name, shape=(batch_size, *image_shape), dtype=dtype)


def classifier(data: Expr, name: str, num_classes: int) -> Expr:
    """Probabilities of classes.   data[n, ..] → [n, num_classes]"""
    return nn.softmax(dense_add_bias(nn.batch_flatten(data), name, num_classes))


def sum_of(left: Expr, right: Expr) -> Expr:
    """A residual connection."""
    return op.add(left, right)
