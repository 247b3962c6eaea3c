"""Structural equality of PrimFuncs: the same but for the names and identities of what they bind."""

from __future__ import annotations

import math

from relay.arith.expr import Atom, IntExpr, Symbol, map_leaves
from relay.tir.buffer import Buffer
from relay.tir.expr import (
    Binary,
    Call,
    Compare,
    Holds,
    Imm,
    Index,
    IndexValue,
    Load,
    Ramp,
    RampValue,
    Unary,
    Value,
    ValueVar,
)
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, PrimFunc, Sequence, Stmt, Store
from relay.tir.traversal import ValueIndex, map_value, statement_children, value_children


def structural_equal(left: PrimFunc, right: PrimFunc) -> bool:
    """Whether two functions have equal names, attributes and, up to the renaming of symbols, buffers and variables,
    equal parameters and bodies. Constants are equal if their bits are (NaN equals NaN, 0.0 is not -0.0)."""
    if (left.name, left.attributes, left.output_count) != (right.name, right.attributes, right.output_count):
        return False
    if len(left.symbols) != len(right.symbols) or len(left.parameters) != len(right.parameters):
        return False
    matching = _Matching()
    matching.names.update(zip(left.symbols, right.symbols, strict=True))
    buffers = zip(left.parameters, right.parameters, strict=True)
    return all(matching.binds(a, b) for a, b in buffers) and matching.statements(left.body, right.body)


def _operation(value: Value) -> str:
    """What an inner value does, where its class does not say it all."""
    match value:
        case Unary(op) | Binary(op) | Compare(op):
            return op.value
        case Call(name):
            return name
        case _:
            return ""


class _Matching:
    """What each symbol, buffer and variable of the left function is called in the right one."""

    def __init__(self) -> None:
        self.names: dict[Symbol | Buffer | ValueVar, Symbol | Buffer | ValueVar] = {}

    def binds(self, left: Buffer, right: Buffer) -> bool:
        self.names[left] = right
        same = (left.dtype, left.scope, len(left.shape)) == (right.dtype, right.scope, len(right.shape))
        return same and all(map(self.indices, left.shape, right.shape))

    def statements(self, left: Stmt, right: Stmt) -> bool:
        left, right = _unwrapped(left), _unwrapped(right)
        match left, right:
            case For(), For():
                same = (left.kind, left.annotations) == (right.kind, right.annotations)
                same = same and self.indices(left.extent, right.extent)
                self.names[left.variable] = right.variable
            case Store(), Store():
                same = self.names.get(left.buffer, left.buffer) is right.buffer
                same = same and self._index_tuples(left.indices, right.indices)
                same = same and self.values(left.value, right.value) and self._masks(left.mask, right.mask)
            case LetValue(), LetValue():
                one, other = left.variable, right.variable
                same = (one.dtype, one.lanes) == (other.dtype, other.lanes) and self.values(left.value, right.value)
                self.names[one] = other
            case If(), If():
                same = self.values(left.condition, right.condition)
                same = same and (left.otherwise is None) == (right.otherwise is None)
            case Allocate(), Allocate():
                same = self.binds(left.buffer, right.buffer)
            case Evaluate(), Evaluate():
                same = self.values(left.value, right.value)
            case Issue(), Issue():
                same = left.queue == right.queue
            case Sequence(), Sequence():
                same = True
            case _:
                return False
        parts, others = statement_children(left), statement_children(right)
        return same and len(parts) == len(others) and all(map(self.statements, parts, others))

    def _masks(self, left: Value | None, right: Value | None) -> bool:
        if left is None or right is None:
            return left is right
        return self.values(left, right)

    def _index_tuples(self, left: tuple[Index, ...], right: tuple[Index, ...]) -> bool:
        return len(left) == len(right) and all(map(self._index_or_ramp, left, right))

    def _index_or_ramp(self, left: Index, right: Index) -> bool:
        if isinstance(left, Ramp) and isinstance(right, Ramp):
            same = (left.stride, left.lanes) == (right.stride, right.lanes)
            return same and self.indices(left.base, right.base)
        if isinstance(left, Ramp) or isinstance(right, Ramp):
            return False
        return self.indices(left, right)

    def indices(self, left: IntExpr, right: IntExpr) -> bool:
        """Equality as polynomials, once the left side uses the names of the right one."""
        return map_leaves(left, self._symbol, self._atom) == right

    def _symbol(self, symbol: Symbol) -> Symbol:
        name = self.names.get(symbol, symbol)
        assert isinstance(name, Symbol)
        return name

    def _atom(self, atom: Atom) -> IntExpr:
        return ValueIndex(self._translated(atom.value)) if isinstance(atom, ValueIndex) else atom

    def _translated(self, value: Value) -> Value:
        def rename(node: Value) -> Value:
            if isinstance(node, ValueVar):
                name = self.names.get(node, node)
                assert isinstance(name, ValueVar)
                return name
            if isinstance(node, Load):
                buffer = self.names.get(node.buffer, node.buffer)
                assert isinstance(buffer, Buffer)
                return Load(buffer, node.indices, node.mask)
            return node

        return map_value(value, rename, lambda index: map_leaves(index, self._symbol, self._atom))

    def values(self, left: Value, right: Value) -> bool:
        if type(left) is not type(right) or (left.dtype, left.lanes) != (right.dtype, right.lanes):
            return False
        if not self._same_node(left, right):
            return False
        parts, others = value_children(left), value_children(right)
        return len(parts) == len(others) and all(map(self.values, parts, others))

    def _same_node(self, left: Value, right: Value) -> bool:
        """Whether two values of one class agree in what is not a sub-value."""
        match left, right:
            case Imm(), Imm():
                return _same_number(left.value, right.value)
            case ValueVar(), ValueVar():
                return self.names.get(left, left) is right
            case IndexValue(), IndexValue():
                return self.indices(left.index, right.index)
            case RampValue(), RampValue():
                return left.stride == right.stride and self.indices(left.base, right.base)
            case Holds(), Holds():
                one, other = left.condition, right.condition
                return (
                    one.op == other.op and self.indices(one.left, other.left) and self.indices(one.right, other.right)
                )
            case Load(), Load():
                same = self.names.get(left.buffer, left.buffer) is right.buffer
                same = same and (left.mask is None) == (right.mask is None)
                return same and self._index_tuples(left.indices, right.indices)
            case _:
                return _operation(left) == _operation(right)


def _unwrapped(statement: Stmt) -> Stmt:
    """A sequence of one statement is that statement."""
    while isinstance(statement, Sequence) and len(statement.statements) == 1:
        statement = statement.statements[0]
    return statement


def _same_number(left: float | bool, right: float | bool) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return type(left) is type(right) and left == right
