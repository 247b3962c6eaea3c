"""The statements of the loop language, and the function that holds them.

stmt ::= For | Store | LetValue | Sequence | If | Allocate | Evaluate | Issue
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from enum import StrEnum
from typing import ClassVar, TypeAlias, Union

from relay.arith.expr import IntExpr, Symbol
from relay.base.frozen import frozen
from relay.base.shown.printed import Printed
from relay.tir.buffer import Buffer
from relay.tir.expr import Index, Value, ValueVar
from relay.tir.hierarchy import PLAIN, Hierarchy

ALTERNATE = "alternate"
"""The annotation of loops whose iterations run from the last to the first every second time."""


THREAD_NAME = "thread"
"""The annotation of THREAD loops that names the axis."""


class LoopKind(StrEnum):
    SERIAL = "serial"
    PARALLEL = "parallel"  # iterations in any order, on several threads
    VECTORIZED = "vectorized"  # iterations are the lanes of one vector; gone after `vectorize_loops`
    UNROLLED = "unrolled"  # the body is repeated; extent is constant
    VIRTUAL = "virtual"  # iterations in turn, from one issue to the next; gone after `interleave_threads`
    THREAD = "thread"  # iterations are the threads along the axis that the annotation "thread" names


@frozen(eq=False)
class For:
    """`for variable in range(extent): body`, always from 0 in steps of 1."""

    variable: Symbol
    extent: IntExpr
    body: Stmt
    kind: LoopKind = LoopKind.SERIAL
    annotations: tuple[tuple[str, str | int], ...] = ()

    @property
    def thread(self) -> str:
        """The name of the thread axis that a THREAD loop is bound to."""
        return str(dict(self.annotations)[THREAD_NAME])


@frozen(eq=False)
class Store:
    """`buffer[indices] = value`, for the lanes where `mask` holds (all, when None)."""

    buffer: Buffer
    indices: tuple[Index, ...]
    value: Value
    mask: Value | None = None


@frozen(eq=False)
class LetValue:
    """`variable = value` for the extent of `body`."""

    variable: ValueVar
    value: Value
    body: Stmt


@frozen(eq=False)
class Sequence:
    """One statement after another; empty for nothing."""

    statements: tuple[Stmt, ...]


@frozen(eq=False)
class If:
    condition: Value
    then: Stmt
    otherwise: Stmt | None = None


@frozen(eq=False)
class Allocate:
    """A buffer that exists, with undefined contents, for the extent of `body`. Extents are constant, but for
    memory of the outermost level."""

    buffer: Buffer
    body: Stmt


@frozen(eq=False)
class Evaluate:
    """A call for its effect: a prefetch, an extern kernel."""

    value: Value


@frozen(eq=False)
class Issue:
    """`body` is done in a queue of the thread, some time between here and where the thread awaits it (see
    `synchronization`). Symbols and variables are those of now; memory is read and written then."""

    queue: str
    body: Stmt


Stmt: TypeAlias = Union[For, Store, LetValue, Sequence, If, Allocate, Evaluate, Issue]


@frozen(eq=False, repr=False)
class PrimFunc(Printed):
    """One kernel. Buffers do not alias, unless `may_alias` pairs an output with an input it may be written onto
    (element for element). Extents that are symbols come as int64 arguments after the buffers.

    `parameters` are inputs then outputs; `output_count` says how many of the last are written. `hierarchy` says what
    the threads and scopes are that loops and buffers name.
    """

    name: str
    parameters: tuple[Buffer, ...]
    output_count: int
    symbols: tuple[Symbol, ...]
    body: Stmt
    attributes: tuple[tuple[str, str | int], ...] = field(default=())
    hierarchy: Hierarchy = PLAIN
    printer: ClassVar[Callable[[PrimFunc], str] | None] = None

    def __str__(self) -> str:
        """The loops, as text; `relay.tir.text` hands in the printer."""
        return object.__repr__(self) if PrimFunc.printer is None else PrimFunc.printer(self).rstrip()

    @property
    def inputs(self) -> tuple[Buffer, ...]:
        return self.parameters[: len(self.parameters) - self.output_count]

    @property
    def outputs(self) -> tuple[Buffer, ...]:
        return self.parameters[len(self.parameters) - self.output_count :]
