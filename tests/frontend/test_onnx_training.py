"""ONNX models train: their initialisers are parameters, whose gradients are those of the network they come from."""

from __future__ import annotations

import io
import logging
import warnings

import numpy as np
import onnx
import pytest
import torch
from torch import Tensor, nn

import relay
from relay.frontend import from_onnx


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.gru, self.out = nn.LSTM(4, 6), nn.GRU(6, 5), nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.gru(self.lstm(x)[0])[0])


class Loss(nn.Module):
    """One number, in which each element of what a network gives counts differently."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        y = self.network(x).flatten()
        return (y * y * torch.arange(1, y.numel() + 1, dtype=y.dtype)).mean()


_NETWORKS = {
    "perceptron": (lambda: nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 4), nn.LogSoftmax(-1)), (3, 6)),
    "images": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
            nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Hardswish(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(32, 4),
        ),
        (2, 3, 16, 16),
    ),
    "recurrent": (Recurrent, (5, 2, 4)),
    "transformer": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu"), (2, 5, 8),
    ),
}  # fmt: skip


def exported(network: nn.Module, x: Tensor) -> onnx.ModelProto:
    """As it is, with its parameters under their names."""
    file = io.BytesIO()
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network, (x,), file, input_names=["x"], opset_version=17, dynamo=False, do_constant_folding=False,
            training=torch.onnx.TrainingMode.PRESERVE,
        )  # fmt: skip
    logging.disable(logging.NOTSET)
    return onnx.load_from_string(file.getvalue())


@pytest.mark.parametrize("name", _NETWORKS)
def test_gradients_of_initialisers_are_those_of_pytorch(name: str) -> None:
    torch.manual_seed(0)
    make, shape = _NETWORKS[name]
    network, x = Loss(make()).double().eval(), torch.randn(*shape, dtype=torch.float64)
    with torch.no_grad():
        for each in (*network.parameters(), *network.buffers()):  # the exporter makes one of those that are equal
            each += (0.1 * torch.rand(each.shape)).to(each.dtype)
    module, params = from_onnx(exported(network, x), training=True)
    loss = network(x)
    loss.backward()
    expected = {name: each.grad.numpy() for name, each in network.named_parameters()}
    value, found = relay.build(relay.value_and_grad(module, wrt=list(expected)))(x.numpy(), **params)
    np.testing.assert_allclose(value, loss.item(), rtol=1e-12)
    for mine, theirs in zip(found, expected.values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-11)
