"""Gradients of what normalises: softmax, layer, batch, instance and group norms, vectors of length 1."""

from __future__ import annotations

from collections.abc import Sequence

from relay.ir.expr import Call, Expr, TupleGetItem
from relay.ops.elementwise.comparison import greater
from relay.ops.elementwise.elementwise_binary import add, divide, maximum, multiply, power, subtract
from relay.ops.elementwise.elementwise_unary import exp, rsqrt, sqrt
from relay.ops.gradients.shared import along_axis, kept_where, rank_of, tensor_of
from relay.ops.manipulation.pad import pad
from relay.ops.manipulation.shape import in_shape_of, reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.nn.norm import BatchNormAttributes, GroupNormAttributes, InstanceNormAttributes, LayerNormAttributes
from relay.ops.nn.norm_vector import L2NormalizeAttributes, LRNAttributes
from relay.ops.nn.softmax import SoftmaxAttributes
from relay.ops.reduction.reduce import mean as mean_over
from relay.ops.reduction.reduce import sum as sum_over

Entries = tuple[Expr | None, ...]


def of_softmax(call: Call, given: Expr) -> Entries:
    """`y (g - Σ g y)`"""
    assert isinstance(call.attrs, SoftmaxAttributes)
    weighted = multiply(given, call)
    return (subtract(weighted, multiply(call, sum_over(weighted, axis=call.attrs.axis, keepdims=True))),)


def of_log_softmax(call: Call, given: Expr) -> Entries:
    """`g - e^y Σ g`"""
    assert isinstance(call.attrs, SoftmaxAttributes)
    return (subtract(given, multiply(exp(call), sum_over(given, axis=call.attrs.axis, keepdims=True))),)


def of_layer_norm(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, LayerNormAttributes)
    axis = call.attrs.axis % rank_of(call)
    return _normalised(call, given, [axis], axis, call.attrs)


def of_instance_norm(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, InstanceNormAttributes)
    axis = call.attrs.axis % rank_of(call)
    return _normalised(call, given, [each for each in range(1, rank_of(call)) if each != axis], axis, call.attrs)


def _normalised(
    call: Call, given: Expr, axes: Sequence[int], channel: int, attributes: LayerNormAttributes | InstanceNormAttributes
) -> Entries:
    """By the data `r (h - mean h - n mean (h n))`, where `n` are the data normalised, `r` what they were scaled by, and
    `h` the output gradient times gamma (Ba, Kiros and Hinton 2016, section 3)."""
    data, gamma, _ = call.args
    rank = rank_of(data)
    normal, scale = _normal(data, axes, attributes.epsilon)
    by_normal = multiply(given, along_axis(gamma, channel, rank)) if attributes.scale else given
    return (
        _by_data(by_normal, normal, scale, axes),
        sum_over(multiply(given, normal), axis=channel, exclude=True) if attributes.scale else None,
        sum_over(given, axis=channel, exclude=True) if attributes.center else None,
    )


def _normal(data: Expr, axes: Sequence[int], epsilon: float) -> tuple[Expr, Expr]:
    """The data normalised over axes, and what they were scaled by."""
    centred = subtract(data, mean_over(data, axis=list(axes), keepdims=True))
    scale = rsqrt(add(mean_over(multiply(centred, centred), axis=list(axes), keepdims=True), epsilon))
    return multiply(centred, scale), scale


def _by_data(by_normal: Expr, normal: Expr, scale: Expr, axes: Sequence[int]) -> Expr:
    along = mean_over(multiply(by_normal, normal), axis=list(axes), keepdims=True)
    centred = subtract(by_normal, mean_over(by_normal, axis=list(axes), keepdims=True))
    return multiply(scale, subtract(centred, multiply(normal, along)))


