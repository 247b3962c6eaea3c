"""Images read at places that data compute, as tensor expressions.

What counts at a place is computed once for all channels, in a stage `.._taps`. Many channels lie together first, so
that vectors of them are read at a place: stages `.._data`, unless they lie so already, and `.._mixed`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay import te
from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.types import TensorType
from relay.ops.framework.layouts import Layout, parse_layout
from relay.ops.vision.taps import Taps, mixed
from relay.te.tensor import TensorIndex
from relay.tir.expr import Value

MANY_CHANNELS = 8
"""From so many on, reading vectors of channels pays for moving them together."""


@frozen
class Found:
    """What counts at a place, along each axis of an image; `inside`: 1 if the place has a value at all, else 0, where
    some have none."""

    taps: tuple[Taps, ...]
    inside: Value | None = None

    @property
    def parts(self) -> tuple[Value, ...]:
        """The values of it, in their order."""
        taps = (part for along in self.taps for tap in along for part in tap if part is not None)
        return (*taps, *(() if self.inside is None else (self.inside,)))

    def filled(self, parts: Sequence[Value]) -> Found:
        """The same with other values."""
        rest = iter(parts)
        taps = tuple(
            tuple((next(rest), None if weight is None else next(rest)) for _, weight in along) for along in self.taps
        )
        return Found(taps, None if self.inside is None else next(rest))


def channels_last(data: te.Tensor, layout: Layout, name: str) -> te.Tensor:
    """data in `layout` → [N, space, C]: itself, or a stage `.._data`."""
    last = last_layout(layout)
    if layout == last:
        return data
    extents = layout.extents(data.shape)
    return te.compute(last.shape(extents), lambda *i: data[layout.indices(last.positions(i))], name=f"{name}_data")


def last_layout(layout: Layout) -> Layout:
    """The plain layout of the same axes whose last is that of channels."""
    return parse_layout(f"N{_space(layout)}C")


def _space(layout: Layout) -> str:
    return "".join(sorted(set(layout.axes) - {"N", "C"}))


def read_at(
    data: te.Tensor, layout: Layout, result: TensorType, name: str, found_at: Callable[..., Found],
    instance: Callable[[IntExpr], TensorIndex], elsewhere: float = 0.0,
) -> te.Tensor:  # fmt: skip
    """data in `layout` → the result, in the same layout: at an entry of its axis N and places along D, H and W, what
    `found_at` finds there in the `instance` of that entry; `elsewhere` where it finds nothing."""
    dtype, last = result.dtype.computation, last_layout(layout)
    extents = layout.extents(result.shape)
    shape = last.shape(extents)
    found: list[Found] = []

    def parts_at(*i: IntExpr) -> tuple[Value, ...]:
        found.append(found_at(*i))
        return found[-1].parts

    stages = te.compute(shape[:-1], parts_at, name=f"{name}_taps")

    def value_at(read: Callable[..., Value], at: Sequence[IntExpr]) -> Value:
        here = found[0].filled([each[tuple(at)] for each in stages])
        value = mixed(lambda place: te.cast(read(*place), dtype), here.taps)
        return value if here.inside is None else te.select(te.less(0, here.inside), value, te.const(elsewhere, dtype))

    channels = extents["C"]
    is_first = layout == parse_layout(f"NC{_space(layout)}")
    if is_first and isinstance(channels, int) and channels < MANY_CHANNELS:
        return te.compute(
            result.shape,
            lambda *i: te.cast(
                value_at(lambda *place: data[(instance(i[0]), i[1], *place)], (i[0], *i[2:])), result.dtype
            ),
            name=name,
        )
    turned = channels_last(data, layout, name)

    def mixed_at(*i: IntExpr) -> Value:
        return value_at(lambda *place: turned[(instance(i[0]), *place, i[-1])], i[:-1])

    if layout == last:
        return te.compute(shape, lambda *i: te.cast(mixed_at(*i), result.dtype), name=f"{name}_mixed")
    return turned_back(te.compute(shape, mixed_at, name=f"{name}_mixed"), layout, result, name)


def turned_back(values: te.Tensor, layout: Layout, result: TensorType, name: str) -> te.Tensor:
    """values[N, space, C] → the result, in `layout` and of its type."""
    last = last_layout(layout)
    return te.compute(
        result.shape, lambda *i: te.cast(values[last.indices(layout.positions(i))], result.dtype), name=name
    )
