"""Names for what formulas use twice: from the graphs that inlining makes of values to lets around small trees.

    before: b[i] = (a[i] + 1) * sigmoid(a[i] + 1)
    after:  let shared = a[i] + 1 { b[i] = shared * sigmoid(shared) }

Values are the same if they are the same operation on the same parts (value numbering: Cocke and Schwartz, "Programming
languages and their compilers", 1970). What occurs once, and what costs nothing to have again (constants, plain loads,
conditions on indices), stays where it is; but no tree becomes higher than `HIGHEST_TREE`, since passes recurse on them.

What occurs only on one side of a `Select` may load what is not there on the other. Its let asks the same condition; or,
where sides of several selects have it in common, whether one of them is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import field
from itertools import combinations

from relay.base.dtypes import DType
from relay.base.frozen import frozen, mutable
from relay.base.graph import post_order
from relay.te.operation import Components
from relay.te.values import any_of
from relay.tir.expr import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Compare,
    Holds,
    Imm,
    IndexValue,
    Load,
    RampValue,
    Select,
    Unary,
    UnaryOp,
    Value,
    ValueVar,
    imm,
)  # fmt: skip
from relay.tir.intrinsics import INTRINSICS
from relay.tir.traversal import map_children, value_children, value_indices, values_in_index

HIGHEST_TREE = 32
"""Nodes above each other in one value."""
MOST_CONDITIONS = 3
"""Selects written around the value of one let; uses that are compared to see whether they exclude each other."""
SMALL_TREE = 8
"""Nodes of what is written on several sides of selects, without a name, where only one of them is taken."""


def named(values: Components, is_there: Callable[[Load], bool]) -> tuple[list[tuple[ValueVar, Value]], Components]:
    """Lets, outermost first, and the values with their names. `is_there` says of a load whether it is certain to be in
    bounds whatever is selected."""
    graph = _Graph.of(values)
    bound, places = _bound(graph, is_there)
    if not bound:
        return [], values
    names = _Names(graph, bound, places)
    trees = tuple(map(names.tree, graph.roots))
    return names.lets, trees


@frozen(eq=False)
class _Graph:
    """Values by number, parts before what is made of them, the same ones under one number."""

    nodes: list[Value]
    parts: list[tuple[int, ...]]
    roots: tuple[int, ...]
    numbers: dict[int, int]  # by identity of values

    @staticmethod
    def of(values: Components) -> _Graph:
        known: dict[Hashable, int] = {}
        graph = _Graph([], [], (), {})
        for value in post_order(values, value_children):
            parts = tuple([graph.numbers[id(part)] for part in value_children(value)])
            number = graph.numbers[id(value)] = known.setdefault(_key(value, parts), len(graph.nodes))
            if number == len(graph.nodes):
                graph.nodes.append(value)
                graph.parts.append(parts)
        return _Graph(graph.nodes, graph.parts, tuple(graph.numbers[id(value)] for value in values), graph.numbers)

    def is_free(self, number: int) -> bool:
        """Whether a value costs nothing to have again."""
        match self.nodes[number]:
            case Imm() | ValueVar() | IndexValue() | RampValue() | Holds():
                return True
            case Load() as load:
                return load.mask is None and not _gathers(load)
            case Binary(dtype=dtype):
                return dtype.is_bool and all(map(self.is_condition, self.parts[number]))
            case _:
                return False

    def is_condition(self, number: int) -> bool:
        """Whether this is a condition on indices, which the partitioning of loops should see where it is asked."""
        node = self.nodes[number]
        is_joined = isinstance(node, Binary) and node.dtype.is_bool
        return isinstance(node, (Holds, Imm)) or (is_joined and all(map(self.is_condition, self.parts[number])))


def _key(value: Value, parts: tuple[int, ...]) -> Hashable:
    """What two values have in common that are the same. Constants are told apart by what they print: -0.0 is not 0."""
    match value:
        case Imm(number, dtype, lanes):
            return Imm, repr(number), dtype, lanes
        case Load(buffer, indices):
            return (Load, id(value)) if _gathers(value) else (Load, buffer, indices, parts)
        case Unary(op) | Binary(op) | Compare(op):
            return type(value), op, parts
        case Cast(dtype=dtype):
            return Cast, dtype, parts
        case Broadcast(lanes=lanes):
            return Broadcast, lanes, parts
        case Select():
            return Select, parts
        case Call(name, _, dtype, lanes) if name in INTRINSICS:
            return Call, name, dtype, lanes, parts
        case IndexValue(index, dtype, lanes) if not values_in_index(index):
            return IndexValue, index, dtype, lanes
        case Holds(condition, lanes) if not (values_in_index(condition.left) or values_in_index(condition.right)):
            return Holds, condition, lanes
        case _:
            return type(value), id(value)


def _gathers(load: Load) -> bool:
    return any(values_in_index(index) for index in value_indices(load))


# --- where a value has to be known ----------------------------------------------------------------------------------


@frozen
class _Side:
    """One side of a select (by its number), where that has to be known itself."""

    select: int
    is_taken: bool
    around: int


@frozen
class _OneOf:
    """Wherever one of these is."""

    members: tuple[int, ...]


_ALWAYS = 0


@mutable
class _Places:
    """The places that occur, by number."""

    kinds: list[_Side | _OneOf] = field(default_factory=lambda: [_OneOf(())])
    numbers: dict[_Side | _OneOf, int] = field(default_factory=dict[_Side | _OneOf, int])
    of: dict[int, int] = field(default_factory=dict[int, int])
    """The places of values that get a name."""

    def number(self, kind: _Side | _OneOf) -> int:
        number = self.numbers.setdefault(kind, len(self.kinds))
        if number == len(self.kinds):
            self.kinds.append(kind)
        return number

    def around(self, place: int) -> Iterator[int]:
        """A place and those it is a part of, outwards."""
        while place != _ALWAYS:
            yield place
            kind = self.kinds[place]
            place = kind.around if isinstance(kind, _Side) else _ALWAYS
        yield _ALWAYS

    def join(self, places: set[int]) -> int:
        """The place that holds all of these and nothing else."""
        while True:
            outer = {place for place in places if not any(other in places for other in [*self.around(place)][1:])}
            whole = {self._with_other_side(place, outer) for place in outer}
            if whole == places:
                break
            places = whole
        return next(iter(places)) if len(places) == 1 else self.number(_OneOf(tuple(sorted(places))))

    def exclude_each_other(self, places: list[int]) -> bool:
        """Whether these are sides of selects only one of which is taken. Of many places that is not asked."""
        if not 1 < len(places) <= MOST_CONDITIONS:
            return False
        taken = [dict(self._sides(place)) for place in places]
        return all(
            any(other.get(select, is_taken) is not is_taken for select, is_taken in sides.items())
            for sides, other in combinations(taken, 2)
        )

    def _sides(self, place: int) -> Iterator[tuple[tuple[int, int], bool]]:
        """The selects around a place, each where it has to be known itself, and which side that is."""
        for each in self.around(place):
            kind = self.kinds[each]
            if isinstance(kind, _Side):
                yield (kind.select, kind.around), kind.is_taken

    def _with_other_side(self, place: int, places: set[int]) -> int:
        """What is around a side, where the other side is among `places` too."""
        kind = self.kinds[place]
        if isinstance(kind, _Side):
            other = _Side(kind.select, not kind.is_taken, kind.around)
            if self.numbers.get(other) in places:
                return kind.around
        return place


def _bound(graph: _Graph, is_there: Callable[[Load], bool]) -> tuple[set[int], _Places]:
    """The numbers of what gets a name, and where they have to be known."""
    bound: set[int] = set()
    places = _Places()
    used_at: list[list[int]] = [[] for _ in graph.nodes]
    safe: dict[int, bool] = {}
    sizes = _sizes(graph)
    for root in graph.roots:
        used_at[root].append(_ALWAYS)
    for number in reversed(range(len(graph.nodes))):  # all uses of a value come before it
        place = places.join(set(used_at[number]))
        is_used_once = sizes[number] <= SMALL_TREE and places.exclude_each_other(used_at[number])
        if len(used_at[number]) > 1 and not graph.is_free(number) and not is_used_once:
            bound.add(number)
            place = _ALWAYS if place == _ALWAYS or _is_safe(graph, number, is_there, safe) else place
        places.of[number] = place
        sides = (None, True, False) if isinstance(graph.nodes[number], Select) else (None,) * len(graph.parts[number])
        for part, side in zip(graph.parts[number], sides, strict=True):
            used_at[part].append(place if side is None else places.number(_Side(number, side, place)))
    _bind_high(graph, bound)
    for number in tuple(bound):
        for place in places.around(places.of[number]):
            kind = places.kinds[place]
            condition = graph.parts[kind.select][0] if isinstance(kind, _Side) else None
            if condition is not None and not graph.is_free(condition):
                bound.add(condition)
    return bound, places


def _sizes(graph: _Graph) -> list[int]:
    """How many nodes values have, written as trees; what is not small is given as a little more than that."""
    sizes: list[int] = []
    for parts in graph.parts:
        sizes.append(min(SMALL_TREE + 1, 1 + sum(sizes[part] for part in parts)))
    return sizes


def _is_safe(graph: _Graph, number: int, is_there: Callable[[Load], bool], known: dict[int, bool]) -> bool:
    """Whether all that a value loads is there, whatever is selected."""
    for each in post_order([number], lambda each: () if each in known else graph.parts[each]):
        node = graph.nodes[each]
        known[each] = all(known[part] for part in graph.parts[each]) and (not isinstance(node, Load) or is_there(node))
    return known[number]


def _bind_high(graph: _Graph, bound: set[int]) -> None:
    """Names for what would make trees too high."""
    heights: list[int] = []
    for number, parts in enumerate(graph.parts):
        height = 1 + max((heights[part] for part in parts if part not in bound), default=0)
        if height >= HIGHEST_TREE and not graph.is_free(number):
            bound.add(number)
        heights.append(height)


@mutable
class _Names:
    """Writes lets and the trees that use their names."""

    graph: _Graph
    bound: set[int]
    places: _Places
    lets: list[tuple[ValueVar, Value]] = field(default_factory=list[tuple[ValueVar, Value]])
    trees: dict[int, Value] = field(default_factory=dict[int, Value])
    asked: dict[int, Value] = field(default_factory=dict[int, Value])
    in_progress: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        for number in sorted(self.bound):
            self.tree(number)

    def tree(self, number: int) -> Value:
        known = self.trees.get(number)
        if known is not None:
            return known
        if number not in self.bound or number in self.in_progress:  # what its own condition needs is written out
            return self._written(number)
        self.in_progress.add(number)
        value = self._where(self.places.of[number], self._written(number))
        self.trees[number] = self._let("shared", value)
        return self.trees[number]

    def _written(self, number: int) -> Value:
        go: Callable[[Value], Value] = lambda part: self.tree(self.graph.numbers[id(part)])  # noqa: E731
        return map_children(self.graph.nodes[number], go, lambda index: index)

    def _let(self, name: str, value: Value) -> ValueVar:
        variable = ValueVar(name, value.dtype, value.lanes)
        self.lets.append((variable, value))
        return variable

    def _where(self, place: int, value: Value, conditions: int = MOST_CONDITIONS) -> Value:
        """`value` where it has to be known, and 0 elsewhere. So many conditions are written out, for all that looks at
        conditions on indices; the rest are asked under one name."""
        if place == _ALWAYS:
            return value
        zero = imm(0, value.dtype, value.lanes)
        match self.places.kinds[place]:
            case _Side(select, is_taken, around) if conditions > 0:
                condition = self.tree(self.graph.parts[select][0])
                chosen = Select(condition, value, zero) if is_taken else Select(condition, zero, value)
                return self._where(around, chosen, conditions - 1)
            case _:
                return Select(self._asked(place), value, zero)

    def _asked(self, place: int) -> Value:
        """Whether what is at a place has to be known."""
        if place not in self.asked:
            yes = imm(True, DType.BOOL)
            match self.places.kinds[place]:
                case _Side(select, is_taken, around):
                    condition = self.tree(self.graph.parts[select][0])
                    taken = condition if is_taken else Unary(UnaryOp.NOT, condition)
                    asked = self._where(around, taken, conditions=0)
                case _OneOf(members):
                    asked = any_of(self._where(member, yes) for member in members)
            self.asked[place] = self._let("asked_for", asked)
        return self.asked[place]
