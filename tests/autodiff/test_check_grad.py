"""`relay.testing.check_grad` finds gradients that are wrong, and says where."""

import numpy as np
import pytest

import relay
from relay.testing import check_grad
from tests.autodiff.numerical import parsed


def test_right_gradients_pass():
    check_grad(parsed("def @main(%x: Tensor[(2, 3), float64], %w: Tensor[(4, 3), float64]) { nn.dense(%x, %w) }"))
    text = "def @main(%x: Tensor[(n,), float64], %i: Tensor[(2,), int32]) { take(%x * %x, %i) }"
    inputs = [np.array([1.0, 2.0, 3.0]), np.array([0, 2], "int32")]
    with pytest.raises(relay.RelayError, match="an input for %x cannot be made up"):
        check_grad(parsed(text))
    check_grad(parsed(text), inputs)
    check_grad(parsed(text.replace("n,", "3,")), inputs)


def test_a_wrong_one_is_shown():
    """The gradient leaves out one of two ways."""
    module = parsed("def @main(%y: Tensor[(1,), float64], %x: Tensor[(2,), float64]) { %x * stop_gradient(%x) + %y }")
    inputs = [np.zeros(1), np.array([1.0, 2.0])]
    check_grad(module, inputs, test_inputs=[0])
    with pytest.raises(relay.RelayError) as caught:
        check_grad(module, inputs)
    assert caught.value.rule == "wrong-gradient"
    assert "the gradient by %x is not that by differences" in str(caught.value)
    assert "2 at [1]" in str(caught.value)
    assert "expected: 4" in str(caught.value)
