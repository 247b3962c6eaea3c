"""Which elements the threads of a launch read and write at one place, and whether two of them meet in one.

Loops of constant extent are run through: the elements are counted, not reasoned about. What an index adds that is not
known (a block's number, a symbolic loop) must be the same at both places; an axis of which less is known may be equal.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from relay.arith.expr import (
    Comparison,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Product,
    Sum,
    Symbol,
    add,
    free_symbols,
    linear_parts,
    multiply,
    substitute,
)
from relay.arith.prove import Proof, prove_under
from relay.arith.simplify import Assumptions
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.conditions import facts_unless, facts_when
from relay.tir.dependence import direct_accesses, may_clash
from relay.tir.expr import BinaryOp, Ramp
from relay.tir.hierarchy import Hierarchy
from relay.tir.stmt import For, If, Stmt
from relay.tir.traversal import statement_children, values_in_index

MOST_POINTS = 1 << 21
"""How many points of two places are compared at most; beyond that two places are taken to meet."""

COMPARISONS = {"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne}

Points: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Grid: TypeAlias = Mapping[Symbol, Points]
Extents: TypeAlias = Mapping[Symbol, IntExpr]


@frozen(eq=False)
class Touch:
    """Reads or writes of a buffer at one place, in the iterations of `loops` (threads included) where `facts` hold."""

    buffer: Buffer
    indices: tuple[IntExpr, ...]
    writes: bool
    loops: Extents
    facts: tuple[Comparison, ...]
    update: BinaryOp | None = None

    def later(self, loop: Symbol) -> Touch:
        """What the next iteration of `loop` touches, in terms of this one."""
        return self.where({loop: add(loop, 1)})

    def where(self, values: Mapping[Symbol, IntExpr]) -> Touch:
        """What is touched with these values of symbols."""
        return replace(
            self,
            indices=tuple(substitute(index, values) for index in self.indices),
            loops={symbol: substitute(extent, values) for symbol, extent in self.loops.items()},
            facts=tuple(fact.substitute(values) for fact in self.facts),
        )


def touches(statement: Stmt, loops: Extents, facts: tuple[Comparison, ...], hierarchy: Hierarchy) -> Iterator[Touch]:
    """What stands directly in a statement."""
    for access in direct_accesses(statement, hierarchy):
        inside = {**loops, **_limits(loops, facts)}
        indices: list[IntExpr] = []
        for index in access.indices:
            if isinstance(index, Ramp):
                lane = Symbol("lane")
                inside[lane] = index.lanes
                index = add(index.base, multiply(lane, index.stride))
            indices.append(index)
        yield Touch(access.buffer, tuple(indices), access.writes, inside, facts, access.update)


def all_touches(
    statement: Stmt, loops: Extents, facts: tuple[Comparison, ...], hierarchy: Hierarchy
) -> Iterator[Touch]:
    """What a statement and those inside it touch."""
    stack = [(statement, loops, facts)]
    while stack:
        node, loops, facts = stack.pop()
        yield from touches(node, loops, facts, hierarchy)
        match node:
            case For(variable, extent, body):
                stack.append((body, {**loops, variable: extent}, facts))
            case If(condition, then, otherwise):
                stack.append((then, loops, (*facts, *facts_when(condition))))
                if otherwise is not None:
                    stack.append((otherwise, loops, (*facts, *facts_unless(condition))))
            case _:
                stack.extend((part, loops, facts) for part in statement_children(node))


def _limits(loops: Extents, facts: tuple[Comparison, ...]) -> Extents:
    """Constant extents of loops that have none, where a condition leaves but the first iterations."""
    return {
        fact.left: fact.right
        for fact in facts
        if isinstance(fact.left, Symbol) and fact.op == "<" and isinstance(fact.right, int)
        if not isinstance(loops.get(fact.left, 0), int)
    }


def meet(left: Touch, right: Touch, threads: Sequence[Symbol], same: frozenset[Symbol]) -> bool:
    """Whether two different threads may touch one element, at least one of them writing, while each symbol of `same`
    (loops and units around both) has one value. Two that write meet in a storage word already.

    >>> from relay.base.dtypes import DType
    >>> t, a = Symbol("t"), Buffer("a", (8,), DType.INT32)
    >>> written, own, next_one = (Touch(a, (at,), at is t, {t: 4}, ()) for at in (t, t + 0, t + 1))
    >>> meet(written, own, [t], frozenset()), meet(written, next_one, [t], frozenset())
    (False, True)
    """
    if not may_clash(left, right):
        return False
    unknown = set(threads) - (_countable(left) & _countable(right))
    if not all(_is_told_apart(thread, left, right, same) for thread in unknown):
        return True
    threads, same = [thread for thread in threads if thread not in unknown], same | unknown
    per_word = _elements_per_word(left.buffer) if left.writes and right.writes else 1
    sides = _sides(left, right, threads, same, per_word)
    return sides is None or _several_owners(*sides[0], *sides[1])


def overlap(left: Touch, right: Touch, same: frozenset[Symbol]) -> bool:
    """Whether two places may be one element, at least one of them writing, while each symbol of `same` has one value.

    >>> from relay.base.dtypes import DType
    >>> k, a = Symbol("k"), Buffer("a", (2,), DType.INT32)
    >>> now, ahead, any_time = (Touch(a, (at % 2,), True, {k: 9}, ()) for at in (k, k + 1, k))
    >>> overlap(now, ahead, frozenset({k})), overlap(now, any_time, frozenset())
    (False, True)
    """
    if not may_clash(left, right):
        return False
    sides = _sides(left, right, (), same, 1)
    if sides is None:
        return True
    (keys, _), (other_keys, _) = sides
    numbers, own = _numbered(np.concatenate((keys, other_keys), axis=1)), keys.shape[1]
    return bool(np.isin(numbers[:own], numbers[own:]).any())


def is_apart(left: Touch, right: Touch, same: frozenset[Symbol], known: Assumptions) -> bool:
    """Whether two places are proven to be different elements where extents that nobody can count are in their indices:
    in some axis, by what is known around them and by their facts. Symbols of `same` have one value at both.

    >>> from relay.base.dtypes import DType
    >>> n, i, k = Symbol("n"), Symbol("i"), Symbol("k")
    >>> a, known = Buffer("a", (n,), DType.INT32), Assumptions({}).with_loop(k, n)
    >>> behind, any_time = (Touch(a, (i,), True, {i: n}, facts) for facts in ((Comparison(k + 1, "<=", i),), ()))
    >>> now, same = Touch(a, (k,), False, {k: n}, ()), frozenset({k, n})
    >>> is_apart(behind, now, same, known), is_apart(any_time, now, same, known)
    (True, False)
    """
    countable = _countable(left) & _countable(right)
    pairs = [(a, b) for a, b in zip(left.indices, right.indices, strict=True) if not _symbols_of(a, b) <= countable]
    if not pairs or any(values_in_index(index) for pair in pairs for index in pair):
        return False
    own = {symbol: Symbol(symbol.name) for symbol in left.loops if symbol not in same}
    for symbol, renamed in own.items():
        known = known.with_loop(renamed, substitute(left.loops[symbol], own))
    for symbol, extent in right.loops.items():
        known = known if symbol in known.ranges else known.with_loop(symbol, extent)
    known = known.assuming(*(fact.substitute(own) for fact in left.facts), *right.facts)
    return any(prove_under(Comparison(substitute(a, own), "!=", b), known) is Proof.YES for a, b in pairs)


def _sides(
    left: Touch, right: Touch, threads: Sequence[Symbol], same: frozenset[Symbol], per_word: int
) -> tuple[tuple[Points, Points], tuple[Points, Points]] | None:
    """What is touched at two places, in columns that can be compared, and by which thread; None where these are too
    many points."""
    pairs = zip(_axes(left, per_word), _axes(right, per_word), strict=True)
    known = [pair for a, b in pairs if (pair := _comparable(_split(a, left), _split(b, right), same, per_word))]
    used = {symbol for pair in known for part in pair for symbol in free_symbols(part)}
    both = _countable(left) & _countable(right)
    common = sorted(used & same & both, key=lambda symbol: symbol.name)
    sides = [
        _Side(touch, threads, common, [pair[number] for pair in known]) for number, touch in enumerate((left, right))
    ]
    if any(side.points > MOST_POINTS for side in sides):
        return None
    return sides[0].elements(per_word), sides[1].elements(per_word)


def _is_told_apart(thread: Symbol, left: Touch, right: Touch, same: frozenset[Symbol]) -> bool:
    """Whether threads of different numbers along an axis, however many there are, touch different elements: one index
    is the same sum at both places, of the number and of what has one value."""
    for index in (a for a, b in zip(left.indices, right.indices, strict=True) if a == b):
        terms = [term for term, _ in linear_parts(index)[1] if term is not thread]
        alone = all(free_symbols(term) <= same and not values_in_index(term) for term in terms)
        if thread in free_symbols(index) and alone:
            return True
    return False


def _elements_per_word(buffer: Buffer) -> int:
    return max(1, buffer.scope.word_bytes // buffer.dtype.item_bytes)


def _axes(touch: Touch, per_word: int) -> tuple[IntExpr, ...]:
    """The indices; where words are meant, the one position in row-major order."""
    if per_word == 1:
        return touch.indices
    position: IntExpr = 0
    for index, extent in zip(touch.indices, touch.buffer.shape, strict=True):
        position = add(multiply(position, extent), index)
    return (position,)


def _countable(touch: Touch) -> set[Symbol]:
    return {symbol for symbol, extent in touch.loops.items() if isinstance(extent, int)}


@frozen
class _Parts:
    """An index as a sum: of what is counted, and of the rest, in terms of other symbols."""

    counted: IntExpr
    rest: IntExpr


def _split(index: IntExpr, touch: Touch) -> _Parts | None:
    """None where the two cannot be told apart, or machine numbers are in it."""
    if values_in_index(index):
        return None
    countable = _countable(touch)
    constant, terms = linear_parts(index)
    total: IntExpr = constant
    others: IntExpr = 0
    for term, coefficient in terms:
        symbols = free_symbols(term)
        if symbols <= countable:
            total = add(total, multiply(term, coefficient))
        elif symbols & countable:
            return None
        else:
            others = add(others, multiply(term, coefficient))
    return _Parts(total, others)


def _comparable(
    left: _Parts | None, right: _Parts | None, same: frozenset[Symbol], per_word: int
) -> tuple[IntExpr, IntExpr] | None:
    """The counted parts, if these are equal where the indices are; None where that is not known."""
    if left is None or right is None:
        return None
    distance = add(right.rest, multiply(left.rest, -1))
    loops = free_symbols(left.rest) | free_symbols(right.rest)
    whole = all(coefficient % per_word == 0 for _, coefficient in linear_parts(left.rest)[1])
    if not isinstance(distance, int) or not loops <= same or not whole:
        return None
    return left.counted, add(right.counted, distance)


class _Side:
    """The points of one place: values of the symbols that count there."""

    def __init__(self, touch: Touch, threads: Sequence[Symbol], common: Sequence[Symbol], parts: list[IntExpr]) -> None:
        own = {symbol for part in parts for symbol in free_symbols(part)}
        symbols = dict.fromkeys((*threads, *common, *sorted(own, key=lambda symbol: symbol.name)))
        extents = {symbol: touch.loops[symbol] for symbol in symbols}
        self._extents = {symbol: extent for symbol, extent in extents.items() if isinstance(extent, int)}
        self._facts = [fact for fact in touch.facts if _symbols_of(fact.left, fact.right) <= self._extents.keys()]
        self._threads, self._common, self._parts = threads, common, parts

    @property
    def points(self) -> int:
        return math.prod(self._extents.values())

    def elements(self, per_word: int) -> tuple[Points, Points]:
        """What is touched, one column for each point, and by which thread."""
        grid = dict(zip(self._extents, np.indices(tuple(self._extents.values())), strict=True))
        shape = tuple(self._extents.values())
        taken = np.ones(shape, np.bool_)
        for fact in self._facts:
            taken &= COMPARISONS[fact.op](values_on(fact.left, grid), values_on(fact.right, grid))
        owner = np.zeros(shape, np.int64)
        for symbol in self._threads:
            owner = owner * self._extents[symbol] + grid[symbol]
        values = [values_on(part, grid) // per_word for part in self._parts] + [grid[symbol] for symbol in self._common]
        columns = [np.broadcast_to(column, shape)[taken] for column in values]
        keys = np.stack(columns) if columns else np.zeros((1, int(taken.sum())), np.int64)
        return keys, owner[taken]


def _symbols_of(left: IntExpr, right: IntExpr) -> set[Symbol]:
    return {*free_symbols(left), *free_symbols(right)}


def values_on(index: IntExpr, grid: Grid) -> Any:
    """An index at all points."""
    match index:
        case int():
            return np.int64(index)
        case Symbol():
            return grid[index]
        case Sum(constant, terms):
            return sum((values_on(term, grid) * coefficient for term, coefficient in terms), start=np.int64(constant))
        case Product(factors):
            return math.prod((values_on(factor, grid) for factor in factors), start=np.int64(1))
        case FloorDiv(a, b):
            return values_on(a, grid) // values_on(b, grid)
        case FloorMod(a, b):
            return values_on(a, grid) % values_on(b, grid)
        case Min(a, b):
            return np.minimum(values_on(a, grid), values_on(b, grid))
        case Max(a, b):
            return np.maximum(values_on(a, grid), values_on(b, grid))
        case _:
            raise CompilerBug("tir.touches", f"not counted: {type(index).__name__}")


def _several_owners(keys: Points, owners: Points, other_keys: Points, other_owners: Points) -> bool:
    """Whether an element of both sides is touched by one thread there and by another here."""
    elements, numbers = np.unique(_numbered(np.concatenate((keys, other_keys), axis=1)), return_inverse=True)
    ranges: list[tuple[Points, Points]] = []
    for at, who in ((numbers[: owners.size], owners), (numbers[owners.size :], other_owners)):
        low = np.full(elements.size, np.iinfo(np.int64).max)
        high = np.full(elements.size, -1)
        np.minimum.at(low, at, who)
        np.maximum.at(high, at, who)
        ranges.append((low, high))
    (low, high), (other_low, other_high) = ranges
    both = (high >= 0) & (other_high >= 0)
    return bool(np.any(both & ((low != high) | (other_low != other_high) | (low != other_low))))


def _numbered(keys: Points) -> Points:
    """A number for each column, the same for equal ones."""
    if not keys.size:
        return keys[0]
    low = keys.min(axis=1, keepdims=True)
    extents: list[int] = (keys.max(axis=1) - low[:, 0] + 1).tolist()
    if math.prod(extents) > np.iinfo(np.int64).max:
        return np.unique(keys, axis=1, return_inverse=True)[1].reshape(-1)
    steps = [math.prod(extents[axis + 1 :]) for axis in range(len(extents))]
    return np.array(steps, np.int64) @ (keys - low)
