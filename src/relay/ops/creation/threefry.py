"""Random bits from a counter, and keys that split: Threefry-4x64 with 20 rounds.

Bits are a function of a key and a counter, so any of them can be computed at any time and place. A key of a generator
is `uint64[10]`, as Relay publishes it:

    0 … 3   the words of the Threefry key
    4, 5    the path: one bit for each split that led here, from the highest bit of word 4 on; 0 is left, 1 is right
    6, 7    the counter of blocks of four words that were drawn, high word first
    8, 9    a single bit, where the next step of the path goes; none when the path is full

What is encrypted is path and counter. A key is used once, to draw or to split, and gives those to use instead: so no
block is drawn twice. When the path is full, what the key would draw next is the key of a new, empty path.

Sources: Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3", section 4.1; Claessen and
Pałka 2013, "Splittable pseudorandom number generators using cryptographic hashing", for the path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, Symbol
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ops.framework.rounding import Array
from relay.tir.buffer import Buffer
from relay.tir.expr import BinaryOp, IndexValue, Load, Value, ValueVar, binary, imm
from relay.tir.stmt import For, LetValue, Stmt, Store
from relay.tir.stmt import Sequence as Statements

KEY_WORDS = 10
BLOCK_WORDS = 4
FIRST_STEP = 1 << 63
"""Where the first step of a path goes: word 8 of a new key."""

_ROUNDS = 20
_ROTATIONS = ((14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32))
_PARITY = 0x1BD11BDAA9FC1A22
_Word = TypeVar("_Word")


@frozen
class Arithmetic(Generic[_Word]):
    """What the generator asks of its words, which wrap at 64 bits."""

    add: Callable[[_Word, _Word], _Word]
    xor: Callable[[_Word, _Word], _Word]
    left: Callable[[_Word, _Word], _Word]
    right: Callable[[_Word, _Word], _Word]
    less: Callable[[_Word, _Word], _Word]  # 1 or 0
    word: Callable[[int], _Word]

    def rotated(self, value: _Word, bits: int) -> _Word:
        return self.xor(self.left(value, self.word(bits)), self.right(value, self.word(64 - bits)))

    def encrypted(self, key: Sequence[_Word], block: Sequence[_Word]) -> list[_Word]:
        """The four words that Threefry makes of a block of four."""
        parity = self.word(_PARITY)
        for word in key:
            parity = self.xor(parity, word)
        schedule = (*key, parity)
        state = [self.add(word, schedule[at]) for at, word in enumerate(block)]
        for round_ in range(_ROUNDS):
            first, second = _ROTATIONS[round_ % len(_ROTATIONS)]
            pairs = ((0, 1, first), (2, 3, second)) if round_ % 2 == 0 else ((0, 3, first), (2, 1, second))
            for left, right, bits in pairs:
                state[left] = self.add(state[left], state[right])
                state[right] = self.xor(self.rotated(state[right], bits), state[left])
            if round_ % 4 == 3:
                injection = round_ // 4 + 1
                state = [self.add(word, schedule[(injection + at) % 5]) for at, word in enumerate(state)]
                state[3] = self.add(state[3], self.word(injection))
        return state

    def advanced(self, key: Sequence[_Word], blocks: _Word) -> list[_Word]:
        """The key whose counter is `blocks` further."""
        low = self.add(key[7], blocks)
        return [*key[:6], self.add(key[6], self.less(low, blocks)), low, *key[8:]]

    def drawn(self, key: Sequence[_Word], block: _Word) -> list[_Word]:
        """The four words of block number `block`, counted from the key's counter."""
        return self.encrypted(key[:4], self.advanced(key, block)[4:8])

    def renewed(self, key: Sequence[_Word]) -> list[_Word]:
        """A key with an empty path: its key words are what `key` would draw next."""
        zero = self.word(0)
        return [*self.encrypted(key[:4], key[4:8]), zero, zero, zero, zero, self.word(FIRST_STEP), zero]

    def children(self, key: Sequence[_Word]) -> tuple[list[_Word], list[_Word]]:
        """The two keys that a key with room in its path splits into."""
        high, low = key[8], key[9]
        one = self.word(1)
        carried = self.left(high, self.word(63))
        step = [self.right(high, one), self.xor(self.right(low, one), carried)]
        right = [self.xor(key[4], high), self.xor(key[5], low)]
        return [*key[:8], *step], [*key[:4], *right, *key[6:8], *step]


# Words of NumPy

NUMBERS: Arithmetic[Array] = Arithmetic(
    np.add, np.bitwise_xor, np.left_shift, np.right_shift,
    lambda lhs, rhs: np.asarray(lhs < rhs, np.uint64), lambda number: np.asarray(number, np.uint64),
)  # fmt: skip


