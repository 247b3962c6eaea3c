"""Derivatives of programs of all forms that JAX can say are those of JAX: gradients, tangents, linear maps, products
with Hessians, Jacobians, Hessians, and the gradients of all examples. Programs that PyTorch can say too are those of
`test_torch_forms` and `test_pytorch`."""

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np
import pytest

import relay
from tests.autodiff.numerical import parsed, runner
from tests.autodiff.test_pytorch import PAIRS
from tests.autodiff.test_torch_forms import FORMS, LIBRARY, loss_of

jax = pytest.importorskip("jax", reason="`pip install jax` brings what derivatives are held against")
jnp, lax, nn = jax.numpy, jax.lax, jax.nn

Meaning = Callable[[Any, Any], Any]


@pytest.fixture(scope="module", autouse=True)
def _double_precision() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@jax.custom_vjp
def _squashed(x, y):
    return jnp.tanh(x) * y


def _squashed_back(kept, cotangent):
    value, y = kept
    return cotangent * (1 - value * value) * y, cotangent * value


_squashed.defvjp(lambda x, y: (_squashed(x, y), (jnp.tanh(x), y)), _squashed_back)

BY_JAX: dict[str, Meaning] = {
    "a choice that is taken": lambda x, y: lax.cond(x.sum() > -100, lambda: x * y, lambda: jnp.sin(x)),
    "a choice that is not taken": lambda x, y: lax.cond(x.sum() > 100, lambda: x * y, lambda: jnp.sin(x) * y),
    "a choice inside a choice": lambda x, y: lax.cond(
        x.sum() > -100,
        lambda: lax.cond((x * y).sum() > 100, lambda: x * y, lambda: jnp.exp(x * y)),
        lambda: x,
    ),
    "a loop": lambda x, y: lax.fori_loop(0, 4, lambda _, h: jnp.tanh(h * y), x),
    "a loop of no turns": lambda x, y: lax.scan(lambda h, _: (jnp.tanh(h * y), None), x, None, length=0)[0],
    "recursion that is no loop": lambda x, y: jnp.sin(x) * jnp.sin(x**2) * jnp.sin(x**4) * x**8 * y,
    "a function that is handed over": lambda x, y: (
        jax.jit(lambda f, a: f(a), static_argnums=0)(lambda a: a * jnp.tanh(a), x) * y
    ),
    "a closure that is chosen": lambda x, y: lax.switch(
        (x.sum() > -100).astype(int), [jnp.sin, lambda a: a * y], jnp.sin(x)
    ),
    "a list": lambda x, y: reduce(lambda total, each: total + each * each, [x, y, x * y], 0),
    "a tree": lambda x, y: jnp.tanh(jnp.tanh(x * y) * jnp.sin(x)),
    "a gradient inside": lambda x, y: jax.grad(lambda a: (a * a * y).sum())(x),
    "a tangent inside": lambda x, y: jax.jvp(lambda a: jnp.sin(a) * a, (x,), (y,))[1],
    "what is stopped": lambda x, y: lax.stop_gradient(x * y) * x,
    "what is computed again": lambda x, y: jax.checkpoint(lambda a: jnp.tanh(a) * a)(x) * y,
    "a product of batches": lambda x, y: jax.vmap(jnp.matmul)(x.reshape(3, 2, 2), y.reshape(3, 2, 2)).reshape(3, 4),
    "a convolution": lambda x, y: lax.conv_general_dilated(
        x.reshape(1, 1, 3, 4), y[:2, :2].reshape(1, 1, 2, 2), (1, 1), [(1, 1), (1, 1)]
    ),
    "a mean over windows": lambda x, y: (
        lax.reduce_window((x * y).reshape(1, 1, 3, 4), 0.0, lax.add, (1, 1, 2, 2), (1, 1, 1, 1), "VALID") / 4
    ),
    "a cumulative sum": lambda x, y: jnp.cumsum(x * y, 1),
    "a cumulative product": lambda x, y: lax.associative_scan(jnp.multiply, x) * y,
    "a sort": lambda x, y: jnp.sort(x * y, 1),
    "the largest": lambda x, y: lax.top_k(x, 2)[0] * y[0, 0],
    "padding by reflection": lambda x, y: jnp.pad(x * y, 1, mode="reflect"),
    "elements by their places": lambda x, y: jnp.multiply(x, y).at[jnp.array([0, 2, 2]), jnp.array([1, 3, 3])].get(),
    "a variance": lambda x, y: (x * y).var(1, keepdims=True) * x,
    "a product of all": lambda x, y: jnp.prod(x, 1, keepdims=True) * y,
    "a smooth step": lambda x, y: nn.gelu(x, approximate=False) * y,
    "nn.softmax(%x * %y)": lambda x, y: nn.softmax(x * y),
    "nn.log_softmax(%x) * %y": lambda x, y: nn.log_softmax(x) * y,
    "power(%x * %x + 1f64, %y)": lambda x, y: (x * x + 1) ** y,
    "where(%x > %y, %x * %y, sin(%x))": lambda x, y: jnp.where(x > y, x * y, jnp.sin(x)),
}
"""Programs that PyTorch says too, by their titles there."""

