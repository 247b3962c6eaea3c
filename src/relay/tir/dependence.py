"""Do two iterations of a loop touch the same element? What races on parallel loops and lanes of vectors depend on.

Two accesses of one buffer at different iterations p and p' of a loop are apart if in some axis their indices cannot be
equal. An index is split into `k*p`, terms of symbols bound inside of the loop (free to differ between the two
iterations), and the rest, which is the same for both. Then `k*(p - p') + inner difference + constant = 0` must have no
solution with p != p'. That is so if the inner difference is always smaller than |k|; terms with larger coefficients do
no harm if they are multiples of a number that `k*(p - p')` and the small terms together cannot reach (mixed radix).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

from relay.arith.bounds import Interval, bounds_of
from relay.arith.expr import Atom, IntExpr, Node, Symbol, add, free_symbols, linear_parts, multiply
from relay.arith.simplify import Assumptions
from relay.tir.buffer import Buffer
from relay.tir.expr import Index, Load, Ramp
from relay.tir.stmt import Allocate, For, Stmt, Store
from relay.tir.traversal import statement_children, statement_values, values_in_index, walk_value


@dataclass(frozen=True, slots=True)
class Access:
    """One read or write inside of a loop: an element, or the elements of a vector as a symbol of its own."""

    buffer: Buffer
    indices: tuple[IntExpr, ...]
    writes: bool


@dataclass(frozen=True, slots=True)
class LoopAccesses:
    """What the body of a loop touches of buffers that it does not allocate itself, and the symbols that it binds."""

    accesses: tuple[Access, ...]
    inner: frozenset[Symbol]
    known: Assumptions


def loop_accesses(loop: For, known: Assumptions) -> LoopAccesses:
    """The accesses in the body of `loop`, under assumptions that hold around it."""
    known = known.with_loop(loop.variable, loop.extent)
    accesses: list[Access] = []
    inner: set[Symbol] = set()
    private: set[Buffer] = set()
    stack: list[Stmt] = [loop.body]
    while stack:
        statement = stack.pop()
        if isinstance(statement, For):
            inner.add(statement.variable)
            known = known.with_loop(statement.variable, statement.extent)
        elif isinstance(statement, Allocate):
            private.add(statement.buffer)
        for buffer, indices, writes in _direct_accesses(statement):
            flat: list[IntExpr] = []
            for index in indices:
                if isinstance(index, Ramp):
                    lane = Symbol("lane")
                    inner.add(lane)
                    known = known.with_loop(lane, index.lanes)
                    index = add(index.base, multiply(lane, index.stride))
                flat.append(index)
            accesses.append(Access(buffer, tuple(flat), writes))
        stack.extend(statement_children(statement))
    return LoopAccesses(tuple(a for a in accesses if a.buffer not in private), frozenset(inner), known)


def _direct_accesses(statement: Stmt) -> Iterator[tuple[Buffer, tuple[Index, ...], bool]]:
    indices: list[IntExpr] = []
    if isinstance(statement, Store):
        yield statement.buffer, statement.indices, True
        indices.extend(index.base if isinstance(index, Ramp) else index for index in statement.indices)
    elif isinstance(statement, For):
        indices.append(statement.extent)
    values = [*statement_values(statement)]
    for index in indices:
        values.extend(values_in_index(index))
    for value in values:
        for node in walk_value(value):
            if isinstance(node, Load):
                yield node.buffer, node.indices, False


def conflicts(loop: For, known: Assumptions) -> Iterator[tuple[Access, Access]]:
    """Pairs of accesses, one of them a write, that may touch the same element in two different iterations of `loop`.

    >>> from relay.base.dtypes import DType
    >>> from relay.tir.expr import imm
    >>> i, a = Symbol("i"), Buffer("a", (9,), DType.INT32)
    >>> [len(list(conflicts(For(i, 8, Store(a, (at,), imm(0, DType.INT32))), Assumptions({})))) for at in (i, i // 2)]
    [0, 1]
    """
    body = loop_accesses(loop, known)
    seen: set[tuple[Buffer, tuple[IntExpr, ...], bool]] = set()
    distinct: list[Access] = []
    for access in body.accesses:
        key = (access.buffer, access.indices, access.writes)
        if key not in seen:
            seen.add(key)
            distinct.append(access)
    for position, left in enumerate(distinct):
        for right in distinct[position:]:
            concerns = left.buffer is right.buffer and (left.writes or right.writes)
            if concerns and not _apart(left, right, loop, body):
                yield left, right


def _apart(left: Access, right: Access, loop: For, body: LoopAccesses) -> bool:
    """Whether two accesses of one buffer are certain to differ in some axis for different iterations."""
    pairs = list(zip(left.indices, right.indices, strict=True))
    if any(_axis_apart(a, b, loop, body) for a, b in pairs):
        return True
    if len(pairs) < 2:
        return False
    flat = [body.known.simplify(_flattened(access)) for access in (left, right)]
    return _axis_apart(flat[0], flat[1], loop, body)


def _flattened(access: Access) -> IntExpr:
    """The position of an element in row-major order; different for different elements within the buffer."""
    total: IntExpr = 0
    for index, extent in zip(access.indices, access.buffer.shape, strict=True):
        total = add(multiply(total, extent), index)
    return total


def _axis_apart(left: IntExpr, right: IntExpr, loop: For, body: LoopAccesses) -> bool:
    left_step, left_inner, left_rest = _split(left, loop.variable, body.inner)
    right_step, right_inner, right_rest = _split(right, loop.variable, body.inner)
    if left_step is None or left_step != right_step or left_step == 0:
        return False
    step = abs(left_step)
    offset = body.known.bounds(add(left_rest, multiply(right_rest, -1)))
    small, radix = offset, 0
    for sign, terms in ((1, left_inner), (-1, right_inner)):
        for term, coefficient in terms:
            if abs(coefficient) < step or not isinstance(term, Symbol):
                small = _plus(small, bounds_of(multiply(term, sign * coefficient), body.known.ranges))
            else:
                radix = gcd(radix, abs(coefficient))
    if small.low is None or small.high is None:
        return False
    reach = max(abs(small.low), abs(small.high))
    if reach >= step:
        return False
    if radix == 0:
        return True
    last = body.known.bounds(loop.extent).high
    return last is not None and step * (last - 1) + reach < radix


Terms = list[tuple[Node, int]]


def _split(index: IntExpr, variable: Symbol, inner: frozenset[Symbol]) -> tuple[int | None, Terms, IntExpr]:
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
