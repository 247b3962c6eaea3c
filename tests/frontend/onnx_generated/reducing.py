"""Nodes that make one element of many, and those that put elements in order."""

from __future__ import annotations

import numpy as np

from tests.frontend.onnx_generated.draft import BOOL, FLOAT, INTEGER, Draft, Unfit

SUMS = (
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceProd",
    "ReduceLogSumExp",
)  # fmt: skip
_AXES_ARE_INPUTS, _SUM_AXES_ARE_INPUTS = 18, 13


def reduction(draft: Draft) -> None:
    operator = draft.one_of(*SUMS)
    x = draft.pick(FLOAT + INTEGER if operator in SUMS[:5] else FLOAT)
    axes = draft.axes(draft.values[x].ndim)
    if draft.opset < 11:
        axes = [axis % draft.values[x].ndim for axis in axes]
    keepdims = draft.one_of(0, 1, None)
    if draft.opset < (_SUM_AXES_ARE_INPUTS if operator == "ReduceSum" else _AXES_ARE_INPUTS):
        draft.node(operator, x, axes=axes or None, keepdims=keepdims)
        return
    inputs = [draft.integers(*axes)] if axes or draft.chance(0.3) else []
    noop = draft.one_of(0, 1, None)
    draft.node(operator, x, *inputs, keepdims=keepdims, noop_with_empty_axes=noop)


def place_of_most(draft: Draft) -> None:
    x = draft.ordered(FLOAT + INTEGER)
    axis = draft.axis(draft.values[x].ndim)
    last = draft.one_of(0, 1, None) if draft.opset >= 12 else None
    axis = axis if draft.opset >= 11 else axis % draft.values[x].ndim
    operator = draft.one_of("ArgMax", "ArgMin")
    draft.node(operator, x, axis=axis, keepdims=draft.one_of(0, 1, None), select_last_index=last)


def softmax(draft: Draft) -> None:
    x = draft.ordered()
    rank = draft.values[x].ndim
    default = 1 if draft.opset < _SUM_AXES_ARE_INPUTS else -1
    axis = draft.axis(rank) if draft.chance(0.8) or rank <= default else None
    if axis is not None and draft.opset < 11:
        axis %= rank
    draft.node(draft.one_of("Softmax", "LogSoftmax", "Hardmax"), x, axis=axis)


def top(draft: Draft) -> None:
    x = draft.ordered()
    axis = draft.axis(draft.values[x].ndim)
    extent = draft.values[x].shape[axis]
    if not extent:
        raise Unfit
    if draft.opset < 10:
        draft.node("TopK", x, outputs=2, axis=axis, k=draft.whole(1, extent))
        return
    order = {"largest": draft.one_of(0, 1), "sorted": 1} if draft.opset >= 11 else {}
    draft.node("TopK", x, draft.integers(draft.whole(1, extent)), outputs=2, axis=axis, **order)


def cumulative(draft: Draft) -> None:
    x = draft.pick(least_rank=1)
    axis = draft.given(np.asarray(draft.axis(draft.values[x].ndim), np.int64))
    operator = draft.one_of("CumSum", "CumSum", "CumProd")
    draft.node(operator, x, axis, exclusive=draft.one_of(0, 1, None), reverse=draft.one_of(0, 1, None))


def places(draft: Draft) -> None:
    draft.node("NonZero", draft.pick(FLOAT + INTEGER + BOOL, least_rank=1))


def unique(draft: Draft) -> None:
    x = draft.ordered(FLOAT + INTEGER)
    axis = draft.axis(draft.values[x].ndim) if draft.chance(0.4) else None
    kept = [0, *(at for at in (1, 2, 3) if draft.chance(0.5))]
    is_sorted, dtype = draft.one_of(0, 1, None), draft.values[x].dtype.name
    if is_sorted == 0 and axis is not None and dtype not in ("float32", "float64", "int64", "int8"):
        raise Unfit  # the reference evaluator sorts along an axis all the same, and onnxruntime has none for the others
    draft.node("Unique", x, outputs=4, kept=kept, axis=axis, sorted=is_sorted)


REDUCING = (reduction, reduction, place_of_most, softmax, top, cumulative, places, unique)
