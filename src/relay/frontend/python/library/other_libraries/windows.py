"""Layers of `torch.nn.functional` that go over images by windows, and those that stand beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from relay import nn, op
from relay.base.span import caller_span
from relay.frontend.python.library.arithmetic import combined
from relay.frontend.python.library.arrays.padding import padded
from relay.frontend.python.library.numpy_functions import rank_of
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr

Layer = Callable[..., Any]


def _with_bias(x: Expr, bias: Any) -> Expr:
    """A number for each channel, which are the second axis."""
    if bias is None:
        return x
    return op.add(x, op.reshape(bias, (1, -1, *(1,) * (rank_of(x) - 2))))


def _convolution(function: Layer) -> Layer:
    def convolution(
        x: Expr, weight: Expr, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Expr:
        if isinstance(padding, str) and padding != "valid":
            raise refusal(caller_span(), f"a convolution with the padding {padding!r}", "give a number: padding=1")
        around = 0 if padding == "valid" else padding
        made = function(x, weight, strides=stride, padding=around, dilation=dilation, groups=groups)
        return _with_bias(made, bias)

    return convolution


def _largest(
    x: Expr, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Expr:
    strides = kernel_size if stride is None else stride
    return nn.max_pool2d(x, kernel_size, strides, dilation, padding, ceil_mode=ceil_mode)


def _mean(
    x: Expr, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Expr:  # fmt: skip
    strides = kernel_size if stride is None else stride
    return nn.avg_pool2d(
        x, kernel_size, strides, padding=padding, ceil_mode=ceil_mode, count_include_pad=count_include_pad
    )


def _batch_norm(
    x: Expr, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,  # noqa: ARG001
) -> Expr:  # fmt: skip
    """By the mean and the variance that are known of each channel."""
    if training:
        raise refusal(caller_span(), "`batch_norm` in training, which changes what it is given", "write it out: "
                      "(x - x.mean(dim=0)) / torch.sqrt(x.var(dim=0, unbiased=False) + eps)")  # fmt: skip
    by = op.sqrt(combined("add", running_var, eps))
    shape = (1, -1, *(1,) * (rank_of(x) - 2))
    made = op.divide(op.subtract(x, op.reshape(running_mean, shape)), op.reshape(by, shape))
    return _with_bias(made if weight is None else op.multiply(made, op.reshape(weight, shape)), bias)


def _padded(x: Expr, pad: Any, mode: str = "constant", value: Any = 0) -> Expr:
    """Before and behind each axis, from the last one."""
    if mode not in _PAD_MODES:
        raise refusal(caller_span(), f"`pad` in the mode {mode}", f"use one of {', '.join(_PAD_MODES)}")
    widths = list(cast("Sequence[Any]", pad))
    pairs = [(widths[at], widths[at + 1]) for at in range(0, len(widths), 2)][::-1]
    whole = [(0, 0)] * (rank_of(x) - len(pairs)) + pairs
    filler = 0 if value is None else value
    return padded(x, whole, _PAD_MODES[mode], [(filler, filler)] * rank_of(x))


_PAD_MODES: Mapping[str, str] = {
    "constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"
}  # fmt: skip
"""What NumPy calls the modes of torch."""


CONVOLUTIONS: Mapping[str, Layer] = {"conv1d": _convolution(nn.conv1d), "conv2d": _convolution(nn.conv2d)}
WINDOWS: Mapping[str, Layer] = {
    "max_pool2d": _largest, "avg_pool2d": _mean, "batch_norm": _batch_norm, "pad": _padded,
    "adaptive_avg_pool2d": lambda x, output_size: nn.adaptive_avg_pool2d(x, output_size),
}  # fmt: skip
