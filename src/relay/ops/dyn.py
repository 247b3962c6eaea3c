"""Operators whose shapes are tensors: dyn.reshape, dyn.broadcast_to, dyn.full, dyn.zeros, dyn.ones, dyn.strided_slice.

A shape is a tensor [rank] of integers. Its extent is known, so the rank of the result is; the extents of the result are
`?`, and the run finds them. The functions of the static operators (`relay.reshape`) come here when a shape is an
expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NoReturn

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, minimum
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType, dtype_of
from relay.ir.attributes import Attributes, NoAttributes
from relay.ir.expr import Call
from relay.ir.types import ANY, TensorType, Type
from relay.ops.build import Argument, call
from relay.ops.dimensions import product
from relay.ops.elementwise import INTEGERS
from relay.ops.layout_rule import OwnLayout
from relay.ops.record import PIECEWISE_CONSTANT, FromValues, FusionKind, OperatorRecord, define
from relay.ops.reindex import reindexed
from relay.ops.relating import RelationRun
from relay.ops.rounding import Array, to_dtype
from relay.tir.expr import Value

_LONG = DType.INT64
_OWN_SHAPE = OwnLayout("its result has a shape of its own")


@dataclass(frozen=True, slots=True)
class DynInitAttributes(Attributes):
    """`dtype`: None (of `dyn.full`) is that of the value."""

    dtype: DType | None = None


@dataclass(frozen=True, slots=True)
class DynStridedSliceAttributes(Attributes):
    """`slice_mode` `size`: `end` gives sizes, -1 for all that is left, and strides are 1."""

    slice_mode: str = "end"


def _rank(run: RelationRun, position: int) -> int:
    """How many extents the tensor of a shape has."""
    (extent,) = run.tensor(position, 1).shape
    run.dtype_in(position, *INTEGERS)
    if not isinstance(extent, int):
        run.conflict("unknown-rank", f"`{run.names[position]}` must have a known number of entries",
                     "a tensor with one axis of known extent", str(run.tensor(position)), (position,))  # fmt: skip
    return extent


def _entries(tensor: te.Tensor) -> list[Value]:
    (extent,) = tensor.shape
    assert isinstance(extent, int)
    return [te.cast(tensor[(position,)], _LONG) for position in range(extent)]


def _chosen(index: IntExpr, values: Sequence[Value]) -> Value:
    """The value at a place in a list."""
    last: Value = values[-1]
    for position in reversed(range(len(values) - 1)):
        last = te.select(te.equal(index, position), values[position], last)
    return last


def _vector(values: Sequence[Value], name: str) -> te.Tensor:
    return te.compute((len(values),), lambda i: _chosen(i, values), name=name)


def _told(failures: Sequence[Value], values: Sequence[Value], name: str) -> te.Tensor:
    """The extents, or in their place the first of `failures` that happened."""
    first = values[0]
    for reason, happened in reversed(list(enumerate(failures))):
        first = te.select(happened, te.const(-1 - reason, _LONG), first)
    return _vector([first, *values[1:]], name)


def _refuse(failures: Sequence[str], number: int, found: object) -> NoReturn:
    raise RelayError(rule="wrong-value", message=failures[number], found=str(found))


# --------------------------------------------------------------------------------------------------------------- full

_NEGATIVE = ("an extent of a shape must not be negative",)


def _shape_of(shape: Array) -> tuple[int, ...]:
    extents = tuple(int(extent) for extent in shape)
    return _refuse(_NEGATIVE, 0, extents) if min(extents, default=0) < 0 else extents


def _shape_extents(shape: te.Tensor, name: str) -> te.Tensor:
    extents = _entries(shape)
    return _told([te.any_of(te.less(extent, 0) for extent in extents)], extents, name)


def _full_rule(run: RelationRun, attributes: DynInitAttributes) -> Type:
    value = run.tensor(0, 0)
    return TensorType((ANY,) * _rank(run, 1), attributes.dtype or value.dtype)


def _full_meaning(attributes: DynInitAttributes, value: Array, shape: Array) -> Array:
    dtype = attributes.dtype or dtype_of(value.dtype)
    return np.full(_shape_of(shape), to_dtype(value, dtype), dtype.numpy)


def _full_compute(_: Any, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    value = inputs[0][()]
    if result.dtype.is_bool and not value.dtype.is_bool:
        value = te.not_equal(value, te.const(0, value.dtype))
    return te.compute(result.shape, lambda *_: te.cast(value, result.dtype), name="full")


FULL = define(
    "dyn.full",
    "A tensor of one number, of a shape that the run knows.",
    inputs={"fill_value": "a number", "shape": "[rank], integers"},
    attributes=DynInitAttributes,
    type_rule=_full_rule,
    meaning=_full_meaning,
    compute=_full_compute,
    fusion=FusionKind.OPAQUE,
    layout=_OWN_SHAPE,
    extents=FromValues(lambda _, inputs, __: _shape_extents(inputs[1], "full_extents"), _NEGATIVE),
    support_level=3,
)


def _constant(name: str, number: int) -> OperatorRecord:
    def rule(run: RelationRun, attributes: DynInitAttributes) -> Type:
        return TensorType((ANY,) * _rank(run, 0), attributes.dtype or DType.FLOAT32)

    return define(
        f"dyn.{name}", f"A tensor of {name}, of a shape that the run knows.",
        inputs={"shape": "[rank], integers"}, attributes=DynInitAttributes, type_rule=rule,
        meaning=lambda attributes, shape: np.full(
            _shape_of(shape), number, (attributes.dtype or DType.FLOAT32).numpy
        ),
        compute=lambda _, __, result: te.compute(result.shape, lambda *_: te.const(number, result.dtype), name=name),
        fusion=FusionKind.OPAQUE, layout=_OWN_SHAPE, gradient=PIECEWISE_CONSTANT, support_level=3,
        extents=FromValues(lambda _, inputs, __: _shape_extents(inputs[0], f"{name}_extents"), _NEGATIVE),
    )  # fmt: skip


ZEROS = _constant("zeros", 0)
ONES = _constant("ones", 1)

# ------------------------------------------------------------------------------------------------------- broadcast_to

_BROADCAST_FAILURES = (*_NEGATIVE, "the data do not broadcast to the shape: only extents of 1 are repeated")


def _broadcast_rule(run: RelationRun, _: Attributes) -> Type:
    """data[..] × shape[rank] → [shape]"""
    data, rank = run.tensor(0), _rank(run, 1)
    if len(data.shape) > rank:
        run.conflict("wrong-rank", "`data` has more axes than the shape it is broadcast to", f"at most {rank} axes",
                     str(data), (0,))  # fmt: skip
    return TensorType((ANY,) * rank, data.dtype)


def _broadcast_meaning(_: Attributes, data: Array, shape: Array) -> Array:
    wanted = _shape_of(shape)
    fits = all(extent in (1, want) for extent, want in zip(reversed(data.shape), reversed(wanted), strict=False))
    return np.broadcast_to(data, wanted).copy() if fits else _refuse(_BROADCAST_FAILURES, 1, f"{data.shape}, {wanted}")


def _broadcast_extents(_: Attributes, inputs: tuple[te.Tensor, ...], __: Type) -> te.Tensor:
    data, wanted = inputs[0], _entries(inputs[1])
    pairs = zip(reversed(data.shape), reversed(wanted), strict=False)
    misfits = [
        te.logical_and(te.not_equal(extent, 1), te.not_equal(te.index_value(extent, _LONG), want))
        for extent, want in pairs
    ]
    negative = te.any_of(te.less(extent, 0) for extent in wanted)
    return _told([negative, te.any_of(misfits)], wanted, "broadcast_to_extents")


def _broadcast_compute(_: Attributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data = inputs[0]
    added = len(result.shape) - len(data.shape)

    def place(extent: IntExpr, index: IntExpr) -> IntExpr:
        if isinstance(extent, int):
            return 0 if extent == 1 else index
        return minimum(index, extent - 1)  # the index itself, but for an extent of 1

    def element(*i: IntExpr) -> Value:
        return data[tuple(place(extent, index) for extent, index in zip(data.shape, i[added:], strict=True))]

    return te.compute(result.shape, element, name="broadcast_to")


BROADCAST_TO = define(
    "dyn.broadcast_to",
    "The tensor repeated to a shape that the run knows.",
    inputs={"data": "[..]", "shape": "[rank], integers"},
    type_rule=_broadcast_rule,
    meaning=_broadcast_meaning,
    compute=_broadcast_compute,
    fusion=FusionKind.OPAQUE,
    layout=_OWN_SHAPE,
    extents=FromValues(_broadcast_extents, _BROADCAST_FAILURES),
    support_level=4,
)

# ------------------------------------------------------------------------------------------------------------ reshape

_RESHAPE_FAILURES = (
    "`newshape` must have extents, or 0 for that of the data, and -1 at most once",
    "the number of elements of the new shape must be that of the data",
)


def _reshape_rule(run: RelationRun, _: Attributes) -> Type:
    """data[..] × newshape[rank] → [newshape]"""
    data, rank = run.tensor(0), _rank(run, 1)
    if rank == 0:
        run.equal(1, product(data.shape), "the number of elements", (0,), rule="sizes-differ")
    return TensorType((ANY,) * rank, data.dtype)


def _reshape_meaning(_: Attributes, data: Array, newshape: Array) -> Array:
    codes = [int(code) for code in newshape]
    copies = [axis for axis, code in enumerate(codes) if code == 0]
    if min(codes, default=0) < -1 or codes.count(-1) > 1 or any(axis >= data.ndim for axis in copies):
        _refuse(_RESHAPE_FAILURES, 0, codes)
    extents = [data.shape[axis] if code == 0 else code for axis, code in enumerate(codes)]
    known = reduce(lambda left, right: left * right, (extent for extent in extents if extent >= 0), 1)
    if -1 in extents:
        extents[extents.index(-1)] = data.size // known if known else -1
    if min(extents, default=0) < 0 or reduce(lambda left, right: left * right, extents, 1) != data.size:
        _refuse(_RESHAPE_FAILURES, 1, f"{data.shape}, {codes}")
    return data.reshape(extents)


def _reshape_extents(_: Attributes, inputs: tuple[te.Tensor, ...], __: Type) -> te.Tensor:
    data, codes = inputs[0], _entries(inputs[1])
    shape = [te.index_value(extent, _LONG) for extent in data.shape]
    total = te.index_value(product(data.shape), _LONG)
    zeros = [te.equal(code, 0) for code in codes]
    inferred = [te.less(code, 0) for code in codes]
    given = [te.select(zero, shape[axis], codes[axis]) for axis, zero in enumerate(zeros[: len(shape)])]
    given += codes[len(shape) :]
    known = [te.select(open_, te.const(1, _LONG), extent) for open_, extent in zip(inferred, given, strict=True)]
    size = _product(known)
    rest = te.floor_divide(total, te.maximum(size, 1))
    extents = [te.select(open_, rest, extent) for open_, extent in zip(inferred, given, strict=True)]
    count = reduce(lambda left, right: left + right, (te.cast(open_, _LONG) for open_ in inferred))
    bad = [te.less(code, -1) for code in codes]
    bad += [*zeros[len(shape) :], te.less(1, count)]
    # In floating point too: a product of integers may wrap round to the right one.
    real = _product([te.cast(extent, DType.FLOAT64) for extent in extents])
    fits = te.logical_and(te.equal(_product(extents), total), te.less(real, float(2**62)))
    undecided = te.logical_and(te.equal(size, 0), te.less(0, count))
    return _told([te.any_of(bad), te.logical_or(undecided, te.logical_not(fits))], extents, "reshape_extents")


def _product(values: Sequence[Value]) -> Value:
    return reduce(lambda left, right: left * right, values)


def _reshape_compute(_: Attributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data = inputs[0]
    return te.compute(result.shape, lambda *i: data[reindexed(data.shape, result.shape, i)], name="reshape")


RESHAPE = define(
    "dyn.reshape",
    "The same elements in a shape that the run knows.",
    inputs={"data": "[..]", "newshape": "[rank], integers"},
    type_rule=_reshape_rule,
    meaning=_reshape_meaning,
    compute=_reshape_compute,
    fusion=FusionKind.OPAQUE,
    layout=OwnLayout("the row-major order of its elements is its meaning"),
    extents=FromValues(_reshape_extents, _RESHAPE_FAILURES),
    support_level=3,
    is_view=True,
)

# ------------------------------------------------------------------------------------------------------ strided_slice

_SLICE_FAILURES = ("`strides` must not be 0",)
_SLICE_INPUTS = {"data": "[..]", "begin": "[k], integers", "end": "[k], integers", "strides": "[k], integers"}


def _slice_rule(run: RelationRun, attributes: DynStridedSliceAttributes) -> Type:
    """data[.., rest] × begin[k] × end[k] × strides[k] → [k unknown extents, rest]"""
    data, counts = run.tensor(0), [_rank(run, position) for position in (1, 2, 3)]
    if attributes.slice_mode not in ("end", "size"):
        run.conflict("wrong-attribute", "`slice_mode` is not known", "`end` or `size`", attributes.slice_mode)
    if len(set(counts)) != 1 or counts[0] > len(data.shape):
        run.conflict("wrong-shape", "`begin`, `end` and `strides` must have one entry for each axis that is sliced",
                     f"as many each, at most {len(data.shape)}", str(counts), (1, 2, 3))  # fmt: skip
    return TensorType((*(ANY,) * counts[0], *data.shape[counts[0] :]), data.dtype)


def _slice_meaning(
    attributes: DynStridedSliceAttributes, data: Array, begin: Array, end: Array, strides: Array
) -> Array:  # fmt: skip
    parts: list[slice] = []
    for extent, first, last, step in zip(data.shape, begin.tolist(), end.tolist(), strides.tolist(), strict=False):
        if attributes.slice_mode == "size":
            start = first + extent if first < 0 else first
            parts.append(slice(max(start, 0), extent if last < 0 else max(start + last, 0)))
        else:
            parts.append(_refuse(_SLICE_FAILURES, 0, strides.tolist()) if step == 0 else slice(first, last, step))
    return data[tuple(parts)].copy()


@dataclass(frozen=True, slots=True)
class _Part:
    """`size` elements from `start` on, `step` apart."""

    start: Value
    size: Value
    step: Value


def _parts(attributes: DynStridedSliceAttributes, inputs: tuple[te.Tensor, ...]) -> list[_Part]:
    data = inputs[0]
    columns = zip(*map(_entries, inputs[1:]), strict=True)
    by = _sized if attributes.slice_mode == "size" else _stepped
    return [by(te.index_value(extent, _LONG), *column) for extent, column in zip(data.shape, columns, strict=False)]


def _from_end(place: Value, extent: Value) -> Value:
    return te.select(te.less(place, 0), place + extent, place)


def _between(place: Value, low: Value, high: Value) -> Value:
    return te.maximum(te.minimum(place, high), low)


def _sized(extent: Value, begin: Value, size: Value, _: Value) -> _Part:
    zero = te.const(0, _LONG)
    first = te.minimum(_from_end(begin, extent), extent)
    start = _between(first, zero, extent)
    stop = te.select(te.less(size, 0), extent, _between(first + te.minimum(size, extent), zero, extent))
    return _Part(start, te.maximum(stop - start, 0), te.const(1, _LONG))


def _stepped(extent: Value, begin: Value, end: Value, step: Value) -> _Part:
    """As Python slices: places outside are moved to the ends, which lie one further down when counting down."""
    down = te.less(step, 0)
    low = te.select(down, te.const(-1, _LONG), te.const(0, _LONG))
    high = te.select(down, extent - 1, extent)
    start, stop = (_between(_from_end(place, extent), low, high) for place in (begin, end))
    distance = te.select(down, start - stop, stop - start)
    step = _between(step, -extent - 1, extent + 1)  # further than that takes one element all the same
    pace = te.maximum(te.abs(step), 1)
    return _Part(start, te.maximum(te.floor_divide(distance + pace - 1, pace), 0), step)


def _slice_extents(attributes: DynStridedSliceAttributes, inputs: tuple[te.Tensor, ...], _: Type) -> te.Tensor:
    parts = _parts(attributes, inputs)
    failures = [] if attributes.slice_mode == "size" else [te.any_of(te.equal(part.step, 0) for part in parts)]
    return _told(failures, [part.size for part in parts], "strided_slice_extents")


def _slice_compute(
    attributes: DynStridedSliceAttributes, inputs: tuple[te.Tensor, ...], result: TensorType
) -> te.Tensor:  # fmt: skip
    data, parts = inputs[0], _parts(attributes, inputs)
    if not parts:
        return te.compute(result.shape, lambda *i: data[i], name="strided_slice")
    starts = _vector([part.start for part in parts], "strided_slice_start")
    steps = _vector([part.step for part in parts], "strided_slice_step")

    def place(axis: int, index: IntExpr) -> IntExpr:
        if axis >= len(parts):
            return index
        at = starts[(axis,)] + te.index_value(index, _LONG) * steps[(axis,)]
        # A place is in range by its making; the clip says so where that cannot be seen.
        return te.as_index(te.maximum(te.minimum(at, te.index_value(data.shape[axis] - 1, _LONG)), 0))

    def element(*i: IntExpr) -> Value:
        return data[tuple(place(axis, index) for axis, index in enumerate(i))]

    return te.compute(result.shape, element, name="strided_slice")


STRIDED_SLICE = define(
    "dyn.strided_slice",
    "Elements at regular distances, between places that the run knows.",
    inputs=_SLICE_INPUTS,
    attributes=DynStridedSliceAttributes,
    type_rule=_slice_rule,
    meaning=_slice_meaning,
    compute=_slice_compute,
    fusion=FusionKind.OPAQUE,
    layout=_OWN_SHAPE,
    extents=FromValues(_slice_extents, _SLICE_FAILURES),
    support_level=4,
)

DYNAMIC: tuple[OperatorRecord, ...] = (RESHAPE, BROADCAST_TO, FULL, ZEROS, ONES, STRIDED_SLICE)


def reshape(data: Argument, newshape: Argument) -> Call:
    """data[..] → [newshape], the elements in row-major order. `newshape` has extents, 0 for that of the data at this
    place, and at most one -1, which is inferred. Raises `unknown-rank`, `wrong-dtype`.

    >>> from relay.ops.build import var
    >>> print(reshape(var("x", shape=(4, 6)), var("shape", shape=(3,), dtype="int64")).checked_type)
    Tensor[(reshape_0, reshape_1, reshape_2), float32]
    """
    return call(RESHAPE, (data, newshape), NoAttributes())


def broadcast_to(data: Argument, shape: Argument) -> Call:
    """`data` repeated to `shape`, aligned at the last axis. Raises `unknown-rank`, `wrong-rank`, `wrong-dtype`."""
    return call(BROADCAST_TO, (data, shape), NoAttributes())


def full(fill_value: Argument, shape: Argument, dtype: str | DType | None = None) -> Call:
    """A tensor [shape] of `fill_value`, in its type or in `dtype`. Raises `unknown-rank`, `wrong-dtype`."""
    return call(FULL, (fill_value, shape), DynInitAttributes(dtype_of(dtype) if dtype else None))


def zeros(shape: Argument, dtype: str | DType = "float32") -> Call:
    """A tensor [shape] of zeros. Raises `unknown-rank`, `wrong-dtype`."""
    return call(ZEROS, (shape,), DynInitAttributes(dtype_of(dtype)))


def ones(shape: Argument, dtype: str | DType = "float32") -> Call:
    """A tensor [shape] of ones. Raises `unknown-rank`, `wrong-dtype`."""
    return call(ONES, (shape,), DynInitAttributes(dtype_of(dtype)))


def strided_slice(
    data: Argument, begin: Argument, end: Argument, strides: Argument, slice_mode: str = "end"
) -> Call:  # fmt: skip
    """data[begin:end:strides] along the first axes, as Python slices. With `slice_mode="size"`, `end` has sizes, -1 for
    all that is left. Raises `unknown-rank`, `wrong-shape`, `wrong-attribute`, `wrong-dtype`."""
    return call(STRIDED_SLICE, (data, begin, end, strides), DynStridedSliceAttributes(slice_mode))
