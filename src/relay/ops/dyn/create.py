"""Tensors of one number, of a shape that the run knows: dyn.full, dyn.zeros, dyn.ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from relay import te
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops.dyn.extents import (
    NEGATIVE,
    OWN_SHAPE,
    known_shape,
    shape_extents,
    shape_rank,
)
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES
from relay.ops.framework.build import Argument, call, optional_dtype
from relay.ops.framework.record import (
    PIECEWISE_CONSTANT,
    FromValues,
    FusionKind,
    OperatorRecord,
    define,
    gradient_above,
)
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, element_type, to_dtype
from relay.ops.framework.scale_role import SCALES_NOTHING


@frozen
class DynInitAttributes(Attributes):
    """`dtype`: None (of `dyn.full`) is that of the value."""

    dtype: DType | None = None


def _full_rule(run: RelationRun, attributes: DynInitAttributes) -> Type:
    value = run.tensor(0, 0)
    return TensorType((ANY,) * shape_rank(run, 1), attributes.dtype or value.dtype)


def _full_meaning(attributes: DynInitAttributes, value: Array, shape: Array) -> Array:
    dtype = attributes.dtype or element_type(value)
    return np.full(known_shape(shape), to_dtype(value, dtype))


def _full_compute(_: Any, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    value = inputs[0][()]
    if result.dtype.is_bool and not value.dtype.is_bool:
        value = te.not_equal(value, te.const(0, value.dtype))
    return te.compute(result.shape, lambda *_: te.cast(value, result.dtype), name="full")


FULL = define(
    "dyn.full",
    "A tensor of one number, of a shape that is computed at run time.",
    inputs={"fill_value": "a number", "shape": "[rank], integers"},
    attributes=DynInitAttributes,
    type_rule=_full_rule,
    meaning=_full_meaning,
    compute=_full_compute,
    fusion=FusionKind.OPAQUE,
    layout=OWN_SHAPE,
    extents=FromValues(lambda _, inputs, __: shape_extents(inputs[1], "full_extents"), NEGATIVE),
    effect=Effect.PURE,
    gradient=gradient_above("reduction", "of_full"),
    batch=DEPENDS_ON_VALUES,
    scale=SCALES_NOTHING,
    support_level=3,
)


def _constant(name: str, number: int) -> OperatorRecord:
    def rule(run: RelationRun, attributes: DynInitAttributes) -> Type:
        return TensorType((ANY,) * shape_rank(run, 0), attributes.dtype or DType.FLOAT32)

    return define(
        f"dyn.{name}", f"A tensor of {name}, of a shape that is computed at run time.",
        inputs={"shape": "[rank], integers"}, attributes=DynInitAttributes, type_rule=rule,
        meaning=lambda attributes, shape: np.full(
            known_shape(shape), number, (attributes.dtype or DType.FLOAT32).numpy
        ),
        compute=lambda _, __, result: te.compute(result.shape, lambda *_: te.const(number, result.dtype), name=name),
        fusion=FusionKind.OPAQUE, layout=OWN_SHAPE, effect=Effect.PURE, gradient=PIECEWISE_CONSTANT,
        batch=DEPENDS_ON_VALUES, support_level=3,
        extents=FromValues(lambda _, inputs, __: shape_extents(inputs[0], f"{name}_extents"), NEGATIVE),
    )  # fmt: skip


ZEROS = _constant("zeros", 0)
ONES = _constant("ones", 1)


def full(fill_value: Argument, shape: Argument, dtype: str | DType | None = None) -> Call:
    """A tensor [shape] of `fill_value`, in its type or in `dtype`. Raises `unknown-rank`, `wrong-dtype`."""
    return call(FULL, (fill_value, shape), DynInitAttributes(optional_dtype(dtype)))


def zeros(shape: Argument, dtype: str | DType = "float32") -> Call:
    """A tensor [shape] of zeros. Raises `unknown-rank`, `wrong-dtype`."""
    return call(ZEROS, (shape,), DynInitAttributes(dtype_of(dtype)))


def ones(shape: Argument, dtype: str | DType = "float32") -> Call:
    """A tensor [shape] of ones. Raises `unknown-rank`, `wrong-dtype`."""
    return call(ONES, (shape,), DynInitAttributes(dtype_of(dtype)))
