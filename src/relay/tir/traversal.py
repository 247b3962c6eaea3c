"""Walking and rebuilding values and statements, written once.

A value that stands in several places is one node: it is visited once, and what it becomes is one node again. In tensor
expressions such graphs are as large as what was inlined; in loops, where `LetValue` names what is used twice, they are
small trees. These recurse on them; statements nest as deep as loops do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from relay.arith.expr import Atom, Comparison, IntExpr, Symbol, children, free_symbols, map_leaves, multiply
from relay.base.frozen import frozen
from relay.base.graph import post_order
from relay.tir.expr import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Compare,
    Holds,
    Imm,
    Index,
    IndexValue,
    Load,
    Ramp,
    RampValue,
    Select,
    Unary,
    Value,
    ValueVar,
)  # fmt: skip
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, Sequence, Stmt, Store


@frozen
class ValueIndex(Atom):
    """A machine integer as an index: `data[indices[i], j]`. Nothing is known of its range."""

    value: Value

    def __str__(self) -> str:
        return f"index({self.value})"

    def free_symbols(self) -> frozenset[Symbol]:
        return symbols_of_value(self.value)

    def substitute(self, replace: Callable[[Symbol], IntExpr]) -> IntExpr:
        return ValueIndex(map_value(self.value, lambda value: value, lambda index: map_leaves(index, replace)))


def value_children(value: Value) -> tuple[Value, ...]:
    """The direct sub-values, masks included; indices are not values."""
    match value:
        case Imm() | ValueVar() | IndexValue() | Holds() | RampValue():
            return ()
        case Load(mask=mask):
            return () if mask is None else (mask,)
        case Unary(operand=operand) | Cast(operand=operand) | Broadcast(operand=operand):
            return (operand,)
        case Binary(left=left, right=right) | Compare(left=left, right=right):
            return (left, right)
        case Select(condition, then, otherwise):
            return (condition, then, otherwise)
        case Call(arguments=arguments):
            return arguments
        case _:
            assert_never(value)


def value_indices(value: Value) -> tuple[IntExpr, ...]:
    """The index expressions that stand directly in this value."""
    match value:
        case IndexValue(index=index) | RampValue(base=index):
            return (index,)
        case Holds(condition=condition):
            return (condition.left, condition.right)
        case Load(indices=indices):
            return tuple(index.base if isinstance(index, Ramp) else index for index in indices)
        case _:
            return ()


def walk_value(value: Value) -> Iterator[Value]:
    """Every sub-value once, parents first, including those inside indices."""
    stack = [value]
    met: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in met:
            continue
        met.add(id(node))
        yield node
        stack.extend(value_children(node))
        for index in value_indices(node):
            stack.extend(values_in_index(index))


def values_in_index(index: IntExpr) -> list[Value]:
    """The machine values that an index reads, from left to right."""
    if isinstance(index, (int, Symbol)):
        return []
    found: list[Value] = []
    stack: list[IntExpr] = [index]
    while stack:
        part = stack.pop()
        if isinstance(part, ValueIndex):
            found.append(part.value)
        else:
            stack.extend(reversed(children(part)))
    return found


def symbols_of_value(value: Value) -> frozenset[Symbol]:
    """The index symbols a value depends on."""
    found: set[Symbol] = set()
    for node in walk_value(value):
        for index in value_indices(node):
            found |= free_symbols(index)
    return frozenset(found)


def map_index(index: Index, rewrite: Callable[[IntExpr], IntExpr]) -> Index:
    if not isinstance(index, Ramp):
        return rewrite(index)
    base = rewrite(index.base)
    return index if base is index.base else Ramp(base, index.stride, index.lanes)


def map_value(
    value: Value,
    on_value: Callable[[Value], Value],
    on_index: Callable[[IntExpr], IntExpr] = lambda index: index,
) -> Value:
    """`value` rebuilt bottom-up: indices by `on_index`, then each node by `on_value`. Same object if unchanged."""
    return value_mapping(on_value, on_index)(value)


def value_mapping(
    on_value: Callable[[Value], Value],
    on_index: Callable[[IntExpr], IntExpr] = lambda index: index,
) -> Callable[[Value], Value]:
    """`map_value` for values that may have nodes in common: what they share is rebuilt once, and shared again."""
    made: dict[int, tuple[Value, Value]] = {}  # with the node, so that no other one gets its identity

    def rebuilt(value: Value) -> Value:
        for node in post_order((value,), lambda node: () if id(node) in made else value_children(node)):
            if id(node) not in made:
                made[id(node)] = (node, on_value(map_children(node, lambda part: made[id(part)][1], on_index)))
        return made[id(value)][1]

    return rebuilt


def everywhere(
    on_value: Callable[[Value], Value], on_index: Callable[[IntExpr], IntExpr] = lambda index: index
) -> tuple[Callable[[Value], Value], Callable[[IntExpr], IntExpr]]:
    """How to rewrite values, and how indices: each index by `on_index`, each node, those inside of indices too, by
    `on_value`."""

    def on_atom(atom: Atom) -> IntExpr:
        return ValueIndex(rewrite(atom.value)) if isinstance(atom, ValueIndex) else atom

    def index(expr: IntExpr) -> IntExpr:
        return on_index(map_leaves(expr, lambda symbol: symbol, on_atom) if values_in_index(expr) else expr)

    rewrite = value_mapping(on_value, index)
    return rewrite, index


def map_children(value: Value, go: Callable[[Value], Value], on_index: Callable[[IntExpr], IntExpr]) -> Value:
    """`value` with its direct parts rewritten; the same object if none changed.

    Sub-values are compared by identity, so a rewrite costs one visit a node; indices are small and compared by value.
    """
    match value:
        case Imm() | ValueVar():
            return value
        case IndexValue(index, dtype, lanes):
            new = on_index(index)
            return value if new == index else IndexValue(new, dtype, lanes)
        case RampValue(base, stride, dtype, lanes):
            new = on_index(base)
            return value if new == base else RampValue(new, stride, dtype, lanes)
        case Holds(Comparison(left, op, right), lanes):
            comparison = Comparison(on_index(left), op, on_index(right))
            return value if comparison == value.condition else Holds(comparison, lanes)
        case Load(buffer, indices, mask):
            new_mask = None if mask is None else go(mask)
            new_indices = tuple(map_index(index, on_index) for index in indices)
            same = new_mask is mask and new_indices == indices
            return value if same else Load(buffer, new_indices, new_mask)
        case Unary(op, operand):
            new = go(operand)
            return value if new is operand else Unary(op, new)
        case Cast(operand, dtype):
            new = go(operand)
            return value if new is operand else Cast(new, dtype)
        case Broadcast(operand, lanes):
            new = go(operand)
            return value if new is operand else Broadcast(new, lanes)
        case Binary(op, left, right):
            new_left, new_right = go(left), go(right)
            return value if new_left is left and new_right is right else Binary(op, new_left, new_right)
        case Compare(op, left, right):
            new_left, new_right = go(left), go(right)
            return value if new_left is left and new_right is right else Compare(op, new_left, new_right)
        case Select(condition, then, otherwise):
            parts = (go(condition), go(then), go(otherwise))
            same = parts[0] is condition and parts[1] is then and parts[2] is otherwise
            return value if same else Select(*parts)
        case Call(name, arguments, dtype, lanes):
            new_arguments = tuple(map(go, arguments))
            same = all(new is old for new, old in zip(new_arguments, arguments, strict=True))
            return value if same else Call(name, new_arguments, dtype, lanes)
        case _:
            assert_never(value)


def statement_children(statement: Stmt) -> tuple[Stmt, ...]:
    match statement:
        case For(body=body) | LetValue(body=body) | Allocate(body=body) | Issue(body=body):
            return (body,)
        case Sequence(statements):
            return statements
        case If(_, then, otherwise):
            return (then,) if otherwise is None else (then, otherwise)
        case Store() | Evaluate():
            return ()
        case _:
            assert_never(statement)


def statement_values(statement: Stmt) -> tuple[Value, ...]:
    """The values that stand directly in a statement (not in the statements inside it)."""
    match statement:
        case Store(_, _, value, mask):
            return (value,) if mask is None else (value, mask)
        case LetValue(value=value) | Evaluate(value=value) | If(condition=value):
            return (value,)
        case For() | Sequence() | Allocate() | Issue():
            return ()
        case _:
            assert_never(statement)


def walk_statement(statement: Stmt) -> Iterator[Stmt]:
    """Every statement inside, parents first, in program order."""
    stack = [statement]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(statement_children(node)))


def map_statement(
    statement: Stmt,
    on_statement: Callable[[Stmt], Stmt],
    on_value: Callable[[Value], Value] = lambda value: value,
    on_index: Callable[[IntExpr], IntExpr] = lambda index: index,
) -> Stmt:
    """`statement` rebuilt bottom-up: whole values by `on_value`, indices of stores and extents of loops and
    allocations by `on_index`, then each statement by `on_statement`. Same object if nothing changed."""

    def go(node: Stmt) -> Stmt:
        return map_statement(node, on_statement, on_value, on_index)

    match statement:
        case For(variable, extent, body, kind, annotations):
            parts = (on_index(extent), go(body))
            same = parts[0] == extent and parts[1] is body
            rebuilt = statement if same else For(variable, *parts, kind, annotations)
        case Store(buffer, indices, value, mask):
            new = tuple(map_index(index, on_index) for index in indices)
            new_mask = None if mask is None else on_value(mask)
            new_value = on_value(value)
            same = new == indices and new_value is value and new_mask is mask
            rebuilt = statement if same else Store(buffer, new, new_value, new_mask)
        case LetValue(variable, value, body):
            new_value, new_body = on_value(value), go(body)
            same = new_value is value and new_body is body
            rebuilt = statement if same else LetValue(variable, new_value, new_body)
        case Sequence(statements):
            parts = tuple(map(go, statements))
            same = all(new is old for new, old in zip(parts, statements, strict=True))
            rebuilt = statement if same else Sequence(parts)
        case If(condition, then, otherwise):
            new_condition, new_then = on_value(condition), go(then)
            new_otherwise = None if otherwise is None else go(otherwise)
            same = new_condition is condition and new_then is then and new_otherwise is otherwise
            rebuilt = statement if same else If(new_condition, new_then, new_otherwise)
        case Allocate(buffer, body):
            new_body = go(body)
            rebuilt = statement if new_body is body else Allocate(buffer, new_body)
        case Evaluate(value):
            new_value = on_value(value)
            rebuilt = statement if new_value is value else Evaluate(new_value)
        case Issue(queue, body):
            new_body = go(body)
            rebuilt = statement if new_body is body else Issue(queue, new_body)
        case _:
            assert_never(statement)
    return on_statement(rebuilt)


def joined(indices: tuple[Index, ...], shape: tuple[IntExpr, ...]) -> tuple[tuple[Index, ...], tuple[IntExpr, ...]]:
    """Indices and extents, where the axis of a Ramp and those before it with index 0 are one axis.

    >>> joined((3, 0, Ramp(8, 1, 16)), (4, 5, 6))
    ((3, Ramp(base=8, stride=1, lanes=16)), (4, 30))
    """
    last = next((axis for axis, index in enumerate(indices) if isinstance(index, Ramp)), 0)
    first, extent = last, shape[last] if shape else 1
    while first > 0 and indices[first - 1] == 0:
        first -= 1
        extent = multiply(shape[first], extent)
    if first == last:
        return indices, shape
    return (*indices[:first], *indices[last:]), (*shape[:first], extent, *shape[last + 1 :])
