"""`relay.compile`: a PyTorch model to something that can be called, in one step."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

import relay


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """PyTorch warns of what it does itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_a_model_is_compiled_with_its_weights():
    network, x = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)).eval(), torch.randn(3, 4)
    run = relay.compile(network, (x,), dynamic_shapes=({0: Dim.AUTO},))
    for given in (x, torch.randn(7, 4)):
        expected = network(given).detach().numpy()
        np.testing.assert_allclose(run(given), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(run(given.numpy()), expected, rtol=1e-5, atol=1e-6)


def test_an_exported_program_is_compiled():
    program = torch.export.export(nn.ReLU(), (torch.randn(3),))
    np.testing.assert_array_equal(relay.compile(program, opt_level=0)(np.float32([-1, 0, 2])), [0, 0, 2])
