"""Attention in native code: shapes that do not fit tiles, extents that are not known, and layouts around it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import relay
from relay import nn, op
from relay.driver.build import compile_stages
from relay.ir.expr import Expr, Function
from relay.ir.module import IRModule
from relay.tir.text.printer import print_primfunc


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def heads(x: Expr, batch: int, rows: int, count: int, depth: int) -> Expr:
    by_head = op.transpose(op.reshape(x, (batch, rows, count, depth)), (0, 2, 1, 3))
    return op.reshape(by_head, (batch * count, rows, depth))


def check(function: Function, *arguments: np.ndarray) -> None:
    """Native code at two levels gives what the interpreter does."""
    expected = relay.create_executor("interpreter", IRModule.from_expr(function)).evaluate()(*arguments)
    for level in (0, 3):
        found = relay.build(function, opt_level=level)(*arguments)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("queries", "keys", "depth", "width"),
    [(1, 1, 1, 1), (7, 5, 3, 2), (16, 100, 24, 40), (13, 64, 64, 64), (32, 17, 8, 96), (1, 2000, 16, 16), (3, 0, 4, 4)],
)
def test_shapes(queries: int, keys: int, depth: int, width: int) -> None:
    q, k = relay.var("q", shape=(2, queries, depth)), relay.var("k", shape=(2, keys, depth))
    v, m = relay.var("v", shape=(2, keys, width)), relay.var("m", shape=(queries, keys))
    shapes = (2, queries, depth), (2, keys, depth), (2, keys, width), (queries, keys)
    check(Function([q, k, v, m], nn.relu(nn.attention(q, k, v, m))), *(normal(*shape) for shape in shapes))


@pytest.mark.parametrize("keys", [0, 1, 16, 37])
def test_extents_that_the_run_knows(keys: int) -> None:
    q, k = relay.var("q", shape=(2, "m", 8)), relay.var("k", shape=(2, "n", 8))
    check(Function([q, k], nn.attention(q, k, k)), normal(2, 5, 8), normal(2, keys, 8, seed=1))


def test_rows_that_are_masked_whole_are_not_numbers() -> None:
    q, m = relay.var("q", shape=(4, 8)), relay.var("m", shape=(4, 4), dtype="bool")
    mask = np.tri(4, dtype=bool)
    mask[2] = False
    check(Function([q, m], nn.attention(q, q, q, m)), normal(4, 8), mask)


@pytest.mark.parametrize(
    ("batch", "rows", "count", "depth"), [(1, 24, 4, 16), (2, 20, 3, 8), (2, 16, 2, 96), (1, 17, 1, 4)]
)
def test_heads_are_read_and_stored_where_they_lie(batch: int, rows: int, count: int, depth: int) -> None:
    x, w = (relay.var(name, shape=(batch, rows, count * depth)) for name in "xw")
    query, key = heads(x, batch, rows, count, depth), heads(w, batch, rows, count, depth)
    scores = op.multiply(nn.batch_matmul(query, key), relay.const(0.5))
    context = nn.batch_matmul(nn.softmax(scores), key, transpose_b=False)
    split = op.transpose(op.reshape(context, (batch, count, rows, depth)), (0, 2, 1, 3))
    function = Function([x, w], op.tanh(op.reshape(split, (batch, rows, count * depth))))
    arguments = normal(batch, rows, count * depth), normal(batch, rows, count * depth, seed=1)
    check(function, *arguments)
    names = [kernel.info.name for kernel in compile_stages(function, opt_level=3).kernels]
    assert len(names) == (1 if depth <= 64 else 2), names


@pytest.mark.parametrize(("batch", "rows", "count", "depth"), [(1, 50, 1, 16), (1, 50, 4, 20), (2, 50, 4, 16)])
def test_rows_of_heads_side_by_side(batch: int, rows: int, count: int, depth: int) -> None:
    """As a product of matrices takes them: without an axis for the batch."""
    x = relay.var("x", shape=(batch, count, rows, depth))
    context = op.transpose(nn.attention(x, x, x), (0, 2, 1, 3))
    check(Function([x], op.reshape(context, (batch * rows, count * depth))), normal(batch, count, rows, depth))


def test_the_matrix_of_all_scores_is_never_in_memory() -> None:
    q = relay.var("q", shape=(2, 512, 16))
    compilation = compile_stages(Function([q], nn.attention(q, q, q)), opt_level=3)
    (kernel,) = compilation.kernels
    allocated = re.findall(r"alloc (\S+): \w+\[(.*?)\]( \w+)? {", print_primfunc(kernel.loops()))
    assert ("attention_keys", "2, 16, 16, 32", "") in allocated
    assert ("attention_scores", "1, 8, 512", " local") in allocated
    assert not [each for each in allocated if "512, 512" in each[1]]
