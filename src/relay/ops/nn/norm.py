"""Normalisation: batch_norm, layer_norm, instance_norm, group_norm.

All give `(data - mean) / sqrt(variance + epsilon) · gamma + beta`; they differ in what the mean is taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.framework.batch_rule import ALONG_AXIS, NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, TupleWrapper, call, tuple_call
from relay.ops.framework.dimensions import product
from relay.ops.framework.elementwise import extent_value
from relay.ops.framework.layout_rule import AxisAttribute, OwnLayout
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NOT_LINEAR
from relay.ops.framework.window import group_extent
from relay.tir.expr import Value


@frozen
class BatchNormAttributes(Attributes):
    """`axis`: of the channels. `center` adds beta, `scale` multiplies by gamma."""

    axis: int = 1
    epsilon: float = 1e-5
    center: bool = True
    scale: bool = True


@frozen
class InstanceNormAttributes(Attributes):
    """`axis`: of the channels; the mean is over all other axes but the first."""

    axis: int = 1
    epsilon: float = 1e-5
    center: bool = True
    scale: bool = True


@frozen
class LayerNormAttributes(Attributes):
    """`axis`: the one that the mean is taken over."""

    axis: int = -1
    epsilon: float = 1e-5
    center: bool = True
    scale: bool = True


@frozen
class GroupNormAttributes(Attributes):
    """`axis`: of the channels; the mean is over the channels of a group and all later axes."""

    num_groups: int
    axis: int = 1
    epsilon: float = 1e-5
    center: bool = True
    scale: bool = True


_CHANNEL_REMEDY = "it has one number for each channel of `data` along `axis`"


def _channels(run: RelationRun, attributes: Any, vectors: Sequence[int]) -> tuple[TensorType, int]:
    """The data, and its axis, along which the inputs `vectors` have one number each."""
    data = run.tensor(0)
    run.dtype_in(0, lambda dtype: dtype.is_float, "a floating-point type")
    axis = run.axis(attributes.axis, len(data.shape))
    for position in vectors:
        run.tensor_like(position, (data.shape[axis],), data.dtype, _CHANNEL_REMEDY)
    return data, axis


def _batch_norm_rule(run: RelationRun, attributes: BatchNormAttributes) -> Type:
    """data[.., C, ..] and four vectors [C] → (data[.., C, ..], mean[C], variance[C])"""
    data, axis = _channels(run, attributes, (1, 2, 3, 4))
    vector = TensorType((data.shape[axis],), data.dtype)
    return TupleType((data, vector, vector))


def _norm_rule(run: RelationRun, attributes: Any) -> Type:
    """data[.., C, ..] and two vectors [C] → data[.., C, ..]"""
    return _channels(run, attributes, (1, 2))[0]


def _group_norm_rule(run: RelationRun, attributes: GroupNormAttributes) -> Type:
    data, axis = _channels(run, attributes, (1, 2))
    if axis == 0:
        run.conflict("axis-out-of-range", "`axis` must leave an axis for the batch before it", "1 or more", "0")
    group_extent(run, data.shape[axis], attributes.num_groups, "channels")
    return data


def _along(vector: Array, axis: int, rank: int) -> Array:
    return wide(vector).reshape([-1 if position == axis else 1 for position in range(rank)])


def _scaled(attributes: Any, normal: Array, gamma: Array, beta: Array) -> Array:
    axis = attributes.axis % normal.ndim
    if attributes.scale:
        normal = normal * _along(gamma, axis, normal.ndim)
    return normal + _along(beta, axis, normal.ndim) if attributes.center else normal


def _batch_norm_meaning(
    attributes: BatchNormAttributes, data: Array, gamma: Array, beta: Array, mean: Array, variance: Array
) -> tuple[Array, ...]:
    axis = attributes.axis % data.ndim
    with np.errstate(all="ignore"):
        deviation = np.sqrt(_along(variance, axis, data.ndim) + np.float32(attributes.epsilon))
        normal = (wide(data) - _along(mean, axis, data.ndim)) / deviation
        return to_dtype(_scaled(attributes, normal, gamma, beta), dtype_of(data.dtype)), mean, variance


def _normalised(data: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    x = wide(data)
    with np.errstate(all="ignore"):
        if x.size == 0:
            return x
        centred = x - x.mean(axis=axes, keepdims=True)
        return centred / np.sqrt(np.square(centred).mean(axis=axes, keepdims=True) + x.dtype.type(epsilon))


def _norm_meaning(axes_of: Callable[[int, int], tuple[int, ...]]) -> Any:
    def meaning(attributes: Any, data: Array, gamma: Array, beta: Array) -> Array:
        axes = axes_of(attributes.axis % data.ndim, data.ndim)
        return to_dtype(
            _scaled(attributes, _normalised(data, axes, attributes.epsilon), gamma, beta), dtype_of(data.dtype)
        )

    return meaning


def _group_norm_meaning(attributes: GroupNormAttributes, data: Array, gamma: Array, beta: Array) -> Array:
    axis = attributes.axis % data.ndim
    groups = attributes.num_groups
    grouped = data.reshape(*data.shape[:axis], groups, data.shape[axis] // groups, *data.shape[axis + 1 :])
    normal = _normalised(grouped, tuple(range(axis + 1, grouped.ndim)), attributes.epsilon).reshape(data.shape)
    return to_dtype(_scaled(attributes, normal, gamma, beta), dtype_of(data.dtype))


def _layer_axes(axis: int, rank: int) -> tuple[int, ...]:  # noqa: ARG001
    return (axis,)


def _instance_axes(axis: int, rank: int) -> tuple[int, ...]:
    return tuple(position for position in range(1, rank) if position != axis)


def scaled_value(attributes: Any, value: Value, gamma: te.Tensor, beta: te.Tensor, channel: IntExpr) -> Value:
    """`value · gamma + beta` of a channel, as far as the attributes ask for it."""
    if attributes.scale:
        value = value * te.cast(gamma[channel], value.dtype)
    return value + te.cast(beta[channel], value.dtype) if attributes.center else value


def _batch_norm_compute(
    attributes: BatchNormAttributes, inputs: tuple[te.Tensor, ...], _: TupleType
) -> tuple[te.Tensor, ...]:
    """One elementwise stage, `batch_norm`; the mean and the variance are handed through."""
    data, gamma, beta, mean, variance = inputs
    axis = attributes.axis % len(data.shape)
    dtype = data.dtype.computation

    def element(*i: IntExpr) -> Value:
        channel = i[axis]
        deviation = te.sqrt(te.cast(variance[channel], dtype) + attributes.epsilon)
        normal = (te.cast(data[i], dtype) - te.cast(mean[channel], dtype)) / deviation
        return te.cast(scaled_value(attributes, normal, gamma, beta, channel), data.dtype)

    return te.compute(data.shape, element, name="batch_norm"), mean, variance


@frozen
class Statistics:
    """What a mean is taken over: `extents` of the reduction, one statistic for each point of `shape`.

    `element(point, taps)` is the place in the data of a reduced element, `point(indices)` the statistic that the
    element at `indices` belongs to.
    """

    shape: tuple[IntExpr, ...]
    extents: tuple[IntExpr, ...]
    element: Callable[[tuple[IntExpr, ...], Sequence[IntExpr]], tuple[IntExpr, ...]]
    point: Callable[[tuple[IntExpr, ...]], tuple[IntExpr, ...]]


def statistics_over(shape: tuple[IntExpr, ...], axes: tuple[int, ...]) -> Statistics:
    """The mean over whole axes."""
    kept = tuple(axis for axis in range(len(shape)) if axis not in axes)

    def element(point: tuple[IntExpr, ...], taps: Sequence[IntExpr]) -> tuple[IntExpr, ...]:
        places = {**dict(zip(kept, point, strict=True)), **dict(zip(axes, taps, strict=True))}
        return tuple(places[axis] for axis in range(len(shape)))

    return Statistics(
        tuple(shape[axis] for axis in kept), tuple(shape[axis] for axis in axes), element,
        lambda indices: tuple(indices[axis] for axis in kept),
    )  # fmt: skip


def _statistics_over_groups(shape: tuple[IntExpr, ...], axis: int, groups: int) -> Statistics:
    """The mean over the channels of a group and all axes after them."""
    per_group = shape[axis] // groups
    return Statistics(
        (*shape[:axis], groups), (per_group, *shape[axis + 1 :]),
        lambda point, taps: (*point[:-1], point[-1] * per_group + taps[0], *taps[1:]),
        lambda indices: (*indices[:axis], indices[axis] // per_group),
    )  # fmt: skip


def normalised(
    name: str, attributes: Any, inputs: tuple[te.Tensor, ...], statistics: Statistics
) -> te.Tensor:  # fmt: skip
    """Stages `<name>_sum`, `<name>_mean`, `<name>_squares`, `<name>_scale` (1 / deviation) and `<name>`."""
    data, gamma, beta = inputs
    dtype = data.dtype.computation
    axis = attributes.axis % len(data.shape)
    count = extent_value(product(statistics.extents), dtype)

    def taps() -> list[te.Axis]:
        return [te.reduce_axis(extent, f"k{position}") for position, extent in enumerate(statistics.extents)]

    def read(indices: tuple[IntExpr, ...]) -> Value:
        return te.cast(data[indices], dtype)

    over = taps()
    total = te.compute(
        statistics.shape, lambda *point: te.sum(read(statistics.element(point, over)), axis=over), name=f"{name}_sum"
    )
    mean = te.compute(statistics.shape, lambda *point: total[point] / count, name=f"{name}_mean")
    again = taps()

    def square(*point: IntExpr) -> Any:
        centred = read(statistics.element(point, again)) - mean[point]
        return te.sum(centred * centred, axis=again)

    squares = te.compute(statistics.shape, square, name=f"{name}_squares")
    scale = te.compute(
        statistics.shape,
        lambda *point: te.const(1, dtype) / te.sqrt(squares[point] / count + attributes.epsilon),
        name=f"{name}_scale",
    )

    def element(*i: IntExpr) -> Value:
        point = statistics.point(i)
        normal = (read(i) - mean[point]) * scale[point]
        return te.cast(scaled_value(attributes, normal, gamma, beta, i[axis]), data.dtype)

    return te.compute(data.shape, element, name=name)


def _norm_compute(name: str, axes_of: Callable[[int, int], tuple[int, ...]]) -> Any:
    def compute(attributes: Any, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
        rank = len(result.shape)
        axes = axes_of(attributes.axis % rank, rank)
        return normalised(name, attributes, inputs, statistics_over(inputs[0].shape, axes))

    return compute


def _group_norm_compute(
    attributes: GroupNormAttributes, inputs: tuple[te.Tensor, ...], result: TensorType
) -> te.Tensor:
    axis = attributes.axis % len(result.shape)
    statistics = _statistics_over_groups(inputs[0].shape, axis, attributes.num_groups)
    return normalised("group_norm", attributes, inputs, statistics)


_VECTORS = {"gamma": "[C], a factor for each channel", "beta": "[C], added to each channel"}

BATCH_NORM = define(
    "nn.batch_norm",
    "Normalises by a given mean and variance for each channel (inference); gives these back too.",
    inputs={"data": "[.., C, ..]", **_VECTORS, "moving_mean": "[C]", "moving_var": "[C]"},
    attributes=BatchNormAttributes,
    type_rule=_batch_norm_rule,
    meaning=_batch_norm_meaning,
    compute=_batch_norm_compute,
    fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
    layout=AxisAttribute("axis"),
    floating_point=FloatingPointClass.ROUNDING,
    effect=Effect.PURE,
    gradient=gradient_above("norms", "of_batch_norm"),
    batch=NO_BATCH_RULE_YET,
    scale=NOT_LINEAR,
    support_level=1,
)


def _norm(name: str, description: str, attributes: type[Attributes], **fields: Any) -> OperatorRecord:
    return define(
        f"nn.{name}",
        description,
        inputs={"data": "[.., C, ..]", **_VECTORS},
        attributes=attributes,
        fusion=FusionKind.OPAQUE,
        floating_point=FloatingPointClass.ROUNDING,
        effect=Effect.PURE,
        gradient=gradient_above("norms", f"of_{name}"),
        scale=NOT_LINEAR,
        support_level=1,
        **fields,
    )


LAYER_NORM = _norm(
    "layer_norm", "Normalises along one axis.", LayerNormAttributes, type_rule=_norm_rule,
    meaning=_norm_meaning(_layer_axes), compute=_norm_compute("layer_norm", _layer_axes), layout=AxisAttribute("axis"),
    batch=ALONG_AXIS,
)  # fmt: skip
INSTANCE_NORM = _norm(
    "instance_norm", "Normalises each channel of each batch.", InstanceNormAttributes, type_rule=_norm_rule,
    meaning=_norm_meaning(_instance_axes), compute=_norm_compute("instance_norm", _instance_axes),
    layout=AxisAttribute("axis"), batch=NO_BATCH_RULE_YET,
)  # fmt: skip
GROUP_NORM = _norm(
    "group_norm", "Normalises groups of channels of each batch.", GroupNormAttributes, type_rule=_group_norm_rule,
    meaning=_group_norm_meaning, compute=_group_norm_compute,
    layout=OwnLayout("its mean is over the axes after the channels"), batch=NO_BATCH_RULE_YET,
)  # fmt: skip

NORMS: tuple[OperatorRecord, ...] = (BATCH_NORM, LAYER_NORM, INSTANCE_NORM, GROUP_NORM)


def batch_norm(
    data: Argument, gamma: Argument, beta: Argument, moving_mean: Argument, moving_var: Argument, axis: int = 1,
    epsilon: float = 1e-5, center: bool = True, scale: bool = True,
) -> TupleWrapper:  # fmt: skip
    """data[.., C, ..] and four vectors [C] → (normalised data, moving_mean, moving_var); `[0]` is the data.

    Raises `RelayError`: `wrong-shape`, `dtypes-differ`, `axis-out-of-range`, `wrong-dtype`.
    """
    arguments = (data, gamma, beta, moving_mean, moving_var)
    return tuple_call(BATCH_NORM, arguments, BatchNormAttributes(axis, epsilon, center, scale), 3)


def layer_norm(
    data: Argument, gamma: Argument, beta: Argument, axis: int = -1, epsilon: float = 1e-5, center: bool = True,
    scale: bool = True,
) -> Call:  # fmt: skip
    """data[.., C, ..] normalised along `axis`, with gamma[C] and beta[C]. Errors as those of `batch_norm`."""
    return call(LAYER_NORM, (data, gamma, beta), LayerNormAttributes(axis, epsilon, center, scale))


def instance_norm(
    data: Argument, gamma: Argument, beta: Argument, axis: int = 1, epsilon: float = 1e-5, center: bool = True,
    scale: bool = True,
) -> Call:  # fmt: skip
    """data[N, .., C, ..] normalised over all axes but N and C = `axis`. Errors as those of `batch_norm`."""
    return call(INSTANCE_NORM, (data, gamma, beta), InstanceNormAttributes(axis, epsilon, center, scale))


def group_norm(
    data: Argument, gamma: Argument, beta: Argument, num_groups: int, axis: int = 1, epsilon: float = 1e-5,
    center: bool = True, scale: bool = True,
) -> Call:  # fmt: skip
    """data[N, C, ..] normalised over the channels of each of `num_groups` groups and all later axes.

    Raises `RelayError` as `batch_norm`, and `groups-do-not-divide`.
    """
    return call(GROUP_NORM, (data, gamma, beta), GroupNormAttributes(num_groups, axis, epsilon, center, scale))