def of_group_norm(call: Call, given: Expr) -> Entries:
    """As an instance norm of groups: `[.., groups, channels in one, ..]`."""
    assert isinstance(call.attrs, GroupNormAttributes)
    data, gamma, _ = call.args
    shape, rank, axis = tensor_of(data).shape, rank_of(data), call.attrs.axis % rank_of(data)
    apart = [*shape[:axis], call.attrs.num_groups, shape[axis] // call.attrs.num_groups, *shape[axis + 1 :]]
    over = list(range(axis + 1, rank + 1))
    normal, scale = _normal(reshape(data, apart), over, call.attrs.epsilon)
    by_normal = multiply(given, along_axis(gamma, axis, rank)) if call.attrs.scale else given
    flat = in_shape_of(normal, data)
    return (
        in_shape_of(_by_data(reshape(by_normal, apart), normal, scale, over), data),
        sum_over(multiply(given, flat), axis=axis, exclude=True) if call.attrs.scale else None,
        sum_over(given, axis=axis, exclude=True) if call.attrs.center else None,
    )


def of_batch_norm(call: Call, given: Expr) -> Entries:
    """At inference: the running mean and variance are inputs like others, and the other two results."""
    assert isinstance(call.attrs, BatchNormAttributes)
    data, gamma, _, mean, variance = call.args
    rank, axis = rank_of(data), call.attrs.axis % rank_of(data)
    normal_given, mean_given, variance_given = (TupleGetItem(given, at) for at in range(3))
    scale = rsqrt(add(variance, call.attrs.epsilon))
    centred = subtract(data, along_axis(mean, axis, rank))
    whole = multiply(scale, gamma) if call.attrs.scale else scale
    of_centred = sum_over(multiply(normal_given, centred), axis=axis, exclude=True)
    of_ones = sum_over(normal_given, axis=axis, exclude=True)
    by_variance = multiply(multiply(of_centred, whole), multiply(multiply(scale, scale), -0.5))
    return (
        multiply(normal_given, along_axis(whole, axis, rank)),
        multiply(of_centred, scale) if call.attrs.scale else None,
        of_ones if call.attrs.center else None,
        subtract(mean_given, multiply(of_ones, whole)),
        add(variance_given, by_variance),
    )


def of_l2_normalize(call: Call, given: Expr) -> Entries:
    """`(g - y Σ g y) / length`; `g / sqrt(eps)` where the square of the length is below eps."""
    assert isinstance(call.attrs, L2NormalizeAttributes)
    (data,) = call.args
    axes = list(range(rank_of(data))) if call.attrs.axis is None else list(call.attrs.axis)
    squares = sum_over(multiply(data, data), axis=axes, keepdims=True)
    along = multiply(call, sum_over(multiply(given, call), axis=axes, keepdims=True))
    is_long = greater(squares, call.attrs.eps)
    return (divide(subtract(given, kept_where(is_long, along)), sqrt(maximum(squares, call.attrs.eps))),)


def of_lrn(call: Call, given: Expr) -> Entries:
    """`g d^-beta - 2 beta alpha/size x Σ g y / d`, where `d` is what beta is the power of, over the same neighbours."""
    assert isinstance(call.attrs, LRNAttributes)
    (data,) = call.args
    share = call.attrs.alpha / call.attrs.size
    axis = call.attrs.axis % rank_of(data)
    total = add(multiply(_of_neighbours(multiply(data, data), axis, call.attrs.size), share), call.attrs.bias)
    shared = _of_neighbours(divide(multiply(given, call), total), axis, call.attrs.size)
    own = divide(given, power(total, call.attrs.beta))
    return (subtract(own, multiply(multiply(data, shared), 2 * call.attrs.beta * share)),)


def _of_neighbours(data: Expr, axis: int, size: int) -> Expr:
    """The sum over `size` neighbours along an axis, for each element."""
    half, rank = size // 2, rank_of(data)
    extent = tensor_of(data).shape[axis]
    wide = pad(data, [(half, half) if each == axis else (0, 0) for each in range(rank)])
    parts = [strided_slice(wide, [at], [extent], slice_mode="size", axes=[axis]) for at in range(size)]
    total: Expr = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total
