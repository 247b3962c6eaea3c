"""Gradients of products of matrices."""

from __future__ import annotations

from relay.ir.expr import Call, Expr
from relay.ops.gradients.shared import tensor_of
from relay.ops.manipulation.shape import reshape
from relay.ops.nn.matmul import BatchMatmulAttributes, MatmulAttributes, batch_matmul, matmul

Entries = tuple[Expr | None, ...]


def _rows(data: Expr) -> Expr:
    """data[.., k] as [rows, k]"""
    shape = tensor_of(data).shape
    return data if len(shape) == 2 else reshape(data, (-1, shape[-1]))


def of_dense(call: Call, given: Expr) -> Entries:
    """given[.., units] × weight[units, k] and given[.., units]ᵀ × data[.., k]"""
    data, weight = call.args
    return matmul(given, weight), matmul(_rows(given), _rows(data), transpose_a=True)


def of_matmul(call: Call, given: Expr) -> Entries:
    """C = A B: given Bᵀ and Aᵀ given, each transposed where its factor is."""
    attributes, (a, b) = call.attrs, call.args
    assert isinstance(attributes, MatmulAttributes)
    if attributes.transpose_a:
        by_a = matmul(b, given, transpose_a=attributes.transpose_b, transpose_b=True)
        by_b = matmul(given, a, transpose_a=True, transpose_b=True) if attributes.transpose_b else matmul(a, given)
        return by_a, by_b
    by_a = matmul(given, b, transpose_b=not attributes.transpose_b)
    left, right = (given, a) if attributes.transpose_b else (a, given)
    return by_a, matmul(_rows(left), _rows(right), transpose_a=True)


def of_batch_matmul(call: Call, given: Expr) -> Entries:
    """As those of `matmul`, batch by batch."""
    attributes, (x, y) = call.attrs, call.args
    assert isinstance(attributes, BatchMatmulAttributes)
    on_x, on_y = attributes.transpose_a, attributes.transpose_b
    by_x = (
        batch_matmul(y, given, transpose_a=on_y, transpose_b=True)
        if on_x
        else batch_matmul(given, y, transpose_b=not on_y)
    )
    by_y = (
        batch_matmul(given, x, transpose_a=True, transpose_b=on_x)
        if on_y
        else batch_matmul(x, given, transpose_a=not on_x, transpose_b=False)
    )
    return by_x, by_y
