"""Slices along some axes.   x[..] → x[start:end:step, ..]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.arith.expr import IntExpr
from relay.ir.expr import Expr
from relay.ops.manipulation.slice import strided_slice

FAR = 2**31 - 1
"""As an end, everything that remains, whatever the extent."""


def slice_axes(x: Expr, shape: Sequence[IntExpr], parts: Mapping[int, tuple[IntExpr, IntExpr, int]]) -> Expr:
    """`x` with `(start, end, step)` applied along some axes; axes that stay whole are left out. Places count from the
    end when negative, and are moved into the data."""
    kept = {axis: _near(part) for axis, part in sorted(parts.items()) if not _is_whole(_near(part), shape[axis])}
    if not kept:
        return x
    starts, ends, steps = zip(*kept.values(), strict=True)
    return strided_slice(x, starts, ends, steps, tuple(kept))


def _near(part: tuple[IntExpr, IntExpr, int]) -> tuple[IntExpr, IntExpr, int]:
    """Places of at most 32 bits: what lies further away is the same."""
    start, end = (max(-FAR, min(FAR, place)) if isinstance(place, int) else place for place in part[:2])
    return start, end, part[2]


def _is_whole(part: tuple[IntExpr, IntExpr, int], extent: IntExpr) -> bool:
    start, end, step = part
    return start == 0 and step == 1 and (end == extent or (isinstance(end, int) and end >= FAR))
