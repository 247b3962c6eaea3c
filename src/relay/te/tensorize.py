"""Tensor intrinsics: a block of loops done by one instruction, or by a micro-kernel written by hand.

An intrinsic says what it computes as a small tensor expression, and how as a function that writes the statement. A
stage whose inner loops have the same formula, over consecutive elements of wherever its operands are kept, may use it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeAlias, Union

from relay.arith.expr import Comparison, IntExpr, Symbol, add, free_symbols, linear_parts, multiply, substitute
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen, mutable
from relay.te.operation import Compute, Reduction
from relay.te.tensor import Axis, Tensor
from relay.tir.buffer import Buffer
from relay.tir.expr import Load, Ramp, Value
from relay.tir.stmt import Stmt
from relay.tir.traversal import value_children, value_indices


@frozen(eq=False)
class View:
    """The part of `buffer` that an operand of the intrinsic is: `indices` in terms of `coordinates`, its axes."""

    buffer: Buffer
    indices: tuple[IntExpr, ...]
    coordinates: tuple[Symbol, ...]

    def at(self, *coordinates: IntExpr) -> tuple[IntExpr, ...]:
        """The indices of `buffer` at these coordinates of the operand."""
        mapping: dict[Symbol, IntExpr] = dict(zip(self.coordinates, coordinates, strict=True))
        return tuple(substitute(index, mapping) for index in self.indices)

    def load(self, *coordinates: IntExpr) -> Load:
        return Load(self.buffer, self.at(*coordinates))

    def block(self) -> Load:
        """The first element, which names a block to an instruction (`tir.hierarchy.Operand`): one along the last axes
        of the buffer. Raises `RelayError` (`schedule-tensorize`) for a view that steps or turns them.

        >>> from relay.base.dtypes import DType
        >>> a, i, j = Buffer("a", (4, 8, 8), DType.FLOAT32), Symbol("i"), Symbol("j")
        >>> View(a, (2, i + 4, j), (i, j)).block().indices
        (2, 4, 0)
        """
        outer = len(self.indices) - len(self.coordinates)
        own = (*(0,) * outer, *self.coordinates)
        first = tuple(add(index, multiply(axis, -1)) for index, axis in zip(self.indices, own, strict=True))
        if any(not free_symbols(index).isdisjoint(self.coordinates) for index in first):
            axes = ", ".join(map(str, self.coordinates))
            raise RelayError(
                rule="schedule-tensorize",
                message=f"an instruction works on blocks, and what is read of `{self.buffer.name}` is none",
                expected=f"indices that end with {axes}, each once and in this order",
                found=", ".join(map(str, self.indices)),
                remedy="copy it before (`cache_read`), in the order of the instruction's operand",
            )
        return Load(self.buffer, first)

    def vector(self, *coordinates: IntExpr, lanes: int) -> tuple[IntExpr | Ramp, ...]:
        """The indices of `lanes` elements along the last axis of the operand, starting at these coordinates."""
        last = self.coordinates[-1]
        starts = self.at(*coordinates)
        strides = [dict(linear_parts(index)[1]).get(last, 0) for index in self.indices]
        return tuple(
            Ramp(start, stride, lanes) if stride else start for start, stride in zip(starts, strides, strict=True)
        )


@frozen(eq=False)
class TensorIntrinsic:
    """`description` is the result of a compute over placeholders, each read at plain axes; `emit(inputs, output)` gives
    the statement that does it. For a reduction it adds to what the output holds.

    `inputs` are views of the placeholders in the order of `operands`.
    """

    name: str
    description: Tensor
    operands: tuple[Tensor, ...]
    emit: Callable[[tuple[View, ...], View], Stmt]


@frozen(eq=False)
class BlockIntrinsic:
    """A micro-kernel for blocks that no description fits: `write` looks at a block itself, and gives the statement that
    does it, or raises `RelayError` (`schedule-tensorize`; see `refused_block`).

    `sets`: of a reduction all of whose loops are inside, the statement sets what the output holds, instead of adding.
    """

    name: str
    write: Callable[[Block], Stmt]
    sets: bool = False


AnyIntrinsic: TypeAlias = Union[TensorIntrinsic, BlockIntrinsic]


@mutable(eq=True)
class _Match:
    """Operands of the description found so far."""

    axes: Mapping[Symbol, Symbol]  # loop of the stage -> axis of the description
    views: dict[Buffer, View] = field(default_factory=dict[Buffer, View])


@frozen(eq=False)
class Block:
    """The inner loops of `stage`: `targets = sources` (combined with what they hold, for a `reduction`) over `loops`,
    each (symbol, extent, is reduced). Something is to be done where `guards`, conditions on these loops, all hold.
    `ahead` is what to prefetch in each iteration of a loop."""

    stage: str
    loops: tuple[tuple[Symbol, IntExpr, bool], ...]
    targets: tuple[Load, ...]
    sources: tuple[Value, ...]
    reduction: Reduction | None
    guards: tuple[Comparison, ...]
    ahead: Mapping[Symbol, tuple[Stmt, ...]] = field(default_factory=dict[Symbol, tuple[Stmt, ...]])


def tensorized(intrinsic: AnyIntrinsic, block: Block) -> Stmt:
    """The statement that does `block`.

    Raises `RelayError` (`schedule-tensorize`) when loops or formula differ from the description.
    """
    if isinstance(intrinsic, BlockIntrinsic):
        return intrinsic.write(block)
    where = f"the block of `{block.stage}`"
    operation = intrinsic.description.operation
    if not isinstance(operation, Compute):
        raise _mismatch(intrinsic, where, "a compute as its description", "another operation")
    if block.guards:
        raise _mismatch(intrinsic, where, "loops that divide evenly", f"the guard {block.guards[0]}")
    if any(block.ahead.values()):
        raise _mismatch(intrinsic, where, "prefetches in loops outside", "one inside")
    pattern = operation.body
    _check_reducer(intrinsic, where, pattern, block.reduction)
    match = _Match(_paired(intrinsic, where, operation, block.loops))
    _operand(intrinsic, where, Load(intrinsic.description, operation.axes), block.targets[0], match)
    body = pattern.sources if isinstance(pattern, Reduction) else pattern
    if len(body) != 1 or len(block.sources) != 1:
        raise _mismatch(intrinsic, where, "one result", f"{len(block.sources)} results")
    _unify(intrinsic, where, body[0], block.sources[0], match)
    inputs = tuple(match.views[operand] for operand in intrinsic.operands)
    return intrinsic.emit(inputs, match.views[intrinsic.description])


def _check_reducer(
    intrinsic: TensorIntrinsic, where: str, pattern: tuple[Value, ...] | Reduction, reduction: Reduction | None
) -> None:
    wanted = [reducer.name for reducer in pattern.reducers] if isinstance(pattern, Reduction) else []
    given = [reducer.name for reducer in reduction.reducers] if reduction is not None else []
    if wanted != given:
        raise _mismatch(intrinsic, where, ", ".join(wanted) or "no reduction", ", ".join(given) or "no reduction")
    if reduction is not None and reduction.where is not None:
        raise _mismatch(intrinsic, where, "a reduction without a condition", "one with a condition")


def _paired(
    intrinsic: TensorIntrinsic, where: str, operation: Compute, loops: tuple[tuple[Symbol, IntExpr, bool], ...]
) -> dict[Symbol, Symbol]:
    """Loops over results with axes, loops that reduce with reduced axes, each in order."""
    pairs: dict[Symbol, Symbol] = {}
    for axes, reduced in ((operation.axes, False), (operation.reduce_axes, True)):
        given = [(symbol, extent) for symbol, extent, is_reduction in loops if is_reduction is reduced and extent != 1]
        wanted = [axis for axis in axes if axis.extent != 1]
        if [extent for _, extent in given] != [axis.extent for axis in wanted]:
            kind = "reducing loops" if reduced else "loops over results"
            expected = f"{kind} of extents ({', '.join(str(axis.extent) for axis in wanted)})"
            found = f"({', '.join(str(extent) for _, extent in given)})"
            raise _mismatch(intrinsic, where, expected, found)
        pairs |= {symbol: axis for (symbol, _), axis in zip(given, wanted, strict=True)}
    return pairs


def _unify(intrinsic: TensorIntrinsic, where: str, pattern: Value, value: Value, match: _Match) -> None:
    """Require that `value` is `pattern` with its loads standing for loads of the stage's operands."""
    if isinstance(pattern, Load):
        if not isinstance(value, Load):
            raise _mismatch(intrinsic, where, f"a read for `{pattern.buffer.name}`", type(value).__name__)
        _operand(intrinsic, where, pattern, value, match)
        return
    inner, given = value_children(pattern), value_children(value)
    if type(pattern) is not type(value) or _head(pattern) != _head(value) or len(inner) != len(given):
        raise _mismatch(intrinsic, where, _spelled(pattern), _spelled(value))
    if value_indices(pattern) or value_indices(value):
        raise _mismatch(intrinsic, where, "a formula without indices as numbers", _spelled(value))
    for part, found in zip(inner, given, strict=True):
        _unify(intrinsic, where, part, found, match)


