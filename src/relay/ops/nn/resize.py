"""Images in another size: image.resize2d, nn.upsampling, nn.upsampling3d.

A result element at `x` along an axis samples the data at a place that `sampling.py` tells. Places outside
the data are moved to its edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, TypeAlias, Union

import numpy as np

from relay import te
from relay.arith.expr import Comparison, IntExpr, maximum, minimum
from relay.base.dtypes import DType, dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, Dimension, TensorType
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, as_float, call, dimensions, optional_dtype
from relay.ops.framework.dimensions import derived
from relay.ops.framework.layout_rule import LayoutAttribute
from relay.ops.framework.layouts import Layout, parse_layout, relayout
from relay.ops.framework.record import FusionKind, OperatorRecord, PrecisionRule, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.ops.framework.window import check_layout
from relay.ops.nn.sampling import COORDINATES, METHODS, ROUNDINGS, Sampling, Taps, taps_of
from relay.tir.expr import Value


@frozen
class Resize2DAttributes(Attributes):
    """`size`: rows and columns of the result. `rounding_method` (of nearest_neighbor): empty for `round` with
    align_corners, else `floor`. `cubic_alpha`: Keys' parameter; `cubic_exclude`: 1 leaves out weights outside. `roi`
    and `extrapolation_value` mean something in the mode `tf_crop_and_resize` alone, which does not exist here yet."""

    size: tuple[IntExpr, ...]
    roi: tuple[float, ...] | None = None
    layout: str = "NCHW"
    method: str = "linear"
    coordinate_transformation_mode: str = "half_pixel"
    rounding_method: str = "round"
    cubic_alpha: float = -0.5
    cubic_exclude: int = 0
    extrapolation_value: float = 0.0
    out_dtype: DType | None = None

    axes: ClassVar[str] = "HW"
    methods: ClassVar[Mapping[str, str]] = MappingProxyType({each: each for each in METHODS})

    def sampling(self, size: Any, count: Any) -> Sampling:
        return Sampling(
            size, count, self.coordinate_transformation_mode, self.method, self.rounding_method, self.cubic_alpha,
            bool(self.cubic_exclude),
        )  # fmt: skip


@frozen
class UpSamplingAttributes(Attributes):
    """`scale_h`, `scale_w`: at least 1. `method`: `nearest_neighbor`, `bilinear` or `bicubic`."""

    scale_h: float = 1.0
    scale_w: float = 1.0
    layout: str = "NCHW"
    method: str = "nearest_neighbor"
    align_corners: bool = False

    axes: ClassVar[str] = "HW"
    methods: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"nearest_neighbor": "nearest_neighbor", "bilinear": "linear", "bicubic": "cubic"}
    )

    @property
    def scales(self) -> tuple[float, ...]:
        return self.scale_h, self.scale_w

    def sampling(self, size: Any, count: Any) -> Sampling:
        method = self.methods[self.method]
        aligned = self.align_corners and method != "nearest_neighbor"
        return Sampling(size, count, "align_corners" if aligned else "asymmetric", method)


@frozen
class UpSampling3DAttributes(Attributes):
    """`scale_d`, `scale_h`, `scale_w`: at least 1. `method`: `nearest_neighbor` or `trilinear`."""

    scale_d: float = 1.0
    scale_h: float = 1.0
    scale_w: float = 1.0
    layout: str = "NCDHW"
    method: str = "nearest_neighbor"
    coordinate_transformation_mode: str = "half_pixel"

    axes: ClassVar[str] = "DHW"
    methods: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"nearest_neighbor": "nearest_neighbor", "trilinear": "linear"}
    )

    @property
    def scales(self) -> tuple[float, ...]:
        return self.scale_d, self.scale_h, self.scale_w

    def sampling(self, size: Any, count: Any) -> Sampling:
        return Sampling(size, count, self.coordinate_transformation_mode, self.methods[self.method])


class Resizing(Protocol):
    """What the operators differ in. `methods`: what each calls those of `METHODS`."""

    axes: ClassVar[str]
    methods: ClassVar[Mapping[str, str]]

    @property
    def layout(self) -> str: ...
    @property
    def method(self) -> str: ...

    def sampling(self, size: Any, count: Any) -> Sampling:
        """How an axis of `size` elements is sampled where the result has `count`."""
        ...


Rule: TypeAlias = Callable[[RelationRun, Any], TensorType]


def _checked(run: RelationRun, attributes: Resizing) -> tuple[TensorType, Layout, dict[str, Dimension]]:
    """The type, the layout and the extents of `data`."""
    layout = parse_layout(attributes.layout)
    check_layout(run, tuple(attributes.axes), layout)
    _check_known(run, "method", attributes.method, attributes.methods)
    data = run.tensor(0, layout.rank)
    run.dtype_in(0, lambda dtype: not dtype.is_bool, "a number type")
    extents = layout.extents(data.shape)
    for axis in attributes.axes:
        if extents[axis] is not ANY:
            run.require(
                Comparison(1, "<=", extents[axis]), "empty-source", f"axis {axis} of `data` must not be empty", (0,)
            )
    return data, layout, extents


def _check_known(run: RelationRun, name: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        run.conflict("wrong-attribute", f"`{name}` is not known", ", ".join(filter(None, known)), value)


def _resize_rule(run: RelationRun, attributes: Resize2DAttributes) -> TensorType:
    """data[N, C, H, W] → [N, C, *size]"""
    _check_known(run, "coordinate_transformation_mode", attributes.coordinate_transformation_mode, COORDINATES)
    _check_known(run, "rounding_method", attributes.rounding_method, ROUNDINGS)
    if len(attributes.size) != 2:
        run.conflict("wrong-attribute", "`size` must be rows and columns", "two numbers", str(attributes.size))
    data, layout, extents = _checked(run, attributes)
    rows, columns = attributes.size
    return TensorType(layout.shape({**extents, "H": rows, "W": columns}), attributes.out_dtype or data.dtype)


def _upsampling_rule(run: RelationRun, attributes: Union[UpSamplingAttributes, UpSampling3DAttributes]) -> TensorType:
    """data[N, C, space] → [N, C, space · scales]"""
    if isinstance(attributes, UpSampling3DAttributes):
        _check_known(run, "coordinate_transformation_mode", attributes.coordinate_transformation_mode, COORDINATES)
    data, layout, extents = _checked(run, attributes)
    for axis, scale in zip(attributes.axes, attributes.scales, strict=True):
        if not scale > 0:
            run.conflict("wrong-attribute", "a scale must be above 0", "above 0", str(scale))
        extents[axis] = _scaled(run, extents[axis], scale)
    return TensorType(layout.shape(extents), data.dtype)


def _scaled(run: RelationRun, extent: Dimension, scale: float) -> Dimension:
    if scale == int(scale):
        return derived(lambda e: e * int(scale), extent)
    if extent is ANY or not isinstance(extent, int):
        run.conflict("wrong-attribute", "a scale of a symbolic extent must be a whole number", "1, 2, …", str(scale))
    return round(extent * scale)


def _meaning(rule: Rule, attributes: Resizing, data: Array) -> Array:
    layout, plain = parse_layout(attributes.layout), parse_layout("NC" + attributes.axes)
    result = rule(RelationRun(("data",), (TensorType(data.shape, dtype_of(data.dtype)),)), attributes)
    counts = layout.extents(result.shape)
    x = relayout(wide(data), layout, plain)
    number = np.float64 if x.dtype == np.float64 else np.float32
    for position, axis in enumerate(attributes.axes, 2):
        x = _resampled(x, position, attributes.sampling(x.shape[position], counts[axis]), number)
    return relayout(to_dtype(_rounded_result(x, result.dtype), result.dtype), plain, layout)


def sampling_matrix(sampling: Sampling) -> Array:
    """How much [count, size] each element of the result takes of each element of the data."""
    return _resampled(np.eye(sampling.size), 0, sampling, np.float64)


def _resampled(x: Array, axis: int, sampling: Sampling, number: type) -> Array:
    taps = taps_of(
        sampling, np.arange(sampling.count), lambda place: np.clip(place, 0, sampling.size - 1),
        lambda value: np.asarray(value).astype(number),
        lambda place, weight: np.where((place >= 0) & (place < sampling.size), weight, number(0)),
    )  # fmt: skip
    total: Any = 0
    for place, weight in taps:
        read = np.take(x, np.broadcast_to(place, (sampling.count,)), axis=axis)
        if weight is None:
            return read
        shape = [1] * x.ndim
        shape[axis] = -1
        total = total + read.astype(number) * np.broadcast_to(weight, (sampling.count,)).reshape(shape)
    return total


def _rounded_result(x: Array, dtype: DType) -> Array:
    """Integers take the nearest whole number of a mix."""
    return np.floor(x + x.dtype.type(0.5)) if dtype.is_integer and x.dtype.kind == "f" else x


def _compute(name: str, attributes: Resizing, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    (data,) = inputs
    layout = parse_layout(attributes.layout)
    sizes, counts = layout.extents(data.shape), layout.extents(result.shape)
    samplings = {axis: attributes.sampling(sizes[axis], counts[axis]) for axis in attributes.axes}
    dtype = DType.FLOAT64 if data.dtype is DType.FLOAT64 else DType.FLOAT32

    def axis_taps(sampling: Sampling, at: IntExpr) -> Taps:
        return taps_of(
            sampling, at, lambda place: maximum(minimum(place, sampling.size - 1), 0),
            lambda value: te.index_value(value, dtype),
            lambda place, weight: te.select(te.within(place, 0, sampling.size), weight, te.const(0, dtype)),
        )  # fmt: skip

    def element(*indices: IntExpr) -> Value:
        at = layout.positions(indices)
        taps = {axis: axis_taps(sampling, at[axis]) for axis, sampling in samplings.items()}

        def mixed(axes: str, places: Mapping[str, IntExpr]) -> Value:
            """The data at `places`, mixed along `axes`: along the last one of mixes along those before it."""
            if not axes:
                return te.cast(data[layout.indices({**at, **places})], dtype)
            return _sum(mixed(axes[:-1], {**places, axes[-1]: place}) * weight for place, weight in taps[axes[-1]])

        if attributes.methods[attributes.method] == "nearest_neighbor":
            nearest = {axis: place for axis, ((place, _),) in taps.items()}
            return te.cast(data[layout.indices({**at, **nearest})], result.dtype)
        total = mixed(attributes.axes, {})
        return te.cast(te.floor(total + 0.5) if result.dtype.is_integer else total, result.dtype)

    return te.compute(result.shape, element, name=name)


def _sum(values: Iterable[Value]) -> Value:
    return reduce(lambda left, right: left + right, values)


def _record(name: str, description: str, attributes: type[Attributes], rule: Rule, level: int) -> OperatorRecord:
    return define(
        name,
        description,
        inputs={"data": "[N, C, space] in the order of layout"},
        attributes=attributes,
        type_rule=rule,
        meaning=partial(_meaning, rule),
        compute=partial(_compute, name.rpartition(".")[2]),
        fusion=FusionKind.INJECTIVE,
        layout=LayoutAttribute("layout"),
        floating_point=FloatingPointClass.ROUNDING,
        precision=PrecisionRule.FOLLOW,
        effect=Effect.PURE,
        gradient=gradient_above("resampling", "of_resize"),
        batch=NO_BATCH_RULE_YET,
        scale=NO_SCALE_YET,
        support_level=level,
    )


RESIZE2D = _record("image.resize2d", "An image in another size.", Resize2DAttributes, _resize_rule, 5)
UPSAMPLING = _record("nn.upsampling", "An image made larger by factors.", UpSamplingAttributes, _upsampling_rule, 2)
UPSAMPLING3D = _record(
    "nn.upsampling3d", "A volume made larger by factors.", UpSampling3DAttributes, _upsampling_rule, 2
)

RESIZES: tuple[OperatorRecord, ...] = (RESIZE2D, UPSAMPLING, UPSAMPLING3D)


def resize2d(
    data: Argument, size: Sequence[IntExpr] | IntExpr, roi: Sequence[float] | None = None, layout: str = "NCHW",
    method: str = "linear", coordinate_transformation_mode: str = "half_pixel", rounding_method: str = "",
    cubic_alpha: float = -0.5, cubic_exclude: int = 0, extrapolation_value: float = 0.0,
    out_dtype: str | DType | None = None,
) -> Call:  # fmt: skip
    """data[N, C, H, W] → [N, C, *size]

    `method`: `nearest_neighbor`, `linear` or `cubic`; `coordinate_transformation_mode`: `half_pixel`, `align_corners`,
    `asymmetric` or `pytorch_half_pixel`; `rounding_method` (of nearest_neighbor): `floor`, `ceil`, `round`,
    `round_prefer_floor` or `round_prefer_ceil`.

    As in Relay, an empty `rounding_method` is `round` with `align_corners` and `floor` else, while text without the
    attribute means `round`. `roi` and `extrapolation_value` mean something in the mode `tf_crop_and_resize` alone,
    which does not exist here yet.

    Raises `RelayError`: `wrong-attribute`, `bad-layout`, `wrong-rank`, `empty-source`.

    >>> from relay.ops.framework.build import var
    >>> print(resize2d(var("x", shape=("n", 3, 32, 32)), (64, 48)).checked_type)
    Tensor[(n, 3, 64, 48), float32]
    """
    sizes = dimensions(size) if isinstance(size, (tuple, list)) else dimensions(size) * 2
    attributes = Resize2DAttributes(
        sizes, None if roi is None else tuple(map(float, roi)), layout, method, coordinate_transformation_mode,
        rounding_method, cubic_alpha, cubic_exclude, extrapolation_value, optional_dtype(out_dtype),
    )  # fmt: skip
    return call(RESIZE2D, (data,), attributes)


def upsampling(
    data: Argument, scale_h: float = 1, scale_w: float = 1, layout: str = "NCHW", method: str = "nearest_neighbor",
    align_corners: bool = False,
) -> Call:  # fmt: skip
    """data[N, C, H, W] → [N, C, H · scale_h, W · scale_w]; `method`: `nearest_neighbor`, `bilinear` or `bicubic`.

    Raises `RelayError`: `wrong-attribute`, `bad-layout`, `wrong-rank`, `empty-source`.
    """
    return call(
        UPSAMPLING, (data,), UpSamplingAttributes(as_float(scale_h), as_float(scale_w), layout, method, align_corners)
    )


def upsampling3d(
    data: Argument, scale_d: float = 1, scale_h: float = 1, scale_w: float = 1, layout: str = "NCDHW",
    method: str = "nearest_neighbor", coordinate_transformation_mode: str = "half_pixel",
) -> Call:  # fmt: skip
    """data[N, C, D, H, W] → [N, C, D · scale_d, H · scale_h, W · scale_w]; `method`: `nearest_neighbor` or `trilinear`.

    `coordinate_transformation_mode`: as of `resize2d`; with `asymmetric`, `nearest_neighbor` repeats elements.

    Raises `RelayError`: `wrong-attribute`, `bad-layout`, `wrong-rank`, `empty-source`.

    >>> from relay.ops.framework.build import var
    >>> print(upsampling3d(var("x", shape=("n", 3, 4, 8, 8)), 2, 2, 2).checked_type)
    Tensor[(n, 3, 8, 16, 16), float32]
    """
    scales = as_float(scale_d), as_float(scale_h), as_float(scale_w)
    attributes = UpSampling3DAttributes(*scales, layout, method, coordinate_transformation_mode)
    return call(UPSAMPLING3D, (data,), attributes)
