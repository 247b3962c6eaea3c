"""What convolutions and pooling share: padding as users write it, padded data, sliding windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from relay import te
from relay.arith.expr import Comparison, IntExpr
from relay.ir.types import ANY, Dimension
from relay.ops.framework.build import item_or_items
from relay.ops.framework.dimensions import derived, quotient, window_extent, window_span
from relay.ops.framework.layouts import Layout
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.tir.expr import Value

Pads: TypeAlias = tuple[tuple[int, int], ...]
"""`(before, after)` of each spatial axis."""


def spatial_axes(rank: int) -> tuple[str, ...]:
    """The letters of the spatial axes: W; H, W; D, H, W."""
    return tuple("DHW"[3 - rank :])


def per_axis(value: int | Sequence[int], rank: int) -> tuple[int, ...]:
    """One number an axis; a single number stands for all of them.

    >>> per_axis(2, 2), per_axis([3], 2), per_axis((1, 2), 2)
    ((2, 2), (3, 3), (1, 2))
    """
    values = item_or_items(value)
    return values * rank if isinstance(values, tuple) and len(values) == 1 else values


def optional_window(window: int | Sequence[int] | None, rank: int) -> tuple[int, ...] | None:
    return None if window is None else per_axis(window, rank)


def full_padding(padding: int | Sequence[int], rank: int) -> tuple[int, ...]:
    """Padding with all numbers given: before each axis, then after each axis. One number is for every side, one an
    axis for both its sides.

    >>> full_padding(1, 2), full_padding((1, 2), 2), full_padding((1, 2, 3, 4), 2)
    ((1, 1, 1, 1), (1, 2, 1, 2), (1, 2, 3, 4))
    """
    values: Any = per_axis(padding, rank)
    return values * 2 if isinstance(values, tuple) and len(values) == rank else values


def check_windows(run: RelationRun, rank: int, **counts: Sequence[int]) -> None:
    """Attributes have one number an axis (padding: two), and those of strides and dilation are at least 1."""
    for name, values in counts.items():
        wanted = 2 * rank if name == "padding" else rank
        if len(values) != wanted:
            allowed = f"1, {rank} or {wanted}" if name == "padding" else f"1 or {rank}"
            run.conflict("wrong-attribute", f"`{name}` has {len(values)} numbers", allowed, str(tuple(values)))
        low = 1 if name in ("strides", "dilation", "pool_size") else 0
        if any(value < low for value in values):
            run.conflict("wrong-attribute", f"`{name}` must be at least {low}", f"{low} or more", str(tuple(values)))


def check_layout(run: RelationRun, axes: Sequence[str], *layouts: Layout) -> None:
    """Layouts name batch, channels and space; channels may come in blocks."""
    wanted = {"N", "C", *axes}
    for layout in layouts:
        if set(layout.axes) != wanted or set(layout.letters) - wanted - {"c"} or layout.blocks != layouts[0].blocks:
            run.conflict("bad-layout", "`layout` does not fit this operator",
                         f"an order of {', '.join(sorted(wanted))}", layout.text)  # fmt: skip


def pads_of(padding: Sequence[int]) -> Pads:
    rank = len(padding) // 2
    return tuple(zip(padding[:rank], padding[rank:], strict=True))


def windows_along(
    run: RelationRun, axis: str, size: Dimension, window: Dimension, stride: int, dilation: int, pads: tuple[int, int],
    *, ceil_mode: bool = False,
) -> Dimension:  # fmt: skip
    """The number of windows along an axis, which must hold at least one window."""
    before, after = pads
    if size is not ANY and window is not ANY:
        span = window_span(window, dilation)
        run.require(
            Comparison(span, "<=", size + (before + after)), "window-too-large",
            f"along {axis} the window reaches {span}, more than the {size + (before + after)} of the padded data", (0,),
            "pad the data, or make the window or its dilation smaller",
        )  # fmt: skip
    return window_extent(size, window, stride, dilation, before, after, ceil_mode=ceil_mode)


def sliding_windows(
    data: Array, window: Sequence[int], strides: Sequence[int], dilation: Sequence[int], counts: Sequence[int]
) -> Array:
    """A view of data[batch, channel, *space] as [batch, channel, *windows, *taps]."""
    rank = len(window)
    spans = [d * (w - 1) + 1 for w, d in zip(window, dilation, strict=True)]
    view = sliding_window_view(data, spans, axis=tuple(range(2, 2 + rank)))
    starts = [slice(0, (c - 1) * s + 1, s) if c else slice(0, 0) for c, s in zip(counts, strides, strict=True)]
    return view[(slice(None), slice(None), *starts, *(slice(None, None, d) for d in dilation))]


def padded_array(data: Array, pads: Pads, fill: float = 0) -> Array:
    """data[batch, channel, *space] with `fill` around its space."""
    if all(pad == (0, 0) for pad in pads):
        return data
    return np.pad(data, [(0, 0), (0, 0), *pads], constant_values=fill)


def padded_tensor(
    data: te.Tensor, layout: Layout, axes: Sequence[str], pads: Pads, fill: float, name: str
) -> te.Tensor:  # fmt: skip
    """A stage that puts `fill` around the space of the data; the data itself when there is no padding."""
    if all(pad == (0, 0) for pad in pads):
        return data
    around = dict(zip(axes, pads, strict=True))
    shape = [
        extent + sum(around.get(letter, (0, 0))) for letter, extent in zip(layout.letters, data.shape, strict=True)
    ]

    def element(*indices: IntExpr) -> Value:
        shifted = [
            i - around[letter][0] if letter in around else i for letter, i in zip(layout.letters, indices, strict=True)
        ]
        inside: list[Value] = []
        for letter, i, extent in zip(layout.letters, shifted, data.shape, strict=True):
            before, after = around.get(letter, (0, 0))
            inside += [te.greater_equal(i, 0)] if before else []
            inside += [te.less(i, extent)] if after else []
        return te.select(te.all_of(inside), data[tuple(shifted)], te.const(fill, data.dtype))

    return te.compute(shape, element, name=name)


def named(letters: Sequence[str], values: Sequence[IntExpr]) -> Mapping[str, IntExpr]:
    return dict(zip(letters, values, strict=True))


def group_extent(run: RelationRun, channels: Dimension, groups: int, what: str) -> Dimension:
    """Channels of one group."""
    if groups < 1:
        run.conflict("wrong-attribute", "`groups` must be at least 1", "1 or more", str(groups))
    if groups == 1:
        return channels
    exact = quotient(channels, groups)
    if exact is not None:
        return exact
    if isinstance(channels, int):
        run.conflict("groups-do-not-divide", f"{groups} groups do not divide the {channels} {what}",
                     f"a multiple of {groups}", str(channels))  # fmt: skip
    rest = derived(lambda c: c % groups, channels)
    run.require(Comparison(rest, "==", 0), "groups-do-not-divide", f"{groups} groups must divide the {what}")
    return derived(lambda c: c // groups, channels)