def _head(value: Value) -> tuple[object, ...]:
    """What of a node is not its operands."""
    return (*(getattr(value, name, None) for name in ("op", "name", "value")), value.dtype)


def _spelled(value: Value) -> str:
    head = ", ".join(str(part) for part in _head(value) if part is not None)
    return f"{type(value).__name__}({head})"


def _operand(intrinsic: TensorIntrinsic, where: str, pattern: Load, value: Load, match: _Match) -> None:
    """Note where an operand is kept; a second read of it must be of the same elements."""
    if pattern.dtype != value.dtype:
        raise _mismatch(intrinsic, where, f"`{pattern.buffer.name}` of {pattern.dtype}", str(value.dtype))
    coordinates = tuple(index for index in pattern.indices if isinstance(index, Axis))
    if len(coordinates) != len(pattern.indices) or len(set(coordinates)) != len(coordinates):
        raise _mismatch(intrinsic, where, "a description that reads its operands at plain axes", pattern.buffer.name)
    mapping: dict[Symbol, IntExpr] = dict(match.axes)
    indices = tuple(substitute(index, mapping) for index in value.indices if not isinstance(index, Ramp))
    view = View(value.buffer, indices, coordinates)
    _check_plain(intrinsic, where, view, set(match.axes.values()))
    known = match.views.setdefault(pattern.buffer, view)
    if (known.buffer, known.indices) != (view.buffer, view.indices):
        raise _mismatch(intrinsic, where, f"one tensor for `{pattern.buffer.name}`", "two")


