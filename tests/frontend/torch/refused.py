"""Models that cannot be imported, in a file of their own: the errors show its lines."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Unsupported(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        spectrum = torch.fft.fft(x)
        found = x[x > 0]
        return spectrum.real.sum() + found.sum() + torch.linalg.svdvals(x).sum()


@torch.library.custom_op("relay_tests::cube", mutates_args=())
def cube(x: Tensor) -> Tensor:
    return x**3


@cube.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


class Custom(nn.Module):
    """An operator of a user's, and a sparse weight."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("edges", torch.eye(3).to_sparse())

    def forward(self, x: Tensor) -> Tensor:
        return cube(x) + torch.sparse.mm(self.edges, x)


class InTraining(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.drop = nn.Linear(3, 3), nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.drop(self.layer(x))
