"""Rules of shapes, layouts and element types for SimplifyExpr: they move data and change none of it, so all are EXACT.

A rule whose right side is `x` alone fires only where the type stays the same: that is what makes `reshape(x)` to the
shape that `x` has go away, and no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeGuard

import numpy as np
from ml_dtypes import finfo, iinfo

from relay.base.dtypes import DType
from relay.dataflow import Domain, Match, Rule, is_op, is_tuple, is_tuple_get_item, rule, wildcard
from relay.dataflow.patterns import AltPattern, Pattern
from relay.ir.expr import Call, Expr, Op, Tuple, TupleGetItem
from relay.ir.types import TensorType
from relay.ops.creation.create import ones, zeros
from relay.ops.elementwise.convert import cast
from relay.ops.framework.rounding import to_dtype
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.layout_transform import layout_transform
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.slice import Slice, StridedSliceAttributes, slices_of
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import TransposeAttributes, transpose

_x, _y = wildcard(), wildcard()


def _tensor_type(part: Pattern, match: Match) -> TensorType | None:
    type_ = match.expr(part).checked_type
    return type_ if isinstance(type_, TensorType) else None


def _static_shape(part: Pattern, match: Match) -> tuple[int, ...] | None:
    """The extents of a part, if all are numbers."""
    type_ = _tensor_type(part, match)
    extents = type_.shape if type_ is not None else ()
    known = tuple(extent for extent in extents if isinstance(extent, int))
    return known if type_ is not None and len(known) == len(extents) else None


def _attributes(part: Pattern, match: Match) -> Any:
    found = match.expr(part)
    return found.attrs if isinstance(found, Call) else None


def _any_of(names: Iterable[str]) -> Pattern:
    first, *others = map(is_op, names)
    pattern: Pattern = first
    for each in others:
        pattern = AltPattern(pattern, each)
    return pattern


# ----------------------------------------------------------------------------------------------- the same elements

_SAME_SHAPE = ("broadcast_to", "nn.batch_flatten", "repeat", "reshape", "squeeze", "tile")


def _unchanged(name: str) -> Rule:
    """An operator whose result has the type of its input, and then is its input."""
    return rule(f"{name.removeprefix('nn.')}-to-same", is_op(name)(_x), _x, domain=Domain.ANYTHING)


_SLICE = is_op("strided_slice")(_x)


def _takes_all(match: Match) -> bool:
    attributes, type_ = _attributes(_SLICE, match), _tensor_type(_x, match)
    if not isinstance(attributes, StridedSliceAttributes) or type_ is None:
        return False
    return slices_of(attributes, type_.shape) == tuple(Slice(0, extent) for extent in type_.shape)


_VIEWS = ("expand_dims", "nn.batch_flatten", "reshape", "squeeze")
_INNER_VIEW = _any_of(_VIEWS)(_x)
_VIEW_OF_VIEW = _any_of(_VIEWS)(_INNER_VIEW)
_RESHAPE_OF_VIEW = is_op("reshape")(_INNER_VIEW)


def _one_reshape(match: Match) -> Expr | None:
    shape = _static_shape(_RESHAPE_OF_VIEW, match)
    return None if shape is None or 0 in shape else reshape(match.expr(_x), shape)


_PARTS = is_tuple()
_CONCATENATE = is_op("concatenate")(_PARTS)


def _view_of_all(match: Match) -> Expr | None:
    """Views that lie one behind the other are a view of what they are of, lying so, too."""
    parts, shape = match.expr(_PARTS), _static_shape(_CONCATENATE, match)
    if not isinstance(parts, Tuple) or not all(map(_is_view, parts.fields)) or shape is None or 0 in shape:
        return None
    viewed = [each.args[0] for each in parts.fields if _is_view(each)]
    shapes = [each.checked_type.shape for each in viewed if isinstance(each.checked_type, TensorType)]
    is_outermost = _attributes(_CONCATENATE, match).axis % len(shape) == 0
    if not is_outermost or not all(shapes) or len({each[1:] for each in shapes}) > 1:
        return None
    return reshape(concatenate(viewed, axis=0), shape)


def _is_view(expr: Expr) -> TypeGuard[Call]:
    return isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name in _VIEWS


# ------------------------------------------------------------------------------------------------------------ axes

_TRANSPOSE = is_op("transpose")(_x)
_TRANSPOSE_OF_TRANSPOSE = is_op("transpose")(_TRANSPOSE)


def _axes(part: Pattern, match: Match) -> tuple[int, ...]:
    """For each axis of the result, the axis of the data that it is."""
    attributes, type_ = _attributes(part, match), _tensor_type(part, match)
    if not isinstance(attributes, TransposeAttributes) or type_ is None:
        raise TypeError("a typed transposition is asked for")
    rank = len(type_.shape)
    return tuple(reversed(range(rank))) if attributes.axes is None else tuple(axis % rank for axis in attributes.axes)


def _keeps_axes(match: Match) -> bool:
    axes = _axes(_TRANSPOSE, match)
    return axes == tuple(range(len(axes)))


def _one_transpose(match: Match) -> Expr:
    inner, outer = _axes(_TRANSPOSE, match), _axes(_TRANSPOSE_OF_TRANSPOSE, match)
    return transpose(match.expr(_x), tuple(inner[axis] for axis in outer))


_LAYOUT = is_op("layout_transform")(_x)
_LAYOUT_OF_LAYOUT = is_op("layout_transform")(_LAYOUT)


def _same_layout(match: Match) -> bool:
    attributes = _attributes(_LAYOUT, match)
    return attributes.src_layout == attributes.dst_layout


def _one_layout(match: Match) -> Expr | None:
    inner, outer = _attributes(_LAYOUT, match), _attributes(_LAYOUT_OF_LAYOUT, match)
    plain = inner.src_layout.isupper() and outer.dst_layout.isupper()  # no blocks, which may be padded
    if not plain or inner.dst_layout != outer.src_layout or not inner.dst_layout.isupper():
        return None
    return layout_transform(match.expr(_x), inner.src_layout, outer.dst_layout)


# --------------------------------------------------------------------------------------------------- element types

_CAST = is_op("cast")(_x)
_CAST_OF_CAST = is_op("cast")(_CAST)


@cache
def holds_every_value(wide: DType, narrow: DType) -> bool:
    """Whether each value of `narrow` is one of `wide`.

    >>> holds_every_value(DType.FLOAT32, DType.BFLOAT16), holds_every_value(DType.FLOAT32, DType.INT32)
    (True, False)
    """
    if narrow is wide:
        return True
    if narrow.bits <= 8:
        return _all_stay(narrow, wide)
    if wide.is_bool or (narrow.is_float and not wide.is_float):
        return False
    if narrow.is_float:
        small, large = finfo(narrow.numpy), finfo(wide.numpy)
        fits = small.nmant <= large.nmant and small.maxexp <= large.maxexp
        return bool(fits and small.minexp - small.nmant >= large.minexp - large.nmant)
    bounds = iinfo(narrow.numpy)
    if wide.is_float:
        digits = max(abs(int(bounds.min)), int(bounds.max)).bit_length()
        return digits <= finfo(wide.numpy).nmant + 1 and digits < finfo(wide.numpy).maxexp
    return int(iinfo(wide.numpy).min) <= int(bounds.min) and int(bounds.max) <= int(iinfo(wide.numpy).max)


def _all_stay(narrow: DType, wide: DType) -> bool:
    """Whether all values of a type of at most a byte are themselves in another."""
    values = np.arange(1 << narrow.bits, dtype=np.uint8).view(narrow.numpy)
    before, after = values.astype(np.float64), to_dtype(values, wide).astype(np.float64)
    same_signs = np.isnan(before) | (np.signbit(before) == np.signbit(after))
    return bool(np.array_equal(before, after, equal_nan=True) and same_signs.all())


def _one_cast(match: Match) -> Expr | None:
    """Through a type that holds every value of the first. Integers wrap where floats saturate, so not between integers
    through floats unless nothing is lost."""
    types = [_tensor_type(part, match) for part in (_x, _CAST, _CAST_OF_CAST)]
    first, middle, last = (type_.dtype if type_ is not None else DType.BOOL for type_ in types)
    if not holds_every_value(middle, first):
        return None
    if middle.is_float and first.is_integer and last.is_integer and not holds_every_value(last, first):
        return None
    return cast(match.expr(_x), last)


# ------------------------------------------------------------------------------------------------- like another one

_BROADCAST_LIKE, _RESHAPE_LIKE = is_op("broadcast_to_like")(_x, _y), is_op("reshape_like")(_x, _y)


_REPEATED = is_op("broadcast_to")(_y)
_REPEATING = ("add", "subtract", "multiply", "divide", "power", "minimum", "maximum")


def _repeated(name: str) -> tuple[Rule, Rule]:
    """An operator that repeats its operands itself."""
    op = is_op(name)
    return (
        rule(f"{name}-repeated-right", op(_x, _REPEATED), op(_x, _y), domain=Domain.ANYTHING),
        rule(f"{name}-repeated-left", op(_REPEATED, _x), op(_y, _x), domain=Domain.ANYTHING),
    )


def _cast_like(match: Match) -> Expr | None:
    type_ = _tensor_type(_y, match)
    return None if type_ is None else cast(match.expr(_x), type_.dtype)


def _broadcast_to(match: Match) -> Expr | None:
    shape = _static_shape(_BROADCAST_LIKE, match)
    return None if shape is None else broadcast_to(match.expr(_x), shape)


def _reshape_to(match: Match) -> Expr | None:
    shape = _static_shape(_RESHAPE_LIKE, match)
    return None if shape is None or 0 in shape else reshape(match.expr(_x), shape)


def _zeros(match: Match) -> Expr | None:
    type_, shape = _tensor_type(_x, match), _static_shape(_x, match)
    return None if type_ is None or shape is None else zeros(shape, type_.dtype)


def _ones(match: Match) -> Expr | None:
    type_, shape = _tensor_type(_x, match), _static_shape(_x, match)
    return None if type_ is None or shape is None else ones(shape, type_.dtype)


# ----------------------------------------------------------------------------------------------------------- tuples

_TUPLE = is_tuple()
_FIELD = is_tuple_get_item(_TUPLE)


def _field(match: Match) -> Expr | None:
    projection, whole = match.expr(_FIELD), match.expr(_TUPLE)
    if not isinstance(projection, TupleGetItem) or not isinstance(whole, Tuple):
        return None
    return whole.fields[projection.index]


SHAPES: tuple[Rule, ...] = (
    *map(_unchanged, _SAME_SHAPE),
    rule("cast-to-same", is_op("cast")(_x), _x, domain=Domain.ANYTHING),
    rule("concatenate-one", is_op("concatenate")(is_tuple([_x])), _x, domain=Domain.ANYTHING),
    rule("slice-of-all", _SLICE, _x, domain=Domain.ANYTHING, when=_takes_all),
    rule("view-and-back", _VIEW_OF_VIEW, _x, domain=Domain.ANYTHING),
    rule("reshape-of-view", _RESHAPE_OF_VIEW, _one_reshape, domain=Domain.ANYTHING),
    rule("concatenate-of-views", _CONCATENATE, _view_of_all, domain=Domain.ANYTHING),
    rule("transpose-to-same", _TRANSPOSE, _x, domain=Domain.ANYTHING, when=_keeps_axes),
    rule("transpose-of-transpose", _TRANSPOSE_OF_TRANSPOSE, _one_transpose, domain=Domain.ANYTHING),
    rule("layout-to-same", _LAYOUT, _x, domain=Domain.ANYTHING, when=_same_layout),
    rule("layout-of-layout", _LAYOUT_OF_LAYOUT, _one_layout, domain=Domain.ANYTHING),
    rule("cast-of-cast", _CAST_OF_CAST, _one_cast, domain=Domain.ANYTHING),
    rule("cast-like", is_op("cast_like")(_x, _y), _cast_like, domain=Domain.ANYTHING),
    rule("broadcast-like", _BROADCAST_LIKE, _broadcast_to, domain=Domain.ANYTHING),
    rule("reshape-like", _RESHAPE_LIKE, _reshape_to, domain=Domain.ANYTHING),
    rule("zeros-like", is_op("zeros_like")(_x), _zeros, domain=Domain.ANYTHING),
    rule("ones-like", is_op("ones_like")(_x), _ones, domain=Domain.ANYTHING),
    *(each for name in _REPEATING for each in _repeated(name)),
    rule("field-of-tuple", _FIELD, _field, domain=Domain.ANYTHING),
)
