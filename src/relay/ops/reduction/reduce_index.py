"""Where the extreme element is: argmax, argmin. Over several axes the index counts them as one, in row-major order."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import Comparison, IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops.framework.build import Argument, call
from relay.ops.framework.dimensions import product
from relay.ops.framework.elementwise import NUMBERS
from relay.ops.framework.layout_rule import AxisAttribute
from relay.ops.framework.record import PIECEWISE_CONSTANT, FusionKind, OperatorRecord, define
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, wide
from relay.ops.framework.symbolic_integer import machine_numbers
from relay.ops.reduction.reduce import ALONG_REDUCED_AXES, Axes, axes_argument, reading_of, reduced_axes, reduced_shape
from relay.te.reducers import highest, lowest
from relay.tir.expr import Value


@frozen
class ArgReduceAttributes(Attributes):
    """`select_last_index`: of equal elements the last one counts, not the first."""

    axis: tuple[int, ...] | None = None
    keepdims: bool = False
    exclude: bool = False
    select_last_index: bool = False


def _rule(run: RelationRun, attributes: ArgReduceAttributes) -> Type:
    """data[..] → int32 [..]"""
    run.dtype_in(0, *NUMBERS)
    shape = reduced_shape(run, attributes)
    extents = run.tensor(0).shape
    count = product(extents[axis] for axis in reduced_axes(attributes, len(extents)))
    if count is not ANY:
        run.require(Comparison(1, "<=", count), "empty-reduction", "there must be an element to choose", (0,))
    return TensorType(shape, DType.INT32)


def _meaning(largest: bool, attributes: ArgReduceAttributes, data: Array) -> Array:
    axes = reduced_axes(attributes, data.ndim)
    kept = [axis for axis in range(data.ndim) if axis not in axes]
    count = int(np.prod([data.shape[axis] for axis in axes], dtype=np.int64))
    rows = machine_numbers(wide(data)).transpose(*kept, *axes).reshape(*(data.shape[axis] for axis in kept), count)
    choose = np.argmax if largest else np.argmin
    if attributes.select_last_index:
        index = rows.shape[-1] - 1 - choose(rows[..., ::-1], axis=-1)
    else:
        index = choose(rows, axis=-1)
    shape = [1 if axis in axes else extent for axis, extent in enumerate(data.shape)]
    return np.asarray(index).astype(np.int32).reshape(shape if attributes.keepdims else np.shape(index))


def _better(largest: bool, last: bool, left: tuple[Value, Value], right: tuple[Value, Value]) -> Value:
    """That `left`, an (index, value) pair, is chosen over `right`. NaN is chosen over every number."""
    (left_index, left_value), (right_index, right_value) = left, right
    wins = (te.greater if largest else te.less)(left_value, right_value)
    ties = te.equal(left_value, right_value)
    if left_value.dtype.is_float:
        left_nan, right_nan = te.is_nan(left_value), te.is_nan(right_value)
        wins = te.logical_or(wins, te.logical_and(left_nan, te.logical_not(right_nan)))
        ties = te.logical_or(ties, te.logical_and(left_nan, right_nan))
    first = (te.greater if last else te.less)(left_index, right_index)
    return te.logical_or(wins, te.logical_and(ties, first))


def _compute(largest: bool, attributes: ArgReduceAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    """One stage with two components, `argmax` or `argmin`: the index, and the element there."""
    (data,) = inputs
    dtype = data.dtype.computation
    last = attributes.select_last_index
    reading = reading_of(attributes, data)
    name = "argmax" if largest else "argmin"
    if not reading.taps:
        return te.compute(result.shape, lambda *_: te.const(0, DType.INT32), name=name)

    def combine(left: Any, right: Any) -> Any:
        chosen = _better(largest, last, left, right)
        return tuple(te.select(chosen, a, b) for a, b in zip(left, right, strict=True))

    def identity(dtypes: tuple[DType, ...]) -> tuple[Value, ...]:
        worst = (lowest if largest else highest)(dtype)
        # An index that loses every tie, so that an element equal to the worst number is still chosen.
        return te.const(-1 if last else 2**31 - 1, dtypes[0]), te.const(worst, dtypes[1])

    choose = te.reducer(combine, identity, arity=2, name=name)

    def element(*indices: IntExpr) -> tuple[te.Reduced, ...]:
        flat: IntExpr = 0
        for axis, tap in zip(reading.axes, reading.taps, strict=True):
            flat = flat * data.shape[axis] + tap
        value = te.cast(data[reading.at(indices, reading.taps)], dtype)
        return choose((te.index_value(flat, DType.INT32), value), axis=reading.taps)

    chosen, _ = te.compute(result.shape, element, name=name)
    return chosen


def _record(name: str, largest: bool) -> OperatorRecord:
    return define(
        name,
        f"The index of the {'largest' if largest else 'smallest'} element; NaN is chosen over numbers.",
        inputs={"data": "[..], a number type"},
        attributes=ArgReduceAttributes,
        type_rule=_rule,
        meaning=partial(_meaning, largest),
        compute=partial(_compute, largest),
        fusion=FusionKind.COMM_REDUCE,
        layout=AxisAttribute("axis", drops_axes=True),
        gradient=PIECEWISE_CONSTANT,
        effect=Effect.PURE,
        batch=ALONG_REDUCED_AXES,
        support_level=4,
    )


ARGMAX = _record("argmax", True)
ARGMIN = _record("argmin", False)

INDEX_REDUCTIONS: tuple[OperatorRecord, ...] = (ARGMAX, ARGMIN)


def argmax(
    data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False, select_last_index: bool = False
) -> Call:
    """The index of the largest element over `axis`, as int32; of equal ones the first, or the last.

    data[..] → int32 [..].  Raises `RelayError`: `axis-out-of-range`, `empty-reduction`, `wrong-dtype`.
    """
    return call(ARGMAX, (data,), ArgReduceAttributes(axes_argument(axis), keepdims, exclude, select_last_index))


def argmin(
    data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False, select_last_index: bool = False
) -> Call:
    """The index of the smallest element over `axis`, as int32; otherwise as `argmax`."""
    return call(ARGMIN, (data,), ArgReduceAttributes(axes_argument(axis), keepdims, exclude, select_last_index))
