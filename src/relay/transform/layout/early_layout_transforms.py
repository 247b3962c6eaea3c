"""Changes of layout in front of operators that enlarge their data, where there is less to change.

    before: layout_transform(image.resize2d(%x, size=[64, 64]), src_layout="NCHW", dst_layout="NHWC")
    after:  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC")
            image.resize2d(%0, size=[64, 64], layout="NHWC")

Only where nothing wants the large result in the old layout; two changes of one value to the same layout become one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.rewriting import Uses, rewrite_with_uses
from relay.ir.types import TensorType, Type
from relay.ops.framework.build import call
from relay.ops.framework.layout_rule import LayoutAttribute
from relay.ops.framework.layouts import parse_layout
from relay.ops.framework.record import OperatorRecord
from relay.ops.manipulation.layout_transform import LAYOUT_TRANSFORM, LayoutTransformAttributes


def with_early_layout_transforms(function: Function) -> Function:
    """The function with layouts changed in front of what enlarges its data, not behind it."""
    made: dict[Hashable, Expr] = {}

    def step(expr: Expr, uses: Uses) -> Expr:
        match expr:
            case Call(args=(value,), attrs=LayoutTransformAttributes() as change):
                late = made.setdefault((value, change), expr)
                relaid = _relaid(value, change) if uses.of(value) == 1 else None
                if relaid is None:
                    return late
                record, data, attributes = relaid
                early = made.setdefault((data, change), call(LAYOUT_TRANSFORM, (data,), change))
                return call(record, (early,), attributes)
            case _:
                return expr

    return rewrite_with_uses(function, step)


def _relaid(value: Expr, change: LayoutTransformAttributes) -> tuple[OperatorRecord, Expr, Any] | None:
    """What makes an enlarged value in the new layout: its operator, its data as they are, and the new attributes."""
    match value:
        case Call(
            op=Op(operator=OperatorRecord(layout=LayoutAttribute(attribute=name)) as record),
            args=(data,),
        ) if _is_larger(value.checked_type, data.checked_type):
            attributes: Any = value.attrs
            if getattr(attributes, name) != change.src_layout or parse_layout(change.dst_layout).blocks:
                return None
            return record, data, replace(attributes, **{name: change.dst_layout})
        case _:
            return None


def _is_larger(result: Type | None, data: Type | None) -> bool:
    """Whether a tensor is larger than another of the same axes, where extents that differ are known."""
    if not isinstance(result, TensorType) or not isinstance(data, TensorType):
        return False
    changed = [pair for pair in zip(result.shape, data.shape, strict=True) if pair[0] != pair[1]]
    extents = [extent for pair in changed for extent in pair if isinstance(extent, int)]
    return len(extents) == 2 * len(changed) and math.prod(extents[::2]) > math.prod(extents[1::2])
