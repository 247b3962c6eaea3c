"""Gradients of updates that multiply what is there, or keep the smaller or the larger. Several may meet at a place."""

from __future__ import annotations

from collections.abc import Callable

from relay.ir.expr import Expr, const
from relay.ops.creation.create import ones_like
from relay.ops.elementwise.comparison import equal, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import divide, multiply
from relay.ops.gradients.shared import kept_where, tensor_of, zeros_of

Put = Callable[[Expr, Expr, str], Expr]
"""`put(data, updates, mode)`: updates at their places."""
Get = Callable[[Expr], Expr]
"""`get(data)`: what stands at the places of the updates."""


def combined(
    data: Expr, updates: Expr, result: Expr, given: Expr, mode: str, put: Put, get: Get
) -> tuple[Expr, Expr]:  # fmt: skip
    """By the data and by the updates, what becomes of both by `mul`, `min` or `max`."""
    if mode == "mul":
        others = put(ones_like(data), updates, "mul")
        return multiply(given, others), _by_factors(data, updates, given, put, get)
    return _by_extremes(data, updates, result, given, put, get)


def _by_factors(data: Expr, updates: Expr, given: Expr, put: Put, get: Get) -> Expr:
    """The product of all others at the place of each: of those that are not 0, if it is the only 0 or there is none."""
    zero = const(0.0, tensor_of(updates).dtype)
    is_zero = equal(updates, zero)
    zeros = get(put(zeros_of(data), cast(is_zero, tensor_of(updates).dtype), "add"))
    factors = where(is_zero, ones_like(updates), updates)
    products = divide(get(multiply(given, put(data, factors, "mul"))), factors)
    own = cast(is_zero, tensor_of(updates).dtype)
    return kept_where(equal(zeros, own), products)


def _by_extremes(data: Expr, updates: Expr, result: Expr, given: Expr, put: Put, get: Get) -> tuple[Expr, Expr]:
    """To those that the result is, a share to each."""
    dtype = tensor_of(data).dtype
    stays, is_chosen = equal(data, result), equal(updates, get(result))
    count = put(cast(stays, dtype), cast(is_chosen, dtype), "add")
    share = divide(given, count)  # the result is one of them
    return kept_where(stays, share), kept_where(is_chosen, get(share))
