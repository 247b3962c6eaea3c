"""Where elements belong in what is in order: searchsorted."""

from __future__ import annotations

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, Symbol
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import PIECEWISE_CONSTANT, FusionKind, OperatorRecord, define
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, wide
from relay.ops.framework.symbolic_integer import machine_numbers
from relay.ops.sorting.sort_key import sort_key
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Load, ValueVar, imm
from relay.tir.stmt import Allocate, For, If, LetValue, Sequence, Stmt, Store
from relay.tir.traversal import ValueIndex

_LONG = DType.INT64
_MOST_HALVINGS = 63
"""As often a range of int64 may be halved until it is empty."""


@frozen
class SearchSortedAttributes(Attributes):
    """`right`: behind elements that are equal, not before them. `dtype`: of the places."""

    right: bool = False
    dtype: DType = DType.INT32


def _rule(run: RelationRun, attributes: SearchSortedAttributes) -> Type:
    """sorted_sequence[.., e] × values[.., k] → [.., k]; of one row, values[..] → [..]"""
    rows, values = run.tensor(0), run.tensor(1)
    run.same_dtype(rows.dtype, 1)
    if attributes.dtype not in (DType.INT32, DType.INT64):
        run.conflict("wrong-attribute", "`dtype` is not that of places", "int32 or int64", str(attributes.dtype))
    if len(rows.shape) != 1 and (not rows.shape or len(rows.shape) != len(values.shape)):
        run.conflict("wrong-rank", "`sorted_sequence` must have 1 axis, or as many as `values`", "[e], or [.., e]",
                     f"{rows} and {values}", (0, 1))  # fmt: skip
    for axis, (extent, found) in enumerate(zip(rows.shape[:-1], values.shape, strict=False)):
        run.equal(extent, found, f"axis {axis} of `values`", (0, 1))
    return TensorType(values.shape, attributes.dtype)


def _meaning(attributes: SearchSortedAttributes, rows: Array, values: Array) -> Array:
    side = "right" if attributes.right else "left"
    sequences, wanted = machine_numbers(wide(rows)), machine_numbers(wide(values))
    result = np.empty(values.shape, attributes.dtype.numpy)
    for at in np.ndindex(rows.shape[:-1]):
        result[at] = np.searchsorted(sequences[at], wanted[at], side)
    return result


def _compute(attributes: SearchSortedAttributes, inputs: tuple[te.Tensor, te.Tensor], result: TensorType) -> te.Tensor:
    def search(given: tuple[Buffer, ...], made: tuple[Buffer, ...]) -> Stmt:
        return _halvings(attributes, *given, *made)

    return te.extern([result.shape], [attributes.dtype], inputs, search, name="searchsorted")[0]


def _halvings(attributes: SearchSortedAttributes, rows: Buffer, values: Buffer, places: Buffer) -> Stmt:
    """For each value, the range that its place is in, halved until nothing is left: `first` is that place then."""
    indices = tuple(Symbol(f"i{axis}") for axis in range(len(values.shape)))
    extent: IntExpr = rows.shape[-1]
    first, end = (Buffer(name, (1,), _LONG, Scope.LOCAL) for name in ("first", "end"))
    low, high = Load(first, (0,)), Load(end, (0,))
    middle, key = ValueVar("middle", _LONG), sort_key(Load(values, indices), ascend=True)
    wanted = ValueVar("wanted", key.dtype)
    found = sort_key(Load(rows, (*indices[: len(rows.shape) - 1], ValueIndex(middle))), ascend=True)
    is_before = (te.less_equal if attributes.right else te.less)(found, wanted)
    halved = If(is_before, Store(first, (0,), middle + 1), Store(end, (0,), middle))
    step = If(te.less(low, high), LetValue(middle, te.floor_divide(low + high, 2), halved))
    count = extent.bit_length() if isinstance(extent, int) else _MOST_HALVINGS
    body: Stmt = Sequence((
        Store(first, (0,), imm(0, _LONG)),
        Store(end, (0,), te.index_value(extent, _LONG)),
        LetValue(wanted, key, For(Symbol("halving"), count, step)),
        Store(places, indices, te.cast(low, attributes.dtype)),
    ))  # fmt: skip
    for index, count_ in reversed(list(zip(indices, values.shape, strict=True))):
        body = For(index, count_, body)
    return Allocate(first, Allocate(end, body))


SEARCHSORTED = define(
    "searchsorted",
    "Where elements would be put into a sequence that is in order, so that it stays in order.",
    inputs={"sorted_sequence": "[e] or [.., e], in ascending order, NaN last", "values": "[..], of the same type"},
    attributes=SearchSortedAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OPAQUE,
    layout=OwnLayout("its sequences run along the last axis"),
    effect=Effect.PURE,
    gradient=PIECEWISE_CONSTANT,
    batch=NO_BATCH_RULE_YET,
    support_level=6,
)

SEARCHES: tuple[OperatorRecord, ...] = (SEARCHSORTED,)


def searchsorted(
    sorted_sequence: Argument, values: Argument, right: bool = False, dtype: str | DType = DType.INT32
) -> Call:
    """The place of each of `values` in `sorted_sequence`: the first one whose element is not smaller, or with `right`
    the first one whose element is larger. A sequence of one axis serves values of any shape; of more, each row its own.

    Raises `RelayError`: `wrong-rank`, `extents-differ`, `dtypes-differ`, `wrong-attribute`.
    """
    return call(SEARCHSORTED, (sorted_sequence, values), SearchSortedAttributes(right, dtype_of(dtype)))