OWN: dict[str, tuple[str, Meaning]] = {
    "a scan that gives its states": (
        "let %a = tanh(take(%x, 0, axis=0) * take(%y, 0, axis=0)); "
        "let %b = tanh((%a + take(%x, 1, axis=0)) * take(%y, 1, axis=0)); "
        "stack((%a, %b, tanh((%b + take(%x, 2, axis=0)) * take(%y, 2, axis=0))), axis=0)",
        lambda x, y: lax.scan(lambda h, row: (jnp.tanh((h + row[0]) * row[1]),) * 2, jnp.zeros(4), (x, y))[1],
    ),
    "a loop that data end": (
        "@until(%x, %y)",
        lambda x, y: lax.while_loop(lambda h: (h * h).sum() < 50, lambda h: h * 1.5 + jnp.sin(h * y), x),
    ),
    "a pullback of its own": (
        "custom_gradient(@squashed, @back)(%x, %y) * %x",
        lambda x, y: _squashed(x, y) * x,
    ),
    "a function of each row": (
        "sum(%x * %y, axis=[1], keepdims=True) * sin(%x)",
        lambda x, y: jax.vmap(lambda a, b: jnp.vdot(a, b) * jnp.sin(a))(x, y),
    ),
    "gradients of each row": (
        "grad(fn (%b: Tensor[(3, 4), float64]) { sum(%b * %b * sin(%b)) }, wrt=0)(%x) * %y",
        lambda x, y: jax.vmap(jax.grad(lambda b: (b * b * jnp.sin(b)).sum()))(x) * y,
    ),
    "the logarithm of a sum": (
        "log(sum(exp(%x * %y), axis=[1], keepdims=True)) * %x",
        lambda x, y: nn.logsumexp(x * y, 1, keepdims=True) * x,
    ),
}

OWN_LIBRARY = """
def @until(%x: Tensor[(3, 4), float64], %y: Tensor[(3, 4), float64]) -> Tensor[(3, 4), float64] {
  if (sum(%x * %x) < 50f64) { @until(%x * 1.5f64 + sin(%x * %y), %y) } else { %x }
}
def @squashed(%x: Tensor[(3, 4), float64], %y: Tensor[(3, 4), float64]) -> Tensor[(3, 4), float64] { tanh(%x) * %y }
def @back(%x: Tensor[(3, 4), float64], %y: Tensor[(3, 4), float64], %value: Tensor[(3, 4), float64],
          %ct: Tensor[(3, 4), float64]) -> (Tensor[(3, 4), float64], Tensor[(3, 4), float64]) {
  let %t = tanh(%x); (%ct * (1f64 - %t * %t) * %y, %ct * %t)
}
"""

FORWARD_ALONE = {"a loop that data end"}
"""What JAX differentiates in forward mode only."""
REVERSE_ALONE = {"a pullback of its own"}
"""And in reverse mode only."""


