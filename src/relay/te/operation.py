"""What makes a tensor. An operation is a definition, free of any order of evaluation; schedules give the order.

operation ::= Placeholder | Compute | Scan | Extern
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TypeAlias, Union, assert_never

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.graph import post_order
from relay.te.tensor import Axis, Tensor
from relay.tir.buffer import Buffer
from relay.tir.expr import Load, Ramp, Value, ValueBase
from relay.tir.stmt import Stmt
from relay.tir.traversal import everywhere, value_children, value_indices, values_in_index

Components: TypeAlias = tuple[Value, ...]


class Named:
    """Shown by name: a whole graph of producers hangs on an operation."""

    __slots__ = ()
    name: str

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}>"


@frozen(eq=False)
class Reducer:
    """An associative and commutative combination of `arity` components, with its identity.

    `combine(left, right)` and `identity(dtypes)` work on tuples with one entry for each component. One that `selects`
    gives one of its sources back, so nothing is rounded.
    """

    name: str
    arity: int
    combine: Callable[[Components, Components], Components]
    identity: Callable[[tuple[DType, ...]], Components]
    selects: bool = False


@frozen(eq=False, repr=False)
class Reduction:
    """`sources` combined over all points of `axes` where `where` holds, starting from `initial` (default: identity).

    Several reducers side by side share the loops; their components follow each other in `sources`.
    """

    reducers: tuple[Reducer, ...]
    sources: Components
    axes: tuple[Axis, ...]
    where: Value | None = None
    initial: Components | None = None

    @property
    def dtypes(self) -> tuple[DType, ...]:
        return tuple(source.dtype for source in self.sources)

    def identity(self) -> Components:
        """The value of an empty reduction without `initial`, one entry for each component."""
        parts: list[Value] = []
        for reducer in self.reducers:
            dtypes = self.dtypes[len(parts) : len(parts) + reducer.arity]
            parts.extend(reducer.identity(dtypes))
        return tuple(parts)

    def combine(self, left: Components, right: Components) -> Components:
        parts: list[Value] = []
        for reducer in self.reducers:
            span = slice(len(parts), len(parts) + reducer.arity)
            parts.extend(reducer.combine(left[span], right[span]))
        return tuple(parts)


@frozen(eq=False, repr=False)
class Reduced(ValueBase):
    """One component of a reduction, as the body of a compute. `dtype` is what the result is rounded to. Arithmetic can
    be written with it, so that `compute` sees it and says what to write."""

    reduction: Reduction
    component: int
    dtype: DType

    @property
    def lanes(self) -> int:
        return 1


@frozen(eq=False, repr=False)
class Placeholder(Named):
    """A tensor that comes from outside."""

    name: str


@frozen(eq=False, repr=False)
class Compute(Named):
    """Each element by a formula: `body` gives one value for each component, in terms of `axes`.

    `ranks` says how many of the leading axes each component has (all of them, when empty): the running maximum of an
    attention has fewer than its output.
    """

    name: str
    axes: tuple[Axis, ...]
    body: Components | Reduction
    attributes: tuple[tuple[str, str | int], ...] = ()
    ranks: tuple[int, ...] = ()
    reads: tuple[Load, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reads", loads_of(body_values(self.body)))

    @property
    def dtypes(self) -> tuple[DType, ...]:
        if isinstance(self.body, Reduction):
            return self.body.dtypes
        return tuple(value.dtype for value in self.body)

    def rank(self, component: int) -> int:
        """How many of the leading axes a component has."""
        return self.ranks[component] if self.ranks else len(self.axes)

    @property
    def shared_rank(self) -> int:
        """How many leading axes all components have."""
        return min(self.ranks, default=len(self.axes))

    @property
    def reduce_axes(self) -> tuple[Axis, ...]:
        return self.body.axes if isinstance(self.body, Reduction) else ()


@frozen(eq=False, repr=False)
class Scan(Named):
    """A recurrence along axis 0: `init` gives the first rows, and `update`, which reads earlier rows through the
    placeholders `state`, all later ones, one at a time."""

    name: str
    init: tuple[Tensor, ...]
    update: tuple[Tensor, ...]
    state: tuple[Tensor, ...]

    @property
    def dtypes(self) -> tuple[DType, ...]:
        return tuple(tensor.dtype for tensor in self.update)


@frozen(eq=False, repr=False)
class Extern(Named):
    """Loops written by hand: `emit(input buffers, output buffers)` gives the statement that fills the outputs."""

    name: str
    inputs: tuple[Tensor, ...]
    shapes: tuple[tuple[IntExpr, ...], ...]
    dtypes: tuple[DType, ...]
    emit: Callable[[tuple[Buffer, ...], tuple[Buffer, ...]], Stmt]


Operation: TypeAlias = Union[Placeholder, Compute, Scan, Extern]


def body_values(body: Components | Reduction) -> Components:
    """Every value that stands in a body."""
    if isinstance(body, tuple):
        return body
    where = () if body.where is None else (body.where,)
    return (*body.sources, *where, *(body.initial or ()))


def map_body(body: Components | Reduction, rewrite: Callable[[Value], Value]) -> Components | Reduction:
    """The body with each of its values rewritten; identities, which are constants, stay."""
    if isinstance(body, tuple):
        return tuple(map(rewrite, body))
    where = None if body.where is None else rewrite(body.where)
    initial = None if body.initial is None else tuple(map(rewrite, body.initial))
    return Reduction(body.reducers, tuple(map(rewrite, body.sources)), body.axes, where, initial)


def loads_of(values: Iterable[Value]) -> tuple[Load, ...]:
    """Every load in these values once, those inside gathering indices included, from left to right."""
    found: list[Load] = []
    stack = list(values)[::-1]
    met: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in met:
            continue
        met.add(id(node))
        if isinstance(node, Load):
            found.append(node)
        inside = [value for index in value_indices(node) for value in values_in_index(index)]
        stack.extend((*value_children(node), *inside)[::-1])
    return tuple(found)


def scalar_indices(load: Load) -> tuple[IntExpr, ...]:
    """The indices of a load in a formula, where vectors do not occur."""
    return tuple(index for index in load.indices if not isinstance(index, Ramp))


def rewriting(
    on_index: Callable[[IntExpr], IntExpr] = lambda index: index, on_load: Callable[[Load], Value] = lambda load: load
) -> Callable[[Value], Value]:
    """How to rewrite values: every index (gathered values inside them too), and then every load is replaced. Nodes that
    the values share stay shared."""
    return everywhere(lambda node: on_load(node) if isinstance(node, Load) else node, on_index)[0]


def input_tensors(operation: Operation) -> tuple[Tensor, ...]:
    """The tensors that an operation reads, each once, in order of appearance."""
    match operation:
        case Placeholder():
            return ()
        case Compute(reads=reads):
            buffers = dict.fromkeys(load.buffer for load in reads)
            return tuple(buffer for buffer in buffers if isinstance(buffer, Tensor))
        case Scan(init=init, update=update):
            return (*init, *update)
        case Extern(inputs=inputs):
            return inputs
        case _:
            assert_never(operation)


def inputs_of(outputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The placeholders that tensors are computed from, in the order in which the expressions speak of them.

    >>> from relay import te
    >>> a, b = (te.placeholder((4,), "float32", name) for name in "ab")
    >>> inputs_of([te.compute((4,), lambda i: b[i] - a[i])])
    (b[4], a[4])
    """
    tensors = post_order(outputs, lambda tensor: input_tensors(tensor.operation))
    scans = [each.operation for each in tensors if isinstance(each.operation, Scan)]
    inside = {state for each in scans for state in each.state}
    return tuple(each for each in tensors if isinstance(each.operation, Placeholder) and each not in inside)
