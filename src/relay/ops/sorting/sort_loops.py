"""The first elements in order along an axis, as loops.   data[.., e, ..] → places or elements [.., count, ..]

All elements, or many of them, are put in order (`sort_words.py`). Few of many are selected: what comes before the
last of the first `count` seen so far is collected, and whenever as many again have come, they are put in order and
all but the first `count` forgotten. Whatever the order of the elements, each is moved a bounded number of times.

Threads take rows where there are several, else parts of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from relay import te
from relay.arith.expr import IntExpr, Symbol, ceil_divide, floor_divide, floor_modulo, minimum
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ops.framework.dimensions import product
from relay.ops.framework.reindex import reindexed
from relay.ops.sorting.sort_key import key_type, sort_key
from relay.ops.sorting.sort_words import Word, Words, counted
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Load, Value, ValueVar, imm
from relay.tir.stmt import Allocate, For, If, LetValue, LoopKind, Stmt, Store
from relay.tir.stmt import Sequence as Statements
from relay.tir.traversal import ValueIndex

BLOCK = 16384
"""How many elements of a row one thread takes at a time."""
MOST_BLOCKS = 64
SELECTION_BLOCK = 131072
"""The same for a selection, which puts the first elements of each block in order."""
FEW_ROWS = 4
"""Fewer rows than this are taken one by one, by all threads, where they are long."""
SELECTED_ELEMENTS = 32
"""Selection looks at no fewer elements than this before it puts in order what it has collected."""
LOOKED_AT = 32
"""How many elements are compared with the limit of a selection at a time."""


@frozen
class FirstInOrder:
    """The first `count` elements along an axis, upwards or downwards. Of equal ones the first comes first; NaN comes
    after all numbers, in both directions. `kinds` are the results: places as numbers of a dtype, or None: elements."""

    axis: int
    ascend: bool
    count: IntExpr
    kinds: tuple[DType | None, ...]

    def of(self, data: te.Tensor, name: str) -> tuple[te.Tensor, ...]:
        shape = (*data.shape[: self.axis], self.count, *data.shape[self.axis + 1 :])
        dtypes = [kind or data.dtype for kind in self.kinds]
        return te.extern([shape] * len(dtypes), dtypes, [data], self._emit, name=name)

    def _emit(self, inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]) -> Stmt:
        (data,) = inputs
        others = (*data.shape[: self.axis], *data.shape[self.axis + 1 :])
        rows, number = product(others), Symbol("row")
        extent = data.shape[self.axis]
        by_parts = isinstance(rows, int) and rows < FEW_ROWS and isinstance(extent, int) and extent >= 2 * BLOCK
        place = reindexed(others, (rows,), (0 if rows == 1 else number,))
        row = _Row(self, data, outputs, place, by_parts).statement()
        return row if rows == 1 else For(number, rows, row, LoopKind.SERIAL if by_parts else LoopKind.PARALLEL)


class _Row:
    """One row of the data; `place` is where it stands in the other axes. `by_parts`: threads take parts of it."""

    def __init__(
        self,
        wanted: FirstInOrder,
        data: Buffer,
        outputs: tuple[Buffer, ...],
        place: tuple[IntExpr, ...],
        by_parts: bool,
    ) -> None:
        self.wanted, self.data, self.outputs, self.place, self.by_parts = wanted, data, outputs, place, by_parts
        self.extent, self.count = data.shape[wanted.axis], wanted.count

    def statement(self) -> Stmt:
        most = counted(self.data.dtype)
        if isinstance(self.extent, int):
            return self._ranked(self.extent) if self.extent <= most else self._long()
        return If(te.less_equal(self.extent, most), self._ranked(most), self._long())

    def _long(self) -> Stmt:
        if not self._selects():
            return self._put_in_order()
        blocks = self._blocks(SELECTION_BLOCK)
        return self._selected(0, self.extent, self._written) if blocks == 1 else self._selected_by_blocks(blocks)

    def _selects(self) -> bool:
        """Whether few of many are wanted."""
        if not isinstance(self.count, int) or not isinstance(self.extent, int):
            return isinstance(self.count, int)
        return 4 * self.count <= min(self.extent, SELECTION_BLOCK)

    def _blocks(self, size: int) -> int:
        """How many blocks of about this size the row is cut into for threads."""
        return max(1, min(self.extent // size, MOST_BLOCKS)) if self.by_parts and isinstance(self.extent, int) else 1

    def _at(self, index: IntExpr) -> tuple[IntExpr, ...]:
        axis = self.wanted.axis
        return (*self.place[:axis], index, *self.place[axis:])

    def _over(self, extent: IntExpr, body: Callable[[Symbol], Stmt]) -> Stmt:
        i = Symbol("i")
        if not self.by_parts or not isinstance(extent, int) or extent < 2 * BLOCK:
            return For(i, extent, body(i))
        return For(i, extent, body(i), LoopKind.PARALLEL, (("grain", BLOCK),))

    def _words(self, capacity: IntExpr, scope: Scope = Scope.GLOBAL) -> Words:
        return Words(self.data.dtype, self.wanted.ascend, capacity, scope)

    def _word_at(self, words: Words, i: IntExpr) -> Word:
        return words.word(Load(self.data, self._at(i)), i)

    def _ranked(self, capacity: int) -> Stmt:
        """A row of up to `capacity` elements: each to the place that its rank is."""
        words, i, k = self._words(capacity, Scope.LOCAL), Symbol("i"), Symbol("k")
        fill = For(i, self.extent, words.store(0, i, self._word_at(words, i)))
        if self.count == self.extent:
            return words.allocated(fill, words.ranked(0, self.extent, lambda place, rank: self._stored(rank, place)))
        # To ask each element whether it is wanted would be a branch that nobody can predict.
        places = Buffer("order", (capacity,), DType.INT32, Scope.LOCAL)
        rank_all = words.ranked(
            0, self.extent, lambda place, rank: Store(places, (rank,), te.index_value(place, DType.INT32))
        )
        wanted = For(k, self.count, self._stored(k, ValueIndex(Load(places, (k,)))))
        return Allocate(places, words.allocated(fill, rank_all, wanted))

    def _put_in_order(self) -> Stmt:
        words = self._words(self.extent)
        fill = self._over(self.extent, lambda i: words.store(0, i, self._word_at(words, i)))
        ordered = words.by_digits(self.extent, self._blocks(BLOCK))
        return words.allocated(fill, ordered, self._written(words))

    def _written(self, words: Words) -> Stmt:
        """The results, from words in order."""

        def write(row: IntExpr, i: Symbol) -> Stmt:
            place = ValueVar("place", DType.INT64)
            return LetValue(place, words.place(words.load(row, i)), self._stored(i, ValueIndex(place)))

        return words.read(lambda row: self._over(self.count, partial(write, row)))

    def _stored(self, rank: IntExpr, place: IntExpr) -> Stmt:
        """The results of the element at a place of the data."""
        element = Load(self.data, self._at(place))
        stores = [
            Store(output, self._at(rank), element if kind is None else te.index_value(place, kind))
            for output, kind in zip(self.outputs, self.wanted.kinds, strict=True)
        ]
        return Statements(tuple(stores))

    # ----------------------------------------------------------------------------------------------------- selection

    def _selected(self, begin: IntExpr, extent: IntExpr, then: Callable[[Words], Stmt]) -> Stmt:
        """`then` of words, the first `count` of which are the first of the elements from `begin` on, in order."""
        assert isinstance(self.count, int)
        collected = self.count + max(self.count, SELECTED_ELEMENTS)
        words = self._words(collected + LOOKED_AT)
        collection = _Collection(words, self.count)

        def look(group: IntExpr, elements: IntExpr) -> Stmt:
            first = begin + group * LOOKED_AT
            return collection.look(elements, collected, lambda i: (Load(self.data, self._at(first + i)), first + i))

        group, whole = Symbol("group"), floor_divide(extent, LOOKED_AT)
        every = Statements((
            For(group, whole, look(group, LOOKED_AT)), look(whole, floor_modulo(extent, LOOKED_AT)), collection.cut()
        ))  # fmt: skip
        return words.allocated(collection.allocated(every), then(words))

    def _selected_by_blocks(self, blocks: int) -> Stmt:
        """The first of each block, and the first of these."""
        assert isinstance(self.count, int)
        count, block, i = self.count, Symbol("block"), Symbol("i")
        found = self._words(blocks * count)
        size = ceil_divide(self.extent, blocks)

        def keep(words: Words) -> Stmt:
            return words.read(lambda row: For(i, count, found.store(0, block * count + i, words.load(row, i))))

        select = self._selected(block * size, minimum(size, self.extent - block * size), keep)
        each = For(block, blocks, select, LoopKind.PARALLEL)
        return found.allocated(each, found.put_in_order(blocks * count), self._written(found))


class _Collection:
    """Words that may be among the first `count`: those before the last of the first `count` seen when they were last
    put in order."""

    def __init__(self, words: Words, count: int) -> None:
        self.words, self.count = words, count
        key = key_type(words.dtype)
        self._largest = imm((1 << key.bits) - 1, key)
        self._found = Buffer("found", (1,), DType.INT64, Scope.LOCAL)
        self._limit = Buffer("limit", (1,), key, Scope.LOCAL)
        self._limited = Buffer("limited", (1,), DType.BOOL, Scope.LOCAL)
        self._smallest = Buffer("smallest", (1,), key, Scope.LOCAL)
        self.found = Load(self._found, (0,))

    def allocated(self, body: Stmt) -> Stmt:
        statement: Stmt = Statements((
            Store(self._found, (0,), imm(0, DType.INT64)),
            Store(self._limit, (0,), self._largest),
            Store(self._limited, (0,), imm(False, DType.BOOL)),
            body,
        ))  # fmt: skip
        for buffer in (self._found, self._limit, self._limited, self._smallest):
            statement = Allocate(buffer, statement)
        return statement

    def look(self, count: IntExpr, most: int, element: Callable[[Symbol], tuple[Value, IntExpr]]) -> Stmt:
        """Collect what may be among the first, up to `most`. Most often nothing is: the smallest of the keys tells."""
        i, j = Symbol("i"), Symbol("j")
        smallest = Load(self._smallest, (0,))
        key = sort_key(element(i)[0], self.words.ascend)
        word = self.words.word(*element(j))

        def store(row: IntExpr) -> Stmt:
            stored = self.words.store(row, ValueIndex(self.found), word)
            return Statements((stored, Store(self._found, (0,), self.found + 1)))

        collect = self.words.read(lambda row: For(j, count, If(self._may_be(self.words.key(word)), store(row))))
        if count is not LOOKED_AT:
            return collect
        is_full = te.greater(self.found, te.const(most, DType.INT64))
        return Statements((
            Store(self._smallest, (0,), self._largest),
            For(i, count, Store(self._smallest, (0,), te.minimum(smallest, key))),
            If(self._may_be(smallest), Statements((collect, If(is_full, self.cut())))),
        ))  # fmt: skip

    def _may_be(self, key: Value) -> Value:
        """Whether an element may be among the first; of equal ones, those seen before come first."""
        return te.logical_or(te.logical_not(Load(self._limited, (0,))), te.less(key, Load(self._limit, (0,))))

    def cut(self) -> Stmt:
        """Put in order what was collected, and forget all but the first `count`."""
        count = te.const(self.count, DType.INT64)

        def limit(row: IntExpr) -> Stmt:
            last = self.words.key(self.words.load(row, self.count - 1))
            return Statements((
                Store(self._found, (0,), count),
                Store(self._limit, (0,), last),
                Store(self._limited, (0,), imm(True, DType.BOOL)),
            ))  # fmt: skip

        there = te.greater_equal(self.found, count)
        return Statements((self.words.put_in_order(ValueIndex(self.found)), If(there, self.words.read(limit))))