def _program(title: str) -> tuple[str, Meaning]:
    if title in OWN:
        return OWN[title]
    return (title if title in PAIRS else FORMS[title][0]), BY_JAX[title]


@pytest.mark.parametrize("title", [*BY_JAX, *OWN])
def test_derivatives_are_those_of_jax(title: str) -> None:
    body, meaning = _program(title)
    random = np.random.default_rng(7)
    x, y, d_x, d_y = (random.standard_normal((3, 4)) for _ in range(4))
    module, places = loss_of(body, f"{LIBRARY}{OWN_LIBRARY}")

    def loss(x, y):
        return jnp.sin(meaning(x, y)).sum()

    mine, along = (x, y), (d_x, d_y)
    gradient = (jax.jacfwd if title in FORWARD_ALONE else jax.grad)(loss, (0, 1))

    def slope(x, y):
        return sum(jnp.vdot(each, way) for each, way in zip(gradient(x, y), along, strict=True))

    if title in REVERSE_ALONE:
        tangent, product = slope(*mine), jax.grad(slope, (0, 1))(*mine)
    else:
        tangent, product = (jax.jvp(each, mine, along)[1] for each in (loss, gradient))
    gradients, found = relay.build(relay.jvp(relay.grad(module, wrt=["x", "y"]), wrt=["x", "y"]))(
        *mine, *places, *along
    )
    for own, wanted in zip((*gradients, *found), (*gradient(*mine), *product), strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-9, atol=1e-11)
    value, through = relay.build(relay.linearize(module, wrt=["x", "y"]))(*mine, *places)
    np.testing.assert_allclose(value, loss(*mine), rtol=1e-12)
    np.testing.assert_allclose(through(*along), tangent, rtol=1e-10)
    _, own_tangent = runner(relay.jvp(module, wrt=["x", "y"]), compiled=False)(*mine, *places, *along)
    np.testing.assert_allclose(own_tangent, tangent, rtol=1e-10)


NETWORK = """
    def @main(%x: Tensor[(3,), float64], %w: Tensor[(4, 3), float64]) {
      tanh(nn.matmul(sin(%x), %w, transpose_b=True))
    }"""
SUMMED = NETWORK.replace("tanh", "sum(tanh").replace("True))", "True)))")


def _network(x, w):
    return jnp.tanh(w @ jnp.sin(x))


def _given(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    random = np.random.default_rng(8)
    return [random.standard_normal(shape) for shape in shapes]


def test_jacobians_in_both_modes_are_those_of_jax() -> None:
    module = parsed(NETWORK)
    x, w = _given((3,), (4, 3))
    _, columns = relay.build(relay.vmap(relay.jvp(module, wrt="x"), over=2))(x, w, np.eye(3))
    np.testing.assert_allclose(columns, np.asarray(jax.jacfwd(_network)(x, w)).T, rtol=1e-12)
    _, (rows,) = relay.build(relay.vmap(relay.vjp(module, wrt=["x"]), over=2))(x, w, np.eye(4))
    np.testing.assert_allclose(rows, jax.jacrev(_network)(x, w), rtol=1e-12)


def test_hessians_are_those_of_jax() -> None:
    x, w = _given((3,), (4, 3))
    along = relay.jvp(relay.grad(parsed(SUMMED), wrt="x"), wrt="x")
    _, found = relay.build(relay.vmap(along, over=2))(x, w, np.eye(3))
    wanted = jax.hessian(lambda x, w: _network(x, w).sum())(x, w)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-14)


def test_gradients_of_all_examples_are_those_of_jax() -> None:
    x, w = _given((5, 3), (4, 3))
    found = relay.build(relay.vmap(relay.grad(parsed(SUMMED), wrt=["x", "w"]), over="x"))(x, w)
    each = jax.vmap(jax.value_and_grad(lambda x, w: _network(x, w).sum(), (0, 1)), (0, None))
    for own, wanted in zip(found, each(x, w)[1], strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-12)
