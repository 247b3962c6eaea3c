"""Words put in order, as loops. A word is the key of an element (`ops/sorting/sort_key.py`) and its place.

Few words are put in order by counting: the rank of a word is the number of words before it. Others are
sorted by their digits from the lowest to the highest, each pass stable (Knuth, "The Art of Computer Programming",
volume 3, section 5.2.5, algorithm R; each pass by distribution counting, section 5.2, algorithm D): n steps a digit.
A digit that all words share is counted and not moved. Many words are cut in blocks, which threads count and move at
the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from relay import te
from relay.arith.expr import IntExpr, Symbol, ceil_divide, maximum, minimum
from relay.base.dtypes import DType
from relay.ops.sorting.sort_key import key_bits, key_type, sort_key
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import IndexValue, Load, Value, ValueVar, imm
from relay.tir.stmt import Allocate, For, If, LetValue, LoopKind, Sequence, Stmt, Store
from relay.tir.traversal import ValueIndex

COUNTED_PER_DIGIT = 32
"""Up to so many words, times the digits of a key, counting ranks takes less time than clearing counters of digits."""
DIGIT_BITS = 8
BUCKETS = 1 << DIGIT_BITS

Word: TypeAlias = tuple[Value, ...]


def counted(dtype: DType) -> int:
    """Up to how many words of elements of this type are put in order by counting."""
    return COUNTED_PER_DIGIT * _digits(dtype)


def _digits(dtype: DType) -> int:
    return key_bits(dtype) // DIGIT_BITS


class Words:
    """Two rows of words with room for `capacity`: one is read while the other is written.

    With a key of 32 bits a word is one number, the key above the place; a wider key has its place beside it. Places are
    32 bits wide.
    """

    def __init__(self, dtype: DType, ascend: bool, capacity: IntExpr, scope: Scope = Scope.GLOBAL) -> None:
        self.dtype, self.ascend = dtype, ascend
        self._is_packed = key_type(dtype) is DType.UINT32
        shape = (2, maximum(capacity, 1))
        self._words = Buffer("words", shape, DType.UINT64, scope)
        self._places = None if self._is_packed else Buffer("places", shape, DType.UINT32, scope)
        self._half = Buffer("half", (1,), DType.INT32, Scope.LOCAL)

    def allocated(self, *body: Stmt) -> Stmt:
        """`body`, which finds no words."""
        statement: Stmt = Sequence((Store(self._half, (0,), imm(0, DType.INT32)), *body))
        for buffer in (self._half, self._words) if self._places is None else (self._half, self._words, self._places):
            statement = Allocate(buffer, statement)
        return statement

    def read(self, body: Callable[[IntExpr], Stmt]) -> Stmt:
        """`body` of the row that is read."""
        row = ValueVar("row", DType.INT32)
        return LetValue(row, Load(self._half, (0,)), body(ValueIndex(row)))

    def _moved(self, body: Callable[[IntExpr], Stmt]) -> Stmt:
        """`body` of the row that is read, which moves words to the other one: that is read then."""
        turned = Store(self._half, (0,), 1 - Load(self._half, (0,)))
        return Sequence((self.read(body), turned))

    # --------------------------------------------------------------------------------------------------------- words

    def word(self, element: Value, place: IntExpr) -> Word:
        """The word of an element at a place of the data."""
        key = sort_key(element, self.ascend)
        if not self._is_packed:
            return key, IndexValue(place, DType.UINT32)
        high = te.left_shift(te.cast(key, DType.UINT64), imm(32, DType.UINT64))
        return (te.logical_or(high, IndexValue(place, DType.UINT64)),)

    def key(self, word: Word) -> Value:
        return te.cast(te.right_shift(word[0], imm(32, DType.UINT64)), DType.UINT32) if self._is_packed else word[0]

    def place(self, word: Word) -> Value:
        return te.cast(
            te.logical_and(word[0], imm((1 << 32) - 1, DType.UINT64)) if self._is_packed else word[1], DType.INT64
        )

    def load(self, row: IntExpr, at: IntExpr) -> Word:
        word = Load(self._words, (row, at))
        return (word,) if self._places is None else (word, Load(self._places, (row, at)))

    def store(self, row: IntExpr, at: IntExpr, word: Word) -> Stmt:
        if self._places is None:
            return Store(self._words, (row, at), word[0])
        return Sequence((Store(self._words, (row, at), word[0]), Store(self._places, (row, at), word[1])))

    def _before(self, left: Word, right: Word) -> Value:
        """That a word comes before another one; no two are equal."""
        if self._is_packed:
            return te.less(left[0], right[0])
        ties = te.logical_and(te.equal(left[0], right[0]), te.less(left[1], right[1]))
        return te.logical_or(te.less(left[0], right[0]), ties)

    def _digit(self, word: Word, number: Symbol) -> IntExpr:
        """A digit of the key, 0 the lowest."""
        shift = IndexValue(DIGIT_BITS * number + (32 if self._is_packed else 0), DType.UINT64)
        return ValueIndex(te.logical_and(te.right_shift(word[0], shift), imm(BUCKETS - 1, DType.UINT64)))

    # ---------------------------------------------------------------------------------------------- putting in order

    def put_in_order(self, count: IntExpr) -> Stmt:
        """The first `count` words of the row that is read."""
        if isinstance(count, int):
            return self._by_counting(count) if count <= counted(self.dtype) else self.by_digits(count)
        few = te.less_equal(te.index_value(count, DType.INT64), te.const(counted(self.dtype), DType.INT64))
        return If(few, self._by_counting(count), self.by_digits(count))

    def _by_counting(self, count: IntExpr) -> Stmt:
        def move(row: IntExpr) -> Stmt:
            return self.ranked(row, count, lambda i, rank: self.store(1 - row, rank, self.load(row, i)))

        return self._moved(move)

    def ranked(self, row: IntExpr, count: IntExpr, put: Callable[[IntExpr, IntExpr], Stmt]) -> Stmt:
        """`put(place, rank)` of each of the first `count` words of a row: how many come before it."""
        i, j = Symbol("i"), Symbol("j")
        rank = Buffer("rank", (1,), DType.INT64, Scope.LOCAL)
        comes_first = te.cast(self._before(self.load(row, j), self.load(row, i)), DType.INT64)
        each = Sequence((
            Store(rank, (0,), imm(0, DType.INT64)),
            For(j, count, Store(rank, (0,), Load(rank, (0,)) + comes_first)),
            put(i, ValueIndex(Load(rank, (0,)))),
        ))  # fmt: skip
        return Allocate(rank, For(i, count, each))

    def by_digits(self, count: IntExpr, blocks: int = 1) -> Stmt:
        """The first `count` words of the row that is read, however few they are; in `blocks` for threads."""
        number = Symbol("digit")
        scope = Scope.LOCAL if blocks == 1 else Scope.GLOBAL
        counters = Buffer("counters", (blocks, BUCKETS), DType.INT64, scope)
        total = Buffer("total", (1,), DType.INT64, Scope.LOCAL)
        largest = Buffer("largest", (1,), DType.INT64, Scope.LOCAL)
        differ = te.less(Load(largest, (0,)), te.index_value(count, DType.INT64))
        each = Sequence((
            self.read(lambda row: self._count_digits(row, count, counters, number)),
            _begin_buckets(counters, total, largest),
            If(differ, self._moved(lambda row: self._move_digits(row, count, counters, number))),
        ))  # fmt: skip
        passes = For(number, _digits(self.dtype), each)
        return Allocate(counters, Allocate(total, Allocate(largest, passes)))

    def _count_digits(self, row: IntExpr, count: IntExpr, counters: Buffer, number: Symbol) -> Stmt:
        """How many words of each block have each digit."""

        def clear(block: IntExpr) -> Stmt:
            bucket = Symbol("bucket")
            return For(bucket, BUCKETS, Store(counters, (block, bucket), imm(0, DType.INT64)))

        def add(block: IntExpr, at: IntExpr) -> Stmt:
            counter = (block, self._digit(self.load(row, at), number))
            return Store(counters, counter, Load(counters, counter) + 1)

        return _by_blocks(counters, count, add, clear)

    def _move_digits(self, row: IntExpr, count: IntExpr, counters: Buffer, number: Symbol) -> Stmt:
        """Each word to the next place of its digit and block."""

        def move(block: IntExpr, at: IntExpr) -> Stmt:
            word, goal = self.load(row, at), ValueVar("goal", DType.INT64)
            counter = (block, self._digit(word, number))
            moved = self.store(1 - row, ValueIndex(goal), word)
            return LetValue(goal, Load(counters, counter), Sequence((moved, Store(counters, counter, goal + 1))))

        return _by_blocks(counters, count, move)


def _by_blocks(
    counters: Buffer,
    count: IntExpr,
    each: Callable[[IntExpr, IntExpr], Stmt],
    first: Callable[[IntExpr], Stmt] = lambda _: Sequence(()),
) -> Stmt:
    """`first(block)`, then `each(block, place)` for the places of a block; blocks at the same time."""
    blocks, i = counters.shape[0], Symbol("i")
    if blocks == 1:
        return Sequence((first(0), For(i, count, each(0, i))))
    block, size = Symbol("block"), ceil_divide(count, blocks)
    inside = For(i, maximum(minimum(size, count - block * size), 0), each(block, block * size + i))
    return For(block, blocks, Sequence((first(block), inside)), LoopKind.PARALLEL)


def _begin_buckets(counters: Buffer, total: Buffer, largest: Buffer) -> Stmt:
    """Counts become the places where the words of each digit and block begin; `largest` is that of a whole digit."""
    bucket, block = Symbol("bucket"), Symbol("block")
    begin, found = ValueVar("begin", DType.INT64), ValueVar("found", DType.INT64)
    add = Sequence((
        Store(counters, (block, bucket), Load(total, (0,))),
        Store(total, (0,), Load(total, (0,)) + found),
    ))  # fmt: skip
    each = Sequence((
        For(block, counters.shape[0], LetValue(found, Load(counters, (block, bucket)), add)),
        Store(largest, (0,), te.maximum(Load(largest, (0,)), Load(total, (0,)) - begin)),
    ))  # fmt: skip
    return Sequence((
        Store(total, (0,), imm(0, DType.INT64)),
        Store(largest, (0,), imm(0, DType.INT64)),
        For(bucket, BUCKETS, LetValue(begin, Load(total, (0,)), each)),
    ))  # fmt: skip
