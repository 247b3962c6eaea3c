"""Functions that make one tensor of a list of tensors.

Eight elements at a time become a chunk, then chunks are joined four at a time until one is left: every element is
copied log₄(n / 8) + 1 times, and chunks of eight have known extents. The extent of each chunk is its own, so chunks are
a data type, not a list.
"""

from __future__ import annotations

from dataclasses import field

from relay.base.frozen import frozen, mutable
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Match,
    Pattern,
    PatternConstructor,
    PatternVar,
    PatternWildcard,
    Tuple,
    Var,
    const,
)
from relay.ir.types import ANY, TensorType, Type, TypeCall
from relay.ops.creation.create import full, zeros
from relay.ops.manipulation.combine import concatenate, stack
from relay.ops.manipulation.shape import expand_dims
from relay.transform.batching.definitions import Definitions, Lists, chain_pattern
from relay.transform.batching.rows import has_unit_axis, row_shape, rows_type

CHUNK, JOINED = 8, 4


@frozen(eq=False)
class _Chunks:
    """The data type of chunks of one type of elements, and the function that joins them."""

    chunk: Constructor
    end: Constructor
    join: GlobalVar

    @property
    def type(self) -> Type:
        return TypeCall(self.chunk.belong_to, ())


@mutable
class Stacking:
    """The functions made so far, for each type of elements and direction."""

    prefix: str
    definitions: Definitions
    lists: Lists
    _chunks: dict[tuple[TensorType, int], _Chunks] = field(default_factory=dict)
    _stacks: dict[tuple[TensorType, bool, int], GlobalVar] = field(default_factory=dict)

    def stacked(self, elements: Expr, element: TensorType, last_first: bool, nothing: int = 0) -> Expr:
        """The rows of the elements of a list, or of their reverse; one row of `nothing` if there are none."""
        key = (element, last_first, nothing)
        if key not in self._stacks:
            self._stacks[key] = self._define(element, last_first, nothing)
        return Call(self._stacks[key], (elements,))

    def _define(self, element: TensorType, last_first: bool, nothing: int) -> GlobalVar:
        if (element, nothing) not in self._chunks:
            self._chunks[element, nothing] = self._define_chunks(element, nothing)
        chunks = self._chunks[element, nothing]
        elements = Var("elements", self.lists.of(element))
        cut = self._define_last_first(element, chunks) if last_first else self._define_first_first(element, chunks)
        cut_args = (elements, Call(chunks.end, ())) if last_first else (elements,)
        hint = f"{self.prefix}_stacked{'_last_first' if last_first else ''}"
        return self.definitions.function(
            hint, (elements,), Call(chunks.join, (Call(cut, cut_args),)), rows_type(element, ANY)
        )

    def _define_first_first(self, element: TensorType, chunks: _Chunks) -> GlobalVar:
        name = self.definitions.fresh(f"{self.prefix}_chunks")
        elements, rest = Var("elements", self.lists.of(element)), Var("rest")
        eight = [Var(f"x{i}") for i in range(CHUNK)]
        one = Var("x")

        def clause(firsts: list[Var], rest: Var) -> Clause:
            made = Call(chunks.chunk, (_rows(firsts, element), Call(name, (rest,))))
            return Clause(chain_pattern(self.lists.cons, firsts, PatternVar(rest)), made)

        clauses = (
            clause(eight, rest),
            clause([one], Var("rest")),
            Clause(PatternConstructor(self.lists.nil), Call(chunks.end, ())),
        )
        self.definitions.functions[name] = Function((elements,), Match(elements, clauses), chunks.type)
        return name

    def _define_last_first(self, element: TensorType, chunks: _Chunks) -> GlobalVar:
        name = self.definitions.fresh(f"{self.prefix}_chunks_last_first")
        elements, done = Var("elements", self.lists.of(element)), Var("done", chunks.type)

        def clause(firsts: list[Var], rest: Var) -> Clause:
            made = Call(chunks.chunk, (_rows(firsts[::-1], element), done))
            return Clause(chain_pattern(self.lists.cons, firsts, PatternVar(rest)), Call(name, (rest, made)))

        clauses = (
            clause([Var(f"x{i}") for i in range(CHUNK)], Var("rest")),
            clause([Var("x")], Var("rest")),
            Clause(PatternConstructor(self.lists.nil), done),
        )
        self.definitions.functions[name] = Function((elements, done), Match(elements, clauses), chunks.type)
        return name

    def _define_chunks(self, element: TensorType, nothing: int) -> _Chunks:
        rows = rows_type(element, ANY)
        chunk, end = self.definitions.data(
            f"{self.prefix}_Chunks", ((f"{self.prefix}_Chunk", (rows, None)), (f"{self.prefix}_End", ()))
        )
        chunks_type = TypeCall(chunk.belong_to, ())
        merge = self.definitions.fresh(f"{self.prefix}_merged")
        chunks = Var("chunks", chunks_type)

        def clause(count: int) -> Clause:
            firsts, rest = [Var(f"x{i}") for i in range(count)], Var("rest")
            joined = concatenate(Tuple(tuple(firsts)), 0)
            return Clause(chain_pattern(chunk, firsts, PatternVar(rest)), Call(chunk, (joined, Call(merge, (rest,)))))

        clauses = (clause(JOINED), clause(2), Clause(PatternWildcard(), chunks))
        self.definitions.functions[merge] = Function((chunks,), Match(chunks, clauses), chunks_type)
        join = self.definitions.fresh(f"{self.prefix}_joined")
        chunks, only = Var("chunks", chunks_type), Var("rows")
        none: Pattern = PatternConstructor(end)
        shape = (1, *row_shape(element))
        clauses = (
            Clause(chain_pattern(chunk, (only,), none), only),
            Clause(none, full(const(nothing, element.dtype), shape) if nothing else zeros(shape, element.dtype)),
            Clause(PatternWildcard(), Call(join, (Call(merge, (chunks,)),))),
        )
        self.definitions.functions[join] = Function((chunks,), Match(chunks, clauses), rows)
        return _Chunks(chunk, end, join)


def _rows(elements: list[Var], element: TensorType) -> Expr:
    """The rows of a few elements."""
    if has_unit_axis(element):
        return elements[0] if len(elements) == 1 else concatenate(Tuple(tuple(elements)), 0)
    return expand_dims(elements[0], 0) if len(elements) == 1 else stack(Tuple(tuple(elements)), 0)
