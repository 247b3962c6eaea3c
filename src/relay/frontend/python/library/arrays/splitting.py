"""Parts of arrays along an axis: `np.split`, `np.array_split`, `torch.split`, `torch.chunk`, `torch.unbind`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

from relay import op
from relay.arith.expr import IntExpr, Node, ceil_divide, floor_divide, floor_modulo, minimum
from relay.base.dtypes import DType
from relay.base.span import caller_span
from relay.frontend.python.block import is_expr
from relay.frontend.python.library.arithmetic import converted, equated
from relay.frontend.python.library.numpy_functions import as_number, extent_along, rank_of
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Constant, Expr
from relay.ir.types import ANY, TensorType

_ALL = 2**31 - 1


def between(x: Expr, begin: Any, end: Any, axis: int) -> Expr:
    """`x[begin:end]` along an axis: of numbers, of extents by their names, or of what the program computes."""
    axis %= rank_of(x)
    if not is_expr(begin) and not is_expr(end):
        return op.strided_slice(x, begin=(begin,), end=(end,), strides=(1,), axes=(axis,))
    order = [axis, *(each for each in range(rank_of(x)) if each != axis)]
    bounds = [op.reshape(converted(each, DType.INT32), (1,)) for each in (begin, end)]
    made = op.strided_slice(op.transpose(x, order) if axis else x, begin=bounds[0], end=bounds[1], strides=(1,))
    return op.transpose(made, [order.index(each) for each in range(len(order))]) if axis else made


def split(x: Expr, into: Any, axis: int = 0) -> list[Expr]:
    """`np.split`: into so many parts of one extent, or at places."""
    if isinstance(into, int):
        return list(op.split(x, into, axis))
    return array_split(x, into, axis)


def array_split(x: Expr, into: Any, axis: int = 0) -> list[Expr]:
    """`np.array_split`: into so many parts, the first of which are longer by one, or at places."""
    into = into.data.tolist() if isinstance(into, Constant) else into
    if is_expr(into):
        raise refusal(caller_span(), "a split into parts that the program computes", "give a number, or a list of them")
    if not isinstance(into, int):
        places = [0, *cast("Sequence[Any]", into), _ALL]
        return [between(x, begin, end, axis) for begin, end in pairwise(places)]
    if into < 1:
        raise refusal(caller_span(), f"a split into {into} parts", "give a number of at least 1")
    extent = _extent(x, axis)
    least, longer = floor_divide(extent, into), floor_modulo(extent, into)
    ends = [part * least + minimum(part, longer) for part in range(into + 1)]
    return [between(x, begin, end, axis) for begin, end in pairwise(ends)]


def parts(x: Expr, sizes: Any, dim: int = 0) -> tuple[Expr, ...]:
    """`torch.split`: into parts of one extent, or of these extents."""
    extent = extent_along(x, dim)
    if isinstance(sizes, tuple | list) and not any(map(is_expr, cast("Sequence[Any]", sizes))):
        ends = [sum(cast("Sequence[int]", sizes)[: place + 1]) for place in range(len(sizes))]
        if isinstance(extent, int) and ends[-1] != extent:
            raise refusal(caller_span(), f"parts of {ends[-1]} entries together, of {extent}", "give all their extents")
        if not isinstance(extent, int):
            fits = equated("equal", extent, ends[-1])
            x = op.checked(x, fits, "the parts have another number of entries together than there are")
        begins = [0, *ends[:-1]]
        return tuple(between(x, begin, end, dim) for begin, end in zip(begins, ends, strict=True))
    if not isinstance(extent, int) or not isinstance(sizes, int):
        raise refusal(caller_span(), "parts whose number the program finds", "take slices in a loop: x[i : i + n]")
    return tuple(between(x, begin, min(begin + sizes, extent), dim) for begin in range(0, max(extent, 1), sizes))


def chunks(x: Expr, chunks: int, dim: int = 0) -> tuple[Expr, ...]:
    """`torch.chunk`: so many parts at most. The run ends where an extent that it finds has fewer."""
    extent = _extent(x, dim)
    size = ceil_divide(extent, chunks)
    if isinstance(size, int):
        return parts(x, max(1, size), dim)
    begins = [part * size for part in range(chunks)]
    enough = equated("less", as_number(begins[-1]), extent_along(x, dim))
    x = op.checked(x, enough, f"an axis has fewer than {chunks} chunks")
    return tuple(between(x, begin, minimum(begin + size, extent), dim) for begin in begins)


def rows(x: Expr, dim: int = 0) -> tuple[Expr, ...]:
    """`torch.unbind`"""
    extent = extent_along(x, dim)
    if not isinstance(extent, int):
        raise refusal(caller_span(), "as many parts as the program finds", "go over them in a loop")
    return tuple(op.take(x, converted(place, DType.INT32), axis=dim) for place in range(extent))


def _extent(x: Expr, axis: int) -> IntExpr:
    """The extent of an axis, by its name where it is not known now."""
    assert isinstance(x.checked_type, TensorType)
    extent = x.checked_type.shape[axis]
    if isinstance(extent, Node) and extent == ANY:
        raise refusal(caller_span(), "parts of an axis whose extent has no name", "annotate the array, or take slices")
    return extent
