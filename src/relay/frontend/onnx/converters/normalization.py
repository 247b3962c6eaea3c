"""Normalisations.   x[batch, channels, ..] → [batch, channels, ..]"""

from __future__ import annotations

from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.normalizing import divided_by_root_mean_square, standardized
from relay.frontend.shared.node import Result, converter
from relay.ir.expr import const
from relay.ops.creation.create import zeros
from relay.ops.elementwise.comparison import equal, where
from relay.ops.elementwise.elementwise_binary import add, divide, multiply, subtract
from relay.ops.elementwise.elementwise_unary import abs as magnitude
from relay.ops.elementwise.elementwise_unary import sqrt
from relay.ops.manipulation.tile import repeat
from relay.ops.nn import norm
from relay.ops.nn.norm_vector import lrn
from relay.ops.reduction import reduce
from relay.ops.reduction.variance import mean_variance


def _batch_norm(node: OnnxNode) -> Result:
    """By statistics that are inputs, or, in training, by those of the batch, which the next inputs are mixed with."""
    epsilon = node.float("epsilon")
    x, scale, bias, mean, variance = (node.expr(index) for index in range(5))
    if not node.int("training_mode", 0):
        return (norm.batch_norm(x, scale, bias, mean, variance, axis=1, epsilon=epsilon)[0], None, None)
    share = node.float("momentum")
    axes = tuple(axis for axis in range(node.value(0).rank) if axis != 1)
    now = mean_variance(x, axes)
    result = norm.batch_norm(x, scale, bias, now[0], now[1], axis=1, epsilon=epsilon)[0]
    mixed = (
        add(multiply(const(share, old.dtype), old.expr), multiply(const(1 - share, old.dtype), new))
        for old, new in zip((node.value(3), node.value(4)), now, strict=True)
    )
    return (result, *mixed)


def _layer_norm(node: OnnxNode) -> Result:
    """Over the axes from `axis` on; one axis is Relay's operator, several are its formula."""
    x, scale, bias = node.value(0), node.value(1), node.optional_value(2)
    axis, epsilon = node.axis(), node.float("epsilon")
    if axis == x.rank - 1 and scale.rank == 1 and scale.shape == x.shape[-1:]:
        beta = zeros(scale.shape, scale.dtype) if bias is None else bias.expr
        return (norm.layer_norm(x.expr, scale.expr, beta, axis=-1, epsilon=epsilon), None, None)
    axes = tuple(range(axis, x.rank))
    scaled = multiply(standardized(x.expr, axes, epsilon, x.dtype), scale.expr)
    return (scaled if bias is None else add(scaled, bias.expr), None, None)


def _rms_norm(node: OnnxNode) -> Result:
    """x / √(mean x² + epsilon) · scale over the axes from `axis` on."""
    x, axis = node.value(0), node.axis()
    axes = tuple(range(axis, x.rank))
    scaled = divided_by_root_mean_square(x.expr, axes, node.float("epsilon"), x.dtype)
    return multiply(scaled, node.expr(1))


def _instance_norm(node: OnnxNode) -> Result:
    return norm.instance_norm(node.expr(0), node.expr(1), node.expr(2), axis=1, epsilon=node.float("epsilon"))


def _group_norm(node: OnnxNode) -> Result:
    """Scale and bias are per channel since opset 21; before, per group."""
    x, groups = node.value(0), node.int("num_groups")
    scale, bias = node.expr(1), node.expr(2)
    channels = x.shape[1] if x.rank > 1 else None
    if not isinstance(channels, int) or groups < 1 or channels % groups:
        node.unsupported(f"of {x.type} in {groups} groups")
    if node.opset < 21:
        scale, bias = (repeat(part, channels // groups, axis=0) for part in (scale, bias))
    return norm.group_norm(x.expr, scale, bias, num_groups=groups, axis=1, epsilon=node.float("epsilon"))


def _lp_norm(node: OnnxNode) -> Result:
    """x / (Σ |x|^p)^(1/p) along an axis; 0 where the norm is 0."""
    x, axis, dtype = node.expr(), node.axis(), node.value(0).dtype
    match node.int("p"):
        case 1:
            length = reduce.sum(magnitude(x), axis, keepdims=True)
        case 2:
            length = sqrt(reduce.sum(multiply(x, x), axis, keepdims=True))
        case other:
            node.unsupported(f"with p {other}")
    safe = where(equal(length, const(0, dtype)), const(1, dtype), length)
    return divide(x, safe)


def _lrn(node: OnnxNode) -> Result:
    size = node.int("size")
    return lrn(
        node.expr(), size=size, axis=1, bias=node.float("bias"), alpha=node.float("alpha"), beta=node.float("beta")
    )


def _mean_variance_norm(node: OnnxNode) -> Result:
    """(x - mean) / √variance; ONNX adds 1e-9 to the deviation."""
    x, dtype = node.expr(), node.value(0).dtype
    axes = tuple(node.wrapped_axis(axis, node.value(0).rank) for axis in node.ints("axes", (0, 2, 3)))
    centred = subtract(x, reduce.mean(x, axes, keepdims=True))
    deviation = sqrt(reduce.mean(multiply(centred, centred), axes, keepdims=True))
    return divide(centred, add(deviation, const(1e-9, dtype)))


NORMALIZATIONS: tuple[Converter, ...] = (
    converter("BatchNormalization", _batch_norm, "epsilon", "momentum", "training_mode", changes=(14, 15)),
    converter("LayerNormalization", _layer_norm, "axis", "epsilon", "stash_type"),
    converter("RMSNormalization", _rms_norm, "axis", "epsilon", "stash_type"),
    converter("InstanceNormalization", _instance_norm, "epsilon"),
    converter("GroupNormalization", _group_norm, "epsilon", "num_groups", "stash_type", changes=(21,)),
    converter("LpNormalization", _lp_norm, "axis", "p"),
    converter("LRN", _lrn, "alpha", "beta", "bias", "size"),
    converter("MeanVarianceNormalization", _mean_variance_norm, "axes"),
)
