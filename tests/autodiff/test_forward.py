"""Forward mode agrees with reverse mode on programs of every form, and either can be differentiated by the other."""

from typing import Any

import numpy as np
import pytest

import relay
from relay.ir.module import IRModule
from tests.autodiff.numerical import parsed, runner
from tests.autodiff.programs import NO_GRADIENT, PROGRAMS, arguments_of


def directions_of(arguments: tuple[Any, ...], seed: int = 5) -> list[np.ndarray]:
    """A tangent for each float among arguments."""
    generator = np.random.default_rng(seed)
    arrays = map(np.asarray, arguments)
    return [np.asarray(generator.standard_normal(each.shape)) for each in arrays if each.dtype.kind == "f"]


def along(gradients: Any, directions: list[np.ndarray]) -> float:
    own = [each for each in gradients if not isinstance(each, tuple)]
    return sum(float(np.sum(each * direction)) for each, direction in zip(own, directions, strict=True))


@pytest.mark.parametrize("title", PROGRAMS)
@pytest.mark.parametrize("compiled", [True, False], ids=["native", "interpreted"])
def test_tangents_are_gradients_along_a_direction(title, compiled):
    module = parsed(PROGRAMS[title])
    forward, backward = (runner(mode(module), compiled) for mode in (relay.jvp, relay.value_and_grad))
    for arguments in arguments_of(module):
        directions = directions_of(arguments)
        value, tangent = forward(*arguments, *directions)
        wanted, gradients = backward(*arguments)
        np.testing.assert_array_equal(value, wanted)
        np.testing.assert_allclose(tangent, along(gradients, directions), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("title", PROGRAMS)
def test_hessian_vector_products_are_the_same_in_both_orders(title):
    """Forward over reverse, `jvp(grad)`, and reverse over forward, the gradient of the tangent."""
    module = parsed(PROGRAMS[title])
    over_reverse = runner(relay.jvp(relay.grad(module, wrt=0), wrt=0), compiled=False)
    over_forward = runner(relay.grad(_field(relay.jvp(module, wrt=0), 1), wrt=0), compiled=False)
    for arguments in arguments_of(module):
        (direction, *_) = directions_of(arguments)
        _, found = over_reverse(*arguments, direction)
        np.testing.assert_allclose(found, over_forward(*arguments, direction), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "title", ["a straight line", "choices inside choices", "a loop", "closures that are chosen", "trees"]
)
def test_hessian_vector_products_compile(title):
    """Ways of choices that keep nothing have a tangent `()`, which stands in tuples beside tensors."""
    product = relay.jvp(relay.grad(parsed(PROGRAMS[title]), wrt=0), wrt=0)
    native, interpreted = runner(product), runner(product, compiled=False)
    for arguments in arguments_of(parsed(PROGRAMS[title])):
        (direction, *_) = directions_of(arguments)
        found, wanted = native(*arguments, direction), interpreted(*arguments, direction)
        for mine, theirs in zip(found, wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)


def test_a_loop_stays_one_loop_and_keeps_nothing():
    found = str(relay.jvp(parsed(PROGRAMS["a loop"])))
    assert "type " not in found
    assert found.count("def @loop_tangent(") == 1


SLOPES = {
    "jvp": lambda module, wrt: _field(relay.jvp(module, wrt=wrt), 1, "float64"),
    "grad": lambda module, wrt: relay.grad(module, wrt=wrt),
}


def _field(module: IRModule, index: int, seed: str | None = None) -> IRModule:
    """`module` giving one field of its result; with `seed` the last parameter, a tangent, is 1."""
    main = relay.transform.InferType(module)["main"]
    body: Any = relay.TupleGetItem(main.body, index)
    params = main.params
    if seed is not None:
        body = relay.Let(params[-1], relay.const(1.0, seed), body)
        params = params[:-1]
    return module.with_function("main", relay.Function(params, body))


@pytest.mark.parametrize("inner", SLOPES)
@pytest.mark.parametrize("outer", SLOPES)
def test_perturbations_are_not_confused(inner, outer):
    """The slope at 3 of `x -> x * (slope at x of y -> x + y * y)`: `x * 2x` has 4x. One perturbation for both would
    give `2x * 1 + x * (1 + 2)` and the like (Siskind and Pearlmutter 2005)."""
    made = SLOPES[inner](parsed("def @main(%x: float64, %y: float64) { %x + %y * %y }"), 1)
    name = relay.GlobalVar("slope")
    functions = {each: made[each] for each in made if each.name_hint != "main"}
    x = relay.var("x", shape=(), dtype="float64")
    body = x * relay.Call(name, (x, x))
    whole = IRModule({**functions, name: made["main"], relay.GlobalVar("main"): relay.Function([x], body)})
    assert float(relay.build(SLOPES[outer](whole, 0))(3.0)) == 12.0


def test_integers_and_what_is_not_asked_for_have_no_tangent():
    module = parsed('def @main(%x: float32, %n: int32, %y: float32) { %x * %y * cast(%n, dtype="float32") }')
    assert [param.name_hint for param in relay.jvp(module)["main"].params] == ["x", "n", "y", "d_x", "d_y"]
    value, tangent = relay.build(relay.jvp(module, wrt="y"))(2.0, 3, 5.0, 1.0)
    assert (float(value), float(tangent)) == (30.0, 6.0)


def test_values_that_are_no_tensors_have_tangents():
    module = parsed("def @main(%x: float32) { (%x, (2, %x * %x)) }")
    (_, tangent) = relay.build(relay.jvp(module))(3.0, 10.0)
    assert float(tangent[0]) == 10.0
    assert tangent[1][0] == ()
    assert float(tangent[1][1]) == 60.0


def test_the_tangent_of_a_list_is_a_list():
    text = """
        type List[A] { Cons(A, List[A]), Nil }
        def @powers(%i: int32, %x: float32) -> List[float32] {
          if (%i == 0) { Nil } else { Cons(%x, @powers(%i - 1, %x * %x)) }
        }
        def @main(%x: float32) { Cons(1f, @powers(3, %x)) }"""
    value, tangent = relay.build(relay.jvp(parsed(text)))(2.0, 1.0)
    assert [float(each) for each in value] == [1.0, 2.0, 4.0, 16.0]
    assert [float(each) for each in tangent] == [0.0, 1.0, 4.0, 32.0]


def test_tangents_of_python_functions():
    @relay.function
    def f(x: relay.Tensor[(3,), "float64"]):  # noqa: F821
        return relay.sum(relay.sin(x) * x)

    x, d = np.array([0.1, 0.5, 2.0]), np.array([1.0, -1.0, 0.5])
    value, tangent = relay.jvp(f)(x, d)
    np.testing.assert_allclose(tangent, np.sum((np.cos(x) * x + np.sin(x)) * d), rtol=1e-12)
    _, product = relay.jvp(relay.grad(f, wrt="x"))(x, d)
    np.testing.assert_allclose(product, (2 * np.cos(x) - np.sin(x) * x) * d, rtol=1e-12)
    np.testing.assert_allclose(value, np.sum(np.sin(x) * x), rtol=1e-12)


def test_operators_without_a_gradient_are_named():
    with pytest.raises(relay.RelayError, match=r"`nn\.contrib_dense_pack` has no gradient") as caught:
        relay.jvp(parsed(NO_GRADIENT))
    assert caught.value.rule == "no-gradient"
