"""Gradients of programs of every form are those by differences, natively and by the interpreter; second ones too."""

import numpy as np
import pytest

import relay
from tests.autodiff.numerical import check_gradient, differences, parsed
from tests.autodiff.programs import NO_GRADIENT, PROGRAMS, arguments_of


@pytest.mark.parametrize("title", PROGRAMS)
@pytest.mark.parametrize("compiled", [True, False], ids=["native", "interpreted"])
def test_gradients_are_those_by_differences(title, compiled):
    module = parsed(PROGRAMS[title])
    for arguments in arguments_of(module):
        check_gradient(module, *arguments, compiled=compiled)


@pytest.mark.parametrize("title", PROGRAMS)
def test_gradients_can_be_differentiated(title):
    """The gradient by the first parameter, times numbers, is a program like another."""
    first = relay.grad(parsed(PROGRAMS[title]), wrt=0)
    main = first["main"]
    weights = np.random.default_rng(1).standard_normal(main.params[0].checked_type.shape)
    loss = relay.sum(main.body * relay.const(weights, "float64"))
    module = first.with_function("main", relay.Function(main.params, loss))
    for arguments in arguments_of(relay.transform.InferType(module)):
        check_gradient(module, *arguments)


def test_what_is_kept_is_what_the_way_back_mentions():
    """`exp` needs its result, `sin` its argument, sums nothing."""
    found = relay.value_and_grad(parsed(PROGRAMS["a choice"]))
    assert "Ways_0(Tensor[(2, 3), float64], Tensor[(2, 3), float64]),\n  Ways_1,\n" in str(found)


def test_what_is_not_asked_for_costs_nothing():
    text = "def @main(%x: Tensor[(4, 3), float32], %w: Tensor[(3, 3), float32]) { sum(nn.dense(nn.dense(%x, %w), %w)) }"
    by_x = relay.grad(parsed(text), wrt="x")
    assert str(by_x).count("nn.matmul") == 2
    assert str(relay.grad(parsed(text))).count("nn.matmul") == 4


def test_operators_without_a_gradient_are_named():
    with pytest.raises(relay.RelayError) as caught:
        relay.vjp(parsed(NO_GRADIENT))
    assert caught.value.rule == "no-gradient"
    assert "`nn.contrib_dense_pack` has no gradient" in str(caught.value)


def test_a_value_that_is_no_tensor_is_refused():
    with pytest.raises(relay.RelayError, match="the value of what is differentiated is not a tensor"):
        relay.grad(parsed("def @main(%x: float32) { (%x, %x) }"))


def test_a_plain_python_function_is_refused():
    with pytest.raises(relay.RelayError, match=r"(?s)not a module.*help: write @relay.function in front of it"):
        relay.grad(lambda x: x * x)  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_parameters_are_named_or_counted():
    module = parsed("def @main(%x: float32, %y: float32) { %x * %x * %y }")
    by_name, by_place = relay.build(relay.grad(module, wrt=["y", "x"])), relay.build(relay.grad(module, wrt=-1))
    assert [float(each) for each in by_name(3.0, 2.0)] == [9.0, 12.0]
    assert float(by_place(3.0, 2.0)) == 9.0
    with pytest.raises(relay.RelayError, match="no parameter 'z'"):
        relay.grad(module, wrt="z")


LISTS = """
type List[A] { Cons(A, List[A]), Nil }
def @total(%xs: List[float32]) -> float32 { match (%xs) { Nil => 0f, Cons(%h, %t) => %h * %h + @total(%t) } }
def @second(%xs: List[float32]) -> float32 { match (%xs) { Cons(_, Cons(%b, _)) => %b * 3f, _ => 0f } }
"""


def test_the_gradient_of_a_list_is_a_list():
    run = relay.build(relay.grad(parsed(LISTS + "def @main(%xs: List[float32]) { @total(%xs) }"), wrt=0))
    assert [float(each) for each in run([1.0, 2.0, 3.0])] == [2.0, 4.0, 6.0]


def test_what_is_not_used_of_a_list_has_zeros():
    run = relay.build(relay.grad(parsed(LISTS + "def @main(%xs: List[float32]) { @second(%xs) }"), wrt=0))
    assert [float(each) for each in run([1.0, 2.0, 5.0])] == [0.0, 3.0, 0.0]
    assert [float(each) for each in run([1.0])] == [0.0]


