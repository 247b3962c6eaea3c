"""Is everything written before it is read? The part of the verifier that knows which elements of a temporary have a
value.

Statements of constant extents are run through: each access has a time, in which the statements and iterations before
it have been, and the threads of a launch, which wait for each other, share theirs. An element must be written at some
time before it is read. Of what is not known it is taken that it is written, and not read: the contents of buffers that
are not constant in extent, indices and conditions that are only known when the program runs, calls that the target has
no record of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, assert_never

import numpy as np

from relay.arith.expr import Comparison, IntExpr, Symbol, add, free_symbols, multiply, substitute
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.conditions import facts_unless, facts_when
from relay.tir.expr import Index, Load, Ramp, Select, Value
from relay.tir.hierarchy import Hierarchy
from relay.tir.instructions import InstructionCall, called_instruction
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.text.printer import print_statement
from relay.tir.threads.synchronization import atomic_update
from relay.tir.threads.touches import COMPARISONS, Points, values_on
from relay.tir.traversal import (
    statement_children,
    value_children,
    value_indices,
    values_in_index,
    walk_statement,
    walk_value,
)
from relay.tir.verification.violation import Violation

MOST_POINTS = 1 << 18
"""How many points of one access are run through at most; of one with more it is taken that it is right."""


@frozen(eq=False)
class _Access:
    """An element, or those of a vector. `time` is when, in terms of the loops around; `indices` None for all elements
    that there are."""

    statement: Stmt
    buffer: Buffer
    indices: tuple[IntExpr, ...] | None
    writes: bool
    time: IntExpr
    extents: Mapping[Symbol, int]
    facts: tuple[Comparison, ...]


@frozen(eq=False)
class _Around:
    extents: Mapping[Symbol, int]
    unknown: bool = False
    """Whether loops of unknown extent are around."""
    facts: tuple[Comparison, ...] = ()

    def when(self, facts: tuple[Comparison, ...]) -> _Around:
        return replace(self, facts=(*self.facts, *facts))


def initialization_violations(func: PrimFunc) -> Iterator[Violation]:
    """The reads of temporaries that nobody has written."""
    if not any(isinstance(part, Allocate) for part in walk_statement(func.body)):
        return
    recorder = _Recorder(func.body, func.hierarchy)
    for buffer, found in recorder.accesses.items():
        early = _read_too_early(buffer, found, recorder.outside[buffer])
        if early is not None:
            place = print_statement(early.statement).split("\n")[0].strip()
            yield Violation("uninitialized-read", f"`{buffer.name}` is read where nobody has written it", place)


# --- what is accessed when --------------------------------------------------------------------------------------------


class _Recorder:
    """Notes the accesses of temporaries, in the order of the program, and the loops around what allocates them."""

    def __init__(self, body: Stmt, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self.accesses: dict[Buffer, list[_Access]] = {}
        self.outside: dict[Buffer, frozenset[Symbol]] = {}
        self._lengths: dict[int, int] = {}
        self._measure(body)
        self._record(body, 0, _Around({}))

    def _measure(self, statement: Stmt) -> int:
        """How long a statement takes: a load is before the store that it is for."""
        parts = sum(map(self._measure, statement_children(statement)))
        match statement:
            case For(extent=int(extent), kind=kind) if kind is not LoopKind.THREAD:
                length = extent * parts
            case For() | Sequence() | Allocate() | Issue():
                length = parts
            case If() | LetValue():
                length = parts + 1
            case Store() | Evaluate():
                length = 2
            case _:
                assert_never(statement)
        self._lengths[id(statement)] = length
        return length

    def _record(self, statement: Stmt, start: IntExpr, around: _Around) -> None:
        """Note a statement that begins at a time."""
        match statement:
            case For():
                self._loop(statement, start, around)
            case Sequence(statements):
                for part in statements:
                    self._record(part, start, around)
                    start = add(start, self._lengths[id(part)])
            case If(condition, then, otherwise):
                self._reads(statement, condition, start, around)
                self._record(then, add(start, 1), around.when(facts_when(condition)))
                if otherwise is not None:
                    behind = add(start, 1 + self._lengths[id(then)])
                    self._record(otherwise, behind, around.when(facts_unless(condition)))
            case LetValue(_, value, body):
                self._reads(statement, value, start, around)
                self._record(body, add(start, 1), around)
            case Allocate(buffer, body):
                self.outside[buffer] = frozenset(around.extents)
                self.accesses[buffer] = []
                self._record(body, start, around)
            case Issue(_, body):
                self._record(body, start, around)
            case Store(buffer, indices, value):
                self._reads(statement, value, start, around)
                for index in indices:
                    base = index.base if isinstance(index, Ramp) else index
                    for part in values_in_index(base):
                        self._reads(statement, part, start, around)
                self._note(statement, buffer, indices, True, add(start, 1), around)
            case Evaluate(value):
                update = atomic_update(statement)
                if update is not None:
                    self._record(update.store, start, around)
                    return
                called = called_instruction(statement, self._hierarchy)
                if called is not None:
                    self._instruction(statement, called, start, around)
                    return
                for node in walk_value(value):
                    if isinstance(node, Load):
                        self._note(statement, node.buffer, None, True, start, around)
            case _:
                assert_never(statement)

    def _instruction(self, statement: Stmt, called: InstructionCall, start: IntExpr, around: _Around) -> None:
        parts = [part for block in called.blocks for index in block.first for part in values_in_index(index)]
        for value in (*called.values, *parts):
            self._reads(statement, value, start, around)
        for block in called.blocks:
            if block.operand.access.reads:
                self._note(statement, block.buffer, block.indices, False, start, around)
            if block.operand.access.writes:
                self._note(statement, block.buffer, block.indices, True, add(start, 1), around)

    def _loop(self, loop: For, start: IntExpr, around: _Around) -> None:
        if not isinstance(loop.extent, int):
            self._record(loop.body, start, replace(around, unknown=True))
            return
        inside = replace(around, extents={**around.extents, loop.variable: loop.extent})
        if loop.kind is not LoopKind.THREAD:
            start = add(start, multiply(loop.variable, self._lengths[id(loop.body)]))
        self._record(loop.body, start, inside)

    def _reads(self, statement: Stmt, value: Value, time: IntExpr, around: _Around) -> None:
        """What a value reads; of a choice, the side that is taken."""
        stack = [(value, around)]
        while stack:
            node, around = stack.pop()
            if isinstance(node, Load) and node.mask is None:
                self._note(statement, node.buffer, node.indices, False, time, around)
            if isinstance(node, Select) and node.condition.lanes == 1:
                stack.append((node.condition, around))
                stack.append((node.then, around.when(facts_when(node.condition))))
                stack.append((node.otherwise, around.when(facts_unless(node.condition))))
            else:
                stack.extend((part, around) for part in value_children(node))
            stack.extend((part, around) for index in value_indices(node) for part in values_in_index(index))

    def _note(
        self,
        statement: Stmt,
        buffer: Buffer,
        indices: tuple[Index, ...] | None,
        writes: bool,
        time: IntExpr,
        around: _Around,
    ) -> None:
        if buffer not in self.accesses:
            return
        extents = dict(around.extents)
        plain: list[IntExpr] = []
        for index in indices or ():
            if isinstance(index, Ramp):
                lane = Symbol("lane")
                extents[lane] = index.lanes
                plain.append(add(index.base, multiply(lane, index.stride)))
            else:
                plain.append(index)
        known = all(free_symbols(index) <= extents.keys() and not values_in_index(index) for index in plain)
        if writes or (known and not around.unknown):
            at = tuple(plain) if indices is not None and known and len(plain) == len(buffer.shape) else None
            self.accesses[buffer].append(_Access(statement, buffer, at, writes, time, extents, around.facts))


# --- whether it is written first --------------------------------------------------------------------------------------


def _read_too_early(buffer: Buffer, found: list[_Access], outside: frozenset[Symbol]) -> _Access | None:
    """The first access that reads an element that nobody has written before; None if there is none."""
    shape = [extent for extent in buffer.shape if isinstance(extent, int)]
    if len(shape) < len(buffer.shape) or not any(not access.writes for access in found):
        return None
    used = {symbol for access in found for symbol in _symbols(access)} & outside
    cases = sorted(used, key=lambda symbol: symbol.name)
    extents = {symbol: extent for access in found for symbol, extent in access.extents.items() if symbol in used}
    found = [replace(access, time=substitute(access.time, dict.fromkeys(outside, 0))) for access in found]
    elements = math.prod(shape)
    size = elements * math.prod(extents.values())
    if size > MOST_POINTS or any(_points(access, cases) > MOST_POINTS for access in found):
        return None
    never = np.iinfo(np.int64).max
    written = np.full((math.prod(extents.values()), elements), never)
    inside = [(access, _run_through(access, shape, cases, extents)) for access in found]
    for access, (case, element, time) in inside:
        if access.writes and access.indices is None:
            np.minimum(written, time.min(initial=never), out=written)
        elif access.writes:
            np.minimum.at(written, (case, element), time)
    reads = (each for each in inside if not each[0].writes)
    return next((access for access, (case, element, time) in reads if np.any(written[case, element] > time)), None)


def _symbols(access: _Access) -> set[Symbol]:
    """What elements, and whether they are accessed, depend on."""
    found = {symbol for index in access.indices or () for symbol in free_symbols(index)}
    return found | {symbol for fact in _known_facts(access) for symbol in _of_fact(fact)}


def _of_fact(fact: Comparison) -> set[Symbol]:
    return {*free_symbols(fact.left), *free_symbols(fact.right)}


def _known_facts(access: _Access) -> list[Comparison]:
    def is_known(fact: Comparison) -> bool:
        values = values_in_index(fact.left) or values_in_index(fact.right)
        return _of_fact(fact) <= access.extents.keys() and not values

    return [fact for fact in access.facts if is_known(fact)]


def _running(access: _Access, cases: list[Symbol]) -> list[Symbol]:
    """The symbols that an access is run through for: those of other allocations' surroundings are left alone."""
    wanted = _symbols(access) | free_symbols(access.time)
    return [*cases, *(symbol for symbol in access.extents if symbol in wanted and symbol not in cases)]


