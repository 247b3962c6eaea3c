"""A machine that runs statements: closures over its memory, made once and run as often as loops say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, assert_never

import numpy as np

from relay.arith.expr import (
    COMPARISON_OPERATORS,
    Atom,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Product,
    Sum,
    Symbol,
)
from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.dtypes import DType
from relay.tir.buffer import Buffer
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
    index_lanes,
)
from relay.tir.interpretation.arguments import Array
from relay.tir.interpretation.positions import active_positions, carried, check_range, uninitialized_read
from relay.tir.intrinsics import EFFECT_FREE_HINTS
from relay.tir.semantics import (
    Numbers,
    binary_function,
    cast_function,
    compare_function,
    index_as_number,
    reinterpret_function,
    unary_function,
)
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, Stmt, Store
from relay.tir.stmt import Sequence as Block
from relay.tir.threads.synchronization import atomic_update
from relay.tir.traversal import ValueIndex, joined

GetIndex: TypeAlias = Callable[[], int]
GetValue: TypeAlias = Callable[[], Numbers]
Run: TypeAlias = Callable[[], None]


class Machine:
    """The memory of one run, and the makers of closures over it."""

    def __init__(self, symbols: dict[Symbol, int], intrinsics: Mapping[str, Callable[..., Numbers]]) -> None:
        self.symbols = symbols
        self.values: dict[ValueVar, Numbers] = {}
        self.arrays: dict[Buffer, Array] = {}
        self.written: dict[Buffer, Array] = {}  # of temporaries: which elements have been
        self.intrinsics = intrinsics

    # --- indices ----------------------------------------------------------------------------------------------

    def index(self, expr: IntExpr) -> GetIndex:
        symbols = self.symbols
        match expr:
            case int():
                return lambda: expr
            case Symbol():
                return lambda: symbols[expr]
            case Sum(constant, terms):
                return self._sum(constant, [(self.index(term), coefficient) for term, coefficient in terms])
            case Product(factors):
                return self._product([self.index(factor) for factor in factors])
            case FloorDiv(a, b):
                left, right = self.index(a), self.index(b)
                return lambda: left() // right()
            case FloorMod(a, b):
                left, right = self.index(a), self.index(b)
                return lambda: left() % right()
            case Min(a, b):
                left, right = self.index(a), self.index(b)
                return lambda: min(left(), right())
            case Max(a, b):
                left, right = self.index(a), self.index(b)
                return lambda: max(left(), right())
            case ValueIndex(value):
                get = self.value(value)
                return lambda: int(get())
            case Atom():
                raise CompilerBug("tir.machine", f"an index of loops cannot hold {expr}")
            case _:
                raise CompilerBug("tir.machine", f"not an index: {type(expr).__name__}")

    def _sum(self, constant: int, terms: list[tuple[GetIndex, int]]) -> GetIndex:
        def total() -> int:
            result = constant
            for term, coefficient in terms:
                result += term() * coefficient
            return result

        return total

    def _product(self, factors: list[GetIndex]) -> GetIndex:
        def product() -> int:
            result = 1
            for factor in factors:
                result *= factor()
            return result

        return product

    def positions(self, buffer: Buffer, indices: tuple[Index, ...]) -> Callable[[], tuple[Any, ...]]:
        """The element or, where a Ramp is among the indices, the elements that they name."""
        get = self._positions(indices)
        last = next((axis for axis, index in enumerate(indices) if isinstance(index, Ramp)), 0)
        rows = len(indices) - len(joined(indices, buffer.shape)[0])
        arrays = self.arrays
        return (lambda: carried(get(), last, rows, arrays[buffer].shape)) if rows else get

    def _positions(self, indices: tuple[Index, ...]) -> Callable[[], tuple[Any, ...]]:
        getters: list[Callable[[], Any]] = []
        for index in indices:
            if isinstance(index, Ramp):
                getters.append(self._ramp(index.base, index.stride, index.lanes))
            else:
                getters.append(self.index(index))
        if len(getters) == 1:
            only = getters[0]
            return lambda: (only(),)
        if len(getters) == 2:
            first, second = getters
            return lambda: (first(), second())
        return lambda: tuple(get() for get in getters)

    def _ramp(self, base: IntExpr, stride: int, lanes: int) -> Callable[[], Array]:
        start, offsets = self.index(base), stride * np.arange(lanes, dtype=np.int64)
        return lambda: offsets + start()

    # --- values -----------------------------------------------------------------------------------------------

    def value(self, value: Value) -> GetValue:
        match value:
            case Imm(number, dtype, lanes):
                constant = _machine_number(number, dtype, lanes)
                return lambda: constant
            case ValueVar():
                values = self.values
                return lambda: values[value]
            case IndexValue(index, dtype, lanes):
                get_index = self.index(index)
                return lambda: _machine_number(index_as_number(get_index(), dtype), dtype, lanes)
            case RampValue(base, stride, dtype, lanes):
                return self._ramp_value(self.index(base), stride, dtype, lanes)
            case Holds(comparison, lanes):
                left, right = self.index(comparison.left), self.index(comparison.right)
                compare = COMPARISON_OPERATORS[comparison.op]
                return lambda: _machine_number(compare(left(), right()), DType.BOOL, lanes)
            case Load(buffer, indices, mask):
                return self._load(buffer, indices, None if mask is None else self.value(mask))
            case Unary(op, operand):
                return _applied(unary_function(op, operand.dtype), (self.value(operand),))
            case Binary(op, a, b):
                return _applied(binary_function(op, a.dtype), (self.value(a), self.value(b)))
            case Compare(op, a, b):
                return _applied(compare_function(op), (self.value(a), self.value(b)))
            case Cast(operand, dtype):
                return _applied(cast_function(operand.dtype, dtype), (self.value(operand),))
            case Select(condition, then, otherwise):
                return self._select(condition.lanes, self.value(condition), self.value(then), self.value(otherwise))
            case Broadcast(operand, lanes):
                get, numpy_dtype, times = self.value(operand), operand.dtype.numpy, lanes // operand.lanes
                return lambda: np.repeat(np.asarray(get(), numpy_dtype), times)
            case Call("reinterpret", (operand,), dtype):
                return _applied(reinterpret_function(dtype), (self.value(operand),))
            case Call(name, arguments):
                if name not in self.intrinsics:
                    raise RelayError(
                        rule="unknown-intrinsic", message=f"the meaning of the call `{name}` is not known here"
                    )
                return _applied(self.intrinsics[name], tuple(map(self.value, arguments)))
            case _:
                assert_never(value)

    def _ramp_value(self, start: GetIndex, stride: int, dtype: DType, lanes: int) -> GetValue:
        def ramp() -> Numbers:
            first = start()
            numbers = [index_as_number(first + stride * lane, dtype) for lane in range(lanes)]
            return np.array(numbers).astype(dtype.numpy)

        return ramp

    def _select(self, lanes: int, condition: GetValue, then: GetValue, otherwise: GetValue) -> GetValue:
        if lanes == 1:
            return lambda: then() if condition() else otherwise()

        def choose() -> Numbers:
            return np.where(condition(), then(), otherwise())

        return choose

    def _load(self, buffer: Buffer, indices: tuple[Index, ...], mask: GetValue | None) -> GetValue:
        get_positions = self.positions(buffer, indices)
        lanes = index_lanes(indices)
        arrays, written = self.arrays, self.written
        zero = _machine_number(0, buffer.dtype, lanes)

        def load() -> Numbers:
            array, positions = arrays[buffer], get_positions()
            check_range(buffer, "read", positions, array.shape)
            if buffer in written and not np.all(written[buffer][positions]):
                raise uninitialized_read(buffer, positions)
            return array[positions]

        if mask is None:
            return load

        def masked_load() -> Numbers:
            active = mask()
            if not active.any():
                return zero
            array, positions = arrays[buffer], active_positions(get_positions(), active)
            check_range(buffer, "read", positions, array.shape)
            if buffer in written and not np.all(written[buffer][positions]):
                raise uninitialized_read(buffer, positions)
            result = zero.copy()
            result[active] = array[positions]
            return result

        if lanes == 1:
            return lambda: load() if mask() else zero
        return masked_load

    # --- statements -------------------------------------------------------------------------------------------

    def statement(self, statement: Stmt) -> Run:
        match statement:
            case For():
                return self.loop(statement)
            case Store():
                return self._store(statement)
            case LetValue(variable, value, body):
                return _in_order((self.binding(variable, self.value(value)), self.statement(body)))
            case Block(statements):
                return _in_order(tuple(map(self.statement, statements)))
            case If(condition, then, otherwise):
                run_otherwise = _nothing if otherwise is None else self.statement(otherwise)
                return self._if(self.value(condition), self.statement(then), run_otherwise)
            case Allocate(buffer, body):
                return _in_order((self.allocation(buffer), self.statement(body)))
            case Evaluate(Call(name)) if name in EFFECT_FREE_HINTS and name not in self.intrinsics:
                return _nothing
            case Evaluate():
                return self.evaluation(statement)
            case Issue():
                return self.issue(statement)
            case _:
                assert_never(statement)

    def evaluation(self, statement: Evaluate) -> Run:
        update = atomic_update(statement)
        return _discarded(self.value(statement.value)) if update is None else self._store(update.store)

    def issue(self, issue: Issue) -> Run:
        """It is done at once where nothing else runs."""
        return self.statement(issue.body)

    def loop(self, loop: For) -> Run:
        extent, body = self.index(loop.extent), self.statement(loop.body)
        symbols, variable = self.symbols, loop.variable
        backwards = loop.kind is LoopKind.PARALLEL

        def run() -> None:
            count = extent()
            for iteration in range(count - 1, -1, -1) if backwards else range(count):
                symbols[variable] = iteration
                body()

        return run

    def _store(self, store: Store) -> Run:
        prepare = self.prepared(store)
        commit = self.commit(store.buffer)

        def run() -> None:
            change = prepare()
            if change is not None:
                commit(*change)

        return run

    def prepared(self, store: Store) -> Callable[[], tuple[Any, Numbers] | None]:
        """What a store is about to write, and where; None where its mask lets nothing through."""
        get_positions, get_value = self.positions(store.buffer, store.indices), self.value(store.value)
        get_mask = None if store.mask is None else self.value(store.mask)
        buffer, arrays = store.buffer, self.arrays
        vector = index_lanes(store.indices) > 1

        def prepare() -> tuple[Any, Numbers] | None:
            value = get_value()
            positions = get_positions()
            if get_mask is not None:
                active = get_mask()
                if not active.any():
                    return None
                if vector:
                    positions, value = active_positions(positions, active), value[active]
            check_range(buffer, "written", positions, arrays[buffer].shape)
            return positions, value

        return prepare

    def commit(self, buffer: Buffer) -> Callable[[Any, Numbers], None]:
        """How elements of a buffer are written."""
        arrays, written = self.arrays, self.written

        def write(positions: Any, value: Numbers) -> None:
            arrays[buffer][positions] = value
            if buffer in written:
                written[buffer][positions] = True

        return write

    def binding(self, variable: ValueVar, value: GetValue) -> Run:
        """A name given to a value."""
        values = self.values

        def run() -> None:
            values[variable] = value()

        return run

    def _if(self, condition: GetValue, then: Run, otherwise: Run) -> Run:
        def run() -> None:
            if condition():
                then()
            else:
                otherwise()

        return run

    def allocation(self, buffer: Buffer) -> Run:
        """Memory for a buffer, with no element written."""
        extents = [self.index(extent) for extent in buffer.shape]

        def run() -> None:
            shape = tuple(extent() for extent in extents)
            self.arrays[buffer] = np.zeros(shape, buffer.dtype.numpy)
            self.written[buffer] = np.zeros(shape, np.bool_)

        return run


def _applied(function: Callable[..., Numbers], operands: tuple[GetValue, ...]) -> GetValue:
    if len(operands) == 1:
        only = operands[0]
        return lambda: function(only())
    if len(operands) == 2:
        left, right = operands
        return lambda: function(left(), right())
    return lambda: function(*(operand() for operand in operands))


def _nothing() -> None:
    """The empty statement."""


def _discarded(value: GetValue) -> Run:
    def run() -> None:
        value()

    return run


def _in_order(parts: tuple[Run, ...]) -> Run:
    def run() -> None:
        for part in parts:
            part()

    return run


def _machine_number(number: float | bool, dtype: DType, lanes: int) -> Numbers:
    scalar = np.array(number).astype(dtype.numpy)[()]
    return scalar if lanes == 1 else np.full(lanes, scalar, dtype.numpy)
