"""Buffers with an element for each lane become registers, and what one lane reads of another a shuffle.

before:  alloc part: float32[8] registers of lane {          after:  thread x in 8 ("thread": "lane") {
           thread x in 8 ("thread": "lane") {                          alloc part: float32[1] register {
             part[x] = a[x];                                             part[0] = a[x];
             if holds(x < 1) { b[0] = part[4]; }                         let other: float32 = call("shuffle.lane", …,
           }                                                               part[0], index_value(4)) {
         }                                                                 if holds(x < 1) { b[0] = other; }

A lane writes its own element only. All lanes take part in a shuffle, so it stands in front of the conditions under
which what it gives is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from relay.arith.expr import Symbol
from relay.base.diagnostics import CompilerBug
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Binary, BinaryOp, Holds, Index, Load, Ramp, Value, ValueVar
from relay.tir.hierarchy import lanes_of
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.threads.synchronization import shuffle
from relay.tir.traversal import map_value, symbols_of_value, walk_statement


def exchange_lanes(func: PrimFunc) -> PrimFunc:
    """`func` without such buffers; the same object if it has none."""
    found = [part.buffer for part in walk_statement(func.body) if isinstance(part, Allocate)]
    shared = [buffer for buffer in found if lanes_of(buffer.scope) is not None]
    if not shared:
        return func
    own = {buffer: Buffer(buffer.name, (*buffer.shape[:-1], 1), buffer.dtype, Scope.REGISTER) for buffer in shared}
    return replace(func, body=_Exchange(own).whole(func.body))


@dataclass
class _Exchange:
    """`own` is what a lane has of each buffer, `around` those that are there, `counters` what counts lanes, by axes."""

    own: Mapping[Buffer, Buffer]
    around: list[Buffer] = field(default_factory=list[Buffer])
    counters: dict[str, Symbol] = field(default_factory=dict[str, Symbol])
    taken: dict[tuple[Buffer, tuple[Index, ...]], ValueVar] = field(
        default_factory=dict[tuple[Buffer, tuple[Index, ...]], ValueVar]
    )
    """What the statement that is being rewritten takes of other lanes."""

    def whole(self, statement: Stmt) -> Stmt:
        """A statement behind the shuffles of what it reads."""
        around, self.taken = self.taken, {}
        new = self._statement(statement)
        for (buffer, indices), name in reversed(self.taken.items()):
            axis = lanes_of(buffer.scope)
            assert axis is not None
            source = indices[-1]
            assert not isinstance(source, Ramp), "loops are not vectors yet"
            mine = Load(self.own[buffer], (*indices[:-1], 0))
            new = LetValue(name, shuffle(axis, mine, source), new)
        self.taken = around
        return new

    def _statement(self, statement: Stmt) -> Stmt:
        match statement:
            case Allocate(buffer, body) if buffer in self.own:
                self.around.append(buffer)
                new = self._statement(body)
                self.around.pop()
                return new
            case Allocate(body=body):
                return replace(statement, body=self.whole(body))
            case For(variable, _, body, LoopKind.THREAD):
                self.counters[statement.thread] = variable
                new = self.whole(body)
                for buffer in self.around:
                    new = Allocate(self.own[buffer], new) if lanes_of(buffer.scope) == statement.thread else new
                return replace(statement, body=new)
            case For(body=body) | Issue(body=body):
                return replace(statement, body=self.whole(body))
            case Sequence(statements):
                return Sequence(tuple(map(self.whole, statements)))
            case If(condition, then, None) if common := self._common(condition):
                own = [part for part in _conjuncts(condition) if part not in common]
                return _guarded(common, self.whole(_guarded(own, then)))
            case If(condition, then, otherwise):
                other = None if otherwise is None else self._statement(otherwise)
                return If(self._value(condition), self._statement(then), other)
            case LetValue(variable, value, body):
                return LetValue(variable, self._value(value), self._statement(body))
            case Store(buffer, indices, value) if buffer in self.own:
                if not self._is_own(buffer, indices):
                    raise CompilerBug("exchange_lanes", f"a lane writes {buffer}[{indices}], which is another's")
                return Store(self.own[buffer], (*indices[:-1], 0), self._value(value), statement.mask)
            case Store(value=value):
                return replace(statement, value=self._value(value))
            case Evaluate(value):
                return Evaluate(self._value(value))
            case _:
                assert_never(statement)

    def _common(self, condition: Value) -> list[Value]:
        """The parts of a condition that hold for all lanes of a unit, or for none: what these exchange stays inside."""
        axes = {lanes_of(buffer.scope) for buffer in self.own}
        counters = {counter for axis, counter in self.counters.items() if axis in axes}
        return [
            part for part in _conjuncts(condition) if isinstance(part, Holds) and not symbols_of_value(part) & counters
        ]

    def _value(self, value: Value) -> Value:
        def on_load(node: Value) -> Value:
            if not isinstance(node, Load) or node.buffer not in self.own:
                return node
            if self._is_own(node.buffer, node.indices):
                return Load(self.own[node.buffer], (*node.indices[:-1], 0))
            key = (node.buffer, node.indices)
            return self.taken.setdefault(key, ValueVar(f"{node.buffer.name}.other", node.dtype))

        return map_value(value, on_load)

    def _is_own(self, buffer: Buffer, indices: tuple[Index, ...]) -> bool:
        return indices[-1] == self.counters[str(lanes_of(buffer.scope))]


def _conjuncts(condition: Value) -> list[Value]:
    """What must all hold, in order."""
    found: list[Value] = []
    stack = [condition]
    while stack:
        part = stack.pop()
        if isinstance(part, Binary) and part.op is BinaryOp.AND:
            stack += (part.right, part.left)
        else:
            found.append(part)
    return found


def _guarded(conditions: list[Value], body: Stmt) -> Stmt:
    for condition in reversed(conditions):
        body = If(condition, body)
    return body