def _points(access: _Access, cases: list[Symbol]) -> int:
    return math.prod(access.extents.get(symbol, 1) for symbol in _running(access, cases))


def _run_through(
    access: _Access, shape: list[int], cases: list[Symbol], extents: Mapping[Symbol, int]
) -> tuple[Points, Points, Points]:
    """The cases, elements and times of all points of an access."""
    symbols = _running(access, cases)
    sizes = tuple(access.extents.get(symbol, extents.get(symbol, 1)) for symbol in symbols)
    grid = dict(zip(symbols, np.indices(sizes), strict=True))
    taken = np.ones(sizes, np.bool_)
    for fact in _known_facts(access):
        taken &= COMPARISONS[fact.op](values_on(fact.left, grid), values_on(fact.right, grid))

    def on_points(index: IntExpr) -> Any:
        return np.broadcast_to(values_on(index, grid), sizes)[taken]

    case: IntExpr = 0
    for symbol in cases:
        case = add(multiply(case, extents[symbol]), symbol)
    element: IntExpr = 0
    for index, extent in zip(access.indices or (), shape, strict=False):
        element = add(multiply(element, extent), index)
    places = on_points(element)
    there = (places >= 0) & (places < math.prod(shape))  # where conditions that are not known may lead elsewhere
    return on_points(case)[there], places[there], on_points(access.time)[there]
