"""Arguments whose elements do not lie one behind another: decorated functions take them as Python's functions do."""

from typing import NamedTuple

import numpy as np
import pytest
import torch

import relay

Matrix = relay.Tensor[(relay.symbol("n"), relay.symbol("m"))]
Vector = relay.Tensor[(relay.symbol("k"),)]
X = np.arange(6, dtype=np.float32).reshape(2, 3)


class Layer(NamedTuple):
    weight: Matrix
    bias: float


@relay.function
def total(x: Matrix, k: int = 2):
    return x.sum(axis=0) * k


@relay.function
def of_parts(layer: Layer, rows: list[Vector]):
    return layer.weight.sum() + layer.bias, [row * 2 for row in rows]


@relay.model
class Doubled:
    def __call__(self, x: Matrix):
        return x * 2


@pytest.mark.parametrize("view", [X.T, X[:, ::2], X[:, 1:2], X[::-1], np.asfortranarray(X)])
def test_views_are_copied(view):
    np.testing.assert_array_equal(total(view), view.sum(axis=0) * 2)
    np.testing.assert_array_equal(total(view, k=3), view.sum(axis=0) * 3)
    np.testing.assert_array_equal(Doubled()(view), view * 2)


def test_views_in_tuples_and_lists_are_copied():
    weight, rows = of_parts(Layer(X.T, 1.0), [X[:, 0], X[:, 1]])
    assert weight == X.sum() + 1
    np.testing.assert_array_equal(rows, [X[:, 0] * 2, X[:, 1] * 2])
    np.testing.assert_array_equal(total(torch.from_numpy(X).T), X.T.sum(axis=0) * 2)


def test_executables_take_them_as_they_are_or_not_at_all():
    with pytest.raises(relay.RelayError, match="input-memory"):
        relay.build(total.module)(X.T, 2)