def key_of(seed: int) -> Array:
    """The key that a seed of up to 256 bits starts from.

    >>> [int(word) for word in key_of(7)][:9]
    [7, 0, 0, 0, 0, 0, 0, 0, 9223372036854775808]
    """
    words = [seed >> 64 * place & (1 << 64) - 1 for place in range(4)]
    return np.array([*words, 0, 0, 0, 0, FIRST_STEP, 0], np.uint64)


def draw(key: Array, count: int) -> tuple[Array, Array]:
    """The next key and `count` words, `uint64[count]`.

    >>> [hex(word) for word in draw(key_of(0), 2)[1].tolist()]
    ['0x9218ebde6c85537', '0x55941f5266d86105']
    """
    blocks = -(-count // BLOCK_WORDS)
    with np.errstate(over="ignore"):
        words = NUMBERS.drawn([*key], np.arange(blocks, dtype=np.uint64))
        following = NUMBERS.advanced([*key], np.asarray(blocks, np.uint64))
    return np.array(following, np.uint64), np.stack(words, axis=-1).reshape(-1)[:count]


def split(key: Array) -> tuple[Array, Array]:
    """Two keys whose words are not each other's."""
    with np.errstate(over="ignore"):
        words = [*key] if key[8] or key[9] else NUMBERS.renewed([*key])
        left, right = NUMBERS.children(words)
    return np.array(left, np.uint64), np.array(right, np.uint64)


# Words of tensor expressions

_Bound: TypeAlias = list[tuple[ValueVar, Value]]


def _named(bound: _Bound) -> Arithmetic[Value]:
    """Arithmetic whose results have names, in `bound`: each is used several times."""

    def named(value: Value) -> Value:
        variable = ValueVar(f"w{len(bound)}", DType.UINT64)
        bound.append((variable, value))
        return variable

    def operation(op: BinaryOp) -> Callable[[Value, Value], Value]:
        return lambda lhs, rhs: named(binary(op, lhs, rhs))

    return Arithmetic(
        operation(BinaryOp.ADD), operation(BinaryOp.XOR), operation(BinaryOp.LEFT_SHIFT),
        operation(BinaryOp.RIGHT_SHIFT), lambda lhs, rhs: named(te.cast(te.less(lhs, rhs), DType.UINT64)),
        lambda number: imm(number, DType.UINT64),
    )  # fmt: skip


def _with_words(build: Callable[[Arithmetic[Value]], Sequence[Stmt]]) -> Stmt:
    """Statements about words, which have their names around them."""
    bound: _Bound = []
    statement: Stmt = Statements(tuple(build(_named(bound))))
    for variable, value in reversed(bound):
        statement = LetValue(variable, value, statement)
    return statement


def _words_of(key: Buffer) -> list[Value]:
    return [Load(key, (place,)) for place in range(KEY_WORDS)]


def _stored(buffer: Buffer, words: Sequence[Value]) -> list[Stmt]:
    return [Store(buffer, (place,), word) for place, word in enumerate(words)]


def drawn_tensors(key: te.Tensor, blocks: IntExpr, name: str) -> tuple[te.Tensor, te.Tensor]:
    """The next key and the words `uint64[blocks, 4]`."""

    def emit(inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]) -> Stmt:
        (given,), (following, words) = inputs, outputs
        block = Symbol("block")

        def of_block(arithmetic: Arithmetic[Value]) -> list[Stmt]:
            found = arithmetic.drawn(_words_of(given), IndexValue(block, DType.UINT64))
            return [Store(words, (block, place), word) for place, word in enumerate(found)]

        def of_key(arithmetic: Arithmetic[Value]) -> list[Stmt]:
            return _stored(following, arithmetic.advanced(_words_of(given), IndexValue(blocks, DType.UINT64)))

        return Statements((For(block, blocks, _with_words(of_block)), _with_words(of_key)))

    shapes = ((KEY_WORDS,), (blocks, BLOCK_WORDS))
    following, words = te.extern(shapes, (DType.UINT64, DType.UINT64), (key,), emit, name)
    return following, words


def split_tensors(key: te.Tensor, name: str) -> tuple[te.Tensor, te.Tensor]:
    """The two keys that a key splits into."""

    def emit(inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]) -> Stmt:
        (given,), (left, right) = inputs, outputs
        words = _words_of(given)

        def children(arithmetic: Arithmetic[Value]) -> list[Stmt]:
            is_full = te.equal(binary(BinaryOp.OR, words[8], words[9]), imm(0, DType.UINT64))
            fresh = arithmetic.renewed(words)
            chosen = [te.select(is_full, new, old) for new, old in zip(fresh, words, strict=True)]
            first, second = arithmetic.children(chosen)
            return [*_stored(left, first), *_stored(right, second)]

        return _with_words(children)

    shapes = ((KEY_WORDS,), (KEY_WORDS,))
    left, right = te.extern(shapes, (DType.UINT64, DType.UINT64), (key,), emit, name)
    return left, right
