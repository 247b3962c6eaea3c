"""Values and indices prepared for copying: turned once into closures that build each copy of them.

What does not depend on the varying keys (symbols, variables, buffers) is shared by all copies; what depends on some of
them only is built once for each of their values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar, Union, assert_never

from relay.arith.expr import (
    COMPARISON_OPERATORS,
    Atom,
    Comparison,
    IntExpr,
    Sum,
    Symbol,
    add,
    free_symbols,
    linear_sum,
    map_leaves,
    multiply,
)
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.tir.buffer import Buffer, Scope
from relay.tir.conditions import is_constant, lane_comparisons
from relay.tir.expr import (
    Binary,
    BinaryOp,
    Broadcast,
    Call,
    Cast,
    Compare,
    CompareOp,
    Holds,
    Imm,
    Index,
    IndexValue,
    Load,
    Ramp,
    RampValue,
    Select,
    Unary,
    UnaryOp,
    Value,
    ValueVar,
    imm,
)
from relay.tir.semantics import index_as_number
from relay.tir.traversal import ValueIndex, values_in_index

Key: TypeAlias = Union[Symbol, ValueVar, Buffer]
Part = TypeVar("Part")
NO_KEYS: frozenset[Key] = frozenset()


class Staged(Generic[Part]):
    """How to build one part of a copy: the keys that it depends on, and the closure."""

    __slots__ = ("build", "keys", "remembered")

    def __init__(self, keys: frozenset[Key], build: Callable[[], Part]) -> None:
        self.keys = keys
        self.build = build
        self.remembered: Callable[[], Part] | None = None


def constant(part: Part) -> Staged[Part]:
    return Staged(NO_KEYS, lambda: part)


class Stager:
    """Makes closures for values. `varying` are the keys that copies replace, `now` what they stand for at the moment.

    With `constant_registers`, a copy in which a register is not indexed by constants is an error (`register-index`).
    """

    def __init__(self, *, constant_registers: bool) -> None:
        self.varying: set[Key] = set()
        self.now: dict[Key, Any] = {}
        self.left_open = False  # whether something in a copy may be decided by ranges, and was not by constants
        self._constant_registers = constant_registers
        self._staged_values: dict[int, Staged[Value]] = {}

    # --- buffers and indices ----------------------------------------------------------------------------------------

    def buffer(self, buffer: Buffer) -> Staged[Buffer]:
        now = self.now
        return Staged(frozenset((buffer,)), lambda: now[buffer]) if buffer in self.varying else constant(buffer)

    def indices(self, buffer: Buffer, indices: tuple[Index, ...]) -> Staged[tuple[Index, ...]]:
        parts: list[Staged[Any]] = [
            self._ramp(index) if isinstance(index, Ramp) else self.index(index) for index in indices
        ]
        keys = NO_KEYS.union(*(part.keys for part in parts))
        check = self._constant_registers and buffer.scope is Scope.REGISTER
        if not keys:
            if check:
                _check_register(buffer, indices)
            return constant(indices)
        builds = [self.part(part, keys) for part in parts]

        def build() -> tuple[Index, ...]:
            built = tuple([part() for part in builds])
            if check:
                _check_register(buffer, built)
            return built

        return Staged(keys, build)

    def _ramp(self, ramp: Ramp) -> Staged[Index]:
        base, stride, lanes = self.index(ramp.base), ramp.stride, ramp.lanes
        return Staged(base.keys, lambda: Ramp(base.build(), stride, lanes)) if base.keys else constant(ramp)

    def index(self, index: IntExpr) -> Staged[Any]:
        if isinstance(index, int):
            return constant(index)
        if isinstance(index, Sum) and all(isinstance(term, Symbol) for term, _ in index.terms):
            return self._linear(index)
        return self._general_index(index)

    def _linear(self, index: Sum) -> Staged[Any]:
        now, start = self.now, index.constant
        moving = [(term, k) for term, k in index.terms if term in self.varying]
        if not moving:
            return constant(index)
        fixed = tuple((term, k) for term, k in index.terms if term not in self.varying)
        alone = fixed[0][0] if len(fixed) == 1 and fixed[0][1] == 1 else None

        def build() -> IntExpr:
            total = start
            nodes: list[tuple[IntExpr, int]] = []
            for term, k in moving:
                value = now[term]  # type: ignore[index]
                if isinstance(value, int):
                    total += value * k
                else:
                    nodes.append((value, k))
            if nodes:
                return _with_nodes(linear_sum(total, fixed), nodes)
            if not fixed:
                return total
            return alone if alone is not None and total == 0 else Sum(total, fixed)

        return Staged(frozenset(term for term, _ in moving if isinstance(term, Symbol)), build)

    def _general_index(self, index: IntExpr) -> Staged[Any]:
        values = {id(value): self.value(value) for value in values_in_index(index)}
        keys = (free_symbols(index) & self.varying).union(*(staged.keys for staged in values.values()))
        if not keys:
            return constant(index)
        now = self.now

        def atom(node: Atom) -> IntExpr:
            if not isinstance(node, ValueIndex):
                return node
            value = values[id(node.value)].build()
            if isinstance(value, Imm) and value.dtype.is_integer:
                return int(value.value)
            return ValueIndex(value)

        return Staged(keys, lambda: map_leaves(index, lambda symbol: now.get(symbol, symbol), atom))

    # --- values -----------------------------------------------------------------------------------------------------

    def part(self, staged: Staged[Part], within: frozenset[Key]) -> Callable[[], Part]:
        """The builder of a part; one that depends on less than the whole remembers what it has built."""
        if not staged.keys or staged.keys == within:
            return staged.build
        if staged.remembered is None:
            staged.remembered = self._remembering(staged)
        return staged.remembered

    def _remembering(self, staged: Staged[Part]) -> Callable[[], Part]:
        now, make = self.now, staged.build
        memory: dict[Any, Part] = {}
        keys = tuple(staged.keys)
        if len(keys) == 1:
            key = keys[0]

            def build_by_one() -> Part:
                at = now[key]
                if at not in memory:
                    memory[at] = make()
                return memory[at]

            return build_by_one

        def build() -> Part:
            at = tuple([now[key] for key in keys])
            if at not in memory:
                memory[at] = make()
            return memory[at]

        return build

    def value(self, value: Value) -> Staged[Value]:
        known = self._staged_values.get(id(value))
        if known is None:
            known = self._staged_values[id(value)] = self._stage(value)
        return known

    def _stage(self, value: Value) -> Staged[Value]:
        match value:
            case Imm():
                return constant(value)
            case ValueVar():
                now = self.now
                return Staged(frozenset((value,)), lambda: now[value]) if value in self.varying else constant(value)
            case IndexValue(index, dtype, lanes):
                return self._built(value, (self.index(index),), partial(_index_value, dtype, lanes))
            case RampValue(base, stride, dtype, lanes):
                return self._built(
                    value, (self.index(base),), partial(RampValue, stride=stride, dtype=dtype, lanes=lanes)
                )
            case Holds(Comparison(left, op, right), lanes):
                return self._built(value, (self.index(left), self.index(right)), partial(self._holds, op, lanes))
            case Load(buffer, indices, mask):
                places = (self.buffer(buffer), self.indices(buffer, indices))
                if mask is None:
                    return self._built(value, places, Load)
                return self._built(value, (*places, self.value(mask)), _masked_load)
            case Unary(op, operand):
                return self._built(value, (self.value(operand),), partial(_unary, op))
            case Cast(operand, dtype):
                return self._built(value, (self.value(operand),), partial(Cast, dtype=dtype))
            case Broadcast(operand, lanes):
                return self._built(value, (self.value(operand),), partial(_broadcast, lanes))
            case Binary(op, left, right):
                build = partial(_logical if op in (BinaryOp.AND, BinaryOp.OR) else Binary, op)
                return self._built(value, (self.value(left), self.value(right)), build)
            case Compare(op, left, right):
                return self._built(value, (self.value(left), self.value(right)), partial(self._compare, op))
            case Select(condition, then, otherwise):
                return self._built(value, tuple(map(self.value, (condition, then, otherwise))), _select)
            case Call(arguments=arguments):
                return self._built(value, tuple(map(self.value, arguments)), partial(_call, value))
            case _:
                assert_never(value)

    def _holds(self, op: str, lanes: int, left: IntExpr, right: IntExpr) -> Value:
        if isinstance(left, int) and isinstance(right, int):
            return Imm(COMPARISON_OPERATORS[op](left, right), DType.BOOL, lanes)
        self.left_open = True
        return Holds(Comparison(left, op, right), lanes)

    def _compare(self, op: CompareOp, left: Value, right: Value) -> Value:
        value = Compare(op, left, right)
        ends = lane_comparisons(value) if isinstance(left, RampValue) else None
        if ends is None:
            return value
        answers = {_decided(end) for end in ends}
        if answers == {True} or answers == {False}:
            return imm(answers == {True}, DType.BOOL, left.lanes)
        self.left_open = self.left_open or None in answers
        return value

    def _built(self, value: Value, parts: tuple[Staged[Any], ...], make: Callable[..., Value]) -> Staged[Value]:
        keys = NO_KEYS.union(*(part.keys for part in parts))
        if not keys:
            return constant(value)
        builds = [self.part(part, keys) for part in parts]
        if len(builds) == 1:
            (only,) = builds
            return Staged(keys, lambda: make(only()))
        if len(builds) == 2:
            first, second = builds
            return Staged(keys, lambda: make(first(), second()))
        return Staged(keys, lambda: make(*[build() for build in builds]))


def _with_nodes(total: IntExpr, nodes: list[tuple[IntExpr, int]]) -> IntExpr:
    for node, coefficient in nodes:
        total = add(total, multiply(node, coefficient))
    return total


def _broadcast(lanes: int, operand: Value) -> Value:
    return Imm(operand.value, operand.dtype, lanes) if isinstance(operand, Imm) else Broadcast(operand, lanes)


def _index_value(dtype: DType, lanes: int, index: IntExpr) -> Value:
    if isinstance(index, int):
        return imm(index_as_number(index, dtype), dtype, lanes)
    return IndexValue(index, dtype, lanes)


def _decided(comparison: Comparison) -> bool | None:
    left, right = comparison.left, comparison.right
    if isinstance(left, int) and isinstance(right, int):
        return COMPARISON_OPERATORS[comparison.op](left, right)
    return None


def _call(original: Call, *arguments: Value) -> Value:
    return Call(original.name, arguments, original.dtype, original.lanes)


def _logical(op: BinaryOp, left: Value, right: Value) -> Value:
    """AND and OR with constant sides decided; the bitwise ones of integers are left alone."""
    neutral = op is BinaryOp.AND
    if left.dtype.is_bool:
        if is_constant(left, neutral) or is_constant(right, not neutral):
            return right
        if is_constant(right, neutral) or is_constant(left, not neutral):
            return left
    return Binary(op, left, right)


def _unary(op: UnaryOp, operand: Value) -> Value:
    if op is UnaryOp.NOT and isinstance(operand, Imm) and operand.dtype.is_bool:
        return Imm(not operand.value, DType.BOOL, operand.lanes)
    return Unary(op, operand)


def _select(condition: Value, then: Value, otherwise: Value) -> Value:
    if is_constant(condition, True):
        return then
    return otherwise if is_constant(condition, False) else Select(condition, then, otherwise)


def _masked_load(buffer: Buffer, indices: tuple[Index, ...], mask: Value) -> Value:
    if is_constant(mask, True):
        return Load(buffer, indices)
    load = Load(buffer, indices, mask)
    return imm(0, load.dtype, load.lanes) if is_constant(mask, False) else load


def _check_register(buffer: Buffer, indices: tuple[Index, ...]) -> None:
    for axis, index in enumerate(indices):
        position = index.base if isinstance(index, Ramp) else index
        if not isinstance(position, int):
            raise RelayError(
                rule="register-index",
                message=f"axis {axis} of the register buffer `{buffer.name}` is indexed by `{position}`",
                expected="a constant, once loops are unrolled",
                found=str(position),
                remedy="unroll or vectorize the loops that index registers, or give the buffer the scope `local`",
            )
