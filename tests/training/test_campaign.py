"""A slice of `python -m tests.training.campaign`: whole trainings are those of PyTorch."""

from __future__ import annotations

import pytest

from tests.training.campaign import COURSES, exact, gradient_error, has_same_bits

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*_flat_weights.*were assigned during export.*:UserWarning"),
]


def test_a_step_of_a_residual_network():
    assert exact(COURSES["resnet18"], steps=1) < 1e-8


@pytest.mark.parametrize("name", ["lstm", "gpt", "tree lstm"])
def test_gradients_are_as_exact_as_those_of_pytorch(name: str):
    assert gradient_error(COURSES[name], count=2) <= 2


def test_threads_and_pauses_change_no_bit():
    assert has_same_bits(COURSES["gpt"], steps=4)
