"""Kernels know extents as symbols; what these are in terms of a program's own, its calls tell."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import relay
from relay.arith.expr import IntExpr, Symbol, evaluate, maximum
from relay.arith.naming import named_parts, with_names
from relay.driver.build import compile_stages
from tests.lower.interpreting import run_as_text
from tests.native.running import assert_same, module

N, M, H, W, TAKEN = (Symbol(name) for name in ("n", "m", "h", "w", "extent_0"))
BLOCKS = (H // 4 + 3) // 4


@pytest.mark.parametrize(
    ("exprs", "expected"),
    [
        ([N, 4 * BLOCKS, BLOCKS * N], ["n", "4*extent_0", "extent_0*n"]),
        ([N * BLOCKS * BLOCKS, 16 * N * BLOCKS * BLOCKS + 1], ["extent_0", "16*extent_0 + 1"]),
        ([H // 4, 4 * BLOCKS], ["extent_0", "4*((extent_0 + 3) // 4)"]),
        ([H // 2, W // 2, maximum(N, M)], ["extent_0", "extent_1", "extent_2"]),
        ([H, H // 4], ["h", "h // 4"]),  # at most a quarter of the other
        ([H // 4, W, H], ["h // 4", "w", "h"]),
        ([N % 4, maximum(M, 1)], ["n % 4", "max(m, 1)"]),  # at most 3, at least 1
        ([(N - M) // 2], ["(n - m) // 2"]),  # may be negative
        ([TAKEN, H // 2], ["extent_0", "extent_1"]),
    ],
)
def test_parts_get_names_of_which_nothing_more_is_known(exprs: list[IntExpr], expected: list[str]) -> None:
    names = named_parts(exprs)
    found = [with_names(expr, names) for expr in exprs]
    assert list(map(str, found)) == expected
    values = {N: 5, M: 3, H: 37, W: 11, TAKEN: 2}
    values |= {name: evaluate(part, values) for part, name in names.items()}
    assert [evaluate(short, values) for short in found] == [evaluate(expr, values) for expr in exprs]


def test_symbols_that_are_kept_stay() -> None:
    assert list(named_parts([N * H, W // 2], frozenset({H}))) == [W // 2]


def check(source: str, *arrays: NDArray[np.float32]) -> None:
    program = module(source)
    expected = relay.create_executor("interpreter", mod=program).evaluate()(*arrays)
    assert_same(relay.build(program)(*arrays), expected)
    assert_same(run_as_text(program)(*arrays), expected)


def test_functions_that_differ_in_where_their_extents_come_from_have_one_kernel() -> None:
    source = """
    def @main(%x: Tensor[(n, m, 16), float32], %y: Tensor[(k, j, i, 16), float32]) {
      (nn.softmax(reshape(%x, newshape=[n*m, 16])), nn.softmax(reshape(%y, newshape=[k*j*i, 16])))
    }"""
    (kernel,) = compile_stages(module(source)).called_kernels
    assert [each.name for each in kernel.info.symbols] == ["extent_0"]
    x = np.random.default_rng(0).standard_normal((3, 5, 16)).astype(np.float32)
    check(source, x, np.concatenate([x, x]).reshape(2, 3, 5, 16))


def test_a_call_computes_the_extents_of_padded_quotients() -> None:
    source = """
    def @main(%x: Tensor[(n, h), float32]) {
      let %halves = nn.max_pool1d(expand_dims(%x, axis=0), pool_size=[2], strides=[2]);
      let %padded = nn.pad(%halves, pad_width=[[0, 0], [0, 0], [0, 3]]);
      (nn.softmax(%halves), nn.avg_pool1d(%padded, pool_size=[4], strides=[4]))
    }"""
    for extent in (8, 11):
        check(source, np.random.default_rng(extent).standard_normal((3, extent)).astype(np.float32))
