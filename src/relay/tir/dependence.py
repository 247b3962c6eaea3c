"""Do two iterations of a loop touch the same element? What races on parallel loops and lanes of vectors depend on.

Two accesses of one buffer at different iterations p and p' of a loop are apart if in some axis their indices cannot be
equal. An index is split into `k*p`, terms of symbols bound inside of the loop (free to differ between the two
iterations), and the rest, which is the same for both. Then `k*(p - p') + inner difference + constant = 0` must have no
solution with p != p'. That is so if the inner difference is always smaller than |k|; terms with larger coefficients do
no harm if they are multiples of a number that `k*(p - p')` and the small terms together cannot reach (mixed radix).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Protocol

from relay.arith.bounds import Interval
from relay.arith.expr import (
    Atom,
    Comparison,
    IntExpr,
    Node,
    Symbol,
    add,
    free_symbols,
    linear_parts,
    linear_sum,
    multiply,
)
from relay.arith.simplify import Assumptions
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.conditions import facts_unless, facts_when
from relay.tir.expr import BinaryOp, Index, Load, Ramp, Value
from relay.tir.hierarchy import Hierarchy
from relay.tir.instructions import called_instruction
from relay.tir.stmt import Allocate, For, If, Stmt, Store
from relay.tir.threads.synchronization import atomic_update
from relay.tir.traversal import statement_children, statement_values, values_in_index, walk_value


@frozen
class Access:
    """One read or write inside of a loop: an element, or the elements of a vector as a symbol of its own."""

    buffer: Buffer
    indices: tuple[IntExpr, ...]
    writes: bool
    update: BinaryOp | None
    known: Assumptions  # of the loops and guards around it


class LoopAccesses:
    """What the body of a loop touches of buffers that it does not allocate itself, and the symbols that it binds."""

    def __init__(self, loop: For, known: Assumptions, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self.inner: set[Symbol] = set()
        self._private: set[Buffer] = set()
        self._found: list[Access] = []
        self._visit(loop.body, known.with_loop(loop.variable, loop.extent))

    @property
    def accesses(self) -> list[Access]:
        return [access for access in self._found if access.buffer not in self._private]

    def _visit(self, statement: Stmt, known: Assumptions) -> None:
        for access in direct_accesses(statement, self._hierarchy):
            self._found.append(self._access(access, known))
        match statement:
            case For(variable, extent, body):
                self.inner.add(variable)
                self._visit(body, known.with_loop(variable, extent))
            case If(condition, then, otherwise):
                self._visit(then, known.assuming(*facts_when(condition)))
                if otherwise is not None:
                    self._visit(otherwise, known.assuming(*facts_unless(condition)))
            case Allocate(buffer, body):
                self._private.add(buffer)
                self._visit(body, known)
            case _:
                for part in statement_children(statement):
                    self._visit(part, known)

    def _access(self, access: DirectAccess, known: Assumptions) -> Access:
        flat: list[IntExpr] = []
        for index in access.indices:
            if isinstance(index, Ramp):
                lane = Symbol("lane")
                self.inner.add(lane)
                known = known.with_loop(lane, index.lanes)
                flat.append(add(index.base, multiply(lane, index.stride)))
            else:
                flat.append(index)
        return Access(access.buffer, tuple(flat), access.writes, access.update, known)


@frozen
class DirectAccess:
    """Elements that a statement itself reads, writes or, by an operator, updates at once (which is a write)."""

    buffer: Buffer
    indices: tuple[Index, ...]
    writes: bool = False
    update: BinaryOp | None = None


class _Accessing(Protocol):
    @property
    def buffer(self) -> Buffer: ...
    @property
    def writes(self) -> bool: ...
    @property
    def update(self) -> BinaryOp | None: ...


def may_clash(left: _Accessing, right: _Accessing) -> bool:
    """Whether the order of two accesses counts where they are of one element."""
    same_update = left.update is not None and left.update is right.update
    return left.buffer is right.buffer and (left.writes or right.writes) and not same_update


def direct_accesses(statement: Stmt, hierarchy: Hierarchy) -> Iterator[DirectAccess]:
    """What stands directly in a statement; `hierarchy` knows what calls do."""
    indices: list[Index] = []
    values: list[Value] = []
    update, called = atomic_update(statement), called_instruction(statement, hierarchy)
    if update is not None:
        yield DirectAccess(update.target.buffer, update.target.indices, True, update.op)
        indices.extend(update.target.indices)
        values.append(update.value)
    elif called is not None:
        for block in called.blocks:
            if block.operand.access.reads:
                yield DirectAccess(block.buffer, block.indices)
            if block.operand.access.writes:
                yield DirectAccess(block.buffer, block.indices, True)
            indices.extend(block.first)
        values.extend(called.values)
    else:
        values.extend(statement_values(statement))
    if isinstance(statement, Store):
        yield DirectAccess(statement.buffer, statement.indices, True)
        indices.extend(statement.indices)
    elif isinstance(statement, For):
        indices.append(statement.extent)
    for index in indices:
        values.extend(values_in_index(index.base if isinstance(index, Ramp) else index))
    for value in values:
        for node in walk_value(value):
            if isinstance(node, Load):
                yield DirectAccess(node.buffer, node.indices)


def conflicts(loop: For, known: Assumptions, hierarchy: Hierarchy) -> Iterator[tuple[Access, Access]]:
    """Pairs of accesses, one of them a write, that may touch the same element in two different iterations of `loop`.

    >>> from relay.base.dtypes import DType
    >>> from relay.tir.expr import imm
    >>> from relay.tir.hierarchy import PLAIN
    >>> i, a = Symbol("i"), Buffer("a", (9,), DType.INT32)
    >>> loops = [For(i, 8, Store(a, (at,), imm(0, DType.INT32))) for at in (i, i // 2)]
    >>> [len(list(conflicts(loop, Assumptions({}), PLAIN))) for loop in loops]
    [0, 1]
    """
    body = LoopAccesses(loop, known, hierarchy)
    distinct: dict[tuple[Buffer, tuple[IntExpr, ...], bool, BinaryOp | None, int], Access] = {}
    for access in body.accesses:
        distinct.setdefault((access.buffer, access.indices, access.writes, access.update, id(access.known)), access)
    accesses = list(distinct.values())
    for position, left in enumerate(accesses):
        for right in accesses[position:]:
            if may_clash(left, right) and not _apart(left, right, loop, body.inner):
                yield left, right


def _apart(left: Access, right: Access, loop: For, inner: set[Symbol]) -> bool:
    """Whether two accesses of one buffer are certain to differ in some axis for different iterations."""
    only = {access.known.bounds(loop.variable) for access in (left, right)}
    if len(only) == 1 and len(set(next(iter(only)))) == 1 and None not in next(iter(only)):
        return True  # guards leave one iteration, the same for both
    pairs = list(zip(left.indices, right.indices, strict=True))
    axes = [(_Side(a, left.known), _Side(b, right.known)) for a, b in pairs]
    if len(pairs) > 1:
        axes.append((_Side(_flattened(left), left.known), _Side(_flattened(right), right.known)))
    return any(_axis_apart(a, b, loop, inner) for a, b in axes)


@frozen
class _Side:
    """An index, and what is known where it stands."""

    index: IntExpr
    known: Assumptions


def _flattened(access: Access) -> IntExpr:
    """The position of an element in row-major order; different for different elements within the buffer."""
    total: IntExpr = 0
    for index, extent in zip(access.indices, access.buffer.shape, strict=True):
        total = add(multiply(total, extent), index)
    return access.known.simplify(total)


def _axis_apart(left: _Side, right: _Side, loop: For, inner: set[Symbol]) -> bool:
    if _disjoint(left.known.bounds(left.index), right.known.bounds(right.index)):
        return True
    left_step, left_inner, left_rest = _split(left.index, loop.variable, inner)
    right_step, right_inner, right_rest = _split(right.index, loop.variable, inner)
    if left_step is None or left_step != right_step or left_step == 0:
        return False
    step = abs(left_step)
    small = left.known.bounds(add(left_rest, multiply(right_rest, -1)))
    radix = 0
    for known, sign, terms in ((left.known, 1, left_inner), (right.known, -1, right_inner)):
        for term, coefficient in terms:
            if abs(coefficient) < step or not isinstance(term, Symbol):
                small = _plus(small, known.bounds(multiply(term, sign * coefficient)))
            else:
                radix = gcd(radix, abs(coefficient))
    reach = _size(small)
    if reach is None or reach >= step:
        same_rest = add(left_rest, multiply(right_rest, -1)) == 0
        return same_rest and _digit(left, left_inner, step) and _digit(right, right_inner, step)
    if radix == 0:
        return True
    last = left.known.bounds(loop.extent).high
    return last is not None and step * (last - 1) + reach < radix


def _size(interval: Interval) -> int | None:
    """The largest absolute value in an interval."""
    return None if interval.low is None or interval.high is None else max(abs(interval.low), abs(interval.high))


def _digit(side: _Side, terms: Terms, step: int) -> bool:
    """Whether the terms of inner symbols are certain to be a digit of base `step`, by facts where ranges do not do."""
    digit = linear_sum(0, terms)
    inside = (Comparison(0, "<=", digit), Comparison(digit, "<", step))
    return all(map(side.known.certain, inside))


def _disjoint(left: Interval, right: Interval) -> bool:
    below = left.high is not None and right.low is not None and left.high < right.low
    return below or (right.high is not None and left.low is not None and right.high < left.low)


Terms = list[tuple[Node, int]]


def _split(index: IntExpr, variable: Symbol, inner: set[Symbol]) -> tuple[int | None, Terms, IntExpr]:
    """`(coefficient of the loop's symbol, terms with inner symbols, the rest)`; None where the symbol is not linear."""
    constant, terms = linear_parts(index)
    step: int | None = 0
    varying: Terms = []
    rest: IntExpr = constant
    for term, coefficient in terms:
        if term is variable:
            step = coefficient
            continue
        symbols = free_symbols(term)
        if variable in symbols:
            return None, [], 0
        if symbols & inner or isinstance(term, Atom):
            varying.append((term, coefficient))
        else:
            rest = add(rest, multiply(term, coefficient))
    return step, varying, rest


def _plus(left: Interval, right: Interval) -> Interval:
    low = None if left.low is None or right.low is None else left.low + right.low
    high = None if left.high is None or right.high is None else left.high + right.high
    return Interval(low, high)
