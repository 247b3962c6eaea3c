"""Reductions: `te.sum(a[i, k] * b[k, j], axis=k)`.

Narrow floats accumulate in float32 unless `accumulate` says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias, Union

import ml_dtypes

from relay.base.dtypes import DType
from relay.te.operation import Components, Reduced, Reducer, Reduction
from relay.te.precision import is_narrow_float, rounded_once, widen
from relay.te.tensor import Axis
from relay.te.values import as_condition, cast_to
from relay.tir.expr import BinaryOp, Value, ValueLike, binary, imm, machine_number

Axes: TypeAlias = Union[Axis, Sequence[Axis]]


def lowest(dtype: DType) -> float | int:
    """The smallest number of `dtype` (minus infinity for floats that have it): the identity of a maximum."""
    if dtype.is_float:
        return -math.inf if dtype.has_infinity else float(ml_dtypes.finfo(dtype.numpy).min)
    if dtype.is_bool:
        return False
    return 0 if dtype.is_unsigned_integer else -(1 << (dtype.bits - 1))


def highest(dtype: DType) -> float | int:
    """The largest number of `dtype` (infinity for floats that have it): the identity of a minimum."""
    if dtype.is_float:
        return math.inf if dtype.has_infinity else float(ml_dtypes.finfo(dtype.numpy).max)
    if dtype.is_bool:
        return True
    return (1 << dtype.bits) - 1 if dtype.is_unsigned_integer else (1 << (dtype.bits - 1)) - 1


def _simple(name: str, op: BinaryOp, identity: Callable[[DType], float | bool], *, selects: bool) -> Reducer:
    return Reducer(
        name,
        1,
        lambda left, right: (binary(op, left[0], right[0]),),
        lambda dtypes: (imm(identity(dtypes[0]), dtypes[0]),),
        selects,
    )


SUM = _simple("sum", BinaryOp.ADD, lambda _: 0, selects=False)
PROD = _simple("prod", BinaryOp.MULTIPLY, lambda _: 1, selects=False)
MAX = _simple("max", BinaryOp.MAXIMUM, lowest, selects=True)
MIN = _simple("min", BinaryOp.MINIMUM, highest, selects=True)
ANY = _simple("any", BinaryOp.OR, lambda _: False, selects=True)
ALL = _simple("all", BinaryOp.AND, lambda _: True, selects=True)


def reduce(
    reducer: Reducer,
    sources: Sequence[ValueLike],
    axis: Axes,
    where: Value | None = None,
    initial: Sequence[ValueLike] | None = None,
    accumulate: DType | str | None = None,
) -> tuple[Reduced, ...]:
    """All components of `reducer` over `axis`, for the points where `where` holds, starting from `initial`."""
    axes = (axis,) if isinstance(axis, Axis) else tuple(axis)
    numbers = tuple(map(machine_number, sources))
    wide = tuple(_accumulated(reducer, number, accumulate) for number in numbers)
    start = None if initial is None else tuple(map(_as_value, initial, wide))
    reduction = Reduction((reducer,), wide, axes, None if where is None else as_condition(where), start)
    return tuple(Reduced(reduction, position, number.dtype) for position, number in enumerate(numbers))


def _accumulated(reducer: Reducer, source: Value, accumulate: DType | str | None) -> Value:
    if accumulate is not None:
        wide = DType(accumulate)
        return cast_to(widen(source) if wide.is_float and wide.bits >= 32 else source, wide)
    if reducer.selects:
        return rounded_once(source)
    return widen(source) if is_narrow_float(source.dtype) else source


def _as_value(start: ValueLike, source: Value) -> Value:
    return cast_to(machine_number(start, source.dtype), source.dtype)


def _reduced(reducer: Reducer) -> Callable[..., Reduced]:
    def function(
        source: ValueLike,
        axis: Axes,
        where: Value | None = None,
        initial: ValueLike | None = None,
        accumulate: DType | str | None = None,
    ) -> Reduced:
        start = None if initial is None else (initial,)
        return reduce(reducer, (source,), axis, where, start, accumulate)[0]

    function.__name__ = reducer.name
    function.__doc__ = f"The {reducer.name} of `source` over `axis` (one or several), where `where` holds."
    return function


sum = _reduced(SUM)  # noqa: A001
prod = _reduced(PROD)
max = _reduced(MAX)  # noqa: A001
min = _reduced(MIN)  # noqa: A001
any = _reduced(ANY)  # noqa: A001
all = _reduced(ALL)  # noqa: A001


def reducer(
    combine: Callable[[Components, Components], Components],
    identity: Callable[[tuple[DType, ...]], Components],
    arity: int = 1,
    name: str = "reduce",
    *,
    selects: bool = False,
) -> Callable[..., tuple[Reduced, ...]]:
    """A reduction of your own. It must be associative and commutative: schedules change the order.

    `combine(left, right)` and `identity(dtypes)` take and give tuples of `arity` components; `selects` says that
    the result is one of the sources, as argmax's is, so that narrow floats need no wider accumulator. The result is
    called like `te.sum`, with a tuple of sources, and gives the tuple of reduced components.
    """
    made = Reducer(name, arity, combine, identity, selects)

    def function(
        sources: Components,
        axis: Axes,
        where: Value | None = None,
        initial: Sequence[ValueLike] | None = None,
        accumulate: DType | str | None = None,
    ) -> tuple[Reduced, ...]:
        return reduce(made, sources, axis, where, initial, accumulate)

    return function
