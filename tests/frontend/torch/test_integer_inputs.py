"""Whole numbers among the inputs that `dynamic_shapes` lets vary."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import relay
from relay.base.diagnostics import RelayError
from relay.frontend import from_pytorch


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """PyTorch warns of what it does itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Scaled(nn.Module):
    def forward(self, x: Tensor, k: int) -> Tensor:
        return x * k + (k // 2 + x.shape[0])


class Branches(nn.Module):
    def forward(self, x: Tensor, k: int) -> Tensor:
        return x * 2 if k < 5 else x + k


class Rows(nn.Module):
    def forward(self, x: Tensor, k: int) -> Tensor:
        return x[:k] * 2


def test_they_are_computed_with():
    x = torch.randn(5, 4)
    module, _ = from_pytorch(Scaled(), (x, 3), dynamic_shapes=({0: Dim.AUTO}, Dim.DYNAMIC))
    assert str(module["main"].checked_type).startswith("fn (Tensor[(x_0, 4), float32], int64)")
    run = relay.build(module)
    for k in (3, 0, 8):
        np.testing.assert_allclose(run(x.numpy(), k), Scaled()(x, k), rtol=1e-6)


def test_they_are_at_least_zero_as_the_export_takes_for_granted():
    x = torch.randn(5, 4)
    module, _ = from_pytorch(Scaled(), (x, 3), dynamic_shapes=(None, Dim.DYNAMIC))
    with pytest.raises(RelayError, match="`k` is a whole number of at least 0"):
        relay.build(module)(x.numpy(), -1)


def test_guards_on_them_are_checks_of_the_run():
    x = torch.randn(5, 4)
    module, _ = from_pytorch(Branches(), (x, 3), dynamic_shapes=(None, Dim.DYNAMIC))
    run = relay.build(module)
    np.testing.assert_array_equal(run(x.numpy(), 4), x * 2)
    with pytest.raises(RelayError, match="exported for inputs where k < 5"):
        run(x.numpy(), 5)


def test_they_decide_extents():
    x = torch.randn(5, 4)
    module, _ = from_pytorch(Rows(), (x, 3), dynamic_shapes=(None, Dim.DYNAMIC))
    run = relay.build(module)
    for k in (3, 2, 5):
        np.testing.assert_array_equal(run(x.numpy(), k), x[:k] * 2)
