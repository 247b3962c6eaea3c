"""Statements as loop nests are made of them: what needs no loop, no condition or no sequence gets none."""

from __future__ import annotations

from relay.arith.expr import Comparison, IntExpr, Symbol
from relay.te.operation import Components
from relay.te.placement import is_single
from relay.te.state import Loop
from relay.te.values import all_of
from relay.tir.expr import Holds, Load, ValueVar
from relay.tir.stmt import For, If, LetValue, Stmt, Store
from relay.tir.stmt import Sequence as Statements


def stored_together(targets: tuple[Load, ...], values: Components) -> Stmt:
    """All `values` computed before any is stored, since each may read every target."""
    if len(targets) == 1:
        return Store(targets[0].buffer, targets[0].indices, values[0])
    variables = [ValueVar(f"new{position}", value.dtype) for position, value in enumerate(values)]
    body: Stmt = in_order(
        *(Store(target.buffer, target.indices, new) for target, new in zip(targets, variables, strict=True))
    )
    for variable, value in reversed(list(zip(variables, values, strict=True))):
        body = LetValue(variable, value, body)
    return body


def guarded(body: Stmt, conditions: list[Comparison]) -> Stmt:
    return If(all_of(Holds(condition) for condition in conditions), body) if conditions else body


def looped(loop: Loop, symbol: Symbol, extent: IntExpr, body: Stmt) -> Stmt:
    return body if is_single(loop, extent) else For(symbol, extent, body, loop.kind, loop.annotations)


def in_order(*statements: Stmt) -> Stmt:
    """One after another, without nesting or wrapping what need not be."""
    flat: list[Stmt] = []
    for statement in statements:
        flat.extend(statement.statements if isinstance(statement, Statements) else (statement,))
    return flat[0] if len(flat) == 1 else Statements(tuple(flat))
