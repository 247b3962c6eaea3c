"""Compute before a loop what costs much and is the same in all of its iterations.

    before: for i in 8 { for j in 48 { b[i, j] = a[i, j] / sqrt(total[i]) } }
    after:  for i in 8 { let invariant = sqrt(total[i]) { for j in 48 { b[i, j] = a[i, j] / invariant } } }

Divisions and functions such as exp and sqrt are what costs; of a value that holds one, as much as is the same is bound,
before the outermost loop in which it is; names of lets that are the same go with it. It is not moved out of a branch.
Where a loop may have no iteration, or a Select may not ask for a value, it is moved only if all that it loads is
certain to be in bounds. What loads from a buffer stays in loops that store to it.

VECTORIZED loops are gone when this runs. Before UNROLLED ones nothing is bound: copies that compute the same are one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import TypeAlias, assert_never

from relay.arith.expr import Comparison, free_symbols
from relay.arith.simplify import Assumptions
from relay.base.frozen import mutable
from relay.tir.buffer import Buffer
from relay.tir.conditions import function_assumptions
from relay.tir.expr import (
    Binary,
    BinaryOp,
    Call,
    Load,
    Ramp,
    Select,
    Unary,
    UnaryOp,
    Value,
    ValueVar,
)
from relay.tir.intrinsics import EFFECT_FREE_HINTS, INTRINSICS
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.traversal import (
    joined,
    map_children,
    statement_children,
    statement_values,
    value_children,
    value_indices,
    values_in_index,
    walk_statement,
    walk_value,
)

_CHEAP_UNARY = frozenset({
    UnaryOp.NEGATIVE, UnaryOp.ABS, UnaryOp.SIGN, UnaryOp.FLOOR, UnaryOp.CEIL, UnaryOp.TRUNC, UnaryOp.ROUND,
    UnaryOp.NOT, UnaryOp.IS_NAN, UnaryOp.IS_INF, UnaryOp.IS_FINITE,
})  # fmt: skip
_COSTLY_BINARY = frozenset({
    BinaryOp.DIVIDE, BinaryOp.MOD, BinaryOp.FLOOR_DIVIDE, BinaryOp.FLOOR_MOD, BinaryOp.POWER,
})  # fmt: skip

Stored: TypeAlias = frozenset[Buffer] | None
"""The buffers that a statement stores to; None where a call may store to any."""


def hoist_invariants(func: PrimFunc) -> PrimFunc:
    """`func` with costly values bound before the loops that do not change them; the same object if there are none."""
    values = (value for statement in walk_statement(func.body) for value in statement_values(statement))
    if not any(_is_costly(node) for value in values for node in walk_value(value)):
        return func
    hoister = _Hoister(func)
    body = hoister.statement(func.body)
    return func if body is func.body else replace(func, body=body)


def _is_costly(value: Value) -> bool:
    match value:
        case Unary(op):
            return op not in _CHEAP_UNARY
        case Binary(op):
            return op in _COSTLY_BINARY
        case _:
            return False


@mutable(eq=True)
class _Loop:
    """A loop around the place that is looked at, and what is bound before it: by values as they were, names and values
    as they are now."""

    loop: For
    stored: Stored
    runs: bool  # at least once, for certain
    bound: dict[Value, tuple[ValueVar, Value]] = field(default_factory=dict)


class _Hoister:
    """Walks down to values. A *level* is a number of loops, outermost first: those that a value is computed in."""

    def __init__(self, func: PrimFunc) -> None:
        self._known = function_assumptions(func)
        self._loops: list[_Loop] = []
        self._levels: dict[object, int] = {}  # of loop variables, names and buffers that the function binds
        self._least = 0  # the level that nothing goes below: that of the innermost branch
        self._facts: dict[int, tuple[int, bool]] = {}
        self._stored: dict[For, Stored] = {}
        _note_stores(func.body, self._stored)

    # --- statements -----------------------------------------------------------------------------------------------

    def statement(self, statement: Stmt) -> Stmt:
        match statement:
            case For():
                return self._for(statement)
            case Sequence(statements):
                parts = tuple([self.statement(part) for part in statements])
                same = all(new is old for new, old in zip(parts, statements, strict=True))
                return statement if same else Sequence(parts)
            case If(condition, then, otherwise):
                new_condition = self._whole(condition)
                least, self._least = self._least, len(self._loops)
                new_then = self.statement(then)
                new_otherwise = None if otherwise is None else self.statement(otherwise)
                self._least = least
                same = new_condition is condition and new_then is then and new_otherwise is otherwise
                return statement if same else If(new_condition, new_then, new_otherwise)
            case LetValue():
                return self._let(statement)
            case Allocate(buffer, body):
                self._levels[buffer] = len(self._loops)
                new_body = self.statement(body)
                return statement if new_body is body else Allocate(buffer, new_body)
            case Store(buffer, indices, value, mask):
                new_value = self._whole(value)
                return statement if new_value is value else Store(buffer, indices, new_value, mask)
            case Evaluate() | Issue():
                return statement
            case _:
                assert_never(statement)

    def _for(self, loop: For) -> Stmt:
        frame = _Loop(loop, self._stored[loop], self._known.certain(Comparison(0, "<", loop.extent)))
        self._loops.append(frame)
        self._levels[loop.variable] = len(self._loops)
        body = self.statement(loop.body)
        self._loops.pop()
        if body is not loop.body:
            loop = For(loop.variable, loop.extent, body, loop.kind, loop.annotations)
        result: Stmt = loop
        for variable, value in reversed(frame.bound.values()):
            result = LetValue(variable, value, result)
        return result

    def _let(self, let: LetValue) -> Stmt:
        """A name for what is the same in all iterations goes before the loop too, whatever it costs: else what is made
        of it could not."""
        level = len(self._loops)
        self._facts = {}
        target = self._target(let.value, self._fact(let.value)[0], level, asked_for=True)
        self._levels[let.variable] = target
        if target < level:
            moved = self._parts(let.value, target, asked_for=True)
            self._loops[target].bound[let.variable] = (let.variable, moved)
            return self.statement(let.body)
        new_value, new_body = self._whole(let.value), self.statement(let.body)
        same = new_value is let.value and new_body is let.body
        return let if same else LetValue(let.variable, new_value, new_body)

    # --- values ---------------------------------------------------------------------------------------------------

    def _whole(self, value: Value) -> Value:
        """A value that stands directly in a statement, with what it shares with other iterations bound before."""
        if not self._loops:
            return value
        self._facts = {}
        return self._value(value, len(self._loops), asked_for=True) if self._fact(value)[1] else value

    def _value(self, value: Value, level: int, asked_for: bool) -> Value:
        """`value` where it is computed in the loops up to `level`; `asked_for`: for certain, if the loops run."""
        own, costly = self._fact(value)
        if not costly:
            return value
        target = self._target(value, own, level, asked_for)
        if target == level:
            return self._parts(value, level, asked_for)
        bound = self._loops[target].bound
        if value not in bound:
            variable = ValueVar("invariant", value.dtype, value.lanes)
            bound[value] = (variable, self._parts(value, target, asked_for=True))
        return bound[value][0]

    def _parts(self, value: Value, level: int, asked_for: bool) -> Value:
        if isinstance(value, Select):
            condition = self._value(value.condition, level, asked_for)
            sides = (self._value(value.then, level, False), self._value(value.otherwise, level, False))
            same = condition is value.condition and sides[0] is value.then and sides[1] is value.otherwise
            return value if same else Select(condition, *sides)
        return map_children(value, lambda part: self._value(part, level, asked_for), lambda index: index)

    def _target(self, value: Value, own: int, level: int, asked_for: bool) -> int:
        """The level that a value of its `own` level is moved to from `level`."""
        target = max(own, self._least)
        certain = level  # from here on what is computed in `level` is computed for certain
        while asked_for and certain > target and self._loops[certain - 1].runs:
            certain -= 1
        if target < certain and not self._is_safe(value, target):
            target = certain
        while target < level and self._loops[target].loop.kind is LoopKind.UNROLLED:
            target += 1
        return target

    def _is_safe(self, value: Value, level: int) -> bool:
        """Whether all that a value loads is certain to be in bounds where nothing but the loops up to `level` runs."""
        known = self._known
        for frame in self._loops[:level]:
            known = known.with_loop(frame.loop.variable, frame.loop.extent)
        return all(_is_in_bounds(node, known) for node in walk_value(value) if isinstance(node, Load))

    def _fact(self, value: Value) -> tuple[int, bool]:
        """The level of a value, and whether something in it costs much."""
        fact = self._facts.get(id(value))
        if fact is None:
            level, costly = self._own_level(value), _is_costly(value)
            for part in value_children(value):
                part_level, part_costly = self._fact(part)
                level, costly = max(level, part_level), costly or part_costly
            fact = self._facts[id(value)] = (level, costly)
        return fact

    def _own_level(self, value: Value) -> int:
        """The level that a value has by itself, whatever its parts."""
        level = 0
        for index in value_indices(value):
            for symbol in free_symbols(index):
                level = max(level, self._levels.get(symbol, 0))
            for part in values_in_index(index):
                level = max(level, self._fact(part)[0])
        match value:
            case ValueVar():
                return self._levels.get(value, 0)
            case Load(buffer):
                return max(level, self._levels.get(buffer, 0), self._last_store(buffer))
            case Call(name) if name not in INTRINSICS:
                return len(self._loops)
            case _:
                return level

    def _last_store(self, buffer: Buffer) -> int:
        """The level of the innermost loop that stores to a buffer."""
        for level in range(len(self._loops), 0, -1):
            stored = self._loops[level - 1].stored
            if stored is None or buffer in stored:
                return level
        return 0


def _note_stores(statement: Stmt, found: dict[For, Stored]) -> Stored:
    """What a statement stores to; of each loop in it, that is noted in `found`."""
    match statement:
        case Store(buffer):
            return frozenset((buffer,))
        case Evaluate(value):
            return frozenset() if isinstance(value, Call) and value.name in EFFECT_FREE_HINTS else None
        case _:
            stored: Stored = frozenset()
            for part in statement_children(statement):
                inside = _note_stores(part, found)
                stored = None if stored is None or inside is None else stored | inside
    if isinstance(statement, For):
        found[statement] = stored
    return stored


def _is_in_bounds(load: Load, known: Assumptions) -> bool:
    return all(known.certain(comparison) for comparison in _bounds(load))


def _bounds(load: Load) -> Iterator[Comparison]:
    for index, extent in zip(*joined(load.indices, load.buffer.shape), strict=True):
        if isinstance(index, Ramp):
            reach = index.stride * (index.lanes - 1)
            yield Comparison(0, "<=", index.base + min(reach, 0))
            yield Comparison(index.base + max(reach, 0), "<", extent)
        else:
            yield Comparison(0, "<=", index)
            yield Comparison(index, "<", extent)
