"""A kernel as what a device launches, one nest of thread loops after another.

    alloc sums: float32[4]                               one function for each nest; `sums` is a parameter of both,
      thread blockIdx.x in 4: … sums[…] = …              and whoever launches them makes room for it
      thread blockIdx.x in 4: … out[…] = … sums[…] …

Threads of different blocks cannot wait for each other: where one nest reads what all threads of another have written,
the device must have finished the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from relay.arith.expr import IntExpr
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.dependence import direct_accesses
from relay.tir.hierarchy import Hierarchy
from relay.tir.stmt import Allocate, For, LoopKind, PrimFunc, Sequence, Stmt
from relay.tir.traversal import walk_statement


@frozen(eq=False)
class ThreadNest:
    """A function whose body is one nest of thread loops. `grid` has the extents of the axes of the level inside the
    device, `group` of those further in, both in the order of the hierarchy's axes; one that binds nothing is 1."""

    function: PrimFunc
    grid: tuple[IntExpr, ...]
    group: tuple[IntExpr, ...]


@frozen(eq=False)
class ThreadNests:
    """The nests of a kernel, in their order. `scratch` are the buffers that only they share."""

    nests: tuple[ThreadNest, ...]
    scratch: tuple[Buffer, ...]


def thread_nests(func: PrimFunc) -> ThreadNests:
    """The nests of a kernel all of whose statements are in thread loops.

    Raises `RelayError` (rule `no-threads`) for a statement that is in none.
    """
    scratch: list[Buffer] = []
    nests: list[ThreadNest] = []
    for number, statement in enumerate(_pieces(func.body, scratch)):
        nests.append(_nest(func, scratch, statement, f"{func.name}_{number}"))
    return ThreadNests(tuple(nests), tuple(scratch))


def _pieces(body: Stmt, scratch: list[Buffer]) -> Iterator[Stmt]:
    stack = [body]
    while stack:
        statement = stack.pop()
        match statement:
            case Sequence(statements):
                stack += reversed(statements)
            case Allocate(buffer, inner):
                scratch.append(buffer)
                stack.append(inner)
            case _:
                yield statement


def _nest(func: PrimFunc, scratch: list[Buffer], body: Stmt, name: str) -> ThreadNest:
    extents: dict[str, IntExpr] = {}
    inner = body
    while isinstance(inner, Allocate) or (isinstance(inner, For) and inner.kind is LoopKind.THREAD):
        if isinstance(inner, For):
            extents[inner.thread] = inner.extent
        inner = inner.body
    if not extents:
        raise RelayError(
            rule="no-threads",
            message=f"a statement of {func.name} is in no loop over threads, and the device runs nothing else",
            expected="schedules that bind a loop of every stage at the root",
            found=type(body).__name__,
        )
    read, written = _touched(body, func.hierarchy)
    shared = [buffer for buffer in (*func.parameters, *scratch) if buffer in read or buffer in written]
    parameters = sorted(shared, key=lambda buffer: buffer in written)
    levels = func.hierarchy.levels
    grid, group = (
        tuple(extents.get(axis.name, 1) for axis in func.hierarchy.threads if (axis.level == levels[1]) is outer)
        for outer in (True, False)
    )
    function = PrimFunc(
        name, tuple(parameters), len([each for each in parameters if each in written]), func.symbols, body,
        hierarchy=func.hierarchy,
    )  # fmt: skip
    return ThreadNest(function, grid, group)


def _touched(body: Stmt, hierarchy: Hierarchy) -> tuple[set[Buffer], set[Buffer]]:
    """The buffers that a statement reads, and those that it writes."""
    read: set[Buffer] = set()
    written: set[Buffer] = set()
    for statement in walk_statement(body):
        for access in direct_accesses(statement, hierarchy):
            (written if access.writes else read).add(access.buffer)
    return read, written
