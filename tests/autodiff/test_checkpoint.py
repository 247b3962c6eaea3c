"""`relay.checkpoint`: the same values and derivatives, with less kept."""

import numpy as np

import relay
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
    counts = [
        str(relay.transform.optimization_pipeline(relay.grad(parsed(each), wrt=0))).count("sin(%")
        for each in (PLAIN, CHECKPOINTED)
    ]
    assert counts[1] > counts[0]


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
