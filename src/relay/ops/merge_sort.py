"""Stable order of the elements of a vector, as loops: merge sort from the bottom up (Knuth, "The Art of Computer
Programming", volume 3, section 5.2.4), n · ⌈log2 n⌉ steps.   data[n] → order[n]"""

from __future__ import annotations

from collections.abc import Callable

from relay import te
from relay.arith.expr import Symbol
from relay.base.dtypes import DType
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import IndexValue, Load, Value, imm
from relay.tir.stmt import Allocate, For, If, Sequence, Stmt, Store
from relay.tir.traversal import ValueIndex

_ROUNDS = 40  # lists of 2^40 elements
_LEFT, _RIGHT, _MIDDLE, _END = range(4)


def stable_order(data: te.Tensor, before: Callable[[Value, Value], Value], name: str) -> te.Tensor:
    """The places of the elements of `data`, a vector, in order: int64[n]. `before(a, b)` says that a comes first."""

    def emit(inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]) -> Stmt:
        return _sorted(inputs[0], outputs[0], before)

    return te.extern([data.shape], [DType.INT64], [data], emit, name=name)[0]


def _sorted(data: Buffer, order: Buffer, before: Callable[[Value, Value], Value]) -> Stmt:
    (extent,) = data.shape
    start, round_, back = Symbol("i"), Symbol("round"), Symbol("j")
    merged = Buffer("merged", (extent,), DType.INT64)
    count = te.index_value(extent, DType.INT64)
    width = te.left_shift(imm(1, DType.INT64), IndexValue(round_, DType.INT64))
    copy_back = For(back, extent, Store(order, (back,), Load(merged, (back,))))
    merging = Sequence((_merge_runs(data, order, merged, width, before), copy_back))
    rounds = For(round_, _ROUNDS, If(te.less(width, count), merging))
    first = For(start, extent, Store(order, (start,), IndexValue(start, DType.INT64)))
    return Sequence((first, Allocate(merged, rounds)))


def _merge_runs(
    data: Buffer, order: Buffer, merged: Buffer, width: Value, before: Callable[[Value, Value], Value]
) -> Stmt:
    """Runs of `width` places, each in order, are merged in pairs."""
    (extent,) = data.shape
    k = Symbol("k")
    here, count = IndexValue(k, DType.INT64), te.index_value(extent, DType.INT64)
    state = Buffer("state", (4,), DType.INT64, Scope.LOCAL)
    left, right, middle, end = (Load(state, (position,)) for position in (_LEFT, _RIGHT, _MIDDLE, _END))
    pair_begins = te.equal(te.logical_and(here, width + width - 1), 0)
    pair = Sequence((
        Store(state, (_LEFT,), here),
        Store(state, (_MIDDLE,), te.minimum(here + width, count)),
        Store(state, (_END,), te.minimum(here + width + width, count)),
        Store(state, (_RIGHT,), middle),
    ))  # fmt: skip

    def element(place: Value) -> Value:
        return Load(data, (ValueIndex(Load(order, (ValueIndex(place),))),))

    def take(position: int, place: Value) -> Stmt:
        chosen = Store(merged, (k,), Load(order, (ValueIndex(place),)))
        return Sequence((chosen, Store(state, (position,), place + 1)))

    takes_right = If(before(element(right), element(left)), take(_RIGHT, right), take(_LEFT, left))
    right_or_both = If(te.less(right, end), takes_right, take(_LEFT, left))
    choice = If(te.less(left, middle), right_or_both, take(_RIGHT, right))
    return Allocate(state, For(k, extent, Sequence((If(pair_begins, pair), choice))))
