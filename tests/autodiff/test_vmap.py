"""`vmap`: programs over many instances, by the batch rules of operators; per-example gradients and Jacobians."""

import numpy as np
import pytest

import relay
from tests.autodiff.numerical import parsed, runner
from tests.messages import check_message

RANDOM = np.random.default_rng(0)

PROGRAMS = {
    "elementwise": "def @main(%x: Tensor[(3,), float64], %y: Tensor[(2, 3), float64]) { tanh(%x) * %y + 1f64 }",
    "a product by a matrix": "def @main(%x: Tensor[(2, 3), float64], %y: Tensor[(4, 3), float64]) { nn.dense(%x, %y) }",
    "a product by a transposed matrix": """
        def @main(%x: Tensor[(3, 2), float64], %y: Tensor[(4, 3), float64]) {
          nn.matmul(%x, %y, transpose_a=True, transpose_b=True)
        }""",
    "reductions": "def @main(%x: Tensor[(2, 3), float64], %y: float64) { (sum(%x, axis=[1]) * %y, max(%x)) }",
    "repetition": """
        def @main(%x: Tensor[(1, 3), float64], %y: Tensor[(2, 3), float64]) {
          broadcast_to(%x, shape=[2, 2, 3]) * %y + broadcast_to_like(%x, %y)
        }""",
    "functions and tuples": """
        def @both(%p: (Tensor[(3,), float64], float64)) { (%p.0 * %p.1, %p.1) }
        def @main(%x: Tensor[(3,), float64], %y: float64) { let %t = @both((%x, %y)); (%t.0, %t.1 + 1f64) }""",
    "views": """
        def @main(%x: Tensor[(2, 3), float64], %y: Tensor[(2, 2), float64]) {
          concatenate((transpose(%x), %y), axis=0)
        }""",
    "softmax": "def @main(%x: Tensor[(4,), float64], %y: Tensor[(4,), float64]) { nn.softmax(%x * %y) }",
}


def _flat(value) -> list:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("title", PROGRAMS)
@pytest.mark.parametrize("over", ["x", "y", None], ids=["x", "y", "both"])
def test_it_is_the_program_for_each_instance(title, over):
    module = relay.transform.InferType(parsed(PROGRAMS[title]))
    mapped, alone = runner(relay.vmap(module, over)), runner(module)
    types = [each.checked_type for each in module["main"].params]
    stacked = [over in (None, each.name_hint) for each in module["main"].params]
    given = [
        RANDOM.standard_normal(((5,) if on else ()) + tuple(t.shape)) for on, t in zip(stacked, types, strict=True)
    ]
    found = _flat(mapped(*given))
    for at in range(5):
        own = [np.asarray(each[at]) if on else each for each, on in zip(given, stacked, strict=True)]
        for mine, wanted in zip(found, _flat(alone(*own)), strict=True):
            np.testing.assert_allclose(mine[at], wanted, rtol=1e-12)


LOSS = """
def @layer(%x: Tensor[(1, 3), float64], %w: Tensor[(4, 3), float64]) { tanh(nn.dense(%x, %w)) }
def @main(%x: Tensor[(1, 3), float64], %w: Tensor[(4, 3), float64], %v: Tensor[(2, 4), float64]) {
  sum(nn.dense(@layer(%x, %w), %v))
}"""


def test_gradients_of_all_examples():
    gradient = relay.grad(parsed(LOSS), wrt=["w", "v"])
    x, w, v = (RANDOM.standard_normal(shape) for shape in ((6, 1, 3), (4, 3), (2, 4)))
    found = runner(relay.vmap(gradient, over="x"))(x, w, v)
    alone = runner(gradient)
    for at in range(6):
        for mine, wanted in zip(found, alone(x[at], w, v), strict=True):
            np.testing.assert_allclose(mine[at], wanted, rtol=1e-10)


def test_jacobians_in_both_modes():
    @relay.function
    def f(x: relay.Tensor[(3,), "float64"]):  # noqa: F821
        return relay.concatenate((relay.sin(x), relay.reshape(relay.sum(x * x), (1,))), axis=0)

    x = np.array([0.1, 0.5, 2.0])
    wanted = np.concatenate((np.diag(np.cos(x)), 2 * x[None]))
    _, (by_rows,) = relay.vmap(relay.vjp(f), over=1)(x, np.eye(4))
    np.testing.assert_allclose(by_rows, wanted, rtol=1e-12)
    _, by_columns = relay.vmap(relay.jvp(f), over=1)(x, np.eye(3))
    np.testing.assert_allclose(by_columns.T, wanted, rtol=1e-12)


def test_a_hessian():
    @relay.function
    def f(x: relay.Tensor[(3,), "float64"]):  # noqa: F821
        return relay.sum(x * x * x)

    x = np.array([0.1, 0.5, 2.0])
    _, found = relay.vmap(relay.jvp(relay.grad(f, wrt="x")), over=1)(x, np.eye(3))
    np.testing.assert_allclose(found, np.diag(6 * x), rtol=1e-12)


REFUSED = {
    "an operator without a batch rule": "def @main(%x: Tensor[(4,), float32]) { cumsum(%x, axis=0) }",
    "a choice": "def @main(%x: float32) { if (%x > 0f) { %x } else { %x * %x } }",
    "extents that are symbols": "def @main(%x: Tensor[(k,), float32]) { tanh(%x) }",
    "recursion": """
        def @loop(%i: int32, %x: float32) -> float32 { if (%i == 0) { %x } else { @loop(%i - 1, %x * %x) } }
        def @main(%x: float32) { @loop(3, %x) }""",
}


@pytest.mark.parametrize("title", REFUSED)
def test_what_is_refused(title):
    with pytest.raises(relay.RelayError) as caught:
        relay.vmap(parsed(REFUSED[title]))
    check_message("vmap", title, caught.value)
