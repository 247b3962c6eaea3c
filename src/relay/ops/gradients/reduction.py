"""Gradients of reductions and running sums."""

from __future__ import annotations

import math
from typing import Any

from relay.ir.expr import Call, Expr, const
from relay.ops.creation.create import ones_like
from relay.ops.creation.triangle import trilu
from relay.ops.elementwise.comparison import equal
from relay.ops.elementwise.convert import cast_like
from relay.ops.elementwise.elementwise_binary import add, divide, multiply, subtract
from relay.ops.gradients.shared import extents_of, rank_of, tensor_of
from relay.ops.manipulation.shape import expand_dims, in_shape_of, reshape
from relay.ops.manipulation.tile import broadcast_to, broadcast_to_like
from relay.ops.manipulation.transpose import reverse, transpose
from relay.ops.reduction.reduce import prod, reduced_axes
from relay.ops.reduction.reduce import sum as sum_over
from relay.ops.reduction.scan import ScanAttributes, cumprod, cumsum

Entries = tuple[Expr | None, ...]


def of_sum(call: Call, given: Expr) -> Entries:
    """The output gradient, for each element that was added."""
    return (_spread(given, call),)


def of_full(call: Call, given: Expr) -> Entries:
    """The number went everywhere."""
    return cast_like(sum_over(given), call.args[0]), None


def of_mean(call: Call, given: Expr) -> Entries:
    """The output gradient, a share for each element."""
    return (_spread(divide(given, _count(call)), call),)


def of_extreme(call: Call, given: Expr) -> Entries:
    """The output gradient for the element that the result is; where there are several, a share for each."""
    data = call.args[0]
    is_chosen = cast_like(equal(data, _kept(call, call)), data)
    share = divide(_kept(given, call), sum_over(is_chosen, axis=list(_axes(call)), keepdims=True))
    return (multiply(is_chosen, share),)


def of_prod(call: Call, given: Expr) -> Entries:
    """The product of all other elements, which divides by none: those before times those behind, axis by axis."""
    (rest,) = call.args
    found = _kept(given, call)
    for axis in _axes(call):
        behind = reverse(cumprod(reverse(rest, axis), axis, exclusive=True), axis)
        found = multiply(found, multiply(cumprod(rest, axis, exclusive=True), behind))
        rest = prod(rest, axis=axis, keepdims=True)
    return (found,)


def of_cumsum(call: Call, given: Expr) -> Entries:
    """The running sum from the other end."""
    assert isinstance(call.attrs, ScanAttributes)
    axis = 0 if call.attrs.axis is None else call.attrs.axis
    back = reverse(cumsum(reverse(given, axis), axis, exclusive=call.attrs.exclusive), axis)
    return (in_shape_of(back, call.args[0]),)


def of_cumprod(call: Call, given: Expr) -> Entries:
    """By element k: the product of those before it, times the sum over each result i behind of its output gradient
    and the product of the elements between k and i. Nothing is divided, so zeros are no matter; in n * n elements."""
    attributes = call.attrs
    assert isinstance(attributes, ScanAttributes)
    data, exclusive = cast_like(call.args[0], given), attributes.exclusive
    if attributes.axis is None:
        data = reshape(data, (-1,))
    axis, rank = (attributes.axis or 0) % rank_of(data), rank_of(data)
    order = [*(each for each in range(rank) if each != axis), axis]
    data, back = transpose(data, order), transpose(given, order)
    wide = multiply(expand_dims(ones_like(data), rank), expand_dims(data, rank - 1))  # [.., k, j] is element j
    ones = ones_like(wide)
    between = add(trilu(wide, const(1), upper=True), trilu(ones, const(0), upper=False))  # 1 for j <= k
    products = trilu(cumprod(between, rank, exclusive=exclusive), const(int(exclusive)), upper=True)
    behind = sum_over(multiply(products, expand_dims(back, rank - 1)), axis=rank)
    found = multiply(cumprod(data, rank - 1, exclusive=True), behind)
    found = in_shape_of(transpose(found, [order.index(at) for at in range(rank)]), call.args[0])
    return (cast_like(found, call.args[0]),)


def of_variance(call: Call, given: Expr) -> Entries:
    """`2 (x - mean) / count`, and minus the sum of that."""
    attributes: Any = call.attrs
    data, mean = call.args
    count = subtract(_count(call), float(attributes.unbiased))
    by_data = multiply(divide(multiply(_kept(given, call), 2.0), count), subtract(data, mean))
    return by_data, multiply(sum_over(by_data, axis=list(_axes(call)), keepdims=True), -1.0)


def _axes(call: Call) -> tuple[int, ...]:
    return reduced_axes(call.attrs, rank_of(call.args[0]))


def _kept(data: Expr, call: Call) -> Expr:
    """What a reduction gave, with an axis of extent 1 for each that it reduced."""
    attributes: Any = call.attrs
    for axis in () if attributes.keepdims else _axes(call):
        data = expand_dims(data, axis)
    return data


def _spread(given: Expr, call: Call) -> Expr:
    """The output gradient of a sum, for each element that was added."""
    data, wide = call.args[0], _kept(given, call)
    shape = extents_of(data)
    return broadcast_to_like(wide, data) if shape is None else broadcast_to(wide, shape)


def _count(call: Call) -> Expr:
    """How many elements each element of the result was made of, a number."""
    data = call.args[0]
    extents = [tensor_of(data).shape[axis] for axis in _axes(call)]
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) == len(extents):
        return const(float(math.prod(known)), tensor_of(data).dtype)
    attributes: Any = call.attrs
    return sum_over(ones_like(data), axis=list(_axes(call)), keepdims=attributes.keepdims)
