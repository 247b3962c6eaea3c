"""`custom_gradient`: functions with a pullback of their own, in text, built in Python, and read from Python."""

import numpy as np
import pytest

import relay
from tests.autodiff.numerical import parsed, runner
from tests.messages import check_message

CLIPPED = """
def @f(%x: float64, %y: float64) -> float64 { %x * %x * %y }
def @back(%x: float64, %y: float64, %value: float64, %ct: float64) -> (float64, float64) {
  (10f64 * %ct * %x, %ct * %value)
}
"""
"""A function whose pullback says `10 x` and `value` for `2 x y` and `x²`."""

PLACES = {
    "at the top": "custom_gradient(@f, @back)(%x, %y)",
    "in a choice": "if (%x > 0f64) { custom_gradient(@f, @back)(%x, %y) } else { %x }",
    "in a closure": "let %g = fn (%z: float64) { custom_gradient(@f, @back)(%x, %z) }; %g(%y)",
    "bound by a let": "let %g = custom_gradient(@f, @back); %g(%x, %y)",
    "written there": """
        custom_gradient(fn (%a: float64, %b: float64) { %a * %a * %b },
                        fn (%a, %b, %v, %ct) { (10f64 * %ct * %a, %ct * %v) })(%x, %y)""",
    "checkpointed": "checkpoint(fn (%a: float64, %b: float64) { custom_gradient(@f, @back)(%a, %b) })(%x, %y)",
}


@pytest.mark.parametrize("title", PLACES)
@pytest.mark.parametrize("compiled", [True, False], ids=["native", "interpreted"])
def test_derivatives_are_by_the_own_pullback(title, compiled):
    module = parsed(CLIPPED + f"def @main(%x: float64, %y: float64) {{ {PLACES[title]} }}")
    x, y, d_x, d_y = map(np.float64, (3, 2, 1, 10))
    value, found = runner(relay.value_and_grad(module), compiled)(x, y)
    assert (float(value), [float(each) for each in found]) == (18.0, [30.0, 18.0])
    assert float(runner(module, compiled)(x, y)) == 18.0
    _, tangent = runner(relay.jvp(module), compiled)(x, y, d_x, d_y)
    assert float(tangent) == 30.0 + 180.0
    _, through = runner(relay.linearize(module), compiled)(x, y)
    assert float(through(d_x, d_y)) == 30.0 + 180.0


def test_second_derivatives_are_those_of_the_pullback():
    """By `x`: of `10 x`; of a loss around it, the value counts with the own pullback."""
    module = parsed(CLIPPED + "def @main(%x: float64) { custom_gradient(@f, @back)(%x, 2f64) }")
    assert float(runner(relay.grad(relay.grad(module, wrt=0), wrt=0))(3.0)) == 10.0
    square = parsed(CLIPPED + "def @main(%x: float64) { let %v = custom_gradient(@f, @back)(%x, 2f64); %v * %v }")
    slope = relay.grad(square, wrt=0)
    assert float(runner(slope)(3.0)) == 2 * 18.0 * 30.0
    for second in (relay.grad(slope, wrt=0), relay.jvp(slope)):
        given = (3.0,) if len(second["main"].params) == 1 else (3.0, 1.0)
        found = runner(second)(*given)
        assert float(found if len(given) == 1 else found[1]) == 2 * 30.0 * 30.0 + 2 * 18.0 * 10.0


LOOP = """
def @turns(%i: int32, %ct: float64) -> float64 { if (%i == 0) { %ct } else { @turns(%i - 1, 2f64 * %ct) } }
def @back(%x: Tensor[(3,), float64], %n: int32, %value: float64, %ct: float64) -> (Tensor[(3,), float64], ()) {
  if (%value > 0f64) { (multiply(%x, @turns(%n, %ct)), ()) } else { (negative(multiply(%x, %ct)), ()) }
}
def @f(%x: Tensor[(3,), float64], %n: int32) -> float64 { sum(%x) }
def @main(%x: Tensor[(3,), float64], %n: int32) { custom_gradient(@f, @back)(sin(%x), %n) }
"""


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_pullbacks_with_choices_and_loops_are_transposed_by_forward_mode(sign):
    module = parsed(LOOP)
    x, d = sign * np.array([0.1, 0.5, 0.7]), np.array([1.0, -2.0, 3.0])
    by_x = (8.0 if sign > 0 else -1.0) * np.sin(x) * np.cos(x)
    for compiled in (True, False):
        np.testing.assert_allclose(runner(relay.grad(module, wrt="x"), compiled)(x, 3), by_x, rtol=1e-12)
        np.testing.assert_allclose(runner(relay.jvp(module), compiled)(x, 3, d)[1], np.sum(by_x * d), rtol=1e-12)


