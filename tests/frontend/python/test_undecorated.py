"""Python functions that are not decorated, called from decorated ones: they are as nested functions."""

from __future__ import annotations

import functools
import linecache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay
from relay.frontend.python.identity import identity

from .running import agrees

Vector = relay.Tensor[("n",)]
X = np.array([3, 1, 2], np.float32)
SCALE = 2.0


def scaled(x, by=SCALE, *, offset=0.0):
    """Neither annotated nor decorated."""
    return x * by + offset


def largest_and_least(xs):
    if len(xs) == 0:
        return 0, 0
    return max(xs), min(xs)


def table(count):
    """Python runs this, for numbers that are known while the source is read."""
    return np.cumsum([position**2 for position in range(count)]).astype(np.float32)


def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


def twice(f, x):
    return f(f(x))


def endless(n):
    return n if n == 0 else endless(n - 1)


def calls_helpers(x: Vector, n: int):
    high, low = largest_and_least([n, 3, 5])
    return scaled(x, offset=1.0), scaled(x[0], 3.0), high - low, x + table(3), twice(scaled, x), factorial(n)


def gives_helpers_away(xs: list[int]):
    return (
        list(map(scaled, xs)),
        functools.reduce(lambda a, b: largest_and_least([a, b])[0], xs),
        sorted(xs, key=factorial),
    )


def test_helpers_are_read_where_they_are_called():
    agrees(calls_helpers, X, np.int32(4))
    agrees(gives_helpers_away, [3, 1, 2])


def test_a_gradient_goes_through_a_helper():
    def slope(x: Vector):
        return relay.grad(lambda y: np.sum(scaled(y) ** 2))(x)

    (found,) = relay.function(slope)(X)
    np.testing.assert_allclose(found, 8 * X, rtol=1e-6)


def test_a_helper_that_calls_itself_says_what_it_gives():
    def calls(n: int):
        return endless(n)

    with pytest.raises(relay.RelayError) as caught:
        relay.function(calls)(3)
    assert caught.value.rule == "needs-annotation"
    assert "def endless" in str(caught.value)


def known_as(file: Path, factor: int) -> str | None:
    file.write_text(f"import relay\ndef g(x):\n    return x * {factor}\ndef f(x: int):\n    return g(x)\n", "utf-8")
    linecache.clearcache()
    names: dict[str, Any] = {"__name__": "written_here"}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), names)
    return identity(relay.function(names["f"]))


def test_what_a_function_is_kept_under_tells_its_helpers(tmp_path: Path):
    file = tmp_path / "module.py"
    first = known_as(file, 2)
    assert known_as(file, 2) == first is not None
    assert known_as(file, 3) != first
