"""Gradients of sequences and of random numbers: those of a fixed key are a function of what they are spread by."""

from __future__ import annotations

from relay.ir.expr import Call, Expr, TupleGetItem
from relay.ops.creation.create import ArangeAttributes, ones_like
from relay.ops.creation.random import DistributionAttributes, normal, uniform
from relay.ops.elementwise.convert import cast_like
from relay.ops.elementwise.elementwise_binary import multiply, subtract
from relay.ops.reduction.reduce import sum as sum_over
from relay.ops.reduction.scan import cumsum

Entries = tuple[Expr | None, ...]


def of_arange(call: Call, given: Expr) -> Entries:
    """Each number is `start + i * step`; how many there are is constant."""
    assert isinstance(call.attrs, ArangeAttributes)
    start, _, step = call.args
    count = cumsum(ones_like(given), 0, exclusive=True)
    return cast_like(sum_over(given), start), None, cast_like(sum_over(multiply(given, count)), step)


def of_uniform(call: Call, given: Expr) -> Entries:
    """Each number is `low + u * (high - low)`, with `u` of the same key between 0 and 1."""
    attributes = call.attrs
    assert isinstance(attributes, DistributionAttributes)
    key, low, high = call.args
    own = TupleGetItem(given, 1)
    _, share = uniform(key, attributes.out_shape, attributes.out_dtype)
    by_high = multiply(own, share)
    return None, cast_like(sum_over(subtract(own, by_high)), low), cast_like(sum_over(by_high), high)


def of_normal(call: Call, given: Expr) -> Entries:
    """Each number is `mean + z * scale`, with `z` of the same key around 0."""
    attributes = call.attrs
    assert isinstance(attributes, DistributionAttributes)
    key, mean, scale = call.args
    own = TupleGetItem(given, 1)
    _, standard = normal(key, attributes.out_shape, attributes.out_dtype)
    return None, cast_like(sum_over(own), mean), cast_like(sum_over(multiply(own, standard)), scale)
