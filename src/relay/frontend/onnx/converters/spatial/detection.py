"""NonMaxSuppression.   boxes[batch, boxes, 4] × scores[batch, classes, boxes] → [count, 3]"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.computed_axes import LONG, numbers, scalar
from relay.ir.expr import Expr, const
from relay.ops import dyn
from relay.ops.elementwise.elementwise_binary import add, multiply, subtract
from relay.ops.manipulation.combine import concatenate, split
from relay.ops.vision.nms import all_class_non_max_suppression


def _non_max_suppression(node: OnnxNode) -> Result:
    boxes, scores = node.value(0), node.value(1)
    if node.int("center_point_box"):
        x, y, width, height = split(boxes.expr, 4, 2)
        corners: Expr = concatenate([*_ends(y, height, boxes.dtype), *_ends(x, width, boxes.dtype)], 2)
        corners = concatenate([split(corners, 4, 2)[place] for place in (0, 2, 1, 3)], 2)
    else:
        corners = boxes.expr
    most = const(0, LONG) if node.optional_value(2) is None else as_dtype(scalar(node, 2, "a number of boxes"), LONG)
    limits = [
        const(default, boxes.dtype) if node.optional_value(place) is None else scalar(node, place, "a threshold")
        for place, default in ((3, 0.0), (4, float("-inf")))
    ]
    selected, count = all_class_non_max_suppression(corners, scores.expr, most, *limits)
    return dyn.strided_slice(selected, numbers(0), count, numbers(1))


def _ends(middle: Expr, length: Expr, dtype: DType) -> tuple[Expr, Expr]:
    half = multiply(length, const(0.5, dtype))
    return subtract(middle, half), add(middle, half)


DETECTION: tuple[Converter, ...] = (converter("NonMaxSuppression", _non_max_suppression, "center_point_box"),)
