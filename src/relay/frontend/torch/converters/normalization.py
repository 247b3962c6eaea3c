"""Normalisations.   x[batch, channels, ..] → [batch, channels, ..]"""

from __future__ import annotations

import ml_dtypes

from relay.frontend.shared.formulas.normalizing import as_dtype, divided_by_root_mean_square, moments, standardized
from relay.frontend.shared.node import Result
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr, const
from relay.ops.creation.create import ones, zeros
from relay.ops.elementwise.elementwise_binary import add, multiply, subtract
from relay.ops.elementwise.elementwise_unary import rsqrt
from relay.ops.manipulation.shape import reshape
from relay.ops.nn import norm
from relay.ops.reduction import reduce
from relay.ops.reduction.variance import variance


def _vectors(node: TorchNode, weight: int, bias: int, axis: int) -> tuple[Expr, Expr]:
    """Weight and bias of a normalisation, each [extent of an axis]; ones and zeros where they are left out."""
    extent = (node.value(0).shape[axis],)
    given = node.optional_value(weight), node.optional_value(bias)
    return (
        ones(extent, node.dtype) if given[0] is None else given[0].expr,
        zeros(extent, node.dtype) if given[1] is None else given[1].expr,
    )


def _layer_norm(node: TorchNode) -> Expr:
    """Over the last axes; one of them is Relay's operator, several are its formula."""
    x, count, epsilon = node.value(0), len(node.extents_of("normalized_shape")), node.float("eps", 1e-5)
    if count == 1:
        return norm.layer_norm(x.expr, *_vectors(node, 1, 2, -1), axis=-1, epsilon=epsilon)
    result = standardized(x.expr, tuple(range(x.rank - count, x.rank)), epsilon, x.dtype)
    weight, bias = node.optional_value(1), node.optional_value(2)
    result = result if weight is None else multiply(result, weight.expr)
    return result if bias is None else add(result, bias.expr)


def _saved(node: TorchNode, x: Expr, axes: tuple[int, ...]) -> tuple[Expr, Expr]:
    """The mean and 1 / √(variance + eps) over some axes, which are there for the way back."""
    _, mean, scale = node.types[:3]
    assert mean is not None
    assert scale is not None
    found = moments(x, axes, mean.dtype)
    spread = add(found.variance, const(node.float("eps", 1e-5), mean.dtype.computation))
    return (
        as_dtype(reshape(found.mean, mean.shape, allowzero=True), mean.dtype),
        as_dtype(reshape(rsqrt(spread), scale.shape, allowzero=True), scale.dtype),
    )


def _native_layer_norm(node: TorchNode) -> Result:
    x, count = node.value(0), len(node.extents_of("normalized_shape"))
    return _layer_norm(node), *_saved(node, x.expr, tuple(range(x.rank - count, x.rank)))


def _rms_norm(node: TorchNode) -> Result:
    """x / √(mean x² + epsilon) · weight over the last axes."""
    x, count, weight = node.value(0), len(node.extents_of("normalized_shape")), node.optional_value(1)
    epsilon = node.float("eps", float(ml_dtypes.finfo(x.dtype.numpy).eps))
    result = divided_by_root_mean_square(x.expr, tuple(range(x.rank - count, x.rank)), epsilon, x.dtype)
    return result if weight is None else multiply(result, weight.expr)


def _group_norm(node: TorchNode) -> Expr:
    groups = node.int("num_groups") if node.has("num_groups") else node.int("group")
    gamma, beta = _vectors(node, 1, 2, 1)
    return norm.group_norm(node.expr(), gamma, beta, num_groups=groups, axis=1, epsilon=node.float("eps", 1e-5))


def _native_group_norm(node: TorchNode) -> Result:
    x, groups = node.value(0), node.int("group")
    apart = reshape(x.expr, (x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]), allowzero=True)
    return _group_norm(node), *_saved(node, apart, tuple(range(2, x.rank + 1)))


def _by_given_statistics(node: TorchNode) -> Result:
    """x, weight, bias, mean, variance"""
    gamma, beta = _vectors(node, 1, 2, 1)
    result = norm.batch_norm(
        node.expr(0), gamma, beta, node.expr(3), node.expr(4), axis=1, epsilon=node.float("eps", 1e-5)
    )
    return (result[0], None, None)


def _other_axes(node: TorchNode) -> tuple[int, ...]:
    return tuple(axis for axis in range(node.value(0).rank) if axis != 1)


def _by_own_statistics(node: TorchNode) -> Expr:
    """Normalised by the mean and the variance of each channel."""
    result = standardized(node.expr(0), _other_axes(node), node.float("eps", 1e-5), node.dtype)
    shape = tuple(extent if axis == 1 else 1 for axis, extent in enumerate(node.value(0).shape))
    gamma, beta = (reshape(each, shape, allowzero=True) for each in _vectors(node, 1, 2, 1))
    return add(multiply(result, gamma), beta)


def _with_own_statistics(node: TorchNode) -> Result:
    return _by_own_statistics(node), *_saved(node, node.expr(0), _other_axes(node))


def _in_training(node: TorchNode) -> Result:
    """The running mean and variance, 3 and 4, are moved by `momentum` to those of the batch."""
    x, axes, momentum = node.expr(0), _other_axes(node), node.float("momentum")

    def moved(index: int, towards: Expr) -> Expr:
        difference = subtract(towards, node.expr(index))
        return add(node.expr(index), multiply(difference, const(momentum, node.value(index).dtype)))

    mean, spread = moved(3, reduce.mean(x, axes)), moved(4, variance(x, axes, unbiased=True))
    return _by_own_statistics(node), *_saved(node, x, axes), mean, spread


NORMALIZATIONS: tuple[Converter, ...] = (
    *converters("layer_norm", _layer_norm, "normalized_shape", "eps", "cudnn_enable"),
    *converters("native_layer_norm", _native_layer_norm, "normalized_shape", "eps"),
    *converters("rms_norm", _rms_norm, "normalized_shape", "eps"),
    *converters("group_norm", _group_norm, "num_groups", "eps", "cudnn_enabled"),
    *converters("native_group_norm", _native_group_norm, "N", "C", "HxW", "group", "eps"),
    *converters("_native_batch_norm_legit_no_training", _by_given_statistics, "momentum", "eps"),
    *converters(
        "_native_batch_norm_legit", _with_own_statistics, "training", "momentum", "eps", overloads=("no_stats",)
    ),
    *converters("_native_batch_norm_legit_functional", _in_training, "training", "momentum", "eps"),
)  # fmt: skip
