"""Gradients under the names that Relay has published."""

import numpy as np
import pytest

import relay
from tests.autodiff.numerical import differences, parsed, runner


def test_every_function_gives_its_value_and_its_gradient():
    module = parsed("""
        def @square(%x: float64) -> float64 { %x * %x }
        def @main(%x: float64, %y: float64) { @square(%x) * @square(@square(%y)) }""")
    made = relay.transform.FirstOrderGradient()(module)
    value, found = runner(made)(3.0, 2.0)
    assert (float(value), [float(each) for each in found]) == (144.0, [96.0, 288.0])
    assert str(made["square"].checked_type) == "fn (float64) -> (float64, (float64,))"


def test_functions_that_have_no_gradient_are_named():
    with pytest.raises(relay.RelayError, match="not a float tensor"):
        relay.transform.FirstOrderGradient()(parsed("def @main(%x: float32) { (%x, %x) }"))


def test_zeros_and_ones_of_gradients_go():
    text = """
        def @main(%x: Tensor[(3,), float32], %y: Tensor[(2, 3), float32]) {
          let %a = add(zeros_like(%x), multiply(%x, ones(shape=[3], dtype="float32")));
          multiply(add(%y, %a), add(ones_like(%x), zeros(shape=[2, 3], dtype="float32")))
        }"""
    made = relay.transform.LazyGradientInit()(parsed(text))
    assert "zeros_like" not in str(made)
    given = np.ones(3, "float32"), np.full((2, 3), 2, "float32")
    np.testing.assert_array_equal(runner(made)(*given), runner(parsed(text))(*given))
    assert "zeros(" in str(made)  # what is repeated by it stays


def test_the_gradient_of_one_function_in_both_modes():
    x = relay.var("x", shape=(3,), dtype="float64")
    function = relay.Function([x], relay.sum(relay.tanh(x) * x))
    given = np.array([0.1, 0.5, 2.0])
    (wanted,) = differences(relay.build(function), [given])
    for mode in ("higher_order", "first_order"):
        _, (found,) = relay.build(relay.transform.gradient(function, mode=mode))(given)
        np.testing.assert_allclose(found, wanted, rtol=1e-8)
    with pytest.raises(relay.RelayError, match="no such mode"):
        relay.transform.gradient(function, mode="second_order")