def test_what_has_no_gradient_gets_one():
    """A rounding with the gradient of what it rounds: the function itself is never differentiated."""
    text = """
        def @main(%x: Tensor[(3,), float32]) {
          sum(custom_gradient(fn (%y: Tensor[(3,), float32]) { round(%y) }, fn (%y, %v, %ct) { (%ct,) })(%x * 2f))
        }"""
    found = runner(relay.grad(parsed(text), wrt=0))(np.array([0.2, 1.4, -2.2], "float32"))
    assert found.tolist() == [2.0, 2.0, 2.0]


def test_programs_that_will_not_be_differentiated_have_nothing_of_the_pullback():
    module = parsed(CLIPPED + "def @main(%x: float64) { custom_gradient(@f, @back)(%x, 2f64) }")
    text = str(relay.transform.ApplyTransformations(module))
    assert "with_pullback" not in text
    assert "its_cotangent" not in text
    assert "@back(%" not in text.partition("def @main")[2]
    by_nothing = relay.grad(parsed(CLIPPED + "def @main(%x: float64, %y: float64) { %y * @f(%x, %x) }"), wrt="y")
    assert relay.parse(by_nothing.astext()).astext() == by_nothing.astext()


def test_programs_that_keep_their_pullbacks_are_text():
    module = parsed(CLIPPED + "def @main(%x: float64, %y: float64) { custom_gradient(@f, @back)(%x, 1f64) * %y }")
    by_y = relay.grad(module, wrt="y")
    assert "with_pullback(" in by_y.astext()
    again = relay.parse(by_y.astext())
    assert float(relay.build(again)(3.0, 2.0)) == 9.0
    assert float(relay.build(relay.grad(again, wrt="x"))(3.0, 2.0)) == 30.0


def test_python_functions_bring_their_pullbacks():
    @relay.function
    def f(x: relay.Tensor[(3,), "float32"]):  # noqa: F821
        def straight(y):
            return relay.round(y)

        def back(y, value, cotangent):
            return (cotangent * y,)

        return relay.sum(relay.custom_gradient(straight, back)(x * 2.0))

    assert relay.grad(f, wrt="x")(np.array([0.2, 1.4, -2.2], "float32")).tolist() == pytest.approx([0.8, 5.6, -8.8])


SCALAR = relay.Tensor[(), "float32"]


@relay.function
def cube(x: SCALAR):
    return x * x * x


@relay.function
def back(x: SCALAR, value: SCALAR, cotangent: SCALAR):
    return (cotangent * (value + 1.0),)


strange = relay.custom_gradient(cube, back)


def test_decorated_functions_are_functions_with_it():
    assert float(strange(2.0)) == 8.0
    assert float(relay.grad(strange, wrt="x")(2.0)) == 9.0

    @relay.function
    def g(x: SCALAR):
        return 10.0 * strange(x)

    assert float(g(2.0)) == 80.0
    assert float(relay.grad(g, wrt="x")(2.0)) == 90.0


def test_programs_that_are_built():
    x, value, cotangent = (relay.var(name, shape=()) for name in ("x", "value", "cotangent"))
    function = relay.Function([x], relay.floor(x))
    pullback = relay.Function([relay.var("y", shape=()), value, cotangent], relay.Tuple([cotangent * relay.const(3.0)]))
    z = relay.var("z", shape=())
    main = relay.Function([z], relay.Call(relay.custom_gradient(function, pullback), [z * z]))
    assert float(relay.build(relay.grad(main, wrt=0))(2.0)) == 12.0


REFUSED = {
    "a pullback of another type": """
        def @back(%x: float32, %v: float32, %ct: float32) -> float32 { %ct }
        def @main(%x: float32) { custom_gradient(fn (%y: float32) { %y }, @back)(%x) }""",
    "a pullback of data": """
        type List[A] { Cons(A, List[A]), Nil }
        def @f(%y: List[float32]) { 1f }
        def @main(%x: List[float32]) { custom_gradient(@f, fn (%y, %v, %ct) { (%y,) })(%x) }""",
}


@pytest.mark.parametrize("title", REFUSED)
def test_what_is_refused(title):
    with pytest.raises(relay.RelayError) as caught:
        relay.build(parsed(REFUSED[title]))
    check_message("gradients", title, caught.value)
