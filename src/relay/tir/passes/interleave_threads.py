"""Virtual threads: the iterations of a loop in turn, so that one has work while another waits for its queue.

before:  virtual v in 2 {                          after:  serial k in 8 {
           serial k in 8 {                                   issue load { t[0, …] = a[0, k, …]; }
             issue load { t[…] = a[v, k, …]; }               issue load { t[1, …] = a[1, k, …]; }
             b[v, …] = t[…];                                 b[0, …] = t[0, …];
           }                                                 b[1, …] = t[1, …];
         }                                                 }

Each iteration has a part of every buffer for itself. What issues nothing is repeated whole, for one iteration after
another, and so is a loop that does nothing but issue. Iterations must not need each other's results: schedules make
virtual only what may run in any order.
"""

from __future__ import annotations

from dataclasses import replace

from relay.arith.expr import Symbol, free_symbols
from relay.base.diagnostics import RelayError
from relay.tir.buffer import Buffer
from relay.tir.expr import Load, Value
from relay.tir.passes.template import fresh_copy
from relay.tir.stmt import Allocate, For, If, Issue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.traversal import everywhere, map_statement, symbols_of_value, walk_statement


def interleave_threads(func: PrimFunc) -> PrimFunc:
    """`func` without VIRTUAL loops; the same object if it has none. Raises `RelayError` (`schedule-virtual`)."""
    if not any(isinstance(part, For) and part.kind is LoopKind.VIRTUAL for part in walk_statement(func.body)):
        return func
    return replace(func, body=map_statement(func.body, _without))


def _without(statement: Stmt) -> Stmt:
    if not isinstance(statement, For) or statement.kind is not LoopKind.VIRTUAL:
        return statement
    if not isinstance(statement.extent, int):
        raise RelayError(
            rule="schedule-virtual",
            message=f"the iterations of `{statement.variable}` are to run in turn",
            expected="a constant number of them",
            found=str(statement.extent),
            remedy="split the loop into parts, and make the outer loop virtual",
        )
    return _in_turn(statement.body, statement.variable, statement.extent)


def _in_turn(statement: Stmt, thread: Symbol, count: int) -> Stmt:
    """`statement` for `count` virtual threads."""
    if any(isinstance(part, Issue) for part in walk_statement(statement)):
        match statement:
            case Sequence(statements):
                return Sequence(tuple(_in_turn(part, thread, count) for part in statements))
            case For(extent=extent, body=body) if thread not in free_symbols(extent) and not _only_issues(body):
                return replace(statement, body=_in_turn(body, thread, count))
            case If(condition, then, None) if thread not in symbols_of_value(condition):
                return replace(statement, then=_in_turn(then, thread, count))
            case Allocate(buffer, body):
                wide = Buffer(buffer.name, (count, *buffer.shape), buffer.dtype, buffer.scope)
                return Allocate(wide, _in_turn(_in_part(body, buffer, wide, thread), thread, count))
            case _:
                pass
    return Sequence(tuple(fresh_copy(statement, {thread: number}) for number in range(count)))


def _only_issues(statement: Stmt) -> bool:
    match statement:
        case For(body=body):
            return _only_issues(body)
        case Sequence(statements):
            return all(map(_only_issues, statements))
        case _:
            return isinstance(statement, Issue)


def _in_part(body: Stmt, buffer: Buffer, wide: Buffer, thread: Symbol) -> Stmt:
    """`body` with the part of `wide` that is a virtual thread's own in place of `buffer`."""

    def on_value(value: Value) -> Value:
        if not isinstance(value, Load) or value.buffer is not buffer:
            return value
        return replace(value, buffer=wide, indices=(thread, *value.indices))

    def on_statement(statement: Stmt) -> Stmt:
        if not isinstance(statement, Store) or statement.buffer is not buffer:
            return statement
        return replace(statement, buffer=wide, indices=(thread, *statement.indices))

    return map_statement(body, on_statement, *everywhere(on_value))
