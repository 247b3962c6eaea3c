"""Matrix products that make their own rows: they give what a kernel for the rows and one for the product do."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay import nn, op
from relay.driver.build import compile_stages
from relay.ir.expr import Expr, Function

TARGETS = ("llvm -num-threads=2", "llvm -mattr=+avx,+avx2,+fma,-avx512f -num-threads=1")


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def check(body: Expr, parameters: list[relay.Var], arrays: list[np.ndarray], kernels: int = 1) -> None:
    function = Function(parameters, body)
    assert len(compile_stages(function, opt_level=3).kernels) == kernels
    expected = relay.create_executor("interpreter", mod=function).evaluate()(*arrays)
    for target in TARGETS:
        found = relay.build(function, target, opt_level=3)(*arrays)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("rows", "depth", "columns", "kernels"),
    [(64, 1, 1, 1), (65, 3, 7, 1), (77, 17, 33, 1), (128, 33, 100, 1), (64, 1024, 17, 1), (7, 33, 17, 2),
     (64, 17, 129, 2), (64, 1025, 16, 2)],
)  # fmt: skip
def test_formulas(rows: int, depth: int, columns: int, kernels: int) -> None:
    x, s = relay.var("x", shape=(rows, depth)), relay.var("s", shape=(depth,))
    scaled = nn.relu(op.add(op.multiply(x, s), s))
    product = nn.dense(scaled, relay.const(normal(columns, depth, seed=1)))
    check(nn.relu(op.add(product, relay.const(normal(columns)))), [x, s], [normal(rows, depth), normal(depth)], kernels)


@pytest.mark.parametrize("shape", [(3, 33, 17), (1, 64, 1), (66, 7)], ids=str)
def test_other_types_and_ranks(shape: tuple[int, ...]) -> None:
    x = relay.var("x", shape=shape, dtype="uint8")
    made = op.multiply(op.cast(x, "float32"), relay.const(1 / 255))
    image = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    check(nn.dense(made, relay.const(normal(20, shape[-1]))), [x], [image])


@pytest.mark.parametrize(("rows", "depth"), [(64, 1), (77, 17), (64, 33)])
def test_rows_that_are_gathered(rows: int, depth: int) -> None:
    table, places = relay.var("table", shape=(10, depth)), relay.var("places", shape=(rows,), dtype="int32")
    taken = op.take(table, places, axis=0)
    indices = np.random.default_rng(0).integers(0, 10, rows).astype(np.int32)
    check(nn.dense(taken, relay.const(normal(7, depth, seed=1))), [table, places], [normal(10, depth), indices])


def test_batches() -> None:
    x, w = relay.var("x", shape=(3, 70, 17)), relay.var("w", shape=(3, 17, 33))
    product = nn.batch_matmul(nn.relu(x), w, transpose_b=False)
    check(product, [x, w], [normal(3, 70, 17), normal(3, 17, 33, seed=1)])


def test_gathered_elements_behind_a_product_of_register_tiles() -> None:
    a, i = relay.var("a", shape=(2, 32, 32)), relay.var("i", shape=(2, 32, 32), dtype="int64")
    q, k = relay.var("q", shape=(2, 32, 16)), relay.var("k", shape=(2, 32, 16))
    added = relay.gather(a, 2, i) * relay.const(2.0) + relay.nn.batch_matmul(q, k, transpose_b=True)
    random = np.random.default_rng(0)
    values = [random.standard_normal(each.type_annotation.shape).astype("float32") for each in (a, q, k)]
    places = random.integers(0, 32, (2, 32, 32))
    expected = 2 * np.take_along_axis(values[0], places, 2) + values[1] @ values[2].transpose(0, 2, 1)
    run = relay.build(relay.Function([a, i, q, k], added), opt_level=3)
    np.testing.assert_allclose(run(values[0], places, *values[1:]), expected, rtol=1e-5, atol=1e-5)
