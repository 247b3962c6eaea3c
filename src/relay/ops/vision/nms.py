"""Boxes that do not overlap better ones: vision.all_class_non_max_suppression.

boxes[batch, boxes, 4] × scores[batch, classes, boxes] → [batch · classes · boxes, 3], of which so many rows count

In each class of each instance boxes are taken by score, the best first, and one that overlaps a box taken before is
left out. A box has the corners (y, x, y, x), in either order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, Symbol
from relay.base.dtypes import DType
from relay.ir.attributes import Attributes, NoAttributes
from relay.ir.operator import Effect
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.framework.batch_rule import NoBatchRule
from relay.ops.framework.build import Argument, TupleWrapper, tuple_call
from relay.ops.framework.dimensions import product
from relay.ops.framework.elementwise import INTEGERS
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import PIECEWISE_CONSTANT, FusionKind, OperatorRecord, define
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.sorting.order import order_of
from relay.ops.sorting.sort_loops import FirstInOrder
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Load, Value, imm
from relay.tir.stmt import Allocate, For, If, Stmt, Store
from relay.tir.stmt import Sequence as Statements
from relay.tir.traversal import ValueIndex

LONG = DType.INT64


def _rule(run: RelationRun, _: Attributes) -> Type:
    boxes, scores = run.tensor(0, 3), run.tensor(1, 3)
    run.dtype_in(0, lambda dtype: dtype in (DType.FLOAT32, DType.FLOAT64), "float32 or float64")
    run.same_dtype(boxes.dtype, 1)
    run.equal(4, boxes.shape[2], "the last axis of `boxes`", (0,))
    run.equal(boxes.shape[0], scores.shape[0], "the batch of `scores`", (0, 1))
    run.equal(boxes.shape[1], scores.shape[2], "the last axis of `scores`", (0, 1))
    run.tensor(2, 0)
    run.dtype_in(2, *INTEGERS)
    run.tensor_like(3, (), boxes.dtype)
    run.tensor_like(4, (), boxes.dtype)
    return TupleType((TensorType((product(scores.shape), 3), LONG), TensorType((1,), LONG)))


def _meaning(
    _: Attributes, boxes: Array, scores: Array, most: Array, overlap: Array, threshold: Array
) -> tuple[Array, Array]:  # fmt: skip
    found: list[tuple[int, int, int]] = []
    for batch, class_ in np.ndindex(scores.shape[:2]):
        taken: list[int] = []
        for box in order_of(scores[batch, class_], 0, False).tolist():
            if len(taken) >= int(most) or not scores[batch, class_, box] > threshold:
                continue
            corners = boxes[batch]
            if not any(_overlap(corners[box], corners[other]) > overlap for other in taken):
                taken.append(box)
        found += [(batch, class_, box) for box in taken]
    result = np.zeros((scores.size, 3), np.int64)
    result[: len(found)] = np.asarray(found, np.int64).reshape(-1, 3)
    return result, np.asarray([len(found)], np.int64)


def _overlap(first: Array, second: Array) -> Array:
    """The area that two boxes share, over that of both together."""
    low = [np.minimum(each[:2], each[2:]) for each in (first, second)]
    high = [np.maximum(each[:2], each[2:]) for each in (first, second)]
    sides = np.maximum(np.minimum(*high) - np.maximum(*low), 0)
    shared = sides[0] * sides[1]
    total = sum((h - lo)[0] * (h - lo)[1] for h, lo in zip(high, low, strict=True)) - shared
    return shared / total if total > 0 else np.zeros((), first.dtype)


def _compute(_: Attributes, inputs: tuple[te.Tensor, ...], result: TupleType) -> tuple[te.Tensor, ...]:
    """Extern `all_class_non_max_suppression`, behind the order of the scores."""
    scores = inputs[1]
    order = FirstInOrder(2, False, scores.shape[2], (LONG,)).of(scores, "all_class_non_max_suppression_order")[0]
    types = [field for field in result.fields if isinstance(field, TensorType)]
    return te.extern(
        [each.shape for each in types], [each.dtype for each in types], [*inputs, order], _suppress,
        name="all_class_non_max_suppression",
    )  # fmt: skip


def _suppress(inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]) -> Stmt:
    """`state`: how many boxes are taken, how many were when the class began, and whether one overlaps this one."""
    boxes, scores, most, overlap, threshold, order = inputs
    selected, count = outputs
    batch, class_, rank, earlier, row = (Symbol(name) for name in ("batch", "class", "rank", "earlier", "row"))
    state = Buffer("state", (3,), LONG, Scope.LOCAL)
    taken, began, covered = (Load(state, (place,)) for place in range(3))
    box = Load(order, (batch, class_, rank))
    other = Load(selected, (ValueIndex(te.index_value(earlier, LONG) + began), 2))
    share = _shared(_corners(boxes, batch, box), _corners(boxes, batch, other))
    look = For(earlier, ValueIndex(taken - began), If(te.less(Load(overlap, ()), share), _set(state, 2, imm(1, LONG))))
    place = ValueIndex(taken)
    entries = (te.index_value(batch, LONG), te.index_value(class_, LONG), box)
    write = Statements((
        *(Store(selected, (place, column), entry) for column, entry in enumerate(entries)), _set(state, 0, taken + 1),
    ))  # fmt: skip
    good = te.less(Load(threshold, ()), Load(scores, (batch, class_, ValueIndex(box))))
    wanted = te.logical_and(good, te.less(taken - began, te.cast(Load(most, ()), LONG)))
    free = If(te.equal(covered, imm(0, LONG)), write)
    each = If(wanted, Statements((_set(state, 2, imm(0, LONG)), look, free)))
    classes = Statements((_set(state, 1, taken), For(rank, scores.shape[2], each)))
    clear = For(row, selected.shape[0], Statements(tuple(
        Store(selected, (row, column), imm(0, LONG)) for column in range(3)
    )))  # fmt: skip
    all_ = For(batch, scores.shape[0], For(class_, scores.shape[1], classes))
    return Allocate(state, Statements((clear, _set(state, 0, imm(0, LONG)), all_, Store(count, (0,), taken))))


def _set(state: Buffer, place: int, value: Value) -> Stmt:
    return Store(state, (place,), value)


def _corners(boxes: Buffer, batch: IntExpr, box: Value) -> Sequence[Value]:
    """The lower and the upper corner of a box: y, x, y, x."""
    y, x, other_y, other_x = (Load(boxes, (batch, ValueIndex(box), corner)) for corner in range(4))
    low, high = (te.minimum, te.maximum)
    return low(y, other_y), low(x, other_x), high(y, other_y), high(x, other_x)


def _shared(first: Sequence[Value], second: Sequence[Value]) -> Value:
    zero = te.const(0, first[0].dtype)
    height, width = (
        te.maximum(te.minimum(first[axis + 2], second[axis + 2]) - te.maximum(first[axis], second[axis]), zero)
        for axis in (0, 1)
    )
    shared = height * width
    areas = [(corners[2] - corners[0]) * (corners[3] - corners[1]) for corners in (first, second)]
    total = areas[0] + areas[1] - shared
    known = te.less(zero, total)
    return te.select(known, shared / te.select(known, total, te.const(1, zero.dtype)), zero)


ALL_CLASS_NON_MAX_SUPPRESSION = define(
    "vision.all_class_non_max_suppression",
    "In each class of each instance, the boxes that do not overlap better ones too much, the best first.",
    inputs={
        "boxes": "[batch, boxes, 4]: corners y, x, y, x, in either order",
        "scores": "[batch, classes, boxes]",
        "max_output_boxes_per_class": "an integer",
        "iou_threshold": "a number: what two boxes may share of the area of both",
        "score_threshold": "a number, which scores must be above",
    },
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OPAQUE,
    layout=OwnLayout("its axes count boxes and classes in their order"),
    effect=Effect.PURE,
    gradient=PIECEWISE_CONSTANT,
    batch=NoBatchRule("how many boxes there are depends on each instance"),
    support_level=5,
)

SUPPRESSIONS: tuple[OperatorRecord, ...] = (ALL_CLASS_NON_MAX_SUPPRESSION,)


def all_class_non_max_suppression(
    boxes: Argument, scores: Argument, max_output_boxes_per_class: Argument, iou_threshold: Argument,
    score_threshold: Argument,
) -> TupleWrapper:  # fmt: skip
    """(selected[batch · classes · boxes, 3], count[1]): rows (instance, class, box) for the boxes of each class that
    share no more than `iou_threshold` of their area with a better one, and how many rows these are; the rest is 0.

    Raises `RelayError`: `wrong-rank`, `wrong-dtype`, `extents-differ`.

    >>> from relay.ops.framework.build import var
    >>> boxes, scores = var("boxes", shape=(1, 6, 4)), var("scores", shape=(1, 2, 6))
    >>> print(all_class_non_max_suppression(boxes, scores, 3, 0.5, 0.0).tuple_value.checked_type)
    (Tensor[(12, 3), int64], Tensor[(1,), int64])
    """
    arguments = (boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold)
    return tuple_call(ALL_CLASS_NON_MAX_SUPPRESSION, arguments, NoAttributes(), 2)
