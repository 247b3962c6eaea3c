"""Extents that only the run knows may turn out to be 1 in broadcasting, where what they meet is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import relay

SHAPES = [
    # annotations, and what the run gives
    (("?",), (3, 2), (1,), (3, 2)),
    (("?",), (3, 2), (2,), (3, 2)),
    (("?", 2), (1, 2), (1, 2), (1, 2)),
    (("?", 2), (1, 2), (3, 2), (1, 2)),
    (("?", 2), (3, 2), (1, 2), (3, 2)),
    (("?", 2), (3, "?"), (1, 2), (3, 1)),
    ((4, 1, "?"), ("?", 37), (4, 1, 1), (5, 37)),
    (("?", "?"), (5, 37), (1, 1), (5, 37)),
    (("n", 2), (0, 2), (1, 2), (0, 2)),
]


def programs(x: relay.Var, y: relay.Var) -> dict[str, relay.Expr]:
    return {
        "add": relay.tanh(relay.exp(x) + y) * y,
        "where": relay.where(x > 0.0, y, x),
        "less": relay.less(y, x),
        "sum": relay.sum(relay.multiply(x, y), axis=-1),
    }


MEANINGS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "add": lambda x, y: np.tanh(np.exp(x) + y) * y,
    "where": lambda x, y: np.where(x > 0, y, x),
    "less": lambda x, y: y < x,
    "sum": lambda x, y: (x * y).sum(-1),
}


def runs(function: relay.Function, *arguments: np.ndarray) -> list[np.ndarray]:
    """By the interpreter, and natively at both ends."""
    module = relay.IRModule.from_expr(function)
    compiled = [relay.build(module, opt_level=level) for level in (0, 3)]
    return [run(*arguments) for run in (relay.create_executor("interpreter", module).evaluate(), *compiled)]


@pytest.mark.parametrize("kind", MEANINGS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_a_known_extent_meets_one_that_the_run_knows(shapes: tuple[tuple[object, ...], ...], kind: str) -> None:
    x, y = relay.var("x", shape=shapes[0]), relay.var("y", shape=shapes[1])
    random = np.random.default_rng(0)
    arrays = [random.normal(size=shape).astype("float32") for shape in shapes[2:]]
    for result in runs(relay.Function([x, y], programs(x, y)[kind]), *arrays):
        np.testing.assert_allclose(result, MEANINGS[kind](*arrays), rtol=1e-5, atol=1e-6)


def test_tensors_are_broadcast_to_a_known_shape() -> None:
    x = relay.var("x", shape=("?", 4))
    function = relay.Function([x], relay.broadcast_to(x, (3, 4)))
    for rows in (1, 3):
        data = np.random.default_rng(0).normal(size=(rows, 4)).astype("float32")
        for result in runs(function, data):
            np.testing.assert_array_equal(result, np.broadcast_to(data, (3, 4)))


def test_a_batch_of_one_is_repeated() -> None:
    x, y = relay.var("x", shape=("?", 5, 6)), relay.var("y", shape=(3, 7, 6))
    function = relay.Function([x, y], relay.nn.batch_matmul(x, y))
    for batch in (1, 3):
        a, b = (np.random.default_rng(0).normal(size=s).astype("float32") for s in ((batch, 5, 6), (3, 7, 6)))
        for result in runs(function, a, b):
            np.testing.assert_allclose(result, a @ b.transpose(0, 2, 1), rtol=1e-4, atol=1e-5)


def test_neither_one_nor_the_same_is_refused() -> None:
    x, y = relay.var("x", shape=("n", 2)), relay.var("y", shape=(3, 2))
    module = relay.IRModule.from_expr(relay.Function([x, y], x + y))
    for run in (relay.create_executor("interpreter", module).evaluate(), relay.build(module)):
        with pytest.raises(relay.RelayError, match="must be 3, or 1, as n") as caught:
            run(np.ones((2, 2), "float32"), np.ones((3, 2), "float32"))
        assert "n == 3 or n == 1" in str(caught.value)
        assert "n = 2" in caught.value.found
