"""The same elements in a shape that the run knows: dyn.reshape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from relay import te
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops.dyn.extents import (
    LONG,
    entries,
    refuse,
    shape_rank,
    told,
)
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES
from relay.ops.framework.build import Argument, call
from relay.ops.framework.dimensions import product
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import FromValues, FusionKind, define, gradient_above
from relay.ops.framework.reindex import reindexed
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.tir.expr import Value


@frozen
class DynReshapeAttributes(Attributes):
    """`allowzero`: 0 is an extent, and does not copy that of the data."""

    allowzero: bool = False


_RESHAPE_FAILURES = (
    "`newshape` must have extents, or 0 for that of the data, and -1 at most once",
    "the number of elements of the new shape must be that of the data",
)


def _reshape_rule(run: RelationRun, _: Attributes) -> Type:
    """data[..] × newshape[rank] → [newshape]"""
    data, rank = run.tensor(0), shape_rank(run, 1)
    if rank == 0:
        run.equal(1, product(data.shape), "the number of elements", (0,), rule="sizes-differ")
    return TensorType((ANY,) * rank, data.dtype)


def _reshape_meaning(attributes: DynReshapeAttributes, data: Array, newshape: Array) -> Array:
    codes = [int(code) for code in newshape]
    copies = [axis for axis, code in enumerate(codes) if code == 0 and not attributes.allowzero]
    if min(codes, default=0) < -1 or codes.count(-1) > 1 or any(axis >= data.ndim for axis in copies):
        refuse(_RESHAPE_FAILURES, 0, codes)
    extents = [data.shape[axis] if axis in copies else code for axis, code in enumerate(codes)]
    known = reduce(lambda left, right: left * right, (extent for extent in extents if extent >= 0), 1)
    if -1 in extents:
        extents[extents.index(-1)] = data.size // known if known else -1
    if min(extents, default=0) < 0 or reduce(lambda left, right: left * right, extents, 1) != data.size:
        refuse(_RESHAPE_FAILURES, 1, f"{data.shape}, {codes}")
    return data.reshape(extents)


def _reshape_extents(attributes: DynReshapeAttributes, inputs: tuple[te.Tensor, ...], __: Type) -> te.Tensor:
    data, codes = inputs[0], entries(inputs[1])
    shape = [te.index_value(extent, LONG) for extent in data.shape]
    total = te.index_value(product(data.shape), LONG)
    copies = te.const(not attributes.allowzero, DType.BOOL)
    zeros = [te.logical_and(te.equal(code, 0), copies) for code in codes]
    inferred = [te.less(code, 0) for code in codes]
    given = [te.select(zero, shape[axis], codes[axis]) for axis, zero in enumerate(zeros[: len(shape)])]
    given += codes[len(shape) :]
    known = [te.select(open_, te.const(1, LONG), extent) for open_, extent in zip(inferred, given, strict=True)]
    size = _product(known)
    rest = te.floor_divide(total, te.maximum(size, 1))
    extents = [te.select(open_, rest, extent) for open_, extent in zip(inferred, given, strict=True)]
    count = reduce(lambda left, right: left + right, (te.cast(open_, LONG) for open_ in inferred))
    bad = [te.less(code, -1) for code in codes]
    bad += [*zeros[len(shape) :], te.less(1, count)]
    # In floating point too: a product of integers may wrap round to the right one.
    real = _product([te.cast(extent, DType.FLOAT64) for extent in extents])
    fits = te.logical_and(te.equal(_product(extents), total), te.less(real, float(2**62)))
    undecided = te.logical_and(te.equal(size, 0), te.less(0, count))
    return told([te.any_of(bad), te.logical_or(undecided, te.logical_not(fits))], extents, "reshape_extents")


def _product(values: Sequence[Value]) -> Value:
    return reduce(lambda left, right: left * right, values)


def _reshape_compute(_: Attributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data = inputs[0]
    return te.compute(result.shape, lambda *i: data[reindexed(data.shape, result.shape, i)], name="reshape")


RESHAPE = define(
    "dyn.reshape",
    "The same elements in a shape that is computed at run time.",
    inputs={"data": "[..]", "newshape": "[rank], integers"},
    attributes=DynReshapeAttributes,
    type_rule=_reshape_rule,
    meaning=_reshape_meaning,
    compute=_reshape_compute,
    fusion=FusionKind.OPAQUE,
    layout=OwnLayout("the row-major order of its elements is its meaning"),
    extents=FromValues(_reshape_extents, _RESHAPE_FAILURES),
    effect=Effect.PURE,
    gradient=gradient_above("manipulation", "of_dyn_reshape"),
    batch=DEPENDS_ON_VALUES,
    scale=MOVES_ELEMENTS,
    support_level=3,
    is_view=True,
)


def reshape(data: Argument, newshape: Argument, allowzero: bool = False) -> Call:
    """data[..] → [newshape], the elements in row-major order. `newshape` has extents, 0 for that of the data at this
    place (unless `allowzero`), and at most one -1, which is inferred. Raises `unknown-rank`, `wrong-dtype`.

    >>> from relay.ops.framework.build import var
    >>> print(reshape(var("x", shape=(4, 6)), var("shape", shape=(3,), dtype="int64")).checked_type)
    Tensor[(reshape_0, reshape_1, reshape_2), float32]
    """
    return call(RESHAPE, (data, newshape), DynReshapeAttributes(allowzero))