def test_data_with_integers_have_cotangents_of_a_type_of_their_own():
    text = """
        type Tree { Leaf(int32, float32), Node(Tree, Tree) }
        def @of(%t: Tree) -> float32 { match (%t) { Leaf(_, %x) => %x * %x, Node(%l, %r) => @of(%l) * @of(%r) } }
        def @main(%t: Tree) { @of(%t) }"""
    found = str(relay.grad(parsed(text), wrt=0))
    assert "type TreeCotangent {\n  TreeZero,\n  LeafCotangent(float32),\n" in found


def test_loops_over_arrays_of_any_length_are_differentiated():
    @relay.function
    def f(x: relay.Tensor[("n",), "float64"], k: int):  # noqa: F821
        y = x
        for _ in range(k):
            y = y * relay.sin(y)
        return relay.sum(y)

    for length in (1, 4):
        x = np.random.default_rng(length).uniform(0.5, 1.5, length)
        (wanted,) = differences(lambda x: f(x, 3), [x])
        np.testing.assert_allclose(relay.grad(f, wrt="x")(x, 3), wanted, rtol=1e-7)
        np.testing.assert_allclose(relay.jvp(f)(x, 3, np.ones(length))[1], np.sum(wanted), rtol=1e-7)


def test_what_is_stopped_is_a_constant_in_both_modes_and_of_any_order():
    text = "def @main(%x: float64) { stop_gradient(%x * %x) * %x * %x }"
    module = parsed(text)
    assert float(relay.build(relay.grad(module, wrt=0))(3.0)) == 54.0
    assert float(relay.build(relay.jvp(module))(3.0, 1.0)[1]) == 54.0
    assert float(relay.build(relay.grad(relay.grad(module, wrt=0), wrt=0))(3.0)) == 18.0


TREES = """
type Layer { Layer(Tensor[(2, 3), float64], Tensor[(2,), float64]) }
def @main(%x: Tensor[(3,), float64], %params: (Layer, (float64, int32))) {
  let %pair = %params.1;
  match (%params.0) { Layer(%w, %b) => sum(tanh(nn.dense(reshape(%x, newshape=[1, 3]), %w) + %b)) * %pair.0 }
}
"""


def test_leaves_of_parameter_trees_are_named():
    """The gradient by a part of a parameter is that part of the gradient by the parameter."""
    module = parsed(TREES)
    layer = relay.build(
        parsed(
            TREES.replace("def @main", "def @loss")
            + """
        def @main(%w: Tensor[(2, 3), float64], %b: Tensor[(2,), float64]) { Layer(%w, %b) }"""
        )
    )
    random = np.random.default_rng(0)
    x, w, b = random.standard_normal(3), random.standard_normal((2, 3)), random.standard_normal(2)
    given = x, (layer(w, b), (np.float64(2), 7))
    by_x, by_w, by_scale = relay.build(relay.grad(module, wrt=["x", "params.0.0", "params.1.0"]))(*given)
    slope = 1 - np.tanh(w @ x + b) ** 2
    np.testing.assert_allclose(by_x, 2 * slope @ w, rtol=1e-12)
    np.testing.assert_allclose(by_w, 2 * slope[:, None] * x, rtol=1e-12)
    np.testing.assert_allclose(by_scale, np.sum(np.tanh(w @ x + b)), rtol=1e-12)
    _, tangent = relay.build(relay.jvp(module, wrt="params.0.1"))(*given, np.array([1.0, 0.0]))
    np.testing.assert_allclose(tangent, 2 * slope[0], rtol=1e-12)
    _, through = relay.build(relay.linearize(module, wrt="params.0.1"))(*given)
    np.testing.assert_allclose(through(np.array([1.0, 0.0])), tangent, rtol=1e-12)
    with pytest.raises(relay.RelayError, match=r"`params\.0` has no part 2"):
        relay.grad(module, wrt="params.0.2")
    with pytest.raises(relay.RelayError, match=r"no parameter 'weights\.0'"):
        relay.grad(module, wrt="weights.0")