def _check_plain(intrinsic: TensorIntrinsic, where: str, view: View, axes: set[Symbol]) -> None:
    """Every index is a base and constant multiples of the operand's own axes."""
    for index in view.indices:
        constant, terms = linear_parts(index)
        steps = [(term, factor) for term, factor in terms if free_symbols(term) & axes]
        if any(term not in view.coordinates for term, _ in steps):
            text = str(add(constant, sum((multiply(term, factor) for term, factor in steps), start=0)))
            expected = f"an index that is affine in {', '.join(map(str, view.coordinates))}"
            raise _mismatch(intrinsic, where, expected, f"{view.buffer.name}[{text}]")


def _mismatch(intrinsic: TensorIntrinsic, where: str, expected: str, found: str) -> RelayError:
    return _refused(intrinsic.name, where, expected, found)


def refused_block(intrinsic: str, block: Block, expected: str, found: str) -> RelayError:
    """What a micro-kernel raises for a block that it does not do."""
    return _refused(intrinsic, f"the block of `{block.stage}`", expected, found)


def _refused(intrinsic: str, where: str, expected: str, found: str) -> RelayError:
    return RelayError(
        rule="schedule-tensorize",
        message=f"{where} is not what intrinsic `{intrinsic}` computes",
        expected=expected,
        found=found,
        remedy="split and reorder the loops so that those inside have the intrinsic's extents and order",
    )
