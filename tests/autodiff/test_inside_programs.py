"""`grad` and its kin inside programs: on global functions, closures, parameters, and on each other."""

import numpy as np
import pytest

import relay
from relay.ir.module import IRModule
from relay.ir.well_formed import well_formed
from tests.autodiff.numerical import parsed, runner
from tests.messages import check_message

SCALAR = relay.Tensor[(), "float32"]
SLOPES = {"reverse": "grad({f}, wrt=0)({x})", "forward": "jvp({f}, wrt=0)({x}, 1f64).1"}
"""The slope of a function of one number, in both modes."""


def both_ways(module: IRModule, *arguments: float) -> float:
    """The value of `@main`, natively and interpreted."""
    arguments = tuple(map(np.float64, arguments))
    found = runner(module)(*arguments)
    np.testing.assert_allclose(found, runner(module, compiled=False)(*arguments), rtol=1e-12)
    return float(found)


@pytest.mark.parametrize("inner", SLOPES)
@pytest.mark.parametrize("outer", SLOPES)
def test_perturbations_are_not_confused(inner, outer):
    """The slope at 3 of `x -> x * (slope at 2 of y -> x + y)`, which is `x`, has slope 1; one perturbation for both
    gives 2 (Siskind and Pearlmutter 2005). With `x * y` for `x + y` it is the slope of `x * x`."""
    for body, wanted in (("%x + %y", 1.0), ("%x * %y", 6.0)):
        g = f"fn (%y: float64) {{ {body} }}"
        f = f"fn (%x: float64) {{ let %g = {g}; %x * {SLOPES[inner].format(f='%g', x='2f64')} }}"
        text = f"def @main(%a: float64) {{ let %f = {f}; {SLOPES[outer].format(f='%f', x='%a')} }}"
        assert both_ways(parsed(text), 3.0) == wanted


@pytest.mark.parametrize("outer", SLOPES)
def test_a_derivative_of_a_derivative_of_a_derivative(outer):
    """`x ** 4` has the third derivative `24 x`."""
    text = "def @f(%x: float64) { %x * %x * %x * %x } def @main(%x: float64) { "
    text += SLOPES[outer].format(f="grad(grad(@f, wrt=0), wrt=0)", x="%x") + " }"
    assert both_ways(parsed(text), 2.0) == 48.0


PLACES = {
    "a global function": "grad(@cube, wrt=0)(%x)",
    "a function written there": "grad(fn (%y: float64) { %y * %y * %y }, wrt=0)(%x)",
    "a closure": "let %f = fn (%y: float64) { %x * %y * %y }; grad(%f, wrt=0)(%x) * 1.5f64",
    "a closure that calls another": """
        let %g = fn (%y: float64) { %y * %y }; let %f = fn (%y: float64) { %g(%y) * %x };
        grad(%f, wrt=0)(%x) * 1.5f64""",
    "a parameter of a function": "@slope(@cube, %x)",
    "a function that takes a function": "grad(@at, wrt=1)(@cube, %x)",
    "a function that takes a closure": "let %f = fn (%y: float64) { %x * %y * %y }; grad(@at, wrt=1)(%f, %x) * 1.5f64",
    "a bound derivative of one": "let %g = jvp(@at, wrt=1); %g(fn (%y: float64) { %y * %y * %y }, %x, 1f64).1",
    "a generic function's instance": "grad(fn (%y: float64) { @first(%y, 1) * %y * %y }, wrt=0)(%x)",
    "a local loop": """
        let %loop = fn (%i: int32, %y: float64) -> float64 { if (%i == 0) { 1f64 } else { %y * %loop(%i - 1, %y) } };
        grad(%loop, wrt=1)(3, %x)""",
    "both, and the value": "let %p = value_and_grad(@cube, wrt=0)(%x); %p.1 + 0f64 * %p.0",
    "a cotangent": "vjp(@cube, wrt=0)(%x, 1f64).1",
    "a tuple of gradients": "grad(@cube)(%x).0",
    "several turns": """
        let %loop = fn (%i: int32, %y: float64) -> float64 {
          if (%i == 0) { 0f64 } else { grad(@cube, wrt=0)(%x) * 0.5f64 + %loop(%i - 1, %y) }
        };
        %loop(2, %x)""",
}


@pytest.mark.parametrize("title", PLACES)
def test_functions_are_found_where_they_are_known(title):
    """All of these are the slope of the cube."""
    text = f"""
        def @cube(%x: float64) -> float64 {{ %x * %x * %x }}
        def @first[A](%x: A, %y: int32) -> A {{ %x }}
        def @slope(%f: fn (float64) -> float64, %x: float64) -> float64 {{ grad(%f, wrt=0)(%x) }}
        def @at(%f: fn (float64) -> float64, %x: float64) -> float64 {{ %f(%x) }}
        def @main(%x: float64) {{ {PLACES[title]} }}"""
    assert both_ways(parsed(text), 2.0) == 12.0


@pytest.mark.parametrize("title", PLACES)
def test_programs_with_gradients_are_differentiated(title):
    text = f"""
        def @cube(%x: float64) -> float64 {{ %x * %x * %x }}
        def @first[A](%x: A, %y: int32) -> A {{ %x }}
        def @slope(%f: fn (float64) -> float64, %x: float64) -> float64 {{ grad(%f, wrt=0)(%x) }}
        def @at(%f: fn (float64) -> float64, %x: float64) -> float64 {{ %f(%x) }}
        def @main(%x: float64) {{ {PLACES[title]} }}"""
    module = parsed(text)
    step = 1e-5
    wanted = (both_ways(module, 2.0 + step) - both_ways(module, 2.0 - step)) / (2 * step)
    np.testing.assert_allclose(both_ways(relay.grad(module, wrt=0), 2.0), wanted, rtol=1e-6)
    np.testing.assert_allclose(runner(relay.jvp(module))(2.0, 1.0)[1], wanted, rtol=1e-6)


