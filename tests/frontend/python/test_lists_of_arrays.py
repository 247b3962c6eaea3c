"""Arrays taken apart, and lists of arrays as what NumPy and Python make of them."""

from __future__ import annotations

import numpy as np
import pytest

import relay

from .running import agrees

WEIGHTS = np.arange(6, dtype=np.float32).reshape(3, 2)
SCALES = np.array([1.5, 2.5, 3.5])


def rows(x: relay.Tensor[(2,)]):
    first, second, third = WEIGHTS
    return first + x, second * x, third


def rest_of_rows(x: relay.Tensor[(2,)]):
    (low, high), *others = WEIGHTS
    return low * x, high, others[0], len(others)


def numbers(x: relay.Tensor[(2,)]):
    first, *_, last = SCALES
    return first * x, last, max(*SCALES)


def in_a_loop(x: relay.Tensor[(2,)]):
    total = x
    for low, high in WEIGHTS:
        total = total * low + high
    return total, [low - high for low, high in WEIGHTS]


@pytest.mark.parametrize("definition", [rows, rest_of_rows, numbers, in_a_loop])
def test_arrays_that_are_known_now_are_taken_apart(definition):
    agrees(definition, np.array([1, 2], np.float32))


@relay.model
class Gates:
    def __init__(self):
        self.gates = WEIGHTS

    def __call__(self, x: relay.Tensor[(2,)]):
        first, *others = self.gates
        return first * x + others[1]


def test_parameters_of_models_are_taken_apart():
    model, x = Gates(), np.array([1, 2], np.float32)

    def around(x: relay.Tensor[(2,)]):
        return model(x)

    wanted = WEIGHTS[0] * x + WEIGHTS[2]
    np.testing.assert_allclose(model(x), wanted)
    np.testing.assert_allclose(relay.function(around)(x), wanted)
