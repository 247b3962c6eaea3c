"""Values whose parts have names, wherever they are: in lists, tuples, data types, and where they may be missing."""

# ruff: noqa: RUF007
from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import pytest

import relay

from .running import agrees, fails, flat


class Point(NamedTuple):
    x: float
    y: float


class Line(NamedTuple):
    start: Point
    end: Point


@dataclasses.dataclass(frozen=True)
class Interval:
    low: int
    high: int


@relay.datatype
class Scene:
    center: Point
    points: list[Point]


POINTS = [Point(0.0, 0.0), Point(2.0, 4.0), Point(4.0, 2.0)]


def centroid(points: list[Point]):
    n = len(points)
    return Point(sum(p.x for p in points) / n, sum(p.y for p in points) / n)


def area(points: list[Point]):
    found = 0.0
    for i, p in enumerate(points):
        q = points[(i + 1) % len(points)]
        found += p.x * q.y - q.x * p.y
    return abs(found) / 2


def first_and_last(points: list[Point]):
    first, *rest = points
    return first.x + rest[-1].y + points[1][0]


def in_order(points: list[Point]):
    return [p.x for p in sorted(points, key=lambda p: -p.y)], max(points, key=lambda p: p.x).y, max(points).y


def moved(points: list[Point]):
    further = [p._replace(x=p.x + 1) for p in points if p.y > 0]
    further.append(Point(1.0, 1.0))
    last = further.pop()
    return further[0].x, last.x, points + further


def nearest(points: list[Point]):
    best = None
    for p in points:
        if best is None or p.y > best.y:
            best = p
    return best.x if best is not None else -1.0


def by_pattern(points: list[Point]):
    total = 0.0
    for p in points:
        match p:
            case Point(0.0, y):
                total += y + 10
            case Point(x=x):
                total += x
    return total


def lengths(points: list[Point]):
    lines = [Line(p, q) for p, q in zip(points, points[1:], strict=False)]
    return [line.end.x - line.start.x for line in lines]


@pytest.mark.parametrize("definition", [centroid, area, first_and_last, in_order, moved, nearest, by_pattern, lengths])
def test_elements_of_lists_have_names(definition):
    agrees(definition, POINTS)


def known_by_use(n: int):
    points = [Point(i * 1.0, i * 2.0) for i in range(n)]
    points.append(Point(7.0, 8.0))
    points[0] = Point(3.0, 4.0)
    total = 0.0
    while points:
        total += points.pop().x
    return total


def grown(n: int):
    points = []
    for i in range(n):
        points.append(Point(i * 1.0, 1.0))
    return points[0].x + points[-1].y


def in_a_tuple(n: int):
    pair = (Point(1.0, 2.0), n)
    for i in range(n):
        p, k = pair
        pair = (Point(p.y, p.x + i), k + 1)
    return pair[0].x, pair[0].y, pair[1]


def in_dicts(n: int):
    rows = [{"a": i, "b": i * 2.0} for i in range(n)]
    return sum(row["b"] for row in rows) + rows[0]["a"]


def compared(n: int):
    a, b = Interval(n, 3), Interval(n, 3)
    several = [Interval(i, i) for i in range(n)]
    return a == b, a != Interval(n, 4), Interval(1, 2) == Interval(1, 2), a == (n, 3), several[1] in several


@pytest.mark.parametrize("definition", [known_by_use, grown, in_a_tuple, in_dicts, compared])
def test_names_are_kept(definition):
    agrees(definition, 3)


def merged(intervals: list[Interval]):
    ordered = sorted(intervals, key=lambda each: each.low)
    found = [ordered[0]]
    for each in ordered[1:]:
        if each.low <= found[-1].high:
            found[-1] = Interval(found[-1].low, max(found[-1].high, each.high))
        else:
            found.append(each)
    return [each.low for each in found], [each.high for each in found]


def test_dataclasses_in_lists():
    for intervals in ([Interval(1, 3), Interval(8, 10), Interval(2, 6)], [Interval(1, 2)]):
        found = relay.function(merged)(intervals)
        assert [list(map(int, each)) for each in found] == list(merged(intervals))


def of_a_scene(scene: Scene):
    return scene.center.x + sum(p.y for p in scene.points)


