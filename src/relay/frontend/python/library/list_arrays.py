"""Lists as arrays and arrays as lists: `np.array(xs)`, `np.stack(rows)`, `x + [1.0, 2.0]`, `x.tolist()`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from relay import op
from relay.base.dtypes import DType
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Counted
from relay.frontend.python.library.arithmetic import as_operand, combined, common_dtype, converted, equated
from relay.frontend.python.library.lists.sequences import element_of, flattened, folded, lifted, list_of
from relay.frontend.python.library.lists.unpacking import elements
from relay.frontend.python.library.numpy_functions import element_type, extent_along, flat, joined, rank_of
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import is_list, items
from relay.ir.expr import Expr, If, Tuple, TupleGetItem, Var, const
from relay.ir.types import TensorType, TupleType
from relay.ops.framework.build import with_known_type


def array(block: Block, span: Span, value: Any, dtype: Any = None, *, copy: Any = True) -> Any:  # noqa: ARG001
    """`np.array(value)`: of numbers, arrays, and lists of such."""
    made = _array(block, value, span)
    if not is_expr(made):
        made = converted(made, common_dtype((made,)))
    block.type_of(made)
    return made if dtype is None else converted(made, element_type(dtype))


def as_array(block: Block, value: Any, span: Span) -> Any:
    """A list, tuple or range as the array that NumPy takes it for; anything else as it is."""
    return array(block, span, value) if _is_sequence(block, value) else value


def index_of_arrays(block: Block, index: Any, span: Span) -> Any:
    """An index whose lists of the program are arrays."""
    if isinstance(index, tuple):
        return tuple(index_of_arrays(block, each, span) for each in cast("tuple[Any, ...]", index))
    return stacked(block, index, span) if _is_list(block, index) else index


def takes_copy(block: Block, index: Any) -> bool:
    """Whether an index takes elements of an array one by one, as arrays and lists do; a view is what others show."""
    places = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    return any(isinstance(each, list) or _has_axes(block, each) for each in places)


def array_beside(block: Block, value: Any, other: Any, span: Span) -> Any:
    """The same of an operand: a list beside an array is one."""
    return as_array(block, value, span) if _has_axes(block, other) else value


def _has_axes(block: Block, value: Any) -> bool:
    type_ = block.type_of(value) if is_expr(value) else None
    return (isinstance(type_, TensorType) and type_.shape != ()) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _is_sequence(block: Block, value: Any) -> bool:
    if is_expr(value):
        type_ = block.type_of(value)
        return is_list(type_) or isinstance(type_, TupleType)
    return isinstance(value, list | tuple | range | Counted)


def _array(block: Block, value: Any, span: Span) -> Any:
    if not _is_sequence(block, value):
        return as_operand(block, value, span)
    found = (
        list(value) if isinstance(value, range) else None if isinstance(value, Counted) else items(block, value, span)
    )
    if found is None:
        return stacked(block, list_of(block, value, span), span)
    parts = [_array(block, each, span) for each in found]
    if not parts:
        return converted([], DType.FLOAT32)
    dtype = common_dtype(parts)
    return block.bind("array", op.stack([converted(each, dtype) for each in parts], 0), span)


def stacked(block: Block, values: Expr, span: Span) -> Expr:
    """The elements of a Relay list, numbers or tensors of one shape, along a new first axis. The run ends where their
    shapes differ."""
    values = block.bind("items", values, span)
    type_ = element_of(block, values)
    if is_list(type_):
        return _rows_of_lists(block, values, span)
    if not isinstance(type_, TensorType):
        raise refusal(span, f"an array of a list of {type_}", "give a list of numbers, or of tensors of one shape")
    return _filled(block, values, type_, lambda each: op.expand_dims(each, 0), span)


def _rows_of_lists(block: Block, values: Expr, span: Span) -> Expr:
    """The elements of lists of one length, along two new axes."""
    length = block.session.library("length", span)
    count = block.bind("count", length(values), span)
    some = block.inside()
    first = some.closed(length(some.bind("first", block.session.library("hd", span)(values), span)))
    width = block.bind("width", If(equated("equal", count, 0), const(0), first, span=span), span)

    def check(inner: Block, so_far: Expr, each: Expr) -> Expr:
        return op.logical_and(so_far, equated("equal", inner.bind("width", length(each), span), width))

    alike = folded(block, values, True, check, span)
    made = op.checked(stacked(block, flattened(block, values, span), span), alike, "the lists have different lengths")
    made = block.bind("array", made, span)
    sizes = [op.stack([count, width], 0), op.strided_slice(op.shape_of(made), (1,), (rank_of(made),), (1,))]
    shape = sizes[0] if rank_of(made) == 1 else op.concatenate(sizes, 0)
    return block.bind("array", op.reshape(made, shape, allowzero=True), span)


def _behind_each_other(block: Block, values: Expr, prepared: Callable[[Any], Any], axis: int, span: Span) -> Expr:
    """The tensors of a Relay list as one, each `prepared`, along an axis. Of none there is none."""
    values = block.bind("items", values, span)
    type_ = element_of(block, values)
    if not isinstance(type_, TensorType):
        raise refusal(span, f"the concatenation of a list of {type_}", "give a list of arrays")
    one = prepared(with_known_type(Var("each", type_)))
    shape = cast("TensorType", block.type_of(one)).shape
    if not -len(shape) <= axis < len(shape):
        raise refusal(span, f"the concatenation of a list of {type_} along the axis {axis}", "use np.array or np.stack")
    axis %= len(shape)
    order = [axis, *(each for each in range(len(shape)) if each != axis)]
    length = block.bind("count", block.session.library("length", span)(values), span)
    block.bind("some", op.checked(const(True), equated("greater", length, 0), "no arrays are joined"), span)
    row = TensorType(tuple(shape[each] for each in order[1:]), type_.dtype)
    made = _filled(
        block, values, row, lambda each: op.transpose(prepared(each), order) if axis else prepared(each), span
    )
    return _first_axis_at(made, axis) if axis else made


def _filled(block: Block, values: Expr, row: TensorType, rows_of: Callable[[Expr], Expr], span: Span) -> Expr:
    """The rows, which are of one type, that the elements of a list have."""

    def add(_: Block, so_far: Expr, each: Expr) -> Expr:
        return combined("add", so_far, extent_along(rows_of(each), 0))

    count = folded(block, values, 0, add, span)
    shape = _shape_of_rows(block, values, row, rows_of, span)
    whole = op.concatenate([op.reshape(count, (1,)), shape], 0)
    zero = converted(False if row.dtype.is_bool else 0, row.dtype)
    empty = block.bind("empty", op.full(zero, whole, row.dtype), span)

    def put(inner: Block, state: Expr, each: Expr) -> Any:
        so_far, place = (TupleGetItem(state, position) for position in (0, 1))
        for part in (so_far, place):
            inner.type_of(part)
        rows = inner.bind("rows", rows_of(each), span)
        if _is_open(row):
            alike = op.all(equated("equal", _shape_behind(rows), shape))
            rows = inner.bind("rows", op.checked(rows, alike, "the arrays of a list have different shapes"), span)
        behind = inner.bind("behind", combined("add", place, extent_along(rows, 0)), span)
        places = op.arange(place, behind, converted(1, DType.INT32), dtype="int32")
        return Tuple((op.scatter_nd(so_far, op.expand_dims(places, 0), rows), behind))

    filled = folded(block, values, (empty, const(0)), put, span)
    return block.bind("array", TupleGetItem(filled, 0), span)


def _is_open(type_: TensorType) -> bool:
    return not all(isinstance(each, int) for each in type_.shape)


def _shape_behind(rows: Expr) -> Expr:
    """The shape of each row."""
    return op.strided_slice(op.shape_of(rows), (1,), (rank_of(rows),), (1,))


def _shape_of_rows(block: Block, values: Expr, row: TensorType, rows_of: Callable[[Expr], Expr], span: Span) -> Expr:
    """The shape of the rows: where it is not known now, that of those of the first element."""
    if not _is_open(row):
        return const(np.array(row.shape, np.int32))
    some = block.inside()
    first = some.bind("first", block.session.library("hd", span)(values), span)
    shape = some.closed(_shape_behind(some.bind("rows", rows_of(first), span)))
    count = block.bind("count", block.session.library("length", span)(values), span)
    nothing = const(np.zeros(len(row.shape), np.int32))
    return block.bind("shape", If(equated("equal", count, 0), nothing, shape, span=span), span)


def stack(block: Block, span: Span, values: Any, axis: int = 0) -> Any:
    """`np.stack`: of a list of the program, too."""
    if not _is_list(block, values):
        return joined("stack")(_arrays(block, values, span), axis)
    made = stacked(block, values, span)
    return made if axis == 0 else _first_axis_at(made, axis)


def concatenate(block: Block, span: Span, values: Any, axis: int | None = 0) -> Any:
    """`np.concatenate`: of a list of the program, too."""
    prepared, along = (flat, 0) if axis is None else (_as_it_is, axis)
    if _is_list(block, values):
        return _behind_each_other(block, values, prepared, along, span)
    return joined("concatenate")(list(map(prepared, _arrays(block, values, span))), along)


def _joining(prepared: Callable[[Any], Any], last: int) -> Callable[..., Any]:
    """A function that joins arrays, each with enough axes, along the one at `last`, or the last that they have."""

    def join(block: Block, span: Span, values: Any) -> Any:
        if _is_list(block, values):
            one = with_known_type(Var("each", element_of(block, values)))
            rank = rank_of(prepared(one)) if isinstance(element_of(block, values), TensorType) else 1
            return _behind_each_other(block, values, prepared, min(last, rank - 1), span)
        arrays = [prepared(each) for each in _arrays(block, values, span)]
        return joined("concatenate")(arrays, min(last, rank_of(arrays[0]) - 1))

    return join


def _as_it_is(x: Any) -> Any:
    return x


def _with_three_axes(x: Any) -> Any:
    return op.reshape(x, (1, -1, 1)) if rank_of(x) < 2 else op.expand_dims(x, 2) if rank_of(x) == 2 else x


JOINS: Mapping[Any, Callable[..., Any]] = {
    np.vstack: _joining(lambda x: op.reshape(x, (1, -1)) if rank_of(x) < 2 else x, 0),
    np.hstack: _joining(lambda x: flat(x) if rank_of(x) == 0 else x, 1),
    np.column_stack: _joining(lambda x: op.reshape(x, (-1, 1)) if rank_of(x) < 2 else x, 1),
    np.dstack: _joining(_with_three_axes, 2),
    np.concatenate: concatenate,
}  # fmt: skip
"""What joins arrays, as many as the program finds."""


def _is_list(block: Block, value: Any) -> bool:
    return is_expr(value) and is_list(block.type_of(value))


def _first_axis_at(x: Expr, axis: int) -> Expr:
    assert isinstance(x.checked_type, TensorType)
    order = list(range(1, len(x.checked_type.shape)))
    order.insert(axis % len(x.checked_type.shape), 0)
    return op.transpose(x, order)


def _arrays(block: Block, parts: Any, span: Span) -> Sequence[Any]:
    """The arrays that a function of several is given: those of a list or tuple, or the rows of a tensor."""
    found = elements(block, parts, span)
    if found is None:
        raise refusal(span, "this function of as many arrays as the program finds", "give it np.array(xs)")
    return [_array(block, each, span) for each in found]


def to_list(block: Block, owner: Expr, span: Span) -> Expr:
    """`x.tolist()`: a list for each axis."""
    type_ = block.type_of(owner)
    assert isinstance(type_, TensorType)
    if not type_.shape:
        return owner
    rows = block.bind("rows", list_of(block, owner, span), span)
    if len(type_.shape) == 1:
        return rows
    row = lifted(block, (("row", element_of(block, rows)),), lambda inner, each: to_list(inner, each, span), span)
    return block.bind("items", block.session.library("map", span)(row, rows), span)
