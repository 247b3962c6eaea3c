"""What stands between brackets: numbers, slices, new axes, `...`, tensors of integers and of bools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from relay import op
from relay.arith.expr import IntExpr, add
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.facts.ranges import Range
from relay.frontend.python.library.arithmetic import converted, equated, require
from relay.frontend.python.values import as_expr, number
from relay.ir.expr import Call, Constant, Expr, Op
from relay.ir.types import ANY, TensorType
from relay.ops.indexing.index import take

FULL = slice(None)
_EXPECTED = "a number, a slice, None, ..., or tensors of integers or bools"
_END = 2**31 - 1


def bad_index(span: Span, found: str, expected: str = _EXPECTED) -> RelayError:
    return RelayError(
        rule="bad-index", message="a value cannot be indexed so", span=span, found=found, expected=expected
    )


def parts_of_index(block: Block, data: Expr, type_: TensorType, index: Any, span: Span) -> list[Any]:
    """A part for each axis, and None for each new one; a tensor of bools is those of its places that hold. Raises
    `RelayError` (rule `bad-index`)."""
    rank = len(type_.shape)
    given = [_plain(block, each, span) for each in (index if isinstance(index, tuple) else (index,))]
    count = sum(_axes_of(block, each, span) for each in given)
    if count > rank:
        raise bad_index(span, f"{count} indices for {rank} axes", f"at most {rank}")
    if sum(each is Ellipsis for each in given) > 1:
        raise bad_index(span, "several `...`", "one")
    place = next((at for at, each in enumerate(given) if each is Ellipsis), len(given))
    given[place : place + 1] = [FULL] * (rank - count)
    parts: list[Any] = []
    for each in given:
        mask = mask_type(block, each)
        if mask is None:
            parts.append(each)
            continue
        at = sum(part is not None for part in parts)
        places = block.bind("places", op.argwhere(fitting(block, data, type_, at, each, mask, span)), span)
        columns = [take(places, number(column, DType.INT32), axis=1) for column in range(len(mask.shape))]
        parts += [block.bind("place", each, span) for each in columns]
    return parts


def fitting(block: Block, data: Expr, type_: TensorType, at: int, holds: Expr, mask: TensorType, span: Span) -> Expr:
    """Bools for the axes of a tensor from one on, whose extents they have: the run ends where they do not. Raises
    `RelayError` (rule `bad-index`) where that is known now."""
    wanted, end = type_.shape[at : at + len(mask.shape)], at + len(mask.shape)
    if mask.shape == wanted and ANY not in wanted:
        return holds
    pairs = list(zip(mask.shape, wanted, strict=False))
    if len(wanted) < len(mask.shape) or any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs):
        raise bad_index(span, f"bools of shape {mask.shape}", f"the shape {wanted} of the axes that they are for")
    extents = op.strided_slice(op.shape_of(data), (at,), (end,), (1,))
    alike = op.all(op.equal(op.shape_of(holds), extents))
    return require(block, holds, alike, "bools have another shape than the axes that they are for", span)


def _plain(block: Block, part: Any, span: Span) -> Any:
    if isinstance(part, np.integer) or (isinstance(part, np.ndarray) and part.ndim == 0):
        part = cast("np.generic", part).item()
    if isinstance(part, list):
        made = as_array(block, cast("list[Any]", part), span)
        part = np.asarray(made, None if made else np.int32) if isinstance(made, list) else made
    if isinstance(part, np.ndarray):
        return as_expr(block, part.astype(np.int32) if part.dtype == np.int64 else part, span)
    if isinstance(part, bool) or not (
        part is None or part is Ellipsis or isinstance(part, slice | int) or is_expr(part)
    ):
        raise bad_index(span, "a bool" if isinstance(part, bool) else type(part).__name__)
    return part


def as_array(block: Block, values: list[Any], span: Span) -> Any:
    """A list as an array: a tensor, where the program computes an element."""
    if not any(is_expr(each) for each in values):
        return values
    return op.stack([as_expr(block, each, span) for each in values], 0)


def mask_type(block: Block, part: Any) -> TensorType | None:
    """The type of a tensor of bools."""
    type_ = block.type_of(part) if is_expr(part) else None
    return type_ if isinstance(type_, TensorType) and type_.dtype.is_bool and type_.shape else None


def _axes_of(block: Block, part: Any, span: Span) -> int:
    """How many axes a part is for."""
    if part is None or part is Ellipsis:
        return 0
    mask = mask_type(block, part)
    if mask is not None:
        return len(mask.shape)
    if is_expr(part):
        rank_of_index(block, part, span)
    return 1


def rank_of_index(block: Block, index: Expr, span: Span) -> int:
    """The axes of an index. Raises `RelayError` (rule `bad-index`) for one that is no integer."""
    type_ = block.type_of(index)
    if not isinstance(type_, TensorType) or type_.dtype.is_float or type_.dtype.is_bool:
        raise bad_index(span, str(type_), "a tensor of integers")
    return len(type_.shape)


def is_array(block: Block, part: Any) -> bool:
    """Whether a part is a tensor with axes."""
    type_ = block.type_of(part) if is_expr(part) else None
    return isinstance(type_, TensorType) and type_.shape != ()


def is_pick(part: Any) -> bool:
    """Whether a part takes places of an axis, and no slice of it."""
    return part is not None and not isinstance(part, slice)


def is_together(parts: Sequence[Any]) -> bool:
    """Whether the parts that pick adjoin: the axes of the tensors among them stay there, else they come first."""
    picks = [at for at, each in enumerate(parts) if is_pick(each)]
    return picks == list(range(picks[0], picks[0] + len(picks)))


def sliced_axis(block: Block, data: Expr, axis: int, part: slice, span: Span) -> Expr:
    """`data[begin:end:step]` along an axis. Raises `RelayError` (rule `bad-index`)."""
    if part == FULL:
        return data
    begin, end, stride = part.start, part.stop, 1 if part.step is None else part.step
    for each in (begin, end, stride):
        if is_expr(each):
            rank_of_index(block, each, span)
        elif each is not None and (type(each) is bool or not isinstance(each, int)):
            raise bad_index(span, f"a bound that is a {type(each).__name__}", "whole numbers")
    stride = _but_0(block, stride, span)
    first, last = _from_end_to_end(block, stride)
    begin, end = first if begin is None else begin, last if end is None else end
    if any(map(is_expr, (begin, end, stride))):
        return _computed(block, data, axis, begin, end, stride, span)
    return op.strided_slice(data, begin=(begin,), end=(end,), strides=(stride,), axes=(axis,))


def _but_0(block: Block, stride: Any, span: Span) -> Any:
    """A step, which is not 0. Raises `RelayError` (rule `bad-index`) where it is."""
    if not is_expr(stride) and stride == 0:
        raise bad_index(span, "a slice in steps of 0", "a number other than 0")
    if not is_expr(stride) or not block.range_of(stride).may_be(0):
        return stride
    stride = block.bind("step", stride, span)
    return require(block, stride, equated("not_equal", stride, 0), "a slice in steps of 0", span)


def _from_end_to_end(block: Block, stride: Any) -> Sequence[Any]:
    """The bounds of a slice of all that there is."""
    if is_expr(stride) and not block.range_of(stride).is_not_negative:
        is_backwards = equated("less", stride, 0)
        return [op.where(is_backwards, *(converted(each, DType.INT32) for each in pair)) for pair in _BOUNDS]
    return [pair[0 if not is_expr(stride) and stride < 0 else 1] for pair in _BOUNDS]


_BOUNDS = ((-1, 0), (-_END, _END))
"""Where a slice of all begins and ends: backwards, and forwards."""


def _computed(block: Block, data: Expr, axis: int, begin: Any, end: Any, stride: Any, span: Span) -> Expr:
    """In steps, or between bounds, that the program computes: of a known extent where the bounds are as far apart and
    lie within, else of one that is known when the program runs."""
    type_ = block.type_of(data)
    assert isinstance(type_, TensorType)
    width = _width(begin, end)
    known = block.range_of(begin)
    is_whole = type(stride) is int and stride == 1 and type_.shape[axis] is not ANY
    if width is not None and is_whole and known.is_not_negative:
        last = None if known.stop is None else Range(None, add(known.stop, width - 1))
        if last is not None and last.is_below(type_.shape[axis]):
            places = op.add(begin, as_expr(block, np.arange(width, dtype=np.int32), span))
            return take(data, places, axis=axis)
    order = [axis, *(each for each in range(len(type_.shape)) if each != axis)]
    turned = op.transpose(data, order) if axis else data
    begins, ends, strides = (op.stack([converted(each, DType.INT32)], 0) for each in (begin, end, stride))
    made = op.strided_slice(turned, begin=begins, end=ends, strides=strides)
    return op.transpose(made, [order.index(each) for each in range(len(order))]) if axis else made


def _width(begin: Any, end: Any) -> int | None:
    """How far apart two bounds are that count from the same number."""
    if not is_expr(begin) or not is_expr(end):
        return None
    (first, low), (last, high) = _offset(begin), _offset(end)
    return high - low if first is last and high > low else None


def _offset(value: Expr) -> tuple[Expr, int]:
    """`base + number`."""
    match value:
        case Call(op=Op(name="add"), args=(base, Constant(step)) | (Constant(step), base)):
            return base, int(step[()])
        case Call(op=Op(name="subtract"), args=(base, Constant(step))):
            return base, -int(step[()])
        case _:
            return value, 0


def covered(part: slice, extent: IntExpr) -> range | None:
    """The places that a slice covers, where they are known now."""
    bounds = (part.start, part.stop, part.step)
    return range(extent)[part] if isinstance(extent, int) and not any(map(is_expr, bounds)) else None
