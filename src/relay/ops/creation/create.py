"""Tensors from nothing, or from the shape of another: full, zeros, ones, arange, shape_of, ndarray_size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.base.span import caller_span
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Constant, Expr
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops import dyn
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES, NO_BATCH_RULE_YET, SHAPE_OF_ITS_OWN, ByElement
from relay.ops.framework.build import (
    Argument,
    Shape,
    as_expr,
    call,
    dimensions,
    is_dynamic,
    known_dtype,
    optional_dtype,
    static_shape,
)
from relay.ops.framework.dimensions import product
from relay.ops.framework.layout_rule import Elementwise, OwnLayout
from relay.ops.framework.record import (
    PIECEWISE_CONSTANT,
    FromValues,
    FusionKind,
    OperatorRecord,
    StaticOf,
    define,
    gradient_above,
)
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, element_type, to_dtype
from relay.ops.framework.scale_role import SCALES_NOTHING
from relay.ops.framework.symbolic_integer import SymbolicInteger, expr_of, symbolic_array
from relay.tir.expr import Value


@frozen
class InitAttributes(Attributes):
    """`dtype`: None (of `full`) is that of the value."""

    shape: tuple[IntExpr, ...]
    dtype: DType | None = None


@frozen
class ArangeAttributes(Attributes):
    """`start`, `stop`, `step`: the inputs' values where these are known already, which makes the extent known."""

    dtype: DType
    start: int | float | None = None
    stop: int | float | None = None
    step: int | float | None = None


@frozen
class ShapeOfAttributes(Attributes):
    dtype: DType = DType.INT32


def _whole(extents: Sequence[IntExpr]) -> tuple[int, ...]:
    return tuple(int(extent) for extent in extents)  # pyright: ignore[reportArgumentType]


def _full_rule(run: RelationRun, attributes: InitAttributes) -> Type:
    value = run.tensor(0, 0)
    return TensorType(attributes.shape, attributes.dtype or value.dtype)


def _full_meaning(attributes: InitAttributes, value: Array) -> Array:
    dtype = attributes.dtype or element_type(value)
    return np.full(_whole(attributes.shape), to_dtype(value, dtype))


def _filled(value: te.Tensor, result: TensorType, name: str) -> te.Tensor:
    def element(*_: IntExpr) -> Value:
        number: Value = value[()]
        if result.dtype.is_bool and not value.dtype.is_bool:
            return te.not_equal(number, te.const(0, value.dtype))
        return te.cast(number, result.dtype)

    return te.compute(result.shape, element, name=name)


def _static_init(attributes: dyn.DynInitAttributes, shape: Array) -> InitAttributes | None:
    return None if any(extent < 0 for extent in shape) else InitAttributes(tuple(map(expr_of, shape)), attributes.dtype)


def _constant(name: str, number: int, like: bool) -> OperatorRecord:
    """`zeros`, `ones` and their `_like` forms."""

    def compute(_: Any, __: Any, result: TensorType) -> te.Tensor:
        return te.compute(result.shape, lambda *_: te.const(number, result.dtype), name=name)

    word = "zero" if number == 0 else "one"
    if like:
        return define(
            name, f"As many {word}s as another tensor has elements.", inputs={"data": "[..], whose type is taken"},
            type_rule=lambda run, _: run.tensor(0), meaning=lambda _, data: np.full(data.shape, number, data.dtype),
            compute=compute, fusion=FusionKind.ELEMWISE, layout=Elementwise(), gradient=PIECEWISE_CONSTANT,
            effect=Effect.PURE,
            support_level=4,
        )  # fmt: skip
    return define(
        name, f"A tensor of {word}s.", inputs={}, attributes=InitAttributes,
        type_rule=lambda _, attributes: TensorType(attributes.shape, attributes.dtype or DType.FLOAT32),
        meaning=lambda attributes: np.full(
            _whole(attributes.shape), number, (attributes.dtype or DType.FLOAT32).numpy
        ),
        compute=compute, fusion=FusionKind.ELEMWISE, layout=OwnLayout("it states a shape of its own"),
        gradient=PIECEWISE_CONSTANT, effect=Effect.PURE, batch=SHAPE_OF_ITS_OWN, support_level=3,
        static_of=StaticOf(dyn.ZEROS if number == 0 else dyn.ONES, _static_init),
    )  # fmt: skip


