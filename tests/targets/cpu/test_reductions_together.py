"""Several reductions of one input in one kernel: they give what each alone does, at awkward shapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import relay
from relay import op
from relay.driver.build import compile_stages
from relay.ir.expr import Expr, Function

Axes = tuple[int, ...] | None


def sum_and_largest(x: Expr, axes: Axes, keepdims: bool) -> Expr:
    return relay.Tuple([op.sum(x, axes, keepdims), op.max(x, axes, keepdims)])


def four_of_a_formula(x: Expr, axes: Axes, keepdims: bool) -> Expr:
    y = op.tanh(x)
    squares = op.sum(op.multiply(y, y), axes, keepdims)
    return relay.Tuple(
        [op.sum(y, axes, keepdims), squares, op.min(y, axes, keepdims), op.mean(op.abs(x), axes, keepdims)]
    )


def spread(x: Expr, axes: Axes, keepdims: bool) -> Expr:
    return op.subtract(op.max(x, axes, keepdims), op.min(x, axes, keepdims))


SHAPES = [(1, 1), (3, 7), (7, 17), (33, 3), (17, 33), (5, 300), (2, 3, 33, 17)]


@pytest.mark.parametrize("make", [sum_and_largest, four_of_a_formula, spread])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("where", ["last", "first", "all", "outer"])
def test_sweeps(make: Callable[[Expr, Axes, bool], Expr], shape: tuple[int, ...], where: str) -> None:
    rank = len(shape)
    axes: Axes = {"last": (rank - 1,), "first": (0,), "all": None, "outer": tuple({0, rank - 2})}[where]
    x = relay.var("x", shape=shape)
    function = Function([x], make(x, axes, where != "first"))
    check(function, shape)
    reduced = [axis for axis in range(rank) if axes is None or axis in axes]
    if make is not four_of_a_formula and any(shape[axis] > 1 for axis in reduced):
        assert len(compile_stages(function, opt_level=3).kernels) == 1


@pytest.mark.parametrize("shape", [(4, 256), (7, 333), (3, 5, 1000)], ids=str)
def test_chains_in_rows(shape: tuple[int, ...]) -> None:
    x = relay.var("x", shape=shape)
    mean = op.mean(x, -1, True)
    shifted = op.exp(op.subtract(x, op.max(x, -1, True)))
    for body in (relay.Tuple([mean, op.variance(x, -1, True, with_mean=mean)]), op.sum(shifted, -1)):
        function = Function([x], body)
        check(function, shape)
        assert len(compile_stages(function, opt_level=3).kernels) == 1


def check(function: Function, shape: tuple[int, ...]) -> None:
    value = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    expected = relay.create_executor("interpreter", mod=function).evaluate()(value)
    found = relay.build(function, opt_level=3)(value)
    pairs = zip(found, expected, strict=True) if isinstance(expected, (tuple, list)) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
