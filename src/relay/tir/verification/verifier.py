"""Is a PrimFunc sound? What a schedule or a pass must leave true, checked without running it.

- every symbol and variable is bound once, and used only where it is bound; every buffer is a parameter or allocated
  around its uses;
- dtypes and lanes of operands agree; an access has one index for each axis and at most one Ramp; conditions are bools;
- instructions of the target are given what they work on;
- every access is in bounds for all values of the symbols that the loops, guards and masks around it allow;
- no two iterations of a PARALLEL loop, or of one over units that cannot wait for each other, touch the same element,
  unless both read it;
- threads wait for each other where they must, and scopes are used as they are meant (`thread_checks`);
- temporaries of constant extents are written before they are read (`initialization`);
- what is issued to queues is awaited before it is touched (`queue_checks`);
- buffers have constant extents, but for those of the outermost level.

What cannot be proven is a violation too, with `unproven` in its rule: unknown is not sound.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from relay.arith.expr import Comparison, IntExpr, Symbol, add, free_symbols, multiply
from relay.arith.prove import Proof, prove_under
from relay.arith.simplify import Assumptions
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.conditions import facts_unless, facts_when, function_assumptions, index_comparison
from relay.tir.dependence import conflicts
from relay.tir.expr import (
    Binary,
    BinaryOp,
    Broadcast,
    Compare,
    CompareOp,
    Holds,
    Imm,
    Index,
    IndexValue,
    Load,
    Ramp,
    RampValue,
    Select,
    Unary,
    UnaryOp,
    Value,
    ValueVar,
)
from relay.tir.instructions import InstructionCall, called_instruction
from relay.tir.semantics import integer_limits
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.text.printer import print_index, print_statement, print_value
from relay.tir.threads.synchronization import atomic_update
from relay.tir.threads.units import units_meet
from relay.tir.traversal import joined, value_children, value_indices, values_in_index
from relay.tir.verification.initialization import initialization_violations
from relay.tir.verification.queue_checks import queue_violations
from relay.tir.verification.thread_checks import thread_violations
from relay.tir.verification.violation import Violation


def verify(func: PrimFunc) -> tuple[Violation, ...]:
    """Everything that is wrong with `func`, in program order; empty for a sound function.

    >>> from relay.tir.text.parser import parse_primfunc
    >>> func = parse_primfunc("primfunc f(a: int32[4]) -> (b: int32[4]) { serial i in 5 { b[i] = a[0]; } }")
    >>> [violation.rule for violation in verify(func)]
    ['index-out-of-range']
    """
    checker = _Checker(func)
    checker.statement(func.body, checker.start)
    others = (*thread_violations(func), *queue_violations(func), *initialization_violations(func))
    return (*checker.violations, *dict.fromkeys(others))


@frozen
class _Place:
    """What is known and bound at a place of the program."""

    known: Assumptions
    bound: frozenset[Symbol | ValueVar | Buffer]
    text: str

    def assuming(self, facts: tuple[Comparison, ...]) -> _Place:
        return _Place(self.known.assuming(*facts), self.bound, self.text) if facts else self

    def binding(self, thing: Symbol | ValueVar | Buffer) -> _Place:
        return _Place(self.known, self.bound | {thing}, self.text)


class _Checker:
    def __init__(self, func: PrimFunc) -> None:
        self.violations: list[Violation] = []
        self._hierarchy = func.hierarchy
        self.start = _Place(function_assumptions(func), frozenset((*func.symbols, *func.parameters)), func.name)
        self._seen: set[Symbol | ValueVar | Buffer] = set(self.start.bound)

    def _report(self, rule: str, message: str, place: _Place) -> None:
        violation = Violation(rule, message, place.text)
        if violation not in self.violations:
            self.violations.append(violation)

    def _bind(self, thing: Symbol | ValueVar | Buffer, place: _Place) -> _Place:
        if thing in self._seen:
            self._report("bound-twice", f"`{thing.name}` is bound more than once", place)
        self._seen.add(thing)
        return place.binding(thing)

    # --- statements -------------------------------------------------------------------------------------------------

    def statement(self, statement: Stmt, place: _Place) -> None:
        if isinstance(statement, (Store, Evaluate)):
            place = _Place(place.known, place.bound, print_statement(statement).strip())
        match statement:
            case For():
                self._for(statement, place)
            case Store(buffer, indices, value, mask):
                self._store(buffer, indices, value, mask, place)
            case LetValue(variable, value, body):
                self._value(value, place)
                if (variable.dtype, variable.lanes) != (value.dtype, value.lanes):
                    self._report("types-differ", f"`{variable.name}` is bound to a value of another type", place)
                self.statement(body, self._bind(variable, place))
            case Sequence(statements):
                for part in statements:
                    self.statement(part, place)
            case If(condition, then, otherwise):
                self._condition(condition, 1, place)
                holding, failing = facts_when(condition), facts_unless(condition)
                if _reachable(holding, place):
                    self.statement(then, place.assuming(holding))
                if otherwise is not None and _reachable(failing, place):
                    self.statement(otherwise, place.assuming(failing))
            case Allocate(buffer, body):
                self._allocate(buffer, place)
                self.statement(body, self._bind(buffer, place))
            case Evaluate(value):
                update, called = atomic_update(statement), called_instruction(statement, self._hierarchy)
                if update is not None:
                    self.statement(update.store, place)
                elif called is not None:
                    self._instruction(called, place)
                else:
                    self._value(value, place)
            case Issue(_, body):
                self.statement(body, place)
            case _:
                assert_never(statement)

    def _instruction(self, called: InstructionCall, place: _Place) -> None:
        if not called.has_all:
            operands = ", ".join(map(str, called.instruction.operands))
            message = f"`{called.instruction.name}` is given something else than it works on: {operands}"
            self._report("instruction-operands", message, place)
        for block in called.blocks:
            for corner in (block.first, block.last):
                self._access(block.buffer, corner, None, place)
        for value in called.values:
            self._value(value, place)

    def _for(self, loop: For, place: _Place) -> None:
        place = _Place(place.known, place.bound, f"{loop.kind.value} {loop.variable} in {loop.extent}")
        self._index(loop.extent, place)
        for buffer in dict.fromkeys(self._met(loop, place.known)):
            message = f"iterations of `{loop.variable}` may touch the same element of `{buffer.name}`"
            self._report("race-unproven", message, place)
        inside = self._bind(loop.variable, place)
        known = inside.known.with_loop(loop.variable, loop.extent)
        self.statement(loop.body, _Place(known, inside.bound, place.text))

    def _met(self, loop: For, known: Assumptions) -> Iterator[Buffer]:
        """The buffers in which iterations of a loop may meet, and may not."""
        if loop.kind is LoopKind.THREAD:
            yield from units_meet(loop, known, self._hierarchy)
        elif loop.kind is LoopKind.PARALLEL:
            yield from (left.buffer for left, _ in conflicts(loop, known, self._hierarchy))

    def _store(
        self, buffer: Buffer, indices: tuple[Index, ...], value: Value, mask: Value | None, place: _Place
    ) -> None:
        self._value(value, place)
        lanes = self._access(buffer, indices, mask, place)
        if value.dtype is not buffer.dtype or value.lanes != lanes:
            found = f"{value.dtype} with {value.lanes} lanes"
            wanted = f"{buffer.dtype} with {lanes}"
            self._report("types-differ", f"`{buffer.name}` takes {wanted}, and is given {found}", place)

    def _allocate(self, buffer: Buffer, place: _Place) -> None:
        for extent in buffer.shape:
            self._index(extent, place)
            if self._hierarchy.depth(buffer.scope.level) > 0 and not isinstance(extent, int):
                message = f"`{buffer.name}` is {buffer.scope}, and its extent `{extent}` is not constant"
                self._report("extent-not-constant", message, place)

    # --- accesses ---------------------------------------------------------------------------------------------------

    def _access(self, buffer: Buffer, indices: tuple[Index, ...], mask: Value | None, place: _Place) -> int:
        """Check an access and give its number of lanes."""
        ramps = [index for index in indices if isinstance(index, Ramp)]
        lanes = ramps[0].lanes if ramps else 1
        if buffer not in place.bound:
            self._report("buffer-not-defined", f"`{buffer.name}` is neither a parameter nor allocated here", place)
        if len(indices) != len(buffer.shape):
            message = f"`{buffer.name}` has {len(buffer.shape)} axes and is given {len(indices)} indices"
            self._report("axes-differ", message, place)
            return lanes
        if len(ramps) > 1:
            self._report("two-ramps", f"`{buffer.name}` is indexed by two vectors", place)
        known = place.known
        if mask is not None:
            self._condition(mask, lanes, place)
        lane = Symbol("lane")
        if ramps:
            known = known.with_loop(lane, lanes)
        known = known.assuming(*_mask_facts(mask, lane, known)) if mask is not None else known
        for axis, (index, extent) in enumerate(zip(*joined(indices, buffer.shape), strict=True)):
            if isinstance(index, Ramp):
                self._index(index.base, place)
                at = add(index.base, multiply(lane, index.stride))
            else:
                self._index(index, place)
                at = index
            self._in_bounds(buffer, axis, at, extent, known, place)
        return lanes

    def _in_bounds(
        self, buffer: Buffer, axis: int, index: IntExpr, extent: IntExpr, known: Assumptions, place: _Place
    ) -> None:
        answers = {prove_under(Comparison(0, "<=", index), known), prove_under(Comparison(index, "<", extent), known)}
        if answers == {Proof.YES}:
            return
        computed = "" if isinstance(index, int) or not values_in_index(index) else " computed at run time"
        bounds = f"0 <= {print_index(index)} < {print_index(extent)}"
        if computed:
            message = f"axis {axis} of `{buffer.name}` has an index{computed}: `{bounds}` is not known"
            self._report("index-unproven", message, place)
        elif Proof.NO in answers or _reaches_outside(index, extent, known):
            self._report("index-out-of-range", f"axis {axis} of `{buffer.name}`: `{bounds}` does not hold", place)
        else:
            self._report("index-unproven", f"axis {axis} of `{buffer.name}`: `{bounds}` is not proven", place)

    def _index(self, index: IntExpr, place: _Place) -> None:
        if isinstance(index, int):
            return
        for symbol in sorted(free_symbols(index) - place.bound, key=str):
            self._report("symbol-not-bound", f"`{symbol.name}` is not bound here", place)
        for value in values_in_index(index):
            self._value(value, place)
            if not value.dtype.is_integer or value.lanes != 1:
                self._report("types-differ", f"an index is a value of {value.dtype} with {value.lanes} lanes", place)

    # --- values -----------------------------------------------------------------------------------------------------

    def _condition(self, condition: Value, lanes: int, place: _Place) -> None:
        self._value(condition, place)
        if not condition.dtype.is_bool or condition.lanes != lanes:
            found = f"{condition.dtype} with {condition.lanes} lanes"
            self._report("types-differ", f"a condition must be bool with {lanes} lanes, and is {found}", place)

    def _value(self, value: Value, place: _Place) -> None:
        match value:
            case Load(buffer, indices, mask):
                self._access(buffer, indices, mask, place)
            case Select(condition, then, otherwise):
                lazy = condition.lanes == 1
                self._condition(condition, condition.lanes, place)
                for facts, side in ((facts_when(condition), then), (facts_unless(condition), otherwise)):
                    if not lazy or _reachable(facts, place):
                        self._value(side, place.assuming(facts) if lazy else place)
                if condition.lanes not in (1, value.lanes):
                    self._report("lanes-differ", "the condition of a select has other lanes than its sides", place)
            case _:
                for index in value_indices(value):
                    self._index(index, place)
                for part in value_children(value):
                    self._value(part, place)
        self._types(value, place)

    def _types(self, value: Value, place: _Place) -> None:
        for rule in _type_mistakes(value):
            self._report("types-differ", f"{rule}: `{print_value(value)}`", place)
        if isinstance(value, ValueVar) and value not in place.bound:
            self._report("variable-not-bound", f"`{value.name}` is not bound here", place)


def _reachable(facts: tuple[Comparison, ...], place: _Place) -> bool:
    """Whether a branch may run at all: code that never runs breaks nothing."""
    return not any(prove_under(fact, place.known) is Proof.NO for fact in facts)


def _type_mistakes(value: Value) -> Iterator[str]:
    match value:
        case Binary(_, left, right) | Compare(_, left, right) | Select(_, left, right):
            if left.dtype is not right.dtype:
                yield f"{left.dtype} meets {right.dtype}"
            if left.lanes != right.lanes:
                yield f"{left.lanes} lanes meet {right.lanes}"
        case Broadcast(operand, lanes) if lanes % operand.lanes != 0:
            yield f"{operand.lanes} lanes are broadcast to {lanes}"
        case Imm(number, dtype) if dtype.is_float != isinstance(number, float):
            yield "a constant is not of its dtype"
        case _:
            pass


def _mask_facts(mask: Value, lane: Symbol, known: Assumptions) -> tuple[Comparison, ...]:
    """What holds in the lanes that a mask lets through, with `lane` for the number of the lane."""
    match mask:
        case Binary(BinaryOp.AND, left, right):
            return _mask_facts(left, lane, known) + _mask_facts(right, lane, known)
        case Unary(UnaryOp.NOT, Compare(op, left, right)) if op in _NEGATED and left.dtype.is_integer:
            return _mask_facts(Compare(_NEGATED[op], left, right), lane, known)
        case Compare(op, RampValue(base, stride), limit) if op in _COMPARISONS:
            scalar = limit.operand if isinstance(limit, Broadcast) else limit
            at = add(base, multiply(lane, stride))
            match scalar:
                case IndexValue(index, dtype) if _fits(index, dtype, known) and _fits(at, dtype, known):
                    return (index_comparison(op, at, index),)
                case Imm(int(number), DType.INT32 | DType.INT64):
                    return (index_comparison(op, at, number),)
                case _:
                    return ()
        case Holds() | Broadcast() | Unary():
            return facts_when(mask)
        case _:
            return ()


def _fits(index: IntExpr, dtype: DType, known: Assumptions) -> bool:
    """Whether an index is certain not to wrap as a machine number."""
    low, high = integer_limits(dtype)
    return known.certain(Comparison(low, "<=", index)) and known.certain(Comparison(index, "<=", high))


_COMPARISONS = frozenset(CompareOp)
_NEGATED = {
    CompareOp.LESS: CompareOp.GREATER_EQUAL,
    CompareOp.LESS_EQUAL: CompareOp.GREATER,
    CompareOp.GREATER: CompareOp.LESS_EQUAL,
    CompareOp.GREATER_EQUAL: CompareOp.LESS,
}


def _reaches_outside(index: IntExpr, extent: IntExpr, known: Assumptions) -> bool:
    """Whether a linear index of independent loop symbols does leave its axis: its interval is exact."""
    if known.has_facts or not isinstance(extent, int):
        return False
    low, high = known.bounds(index)
    return (low is not None and low < 0) or (high is not None and high >= extent)
