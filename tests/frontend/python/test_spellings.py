"""Functions of `jax.numpy` and `torch` in programs: those that mean what NumPy's mean, held against the library."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as users call it

import relay
from relay.base.diagnostics import RelayError
from relay.frontend.python.library.spellings import DIFFERENT, LAYERS, TORCH, numpy_function

Matrix = relay.Tensor[(2, 3)]
X = np.array([[1.0, 2.5, -3.5], [0.5, -5.0, 6.0]], np.float32)


class jnp:  # noqa: N801 - as users call it
    """Functions that say that they are of `jax.numpy`; none of them is called."""

    @staticmethod
    def of(name: str) -> Callable[..., Any]:
        def stated(*_: Any, **__: Any) -> None:
            raise AssertionError("a program is read, not run")

        stated.__module__, stated.__name__, stated.__qualname__ = "jax.numpy", name, name
        return stated


tanh, maximum, concatenate, zeros, take, fft = map(
    jnp.of, ("tanh", "maximum", "concatenate", "zeros", "take", "fft2")
)  # fmt: skip


def joined(x: Matrix):
    return torch.cat([x, torch.sum(x, dim=1, keepdim=True)], dim=1)


def elements(x: Matrix):
    return (
        torch.clamp(x, 0.0, 2.0),
        torch.pow(x, 2),
        torch.remainder(x, 2.0),
        torch.where(x > 0, x, 0.0),
        torch.round(x),
    )


def arranged(x: Matrix):
    turned = torch.permute(x, (1, 0))
    return (
        turned @ torch.transpose(x, 0, 1).T,
        torch.flip(x, dims=(0,)),
        torch.unsqueeze(turned, 1),
        torch.roll(x, 1, 1),
    )


def summed(x: Matrix):
    return torch.einsum("ij,kj->ik", x, x), torch.cumsum(x, dim=1), torch.mean(x, dim=0), torch.amax(x, dim=1)


def compared(x: Matrix):
    return (
        torch.eq(x, 0.5),
        torch.ge(x, 1.0),
        torch.argmax(x, dim=1),
        torch.logical_not(torch.isfinite(x)),
        torch.any(x > 6),
    )


def stacked(x: Matrix):
    wide = torch.hstack([x, x]), torch.vstack([x, x]), torch.stack([x, x], dim=1), torch.tile(x, (2, 2))
    return *wide, torch.concatenate([x, x], dim=0), torch.movedim(torch.stack([x, x]), 0, 2)


def multiplied(x: Matrix):
    row, other = x[0], x[1]
    products = torch.dot(row, other), torch.vdot(row, other), torch.inner(row, other), torch.outer(row, other)
    return *products, torch.kron(row, other), torch.cumprod(x, dim=0), torch.bmm(torch.stack([x]), torch.stack([x.T]))


def shaped(x: Matrix):
    wide = torch.broadcast_to(x[0], (2, 3)), torch.reshape(x, (3, 2)), torch.swapaxes(x, 0, 1), torch.diff(x, dim=0)
    return *wide, torch.full_like(x, 2.0), torch.arange(3) + x, torch.prod(x, dim=0), torch.argsort(x, dim=0)


def kept_alone(x: Matrix):
    y = torch.exp(x)
    y += 1
    return y


@pytest.mark.parametrize(
    "definition", [joined, elements, arranged, summed, compared, stacked, multiplied, shaped, kept_alone]
)
def test_torch_means_what_torch_computes(definition: Callable[[Any], Any]):
    found, expected = relay.function(definition)(X), definition(torch.from_numpy(X.copy()))
    single = not isinstance(expected, tuple)
    for each, wanted in zip((found,) if single else found, (expected,) if single else expected, strict=True):
        np.testing.assert_allclose(each, wanted.numpy(), rtol=1e-5, atol=1e-6)


ONE = (
    "abs", "absolute", "acos", "acosh", "all", "amax", "amin", "any", "arccos", "arccosh", "arcsin", "arcsinh",
    "arctan", "arctanh", "argmax", "argmin", "argsort", "argwhere", "asin", "asinh", "atan", "atanh", "ceil",
    "clone", "cos", "cosh", "count_nonzero", "deg2rad", "diag", "diagonal", "diff", "exp", "exp2", "expm1",
    "fliplr", "flipud", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not",
    "mean", "neg", "negative", "ones_like", "positive", "prod", "rad2deg", "ravel", "reciprocal", "round", "sign",
    "sin", "sinh", "sqrt", "square", "squeeze", "sum", "tan", "tanh", "trace", "tril", "triu", "trunc", "unique",
    "zeros_like",
)  # fmt: skip
TWO = (
    "add", "allclose", "arctan2", "atan2", "copysign", "div", "divide", "eq", "floor_divide", "fmax", "fmin",
    "fmod", "ge", "greater", "greater_equal", "gt", "heaviside", "hypot", "isclose", "isin", "le", "less",
    "less_equal", "logaddexp", "logical_and", "logical_or", "logical_xor", "lt", "matmul", "maximum", "minimum",
    "mm", "mul", "multiply", "ne", "not_equal", "remainder", "sub", "subtract", "true_divide",
)  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_a_function_of_one_tensor_is_torch_s(name: str):
    """On numbers in and out of what the function is defined on."""
    function = getattr(torch, name)
    x = np.array([[0.25, -0.75], [1.5, 2.5]], np.float32)

    def program(x: relay.Tensor[(2, 2)]):
        return function(x)

    expected = function(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(relay.function(program)(x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", TWO)
def test_a_function_of_two_tensors_is_torch_s(name: str):
    function = getattr(torch, name)
    x = np.array([[0.25, -0.75], [1.5, 0.0]], np.float32)
    y = np.array([[2.0, -0.75], [-0.5, 3.0]], np.float32)

    def program(x: relay.Tensor[(2, 2)], y: relay.Tensor[(2, 2)]):
        return function(x, y)

    expected = function(torch.from_numpy(x), torch.from_numpy(y))
    np.testing.assert_allclose(relay.function(program)(x, y), np.asarray(expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("library", "name"), [(of, name) for of in LAYERS for name in LAYERS[of] if name != "linear"])
def test_layers(library: str, name: str):
    function = jnp.of(name) if library == "jax.nn" else getattr({"torch": torch}.get(library, F), name)
    if library == "jax.nn":
        function.__module__ = "jax._src.nn.functions"  # as those of jax.nn say that they are of

        def program(x: Matrix):
            return function(x)
    elif name.endswith("softmax"):

        def program(x: Matrix):
            return function(x, dim=0)
    else:

        def program(x: Matrix):
            return function(x)

    x = torch.from_numpy(X)
    exact = getattr(torch if hasattr(torch, name) else F, name)
    if (library, name) == ("jax.nn", "gelu"):
        exact = functools.partial(F.gelu, approximate="tanh")
    wanted = exact(x, dim=0 if library != "jax.nn" else -1) if name.endswith("softmax") else exact(x)
    np.testing.assert_allclose(relay.function(program)(X), wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_a_linear_layer():
    def program(x: Matrix, w: relay.Tensor[(4, 3)], b: relay.Tensor[(4,)]):
        return F.linear(x, w, b), F.linear(x, w)

    w, b = np.arange(12, dtype=np.float32).reshape(4, 3), np.ones(4, np.float32)
    wanted = program(*map(torch.from_numpy, (X, w, b)))
    for found, exact in zip(relay.function(program)(X, w, b), wanted, strict=True):
        np.testing.assert_allclose(found, exact.numpy(), rtol=1e-5, atol=1e-6)


def test_methods_of_tensors():
    def program(x: Matrix):
        y = x - x.mean(dim=1, keepdim=True)
        return y.unsqueeze(0), y.relu(), y.softmax(dim=0), x.sum(dim=0), x.amax(dim=1), y.clamp(-1.0, 1.0)

    wanted = program(torch.from_numpy(X))
    for found, exact in zip(relay.function(program)(X), wanted, strict=True):
        np.testing.assert_allclose(found, exact.numpy(), rtol=1e-5, atol=1e-6)


def test_a_softmax_of_torch_says_its_axis():
    def program(x: Matrix):
        return F.softmax(x)

    with pytest.raises(RelayError, match="say along which axis: dim=-1"):
        relay.function(program)(X)


def test_every_entry_is_a_function_of_both():
    assert [name for name in TORCH.values() if numpy_function(name) is None] == []
    assert [name for name in TORCH if not callable(getattr(torch, name, None))] == []
    assert not {name for library, name in DIFFERENT if library == "torch"} & TORCH.keys()


def test_jax_numpy_means_numpy():
    def program(x: Matrix):
        larger = functools.reduce(maximum, [x, 2 * x, 1 - x])
        return concatenate([tanh(x), zeros((1, 3))], axis=0), larger

    joined, larger = relay.function(program)(X)
    np.testing.assert_allclose(joined, np.concatenate([np.tanh(X), np.zeros((1, 3))]), rtol=1e-5)
    np.testing.assert_array_equal(larger, np.maximum(np.maximum(X, 2 * X), 1 - X))


def refused(definition: Callable[..., object]) -> tuple[str, str]:
    with pytest.raises(RelayError) as caught:
        _ = relay.function(definition).module
    assert caught.value.rule == "python-subset"
    return caught.value.message, caught.value.remedy


def test_what_means_something_else_is_refused_by_name():
    def largest(x: Matrix):
        return torch.max(x, dim=1)

    def spread(x: Matrix):
        return torch.std(x)

    def row(x: Matrix):
        return take(x, 1, axis=0)

    def transformed(x: Matrix):
        return fft(x)

    cannot = "cannot become a Relay program"
    assert refused(largest) == (
        f"the call of `torch.max` {cannot}", "it gives places too: write np.max, or torch.amax",
    )  # fmt: skip
    assert refused(spread) == (f"the call of `torch.std` {cannot}", "it divides by n - 1: write np.std(x, ddof=1)")
    assert refused(row) == (
        f"the call of `jax.numpy.take` {cannot}", "what lies outside is NaN there: write x[i], or np.take",
    )  # fmt: skip
    assert refused(transformed)[0] == f"the call of `fft2` {cannot}"