FULL = define(
    "full",
    "A tensor of one number.",
    inputs={"fill_value": "a number"},
    attributes=InitAttributes,
    type_rule=_full_rule,
    meaning=_full_meaning,
    compute=lambda _, inputs, result: _filled(inputs[0], result, "full"),
    fusion=FusionKind.ELEMWISE,
    layout=OwnLayout("it states a shape of its own"),
    effect=Effect.PURE,
    gradient=lambda _, given: (given,),
    batch=SHAPE_OF_ITS_OWN,
    scale=SCALES_NOTHING,
    support_level=3,
    static_of=StaticOf(dyn.FULL, _static_init),
)
FULL_LIKE = define(
    "full_like",
    "One number as often as another tensor has elements, in its type.",
    inputs={"data": "[..], whose type is taken", "fill_value": "a number"},
    type_rule=lambda run, _: (run.tensor(1, 0), run.tensor(0))[1],
    meaning=lambda _, data, value: np.full(data.shape, to_dtype(value, element_type(data))),
    compute=lambda _, inputs, result: _filled(inputs[1], result, "full_like"),
    fusion=FusionKind.ELEMWISE,
    layout=OwnLayout("its second input has no axes"),
    effect=Effect.PURE,
    gradient=lambda _, given: (None, given),
    batch=ByElement(broadcasts=False),
    scale=SCALES_NOTHING,
    support_level=3,
)
ZEROS = _constant("zeros", 0, like=False)
ONES = _constant("ones", 1, like=False)
ZEROS_LIKE = _constant("zeros_like", 0, like=True)
ONES_LIKE = _constant("ones_like", 1, like=True)


