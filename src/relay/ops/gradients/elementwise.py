"""Gradients of functions of elements. Where a function has a corner, its slope there is stated."""

from __future__ import annotations

from relay.ir.expr import Call, Expr, TupleGetItem, const
from relay.ops.elementwise.activation import BiasAddAttributes, ClipAttributes, LeakyReluAttributes, PReluAttributes
from relay.ops.elementwise.comparison import equal, greater, greater_equal, less_equal, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import (
    add,
    divide,
    floor_divide,
    logical_and,
    multiply,
    power,
    subtract,
    trunc_divide,
)  # fmt: skip
from relay.ops.elementwise.elementwise_unary import log, negative
from relay.ops.gradients.shared import along_axis, dropped_where, kept_where, rank_of, tensor_of
from relay.ops.reduction.reduce import sum as sum_over

Entries = tuple[Expr | None, ...]


def of_power(call: Call, given: Expr) -> Entries:
    """`y x^(y-1)`, and `x^y log x`, which is 0 where x is 0, as the limit is for a positive y."""
    base, exponent = call.args
    is_zero = equal(base, 0.0)
    by_base = multiply(exponent, power(base, subtract(exponent, 1.0)))
    logarithm = dropped_where(is_zero, log(where(is_zero, const(1.0, tensor_of(base).dtype), base)))
    return multiply(given, by_base), multiply(given, multiply(call, logarithm))


def of_extreme(call: Call, given: Expr) -> Entries:
    """All of it to the element that was chosen; half to each where both are the same."""
    lhs, rhs = call.args
    dtype = tensor_of(call).dtype
    chosen = [cast(equal(each, call), dtype) for each in (lhs, rhs)]
    share = divide(given, add(*chosen))
    return tuple(multiply(share, each) for each in chosen)


def of_floor_mod(call: Call, given: Expr) -> Entries:
    """`x - floor(x / y) y`: 1, and minus the whole quotient."""
    return given, multiply(given, negative(floor_divide(*call.args)))


def of_trunc_mod(call: Call, given: Expr) -> Entries:
    """`x - trunc(x / y) y`: 1, and minus the whole quotient."""
    return given, multiply(given, negative(trunc_divide(*call.args)))


def of_clip(call: Call, given: Expr) -> Entries:
    """1 between the bounds and on them, 0 outside."""
    assert isinstance(call.attrs, ClipAttributes)
    (data,) = call.args
    inside = logical_and(greater_equal(data, call.attrs.a_min), less_equal(data, call.attrs.a_max))
    return (kept_where(inside, given),)


def of_relu(call: Call, given: Expr) -> Entries:
    """1 above 0; 0 at 0 and below."""
    return (kept_where(greater(call, 0.0), given),)


def of_leaky_relu(call: Call, given: Expr) -> Entries:
    """1 above 0; alpha at 0 and below."""
    assert isinstance(call.attrs, LeakyReluAttributes)
    return (where(greater(call.args[0], 0.0), given, multiply(given, call.attrs.alpha)),)


def of_prelu(call: Call, given: Expr) -> Entries:
    """1 above 0; alpha of its channel at 0 and below."""
    assert isinstance(call.attrs, PReluAttributes)
    data, alpha = call.args
    axis = call.attrs.axis % rank_of(data)
    is_above = greater(data, 0.0)
    by_data = where(is_above, given, multiply(given, along_axis(alpha, axis, rank_of(data))))
    by_alpha = sum_over(dropped_where(is_above, multiply(given, data)), axis=axis, exclude=True)
    return by_data, by_alpha


def of_bias_add(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, BiasAddAttributes)
    return given, sum_over(given, axis=call.attrs.axis % rank_of(call), exclude=True)


def of_dropout(_: Call, given: Expr) -> Entries:
    """In inference the first result is the data; the mask is constant."""
    return (TupleGetItem(given, 0),)


def of_where(call: Call, given: Expr) -> Entries:
    condition = call.args[0]
    return None, kept_where(condition, given), dropped_where(condition, given)


def of_cast(call: Call, given: Expr) -> Entries:
    """To another type of floats and back; integers have no gradient."""
    source, target = tensor_of(call.args[0]), tensor_of(call)
    back = cast(given, source.dtype) if source.dtype.is_float and target.dtype.is_float else None
    return (back, *(None for _ in call.args[1:]))
