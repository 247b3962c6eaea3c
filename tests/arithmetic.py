"""What compiled programs compute and move, counted in the loops of their kernels: the same on any machine.

An operation counts as often as the loops that it depends on run: what is the same in all iterations of a loop is
computed before it. Guards and selects on indices count with the part of the iterations in which they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeVar

import numpy as np

import relay
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
    free_symbols,
)
from relay.tir.buffer import Buffer
from relay.tir.expr import Binary, BinaryOp, Call, Compare, Holds, Imm, Load, Select, Unary, UnaryOp, Value, ValueVar
from relay.tir.stmt import For, If, LetValue, PrimFunc, Stmt, Store
from relay.tir.traversal import (
    statement_children,
    value_children,
    value_indices,
    values_in_index,
    walk_statement,
)

SYMBOLIC_EXTENT = 24
"""What extents are taken to be that are symbols."""
COSTLY_OPERATIONS = 10
"""What exp and its like count."""
_CHEAP = frozenset({UnaryOp.NEGATIVE, UnaryOp.ABS, UnaryOp.NOT, UnaryOp.FLOOR, UnaryOp.CEIL, UnaryOp.TRUNC})
Side = TypeVar("Side", Value, Stmt | None)
_LARGEST_GRID = 1 << 20
_COMPARED = {"<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal}


@dataclass(frozen=True)
class Work:
    """Operations on numbers, and bytes loaded and stored, of all calls of kernels of a program."""

    operations: float
    bytes: float

    def __add__(self, other: Work) -> Work:
        return Work(self.operations + other.operations, self.bytes + other.bytes)


def program_work(program: relay.IRModule | relay.Expr, opt_level: int, **options: object) -> Work:
    """The work of one call of `main`, each kernel as often as straight-line code calls it; in procedures, once."""
    stages = relay.driver.compile_stages(program, opt_level=opt_level, **options)
    return sum((each for _, each in kernel_works(stages)), Work(0, 0))


def kernel_works(stages: relay.driver.compilation.Compilation) -> list[tuple[str, Work]]:
    """Each call of a kernel, and its work. What is computed from constants alone is left out."""
    works = {kernel.info.name: work_of(kernel.loops()) for kernel in stages.kernels if not kernel.is_external}
    found: list[tuple[str, Work]] = []
    for procedure in stages.program.procedures:
        found += [(each.kernel, works[each.kernel]) for region in procedure.regions() for each in region.calls]
    return found


def work_of(function: PrimFunc) -> Work:
    counter = _Counter(dict.fromkeys(function.symbols, SYMBOLIC_EXTENT))
    counter.statement(function.body)
    return Work(counter.operations, counter.bytes)


@dataclass(slots=True)
class _Loop:
    times: float
    stored: frozenset[Buffer]


@dataclass(slots=True)
class _Condition:
    part: float
    """Of the iterations in which it is asked, those in which it holds."""
    level: int


@dataclass(slots=True)
class _Counter:
    symbols: dict[Symbol, int]
    extents: dict[Symbol, int] = field(default_factory=dict)
    loops: list[_Loop] = field(default_factory=list)
    conditions: list[_Condition] = field(default_factory=list)
    levels: dict[object, int] = field(default_factory=dict)  # of loop symbols and names
    loaded: set[Load] = field(default_factory=set)  # by what is computed together
    operations: float = 0
    bytes: float = 0

    def statement(self, statement: Stmt) -> None:
        match statement:
            case For(variable, extent, body):
                self.extents[variable] = self._extent(extent)
                self.loops.append(_Loop(self.extents[variable], _stored(body)))
                self.levels[variable] = len(self.loops)
                self.statement(body)
                self.loops.pop()
            case If(condition, then, otherwise):
                for part, branch in self._branches(condition, then, otherwise):
                    if branch is not None:
                        self.conditions.append(part)
                        self.statement(branch)
                        self.conditions.pop()
            case LetValue(variable, value, body):
                self.levels[variable] = self._value(value)
                self.statement(body)
            case Store(buffer, _, value, _):
                self._value(value)
                self.bytes += self._times(len(self.loops)) * buffer.dtype.bits / 8
                self.loaded.clear()
            case _:
                for part in statement_children(statement):
                    self.statement(part)

    def _branches(self, condition: Value, *sides: Side) -> list[tuple[_Condition, Side]]:
        level = self._value(condition)
        held = self._part(condition)
        parts = (held, 1 - held if held < 1 else 1)
        return [(_Condition(part, level), side) for part, side in zip(parts, sides, strict=True)]

    def _extent(self, extent: IntExpr) -> int:
        return max(0, int(_numbers(extent, self.symbols)))

    def _times(self, level: int) -> float:
        parts = (each.part for each in self.conditions if each.level <= level)
        return prod(loop.times for loop in self.loops[:level]) * prod(parts)

    def _value(self, value: Value) -> int:
        """Counts a value, and gives the level that it is computed at: how many of the loops it depends on."""
        match value:
            case Imm():
                return 0
            case ValueVar():
                return self.levels.get(value, 0)
            case Select(condition, then, otherwise):
                levels: list[int] = []
                for part, side in self._branches(condition, then, otherwise):
                    self.conditions.append(part)
                    levels += [part.level, self._value(side)]
                    self.conditions.pop()
                return max(levels)
            case _:
                pass
        level = max(map(self._value, value_children(value)), default=0)
        for index in value_indices(value):
            level = max(level, *(self.levels.get(symbol, 0) for symbol in free_symbols(index)), 0)
            operations = self.operations
            level = max(level, *map(self._value, values_in_index(index)), 0)
            self.operations = operations  # what decides a place is not what is computed there
        if isinstance(value, Load):
            stores = [depth for depth, loop in enumerate(self.loops, 1) if value.buffer in loop.stored]
            level = max(level, *stores, 0)
            if value not in self.loaded:
                self.loaded.add(value)
                self.bytes += self._times(level) * value.dtype.bits / 8
        self.operations += _operations(value) * self._times(level)
        return level

    def _part(self, condition: Value) -> float:
        """The part of the iterations in which a condition on indices holds; 1 for others."""
        comparisons = list(_comparisons(condition))
        sides = [side for each in comparisons for side in (each.left, each.right)]
        symbols = sorted({symbol for side in sides for symbol in free_symbols(side)}, key=str)
        axes = {symbol: self.extents[symbol] for symbol in symbols if symbol in self.extents}
        is_known = all(symbol in axes or symbol in self.symbols for symbol in symbols)
        if not comparisons or prod(axes.values()) > _LARGEST_GRID or not is_known:
            return 1
        grid = np.meshgrid(*map(np.arange, axes.values()), indexing="ij") if axes else []
        values = {**self.symbols, **dict(zip(axes, grid, strict=True))}
        held = np.ones(tuple(axes.values()), bool)
        for each in comparisons:
            held &= _COMPARED[each.op](_numbers(each.left, values), _numbers(each.right, values))
        return float(held.mean()) if held.size else 1


def _stored(statement: Stmt) -> frozenset[Buffer]:
    return frozenset(each.buffer for each in walk_statement(statement) if isinstance(each, Store))


def _comparisons(condition: Value) -> list[Comparison]:
    match condition:
        case Holds(comparison):
            return [comparison]
        case Binary(BinaryOp.AND, left, right):
            return [*_comparisons(left), *_comparisons(right)]
        case _:
            return []


def _operations(value: Value) -> int:
    match value:
        case Unary(op):
            return 1 if op in _CHEAP or value.dtype.is_bool else COSTLY_OPERATIONS
        case Binary(op):
            return 0 if value.dtype.is_bool else COSTLY_OPERATIONS if op is BinaryOp.POWER else 1
        case Compare() | Call():
            return 1
        case _:
            return 0


def _numbers(index: IntExpr, values: Mapping[Symbol, Any]) -> Any:
    """An index for these values of symbols, numbers or arrays; what data decide is taken to be a symbolic extent."""
    match index:
        case int():
            return index
        case Symbol():
            return values.get(index, SYMBOLIC_EXTENT)
        case Sum(constant, terms):
            return constant + sum(_numbers(term, values) * factor for term, factor in terms)
        case Product(factors):
            return prod(_numbers(factor, values) for factor in factors)
        case FloorDiv(left, right):
            return _numbers(left, values) // np.maximum(_numbers(right, values), 1)
        case FloorMod(left, right):
            return _numbers(left, values) % np.maximum(_numbers(right, values), 1)
        case Min(left, right):
            return np.minimum(_numbers(left, values), _numbers(right, values))
        case Max(left, right):
            return np.maximum(_numbers(left, values), _numbers(right, values))
        case _:
            return SYMBOLIC_EXTENT