def _arange_count(start: float, stop: float, step: float) -> int:
    """How many numbers there are; whole numbers are counted exactly."""
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return max(0, -((start - stop) // step))
    return max(0, math.ceil((stop - start) / step))


def _arange_rule(run: RelationRun, attributes: ArangeAttributes) -> Type:
    """start × stop × step → [ceil((stop - start) / step)]"""
    for position in range(3):
        run.tensor(position, 0)
        run.same_dtype(attributes.dtype, position)
    if attributes.step == 0:
        run.conflict("wrong-attribute", "`step` must not be 0", "a number other than 0", "0", (2,))
    if attributes.start is None or attributes.stop is None or attributes.step is None:
        return TensorType((ANY,), attributes.dtype)
    return TensorType((_arange_count(attributes.start, attributes.stop, attributes.step),), attributes.dtype)


_ARANGE_FAILURES = ("arange: `step` must not be 0", "arange: the numbers must be finite")


def _arange_meaning(attributes: ArangeAttributes, start: Array, stop: Array, step: Array) -> Array:
    dtype = attributes.dtype
    numbers: tuple[float, ...] = (start.item(), stop.item(), step.item())
    for failed, text in zip((step == 0, not all(map(math.isfinite, numbers))), _ARANGE_FAILURES, strict=True):
        if failed:
            raise RelayError(rule="wrong-value", message=text, found=f"arange({', '.join(map(str, numbers))})")
    number = dtype.computation.numpy
    first, distance = start.astype(number), step.astype(number)
    steps: Array = np.arange(_arange_count(*numbers)).astype(number)
    with np.errstate(all="ignore"):
        return to_dtype(first + steps * distance, dtype)


def _arange_extents(_: ArangeAttributes, inputs: tuple[te.Tensor, ...], __: TensorType) -> te.Tensor:
    """ceil((stop - start) / step), or the failure."""
    start, stop, step = (tensor[()] for tensor in inputs)

    def extent(_: IntExpr) -> Value:
        reals = [te.cast(number, DType.FLOAT64) for number in (start, stop, step)]
        distance = reals[1] - reals[0]
        count = te.maximum(te.cast(te.ceil(distance / reals[2]), DType.INT64), 0)
        if step.dtype.is_integer:  # exactly, unless the distance overflows
            first, last, by = (te.cast(number, DType.INT64) for number in (start, stop, step))
            exact = te.maximum(-te.floor_divide(first - last, by), 0)
            count = te.select(te.less(te.abs(distance), float(2**62)), exact, count)
        finite = te.all_of(map(te.is_finite, reals))
        return te.select(te.equal(reals[2], 0.0), te.const(-1, DType.INT64), te.select(finite, count, -2))

    return te.compute((1,), extent, name="arange_extents")


def _arange_compute(attributes: ArangeAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    start, _, step = inputs
    dtype = attributes.dtype.computation

    def element(i: IntExpr) -> Value:
        first, distance = te.cast(start[()], dtype), te.cast(step[()], dtype)
        return te.cast(first + te.index_value(i, dtype) * distance, attributes.dtype)

    return te.compute(result.shape, element, name="arange")


ARANGE = define(
    "arange",
    "Numbers at equal distances, from start up to but not including stop.",
    inputs={"start": "a number", "stop": "a number", "step": "a number, not 0"},
    attributes=ArangeAttributes,
    type_rule=_arange_rule,
    meaning=_arange_meaning,
    compute=_arange_compute,
    fusion=FusionKind.OPAQUE,
    layout=OwnLayout("it has one axis of its own"),
    extents=FromValues(_arange_extents, _ARANGE_FAILURES),
    effect=Effect.PURE,
    gradient=gradient_above("creation", "of_arange"),
    batch=DEPENDS_ON_VALUES,
    scale=SCALES_NOTHING,
    support_level=3,
)


def _shape_compute(attributes: ShapeOfAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    (data,) = inputs

    def element(i: IntExpr) -> Value:
        value: Value = te.const(0, attributes.dtype)
        for axis in reversed(range(len(data.shape))):
            extent = te.index_value(data.shape[axis], attributes.dtype)
            value = te.select(te.equal(i, axis), extent, value)
        return value

    return te.compute(result.shape, element, name="shape_of")


def _extents(extents: Any, dtype: DType) -> Array:
    """Extents, symbolic ones too, as elements of `dtype`."""
    if any(isinstance(each, SymbolicInteger) for each in np.asarray(extents, object).flat):
        return to_dtype(symbolic_array(np.asarray(extents, object), DType.INT64), dtype)
    return np.asarray(extents, dtype.numpy)


SHAPE_OF = define(
    "shape_of",
    "The extents of a tensor.",
    inputs={"data": "[..]"},
    attributes=ShapeOfAttributes,
    type_rule=lambda run, attributes: TensorType((len(run.tensor(0).shape),), attributes.dtype),
    meaning=lambda attributes, data: _extents(data.shape, attributes.dtype),
    compute=_shape_compute,
    fusion=FusionKind.OPAQUE,
    layout=OwnLayout("its result counts axes in their order"),
    gradient=PIECEWISE_CONSTANT,
    effect=Effect.PURE,
    batch=NO_BATCH_RULE_YET,
    support_level=10,
    reads_shapes_only=True,
)
NDARRAY_SIZE = define(
    "ndarray_size",
    "The number of elements of a tensor.",
    inputs={"data": "[..]"},
    attributes=ShapeOfAttributes,
    type_rule=lambda run, attributes: (run.tensor(0), TensorType((), attributes.dtype))[1],
    meaning=lambda attributes, data: _extents(data.size, attributes.dtype),
    compute=lambda attributes, inputs, _: te.compute(
        (), lambda: te.index_value(product(inputs[0].shape), attributes.dtype), name="ndarray_size"
    ),
    fusion=FusionKind.OPAQUE,
    layout=OwnLayout("its result has no axes"),
    gradient=PIECEWISE_CONSTANT,
    effect=Effect.PURE,
    batch=NO_BATCH_RULE_YET,
    support_level=10,
    reads_shapes_only=True,
)

CREATIONS: tuple[OperatorRecord, ...] = (
    FULL, FULL_LIKE, ZEROS, ONES, ZEROS_LIKE, ONES_LIKE, ARANGE, SHAPE_OF, NDARRAY_SIZE,
)  # fmt: skip


def _init(shape: Shape | Expr, dtype: str | DType | None) -> InitAttributes:
    return InitAttributes(dimensions(static_shape(shape)), optional_dtype(dtype))


def full(fill_value: Argument, shape: Shape | Expr = (), dtype: str | DType | None = None) -> Call:
    """A tensor [shape] of `fill_value`, in its type or in `dtype`. A shape that is an expression and no constant makes
    a `dyn.full`; `zeros` and `ones` do likewise.

    >>> print(full(1.5, (2, "n")).checked_type)
    Tensor[(2, n), float32]
    """
    return dyn.full(fill_value, shape, dtype) if is_dynamic(shape) else call(FULL, (fill_value,), _init(shape, dtype))


def full_like(data: Argument, fill_value: Argument) -> Call:
    """`fill_value` in the shape and the element type of `data`."""
    return call(FULL_LIKE, (data, as_expr(fill_value)))


def zeros(shape: Shape | Expr, dtype: str | DType = "float32") -> Call:
    """A tensor [shape] of zeros."""
    return dyn.zeros(shape, dtype) if is_dynamic(shape) else call(ZEROS, (), _init(shape, dtype))


def ones(shape: Shape | Expr, dtype: str | DType = "float32") -> Call:
    """A tensor [shape] of ones."""
    return dyn.ones(shape, dtype) if is_dynamic(shape) else call(ONES, (), _init(shape, dtype))


def zeros_like(data: Argument) -> Call:
    """Zeros in the shape and the element type of `data`."""
    return call(ZEROS_LIKE, (data,))


def ones_like(data: Argument) -> Call:
    """Ones in the shape and the element type of `data`."""
    return call(ONES_LIKE, (data,))


def arange(
    start: Argument, stop: Argument | None = None, step: Argument | None = None, dtype: str | DType = "float32"
) -> Call:
    """`start`, `start + step`, … up to but not including `stop`; from 0 when only one number is given.

    The extent is known when all three are numbers or constants, else it is `?`. Raises `RelayError`:
    `wrong-attribute` (a step of 0), `dtypes-differ`, `wrong-rank`.

    >>> print(arange(1, 10, 3, "int32").checked_type)
    Tensor[(3,), int32]
    """
    number = dtype_of(dtype)
    if stop is None:
        start, stop = 0, start
    inputs = [
        as_expr(value, None if known_dtype(value) else number) for value in (start, stop, 1 if step is None else step)
    ]
    known = [value.data.item() if isinstance(value, Constant) and value.data.size == 1 else None for value in inputs]
    if any(isinstance(value, float) and not math.isfinite(value) for value in known):
        raise RelayError(
            rule="wrong-attribute",
            message="arange needs finite numbers",
            span=caller_span(),
            expected="finite numbers",
            found=str(known),
        )
    return call(ARANGE, inputs, ArangeAttributes(number, *known))


def shape_of(data: Argument, dtype: str | DType = "int32") -> Call:
    """The extents of `data`: [rank] of `dtype`."""
    return call(SHAPE_OF, (data,), ShapeOfAttributes(dtype_of(dtype)))


def ndarray_size(data: Argument, dtype: str | DType = "int32") -> Call:
    """The number of elements of `data`, as a scalar of `dtype`."""
    return call(NDARRAY_SIZE, (data,), ShapeOfAttributes(dtype_of(dtype)))
