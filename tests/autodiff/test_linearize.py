"""`linearize`: the value now, and the tangent later for any direction, on programs of every form."""

import numpy as np
import pytest

import relay
from tests.autodiff.numerical import parsed, runner
from tests.autodiff.programs import PROGRAMS, arguments_of
from tests.autodiff.test_forward import directions_of


@pytest.mark.parametrize("title", PROGRAMS)
@pytest.mark.parametrize("compiled", [True, False], ids=["native", "interpreted"])
def test_the_map_gives_the_tangents_of_forward_mode(title, compiled):
    module = parsed(PROGRAMS[title])
    linear, forward = (runner(mode(module), compiled) for mode in (relay.linearize, relay.jvp))
    for arguments in arguments_of(module):
        value, through = linear(*arguments)
        for seed in (5, 6):
            directions = directions_of(arguments, seed)
            wanted, tangent = forward(*arguments, *directions)
            np.testing.assert_array_equal(value, wanted)
            np.testing.assert_allclose(through(*directions), tangent, rtol=1e-12, atol=1e-13)


def test_what_does_not_depend_on_the_direction_is_computed_once():
    text = str(relay.linearize(parsed("def @main(%x: float32) { sin(%x) * exp(%x) }")))
    now, _, later = text.partition("fn (")
    assert "cos(" in now
    assert "cos(" not in later
    assert "exp(" not in later


def test_the_gradient_of_a_tangent_inside_a_program():
    """`tanh` has the second derivative `-2 tanh (1 - tanh²)`."""
    text = """
        def @slope(%x: float64) {
          let %p = linearize(fn (%y: float64) { tanh(%y) }, wrt=0)(%x); let %f = %p.1; %f(1f64)
        }
        def @main(%x: float64) { grad(@slope, wrt=0)(%x) }"""
    module = parsed(text)
    wanted = -2 * np.tanh(0.3) * (1 - np.tanh(0.3) ** 2)
    for compiled in (True, False):
        np.testing.assert_allclose(runner(module, compiled)(np.float64(0.3)), wanted, rtol=1e-12)


def test_data_have_tangents_of_their_form():
    text = """
        type List[A] { Cons(A, List[A]), Nil }
        def @powers(%i: int32, %x: float32) -> List[float32] {
          if (%i == 0) { Nil } else { Cons(%x, @powers(%i - 1, %x * %x)) }
        }
        def @main(%x: float32) { Cons(1f, @powers(3, %x)) }"""
    value, through = relay.build(relay.linearize(parsed(text)))(2.0)
    assert [float(each) for each in value] == [1.0, 2.0, 4.0, 16.0]
    assert [float(each) for each in through(1.0)] == [0.0, 1.0, 4.0, 32.0]


def test_python_functions():
    @relay.function
    def f(x: relay.Tensor[("n",), "float64"], k: int):  # noqa: F821
        y = x
        for _ in range(k):
            y = y * x
        return y

    x = np.array([1.0, 2.0])
    value, through = relay.linearize(f)(x, 3)
    assert value.tolist() == [1.0, 16.0]
    assert through(np.array([1.0, 0.0])).tolist() == [4.0, 0.0]
    assert through(np.array([0.0, 1.0])).tolist() == [0.0, 32.0]
