"""A network, and how a user compiles one."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def compiled(model: Any, **options: Any) -> Any:
    return torch.compile(model, backend="relay", **options)


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.norm(self.first(x)).relu_())
