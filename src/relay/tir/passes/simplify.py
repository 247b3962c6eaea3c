"""Simplify a PrimFunc: indices, extents and conditions under the ranges of the loops; values by exact rules.

    before: for i in 8 { for z in 1 { if 4*i + z < 32 { b[(4*i + z) // 4] = a[i] * 1 } } }
    after:  for i in 8 { b[i] = a[i] }

Loops of no iteration and statements that do nothing go; loops of one iteration are unwrapped (not those bound to
threads of an accelerator). Constants are folded where the result is exact; floating-point rules beyond `allowed` stay
unused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

import numpy as np

from relay.arith.expr import Atom, Comparison, IntExpr, Sum, Symbol, map_leaves
from relay.arith.prove import Proof, prove_under
from relay.arith.simplify import Assumptions
from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.tir.conditions import facts_unless, facts_when, function_assumptions, is_constant, lane_comparisons
from relay.tir.expr import (
    Binary,
    BinaryOp,
    Broadcast,
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
    imm,
)
from relay.tir.passes.value_rules import RuleTable, rule_table
from relay.tir.semantics import (
    Function,
    binary_function,
    cast_function,
    compare_function,
    index_as_number,
    unary_function,
)
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.traversal import ValueIndex, map_children, map_index

NOTHING = Sequence(())
_EXACT_UNARY = frozenset({UnaryOp.NEGATIVE, UnaryOp.ABS, UnaryOp.NOT, UnaryOp.FLOOR, UnaryOp.CEIL, UnaryOp.TRUNC})
_INEXACT_BINARY = frozenset({BinaryOp.POWER})


def simplify(func: PrimFunc, allowed: FloatingPointClass = FloatingPointClass.EXACT) -> PrimFunc:
    """An equal function with simpler indices, conditions, values and loops; the same object if nothing changed."""
    body = simplify_statement(func.body, function_assumptions(func), allowed)
    return func if body is func.body else replace(func, body=body)


def simplify_statement(
    statement: Stmt, known: Assumptions, allowed: FloatingPointClass = FloatingPointClass.EXACT
) -> Stmt:
    """`simplify` for a statement at a place where `known` holds."""
    return _Simplifier(known, {}, rule_table(allowed)).statement(statement)


class _Simplifier:
    """One place of the program: what is known there, and the unwrapped loops around it."""

    __slots__ = ("_indices", "_rules", "_values", "known", "replaced")

    def __init__(self, known: Assumptions, replaced: dict[Symbol, IntExpr], rules: RuleTable) -> None:
        self.known = known
        self.replaced = replaced  # loop symbols that have one value
        self._rules = rules
        self._values: dict[int, Value] = {}  # by identity of nodes that the function holds alive
        self._indices: dict[int, IntExpr] = {}

    def _inside(self, loop: For, extent: IntExpr) -> _Simplifier:
        """The body of a loop, or what it is when it is unwrapped."""
        if extent == 1 and loop.kind is not LoopKind.THREAD:
            return _Simplifier(self.known, {**self.replaced, loop.variable: 0}, self._rules)
        replaced = {symbol: value for symbol, value in self.replaced.items() if symbol is not loop.variable}
        return _Simplifier(self.known.with_loop(loop.variable, extent), replaced, self._rules)

    # --- statements -----------------------------------------------------------------------------------------------

    def statement(self, statement: Stmt) -> Stmt:
        match statement:
            case For():
                return self._for(statement)
            case Store():
                return self._store(statement)
            case LetValue(variable, value, body):
                new_value, new_body = self.value(value), self.statement(body)
                if _is_nothing(new_body):
                    return NOTHING
                same = new_value is value and new_body is body
                return statement if same else LetValue(variable, new_value, new_body)
            case Sequence(statements):
                return self._sequence(statement, statements)
            case If(condition, then, otherwise):
                return self._if(statement, self.value(condition), then, otherwise)
            case Allocate(buffer, body):
                new_body = self.statement(body)
                if _is_nothing(new_body):
                    return NOTHING
                return statement if new_body is body else Allocate(buffer, new_body)
            case Evaluate(value):
                new_value = self.value(value)
                return statement if new_value is value else Evaluate(new_value)
            case Issue(queue, body):
                new_body = self.statement(body)
                if _is_nothing(new_body):
                    return NOTHING
                return statement if new_body is body else Issue(queue, new_body)
            case _:
                assert_never(statement)

    def _for(self, loop: For) -> Stmt:
        extent = self.index(loop.extent)
        low, high = self.known.bounds(extent)
        if high is not None and high <= 0:
            return NOTHING
        extent = high if high is not None and low == high else extent
        body = self._inside(loop, extent).statement(loop.body)
        if _is_nothing(body) or (extent == 1 and loop.kind is not LoopKind.THREAD):
            return body
        same = body is loop.body and extent == loop.extent
        return loop if same else For(loop.variable, extent, body, loop.kind, loop.annotations)

    def _store(self, store: Store) -> Stmt:
        mask = None if store.mask is None else self.value(store.mask)
        if is_constant(mask, False):
            return NOTHING
        mask = None if is_constant(mask, True) else mask
        indices = tuple(map_index(index, self.index) for index in store.indices)
        value = self.value(store.value)
        same = mask is store.mask and indices == store.indices and value is store.value
        return store if same else Store(store.buffer, indices, value, mask)

    def _sequence(self, statement: Sequence, statements: tuple[Stmt, ...]) -> Stmt:
        parts: list[Stmt] = []
        for part in statements:
            new = self.statement(part)
            parts.extend(new.statements if isinstance(new, Sequence) else (new,))
        if len(parts) == 1:
            return parts[0]
        same = len(parts) == len(statements) and all(map(_is, parts, statements))
        return statement if same else Sequence(tuple(parts))

    def _if(self, statement: If, condition: Value, then: Stmt, otherwise: Stmt | None) -> Stmt:
        if is_constant(condition, True):
            return self.statement(then)
        if is_constant(condition, False):
            return NOTHING if otherwise is None else self.statement(otherwise)
        new_then = self._assuming(facts_when(condition)).statement(then)
        new_otherwise = None if otherwise is None else self._assuming(facts_unless(condition)).statement(otherwise)
        if new_otherwise is not None and _is_nothing(new_otherwise):
            new_otherwise = None
        if _is_nothing(new_then):
            if new_otherwise is None:
                return NOTHING
            return If(Unary(UnaryOp.NOT, condition), new_otherwise)
        same = condition is statement.condition and new_then is then and new_otherwise is otherwise
        return statement if same else If(condition, new_then, new_otherwise)

    def _assuming(self, facts: tuple[Comparison, ...]) -> _Simplifier:
        return _Simplifier(self.known.assuming(*facts), self.replaced, self._rules) if facts else self

    # --- indices --------------------------------------------------------------------------------------------------

    def index(self, index: IntExpr) -> IntExpr:
        if isinstance(index, int):
            return index
        if isinstance(index, Symbol):
            return self.replaced.get(index, index)
        known = self._indices.get(id(index))
        if known is None:
            known = self._indices[id(index)] = self._simplify_index(index)
        return known

    def _simplify_index(self, index: IntExpr) -> IntExpr:
        replaced = self.replaced
        if isinstance(index, Sum) and all(isinstance(term, Symbol) and term not in replaced for term, _ in index.terms):
            return index
        return self.known.simplify(map_leaves(index, lambda symbol: replaced.get(symbol, symbol), self._atom))

    def _atom(self, atom: Atom) -> IntExpr:
        if not isinstance(atom, ValueIndex):
            return atom
        value = self.value(atom.value)
        if isinstance(value, Imm) and value.dtype.is_integer:
            return int(value.value)
        return atom if value is atom.value else ValueIndex(value)

    # --- values ---------------------------------------------------------------------------------------------------

    def value(self, value: Value) -> Value:
        known = self._values.get(id(value))
        if known is None:
            known = self._values[id(value)] = self._step(map_children(value, self.value, self.index))
        return known

    def _step(self, value: Value) -> Value:
        match value:
            case Holds(comparison, lanes):
                return self._holds(value, comparison, lanes)
            case Load(buffer, indices, mask) if mask is not None:
                if is_constant(mask, True):
                    return Load(buffer, indices)
                return imm(0, value.dtype, value.lanes) if is_constant(mask, False) else value
            case IndexValue(int(index), dtype, lanes):
                return imm(index_as_number(index, dtype), dtype, lanes)
            case Cast(operand, dtype) if operand.dtype is dtype:
                return operand
            case Broadcast(operand, lanes):
                if lanes == operand.lanes:
                    return operand
                return Imm(operand.value, operand.dtype, lanes) if isinstance(operand, Imm) else value
            case Compare(left=RampValue()):
                return self._mask(value)
            case Binary() | Unary() | Compare() | Cast() | Select():
                return self._rules.rewrite(value) or _folded(value)
            case _:
                return value

    def _mask(self, value: Compare) -> Value:
        """A comparison of a ramp, decided where all lanes agree and no number wraps."""
        ends = lane_comparisons(value)
        if ends is None or not all(map(self._is_small, (side for end in ends for side in (end.left, end.right)))):
            return value
        answers = {prove_under(end, self.known) for end in ends}
        if answers == {Proof.YES}:
            return imm(True, DType.BOOL, value.lanes)
        return imm(False, DType.BOOL, value.lanes) if answers == {Proof.NO} else value

    def _is_small(self, index: IntExpr) -> bool:
        """Whether an index is the same as a 32-bit number."""
        low, high = self.known.bounds(index)
        return low is not None and high is not None and low >= -(1 << 31) and high < 1 << 31

    def _holds(self, value: Value, comparison: Comparison, lanes: int) -> Value:
        match prove_under(comparison, self.known):
            case Proof.YES:
                return imm(True, value.dtype, lanes)
            case Proof.NO:
                return imm(False, value.dtype, lanes)
            case Proof.UNKNOWN:
                return value


def _is(left: object, right: object) -> bool:
    return left is right


def _is_nothing(statement: Stmt) -> bool:
    return isinstance(statement, Sequence) and not statement.statements


def _folded(value: Value) -> Value:
    """The constant that an operation on constants gives, where every target gives the same bits."""
    match value:
        case Binary(op, Imm() as left, Imm() as right) if op not in _INEXACT_BINARY:
            return _number(binary_function(op, left.dtype), value, left, right)
        case Compare(op, Imm() as left, Imm() as right):
            return _number(compare_function(op), value, left, right)
        case Unary(op, Imm() as operand) if op in _EXACT_UNARY:
            return _number(unary_function(op, operand.dtype), value, operand)
        case Cast(Imm() as operand, dtype):
            return _number(cast_function(operand.dtype, dtype), value, operand)
        case _:
            return value


def _number(function: Function, value: Value, *operands: Imm) -> Value:
    with np.errstate(all="ignore"):
        result = function(*(np.array(o.value).astype(o.dtype.numpy)[()] for o in operands))
    return imm(result.item() if value.dtype.is_float else int(result), value.dtype, value.lanes)