def test_data_and_symbolic_extents():
    text = """
        type List[A] { Cons(A, List[A]), Nil }
        def @total(%xs: List[Tensor[(2,), float64]]) -> float64 {
          match (%xs) { Nil => 0f64, Cons(%h, %t) => sum(%h * %h) + @total(%t) }
        }
        def @norm(%x: Tensor[(n,), float64]) { sum(%x * %x) }
        def @main(%xs: List[Tensor[(2,), float64]], %y: Tensor[(m,), float64]) {
          (grad(@total, wrt=0)(%xs), grad(@norm, wrt=0)(%y))
        }"""
    found, by_y = relay.build(parsed(text))([np.array([1.0, 2.0]), np.array([3.0, 4.0])], np.array([5.0, 6.0, 7.0]))
    assert [each.tolist() for each in found] == [[2.0, 4.0], [6.0, 8.0]]
    assert by_y.tolist() == [10.0, 12.0, 14.0]


def test_text_and_json_keep_them():
    module = parsed("def @f(%x: float32) { %x * %x } def @main(%x: float32) { jvp(grad(@f, wrt=0), wrt=[0])(%x, 1f) }")
    assert relay.parse(module.astext()).astext() == module.astext()
    assert relay.load_json(relay.save_json(module)).astext() == module.astext()


def test_programs_that_are_built_in_python():
    x, y = relay.var("x", shape=()), relay.var("y", shape=())
    cube = relay.GlobalVar("cube")
    second = relay.grad(relay.grad(cube, wrt=0), wrt=0)
    main = relay.Function([y], relay.Call(second, (y,)))
    run = relay.build(IRModule({cube: relay.Function([x], x * x * x), relay.GlobalVar("main"): main}))
    assert float(run(2.0)) == 12.0


@relay.function
def cube(x: SCALAR):
    return x * x * x


slope = relay.grad(cube, wrt="x")


def test_python_functions_take_gradients():
    @relay.function
    def f(x: SCALAR, k: SCALAR):
        def g(y, z):
            return k * y * y * z

        def h(y: SCALAR) -> SCALAR:
            return y * relay.grad(lambda z: y + z * z)(y)[0]

        return (
            relay.grad(g, wrt="y")(x, 2.0), relay.grad(cube, wrt=0)(x), relay.grad(slope, 0)(x), relay.grad(h, 0)(x),
            relay.jvp(cube)(x, 1.0)[1], relay.value_and_grad(lambda a: a * a * k)(x)[1][0],
        )  # fmt: skip

    assert [float(each) for each in f(3.0, 2.0)] == [24.0, 27.0, 18.0, 12.0, 27.0, 12.0]


def test_newtons_method_in_python():
    @relay.function
    def root(x: SCALAR):
        for _ in range(20):
            x = x - (cube(x) - 2.0) / slope(x)
        return x

    np.testing.assert_allclose(root(1.0), 2 ** (1 / 3), rtol=1e-6)
    np.testing.assert_allclose(relay.jvp(root)(1.0, 1.0)[1], 0.0, atol=1e-6)


REFUSED = {
    "an unknown function": "def @main(%f: fn (float32) -> float32, %x: float32) -> float32 { grad(%f, wrt=0)(%x) }",
    "a chosen function": """
        def @main(%x: float32, %c: bool) -> float32 {
          let %f = if (%c) { fn (%y: float32) { %y } } else { fn (%y: float32) { %y * %y } };
          grad(%f, wrt=0)(%x)
        }""",
    "its own gradient": """
        def @f(%x: float32) -> float32 { grad(@f, wrt=0)(%x) }
        def @main(%x: float32) { @f(%x) }""",
    "no function": "def @main(%x: int32) -> float32 { grad(%x, wrt=0)(%x) }",
    "no tensor": "def @main(%x: float32) { grad(fn (%y: float32) { (%y, 1) }, wrt=0)(%x) }",
    "no such parameter": "def @main(%x: float32) { grad(fn (%y: float32) { %y }, wrt=3)(%x) }",
    "a generic function": "def @id[A](%x: A) -> A { %x } def @main(%x: float32) { vjp(@id)(%x, %x) }",
}


@pytest.mark.parametrize("title", REFUSED)
def test_what_is_refused(title):
    with pytest.raises(relay.RelayError) as caught:
        relay.build(parsed(REFUSED[title]))
    check_message("gradients", title, caught.value)


def test_what_python_functions_are_told():
    @relay.function
    def f(x: SCALAR):
        return relay.grad(lambda y: y * x, wrt="z")(x)

    with pytest.raises(relay.RelayError, match="no parameter 'z'"):
        f.to_relay()

    @relay.function
    def g(x: SCALAR):
        return relay.grad(cube)(x=x)

    with pytest.raises(relay.RelayError, match="is called by position"):
        g.to_relay()


def test_a_function_and_its_form_in_a_derivative_share_no_names():
    module = parsed("""
        type Tree { Leaf(float64), Node(Tree, int32, Tree) }
        def @depth(%t: Tree) -> float64 {
          match (%t) { Leaf(%x) => 1f64, Node(%l, _, %r) => let %a = @depth(%l); let %b = @depth(%r); %a + 1f64 }
        }
        def @times(%x: float64, %t: Tree) -> float64 { %x * @depth(%t) }
        def @main(%x: float64, %t: Tree) { let %u = @depth(%t); linearize(@times, wrt=0)(%x, %t).0 + %u }""")
    assert not well_formed(relay.transform.ApplyTransformations(module))
