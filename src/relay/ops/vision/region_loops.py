"""Samples of regions as loops: data[N, H, W, C] × rois[regions, 5] → [regions, rows, columns, C].

How many samples a bin has, data may say, so the loops over them are written here. Threads take rows of bins; channels,
which lie together, are the innermost loop, and each bin of the result is where its samples are summed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from relay import te
from relay.arith.expr import IntExpr, Symbol
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ops.framework.places import from_end
from relay.ops.framework.reindex import reindexed
from relay.ops.vision.regions import BETWEEN, CORNERS, REACH, Bins, at_least, is_inside
from relay.ops.vision.taps import OF_FORMULAS, Numbers, Taps, mixed
from relay.tir.buffer import Buffer
from relay.tir.expr import Load, Value, ValueVar, imm
from relay.tir.stmt import For, If, LetValue, LoopKind, Stmt, Store
from relay.tir.stmt import Sequence as Statements
from relay.tir.traversal import ValueIndex

BinsOf: TypeAlias = Callable[[Any, Any, Any, Numbers], Bins]
"""A region along an axis, from where it begins and ends there, and how many bins it has."""


@frozen
class Samples:
    """The samples of a bin along an axis: how many, of those the first that may lie in the image, and the one behind
    the last."""

    count: Value
    first: Value
    end: Value


@frozen(eq=False)
class RegionLoops:
    mode: str
    bins_of: BinsOf
    data: Buffer
    rois: Buffer
    result: Buffer

    @property
    def _number(self) -> DType:
        """The type of places."""
        return self.rois.dtype.computation

    def statement(self) -> Stmt:
        regions, rows, columns, _ = self.result.shape
        number, column = Symbol("number"), Symbol("column")
        region, row = reindexed((regions, rows), (regions * rows,), (number,))
        lines = tuple(self._line(region, axis) for axis in (0, 1))
        which = te.cast(te.cast(Load(self.rois, (region, 0)), self._number), DType.INT64)
        parts = [part for line in lines for part in (line.low, line.size, line.count) if not isinstance(part, int)]

        def with_lines(instance: Value, *named: Value) -> Stmt:
            rest = iter(named)
            y, x = (
                Bins(next(rest), next(rest), line.count if isinstance(line.count, int) else next(rest))
                for line in lines
            )
            return For(column, columns, self._bin((region, row, column), instance, (y, x)))

        body = _let((from_end(which, self.data.shape[0]), *parts), with_lines)
        return For(number, regions * rows, body, LoopKind.PARALLEL)

    def _line(self, region: IntExpr, axis: int) -> Bins:
        first, last = (te.cast(Load(self.rois, (region, at)), self._number) for at in CORNERS[axis])
        return self.bins_of(first, last, te.index_value(self.result.shape[axis + 1], self._number), OF_FORMULAS)

    def _bin(self, at: tuple[IntExpr, IntExpr, IntExpr], instance: Value, lines: tuple[Bins, Bins]) -> Stmt:
        bins = [te.index_value(place, self._number) for place in at[1:]]
        extents = [te.index_value(extent, self._number) for extent in self.data.shape[1:3]]
        parts: list[Value] = []
        for line, bin_, extent in zip(lines, bins, extents, strict=True):
            first, end = line.samples(bin_, extent, REACH, OF_FORMULAS)
            count = self._const(line.count) if isinstance(line.count, int) else at_least(line.count, 0, OF_FORMULAS)
            parts += (count, first, end)

        def with_samples(*named: Value) -> Stmt:
            samples = (Samples(*named[:3]), Samples(*named[3:]))

            def sample(places: Sequence[Value]) -> Stmt:
                return self._sample(at, instance, places, extents)

            def along(axis: int, places: tuple[Value, ...]) -> Stmt:
                """Loops over the samples of an axis, and of those behind it."""
                if axis == 2:
                    return sample(places)
                here, step = samples[axis], Symbol("yx"[axis])
                which = here.first + te.index_value(step, self._number)
                place = lines[axis].place(bins[axis], which, OF_FORMULAS)
                body = _let((place,), lambda named: along(axis + 1, (*places, named)))
                return For(step, ValueIndex(te.cast(here.end - here.first, DType.INT64)), body)

            steps = (self._each(at, lambda _: self._start(samples)), along(0, ()))
            if self.mode != "avg":
                return Statements(steps)
            count = te.cast(at_least(samples[0].count * samples[1].count, 1, OF_FORMULAS), self.result.dtype)
            return Statements((*steps, self._each(at, lambda total: total / count)))

        return _let(parts, with_samples)

    def _start(self, samples: tuple[Samples, Samples]) -> Value:
        """What a bin has before its samples: those that are left out are 0."""
        zero = imm(0.0, self.result.dtype)
        if self.mode == "avg":
            return zero
        whole = [te.equal(each.end - each.first, each.count) for each in samples]
        some = [te.less(self._const(0), each.count) for each in samples]
        return te.select(te.all_of((*whole, *some)), te.lowest(self.result.dtype), zero)

    def _sample(
        self, at: tuple[IntExpr, IntExpr, IntExpr], instance: Value, places: Sequence[Value], extents: Sequence[Value]
    ) -> Stmt:
        inside = te.all_of(
            is_inside(place, extent, REACH, OF_FORMULAS) for place, extent in zip(places, extents, strict=True)
        )
        taps = [BETWEEN.taps(place, extent, OF_FORMULAS) for place, extent in zip(places, extents, strict=True)]
        parts = [part for along in taps for place, weight in along for part in (place, te.cast(weight, self._type))]

        def with_taps(*named: Value) -> Stmt:
            y, x = (tuple(zip(named[i : i + 4 : 2], named[i + 1 : i + 4 : 2], strict=True)) for i in (0, 4))
            return self._channels(at, lambda c: self._value(instance, y, x, c))

        taken = _let(parts, with_taps)
        if self.mode == "avg":
            return If(inside, taken)
        nothing = self._channels(at, lambda _: imm(0.0, self._type))
        return If(inside, taken, nothing)

    @property
    def _type(self) -> DType:
        return self.result.dtype

    def _value(self, instance: Value, y: Taps, x: Taps, channel: IntExpr) -> Value:
        """One sample of one channel."""

        def read(places: tuple[Value, ...]) -> Value:
            row, column = places
            at = (ValueIndex(instance), ValueIndex(row), ValueIndex(column), channel)
            return te.cast(Load(self.data, at), self._type)

        if self.mode != "max_taps":
            return mixed(read, (y, x))
        products = [read((row, column)) * (high * wide) for row, high in y for column, wide in x]
        return te.maximum(te.maximum(products[0], products[1]), te.maximum(products[2], products[3]))

    def _channels(self, at: tuple[IntExpr, IntExpr, IntExpr], value: Callable[[IntExpr], Value]) -> Stmt:
        channel = Symbol("channel")
        place = (*at, channel)
        total, one = Load(self.result, place), value(channel)
        joined = total + one if self.mode == "avg" else te.maximum(total, one)
        return For(channel, self.result.shape[3], Store(self.result, place, joined))

    def _each(self, at: tuple[IntExpr, IntExpr, IntExpr], value: Callable[[Value], Value]) -> Stmt:
        channel = Symbol("channel")
        place = (*at, channel)
        return For(channel, self.result.shape[3], Store(self.result, place, value(Load(self.result, place))))

    def _const(self, value: int) -> Value:
        return imm(float(value), self._number)


def _let(values: Sequence[Value], body: Callable[..., Stmt]) -> Stmt:
    """Values by names, for what `body` makes of these."""
    names = [ValueVar("value", value.dtype) for value in values]
    statement = body(*names)
    for name, value in zip(reversed(names), reversed(values), strict=True):
        statement = LetValue(name, value, statement)
    return statement
