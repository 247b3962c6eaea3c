"""Statements as loop nests are made of them: what needs no loop, no condition or no sequence gets none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from relay.arith.expr import Comparison, IntExpr, Symbol, substitute
from relay.te.lowering.placement import is_single
from relay.te.lowering.sharing import named
from relay.te.operation import Components
from relay.te.state import Loop
from relay.te.values import all_of
from relay.tir.buffer import Buffer
from relay.tir.expr import Holds, Load, Value, ValueVar
from relay.tir.stmt import For, If, LetValue, LoopKind, Stmt, Store
from relay.tir.stmt import Sequence as Statements
from relay.tir.traversal import map_statement, value_mapping


def stored_together(targets: tuple[Load, ...], values: Components, is_there: Callable[[Load], bool]) -> Stmt:
    """All `values` computed before any is stored, since each may read every target; what they share is computed once.
    `is_there` says which loads are certain to be in bounds."""
    lets, values = named(values, is_there)
    if len(targets) == 1:
        return within_lets(lets, Store(targets[0].buffer, targets[0].indices, values[0]))
    variables = with_names(lets, values)
    stores = (Store(target.buffer, target.indices, new) for target, new in zip(targets, variables, strict=True))
    return within_lets(lets, in_order(*stores))


def with_names(lets: list[tuple[ValueVar, Value]], values: Components) -> list[ValueVar]:
    """A name for each value, behind the `lets` that there are."""
    variables: list[ValueVar] = []
    for position, value in enumerate(values):
        variable = value if isinstance(value, ValueVar) else ValueVar(f"new{position}", value.dtype)
        if variable is not value:
            lets.append((variable, value))
        variables.append(variable)
    return variables


def within_lets(lets: Sequence[tuple[ValueVar, Value]], body: Stmt) -> Stmt:
    """`body` where these names are known, each in the values of those behind it too."""
    for variable, value in reversed(lets):
        body = LetValue(variable, value, body)
    return body


def guarded(body: Stmt, conditions: list[Comparison]) -> Stmt:
    return If(all_of(Holds(condition) for condition in conditions), body) if conditions else body


def looped(loop: Loop, symbol: Symbol, extent: IntExpr, body: Stmt) -> Stmt:
    """`body` in a loop; those over threads are around all stages of a launch (`launches`)."""
    return (
        body
        if is_single(extent) or loop.kind is LoopKind.THREAD
        else For(symbol, extent, body, loop.kind, loop.annotations)
    )


def copied(source: Buffer, target: Buffer, shape: tuple[IntExpr, ...]) -> Stmt:
    """The first elements of a buffer, as many as `shape` says, from another."""
    symbols = tuple(Symbol(f"row{axis}") for axis in range(len(shape)))
    body: Stmt = Store(target, symbols, Load(source, symbols))
    for symbol, extent in reversed(list(zip(symbols, shape, strict=True))):
        body = For(symbol, extent, body)
    return body


def with_symbols(body: Stmt, names: Mapping[Symbol, Symbol]) -> Stmt:
    """`body` with symbols replaced."""

    def on_index(index: IntExpr) -> IntExpr:
        return substitute(index, names)

    return map_statement(body, lambda statement: statement, value_mapping(lambda value: value, on_index), on_index)


def in_order(*statements: Stmt) -> Stmt:
    """One after another, without nesting or wrapping what need not be."""
    flat: list[Stmt] = []
    for statement in statements:
        flat.extend(statement.statements if isinstance(statement, Statements) else (statement,))
    return flat[0] if len(flat) == 1 else Statements(tuple(flat))
