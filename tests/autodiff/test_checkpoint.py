"""`relay.checkpoint`: the same values and derivatives, with less kept."""

from collections.abc import Callable

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.interpret.evaluate import evaluate
from relay.interpret.machine import by_meaning
from tests.autodiff.numerical import check_gradient, parsed, runner

BODY = "fn (%a: Tensor[(4,), float64]) { let %b = sin(%a) * %w; tanh(%b) * exp(%b) }"
KEPT = "def @main(%x: Tensor[(4,), float64], %w: Tensor[(4,), float64]) {{ let %f = {f}; sum(%f(%f(%x)) * %x) }}"
PLAIN, CHECKPOINTED = KEPT.format(f=BODY), KEPT.format(f=f"checkpoint({BODY})")
ARGUMENTS = np.array([0.3, -0.2, 1.1, 0.5]), np.array([1.0, 2.0, -0.5, 0.7])


def test_derivatives_are_the_same():
    module = parsed(CHECKPOINTED)
    for compiled in (True, False):
        check_gradient(module, *ARGUMENTS, compiled=compiled)
    for own, other in zip(
        *(runner(relay.grad(parsed(each)))(*ARGUMENTS) for each in (CHECKPOINTED, PLAIN)), strict=True
    ):
        np.testing.assert_allclose(own, other, rtol=1e-14)
    for derivative in (relay.jvp, lambda each: relay.jvp(relay.grad(each, wrt=0), wrt=0)):
        tangents = ARGUMENTS if derivative is relay.jvp else ARGUMENTS[:1]
        pairs = zip(
            *(runner(derivative(parsed(each)))(*ARGUMENTS, *tangents) for each in (CHECKPOINTED, PLAIN)), strict=True
        )
        for own, other in pairs:
            np.testing.assert_allclose(own, other, rtol=1e-12)


def test_arguments_alone_are_kept():
    """Two for the way back, of a function whose own way back needs four values and more."""
    gradient = str(relay.grad(parsed(CHECKPOINTED), wrt=0))
    assert "def @fn_checkpoint_pullback(%kept: (Tensor[(4,), float64], Tensor[(4,), float64]), " in gradient


def test_what_is_computed_again_is_not_found_to_be_known():
    """Optimized, the program computes `sin` twice as often as one without checkpoints."""
    assert [_sines(each) for each in (PLAIN, CHECKPOINTED)] == [2, 4]


def _sines(program: str) -> int:
    """How often the optimized gradient of a program computes a sine."""
    called: list[str] = []

    def counted(operator, attributes, arguments):
        called.append(operator.name)
        return by_meaning(operator, attributes, arguments)

    evaluate(
        relay.transform.optimization_pipeline(relay.grad(parsed(program), wrt=0)), ARGUMENTS, call_operator=counted
    )
    return called.count("sin")


def test_in_python_and_of_modules():
    @relay.function
    def layer(x: relay.Tensor[(3,), "float32"]):  # noqa: F821
        return relay.tanh(x) * x

    once = relay.checkpoint(layer)

    @relay.function
    def loss(x: relay.Tensor[(3,), "float32"]):  # noqa: F821
        return relay.sum(once(relay.checkpoint(layer)(x)))

    x = np.array([0.5, -1.0, 2.0], "float32")
    (tangent,) = (np.asarray(relay.jvp(loss)(x, np.ones(3, "float32"))[1]),)
    np.testing.assert_allclose(np.sum(relay.grad(loss, wrt="x")(x)), tangent, rtol=1e-5)
    module = relay.checkpoint(parsed("def @main(%x: float64) { sin(%x) * %x }"))
    assert "Checkpoint=1" in str(module)
    check_gradient(module, np.float64(0.7))
    assert relay.parse(parsed(CHECKPOINTED).astext()).astext() == parsed(CHECKPOINTED).astext()


def refused(definition: Callable[..., object]) -> tuple[str, str, str]:
    with pytest.raises(RelayError) as caught:
        _ = relay.function(definition).module
    return caught.value.message, caught.value.expected, caught.value.remedy


def test_what_it_is_differentiated_by_is_said_elsewhere():
    """It was taken, and meant nothing."""

    def by_place(x: float):
        return relay.checkpoint(lambda y: y * y, 0)(x)

    def by_name(x: float):
        return relay.checkpoint(lambda y: y * y, wrt="y")(x)

    told = (
        "`checkpoint` takes a function alone", "relay.checkpoint(f)",
        "say it where it is differentiated: relay.grad(relay.checkpoint(f), wrt)",
    )  # fmt: skip
    assert refused(by_place) == refused(by_name) == told


def test_other_transformations_say_what_they_take():
    def nothing(x: float):
        return relay.grad()(x)

    def no_pullback(x: float):
        return relay.custom_gradient(lambda y: y * y)(x)

    what = "`grad` takes a function, and what it is differentiated by"
    assert refused(nothing) == (what, 'relay.grad(f), relay.grad(f, wrt="x")', "")
    what = "`custom_gradient` takes a function, and its pullback"
    assert refused(no_pullback) == (what, "relay.custom_gradient(f, pullback)", "")