def test_fields_of_data_types_have_names():
    assert float(relay.function(of_a_scene)(Scene(Point(1.0, 2.0), POINTS))) == 7.0


def shifted(p: Point | None):
    return p.x + 1 if p is not None else 0.0


def test_what_may_be_missing_has_names():
    defined = relay.function(shifted)
    assert (float(defined(Point(1.0, 2.0))), float(defined(None))) == (2.0, 0.0)


class Vector(NamedTuple):
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def __rmul__(self, factor):
        return self * factor

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


@dataclasses.dataclass(frozen=True)
class Fraction:
    over: int
    under: int

    @property
    def value(self):
        return self.over / self.under

    def __lt__(self, other):
        return self.over * other.under < other.over * self.under

    def __eq__(self, other):
        return self.over * other.under == other.over * self.under

    def __hash__(self):
        return 0

    def times(self, factor=2):
        if factor > 3:
            return Fraction(self.over, self.under)
        return Fraction(self.over * factor, self.under)


@dataclasses.dataclass(frozen=True)
class Ordered:
    low: int
    high: int = 3

    def __post_init__(self):
        if self.low > self.high:
            raise ValueError("not in order")


def of_ordered(n: int):
    each = Ordered(n)
    moved = dataclasses.replace(each, low=each.low - 1)
    return moved.low, [Ordered(i, n).low for i in range(n)]


def test_what_a_class_checks_ends_the_run():
    agrees(of_ordered, 2)
    fails(of_ordered, ValueError, "check-failed", 5)
    assert int(relay.function(of_one_that_is_given)(Ordered(1, 2))) == 3


def of_one_that_is_given(each: Ordered):
    return each.low + each.high


def of_vectors(n: int):
    vectors = [Vector(i * 1.0, 2.0) for i in range(n)]
    total = Vector(0.0, 0.0)
    for each in vectors:
        total = total + each * 2.0 + 3.0 * each
    total = -total
    return total.dot(vectors[0]), total.x, total.y


def of_fractions(n: int):
    found = [Fraction(i, i + 2) for i in range(1, n)]
    half, other = Fraction(n, 2 * n), Fraction(1, 2)
    return (
        [each.value for each in found], found[0] < found[1], [each.times(n).over for each in found],
        found[1].times().over, [each.over for each in sorted(found)], half == other, half != other, half != found[0],
    )  # fmt: skip


@pytest.mark.parametrize("definition", [of_vectors, of_fractions])
def test_methods_and_operators_of_classes(definition):
    agrees(definition, 5)


def swapped(n: int):
    d = {"a": 1.0, "b": 2.0}
    if n > 0:
        d = {"b": 3.0, "a": 4.0}
    return d["a"]


def test_other_names_are_told_apart():
    with pytest.raises(relay.RelayError, match="other names for its parts"):
        _ = relay.function(swapped).module


def test_results_have_names():
    found = relay.function(centroid)(POINTS)
    assert type(found) is Point
    assert [float(each) for each in flat(found)] == [2.0, 2.0]


@dataclass(frozen=True)
class Queue:
    front: list[int]
    back: list[int]

    def push(self, item: int):
        return Queue(self.front, [item, *self.back])

    def is_empty(self):
        return len(self.front) == 0 and len(self.back) == 0

    def pop(self):
        if self.front:
            return self.front[0], Queue(self.front[1:], self.back)
        reordered = self.back[::-1]
        return reordered[0], Queue(reordered[1:], [])


def josephus(n: int, k: int):
    queue = Queue([], [])
    for i in range(n):
        queue = queue.push(i)
    order = []
    while not queue.is_empty():
        for _ in range(k - 1):
            person, queue = queue.pop()
            queue = queue.push(person)
        person, queue = queue.pop()
        order.append(person)
    return order


class Best(NamedTuple):
    score: float
    place: int | None


def best_of(xs: list[float]):
    best = Best(0.0, None)
    for i, x in enumerate(xs):
        if x > best.score:
            best = Best(x, i)
    return best


def test_a_class_tells_what_its_empty_fields_are():
    assert relay.function(josephus)(5, 2) == josephus(5, 2)
    assert relay.function(best_of)([1.0, 3.0]) == Best(3.0, 1)
    assert relay.function(best_of)([-1.0]).place is None
