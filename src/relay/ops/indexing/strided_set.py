"""Tensors some elements of which are changed: strided_set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relay import te
from relay.arith.expr import Comparison, IntExpr
from relay.base.dtypes import DType
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr, const
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops.dyn.extents import LONG, shape_rank
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call, whole_numbers
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.part_update import Place, changing, part_loops, write_part
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.tir.buffer import Buffer
from relay.tir.expr import Index, Load, Value, ValueVar
from relay.tir.stmt import Stmt
from relay.tir.traversal import ValueIndex


def _rule(run: RelationRun, _: Attributes) -> Type:
    """data[.., rest] × v[.., rest] × begin[k] × end[k] × strides[k] → data"""
    data, part = run.tensor(0), run.tensor(1)
    counts = [shape_rank(run, position) for position in (2, 3, 4)]
    if len(set(counts)) != 1 or counts[0] > len(data.shape):
        run.conflict("wrong-shape", "`begin`, `end` and `strides` must have one entry for each axis that is sliced",
                     f"as many each, at most {len(data.shape)}", str(counts), (2, 3, 4))  # fmt: skip
    if len(part.shape) != len(data.shape):
        run.conflict("wrong-rank", "`v` must have the axes of `data`", str(data), str(part), (0, 1))
    if part.dtype != data.dtype:
        run.conflict("wrong-dtype", "`v` must have the dtype of `data`", str(data), str(part), (0, 1))
    for axis, (extent, given) in enumerate(zip(data.shape, part.shape, strict=True)):
        if axis >= counts[0] and extent is not ANY and given is not ANY:
            run.require(Comparison(given, "==", extent), "extents-differ",
                        f"axis {axis} of `v` is not that of `data`, of which all is taken", (0, 1))  # fmt: skip
    return data


def _meaning(_: Attributes, data: Array, v: Array, begin: Array, end: Array, strides: Array) -> Array:
    result = data.copy()
    to, of = [], []
    places = zip(data.shape, begin.tolist(), end.tolist(), strides.tolist(), strict=False)
    for (extent, first, last, stride), count in zip(places, v.shape, strict=False):
        low, high, start = _numbers(extent, first, last, stride)
        reached = [(start + j * stride, j) for j in range(count) if low <= start + j * stride < high]
        to.append([place for place, _ in reached])
        of.append([j for _, j in reached])
    rest = [range(extent) for extent in data.shape[len(to) :]]
    if data.ndim:
        result[np.ix_(*map(_array, to), *map(_array, rest))] = v[np.ix_(*map(_array, of), *map(_array, rest))]
    return result if data.ndim else v.copy()


def _array(places: Sequence[int]) -> Array:
    return np.array(places, np.int64)


def _numbers(extent: int, begin: int, end: int, stride: int) -> tuple[int, int, int]:
    """The first place, the one behind the last, and where to begin; as Python slices."""
    start, stop, _ = slice(begin, end, stride or 1).indices(extent)
    return (start, stop, start) if stride >= 0 else (stop + 1, start + 1, start)


def _bounds(extent: IntExpr, begin: Value, end: Value, stride: Value) -> tuple[Value, Value, Value]:
    """The same, of values."""
    size = te.index_value(extent, LONG)
    down = te.less(stride, 0)
    least = te.select(down, te.const(-1, LONG), te.const(0, LONG))
    most = te.select(down, size - 1, size)
    start, stop = (
        te.maximum(te.minimum(te.select(te.less(place, 0), place + size, place), most), least) for place in (begin, end)
    )
    return te.select(down, stop + 1, start), te.select(down, start + 1, stop), start


def _write_part(_: Attributes, inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]) -> Stmt:
    """Write the elements of `v` to their places, in memory that holds `data`."""
    data, part, *told = inputs
    loops = part_loops(part)
    target: list[Index] = list(loops.indices)
    places: list[Place] = []
    for axis in range(int(told[0].shape[0])):  # pyright: ignore[reportArgumentType]
        begin, end, stride = (te.cast(Load(each, (axis,)), LONG) for each in told)
        low, high, start = _bounds(data.shape[axis], begin, end, stride)
        value = start + te.index_value(loops.indices[axis], LONG) * stride
        places.append(Place(axis + 1, ValueVar(f"place{axis}", LONG), value, low, high))
        target[axis] = ValueIndex(places[axis].variable)
    return write_part(outputs[0], part, loops, target, places)


_COMPUTE, _UPDATE = changing("strided_set", _write_part, part=1)

STRIDED_SET = define(
    "strided_set",
    "The input, with other elements at regular distances.",
    inputs={"data": "[.., rest]", "v": "[.., rest]", "begin": "[k], integers", "end": "[k], integers",
            "strides": "[k], integers"},
    type_rule=_rule,
    meaning=_meaning,
    compute=_COMPUTE,
    update=_UPDATE,
    effect=Effect.PURE,
    gradient=gradient_above("indexing", "of_strided_set"),
    batch=NO_BATCH_RULE_YET,
    scale=NO_SCALE_YET,
    fusion=FusionKind.OPAQUE,
    layout=OwnLayout("its places count axes in their order"),
    support_level=4,
)  # fmt: skip

UPDATES: tuple[OperatorRecord, ...] = (STRIDED_SET,)


def strided_set(
    data: Argument, v: Argument, begin: Sequence[int] | Expr, end: Sequence[int] | Expr,
    strides: Sequence[int] | Expr | None = None,
) -> Call:  # fmt: skip
    """`data` after data[begin:end:strides] = v, along the first axes: negative places count from the end, and places
    outside are moved inside. `v` has the extents of that slice; what of it reaches further is left out, and where it
    ends earlier, `data` stays. Where nobody else has a use for `data`, that costs as much as `v` has elements.

    Raises `RelayError`: `wrong-shape`, `wrong-rank`, `wrong-dtype`, `extents-differ`.

    >>> from relay.ops.framework.build import var
    >>> cache, row = var("cache", shape=(4096, 1024)), var("row", shape=(1, 1024))
    >>> print(strided_set(cache, row, [7], [8]).checked_type)
    Tensor[(4096, 1024), float32]
    """
    first, last = (_places(each) for each in (begin, end))
    steps = _places(strides) if strides is not None else _ones(first)
    return call(STRIDED_SET, (data, v, first, last, steps))


def _places(places: Sequence[int] | Expr) -> Expr:
    return places if isinstance(places, Expr) else const(whole_numbers(places, "a place or step of strided_set"))


def _ones(places: Expr) -> Expr:
    """As many strides of 1."""
    type_ = places.checked_type
    count = type_.shape[0] if isinstance(type_, TensorType) and type_.shape else 1
    return const(np.ones(int(count), DType.INT64.numpy))  # pyright: ignore[reportArgumentType]
