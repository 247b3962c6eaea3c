"""Models in Relay and the same in PyTorch, with the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import relay
from relay.ir.module import IRModule


def perceptron(dtype: str = "float64") -> tuple[IRModule, dict[str, Any], torch.nn.Module]:
    """x[n, 6] → logits[n, 4], by way of 8 units with tanh."""
    torch.manual_seed(3)
    twin = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4)).to(getattr(torch, dtype))
    params = {name: each.detach().numpy().copy() for name, each in twin.named_parameters()}
    x = relay.var("x", shape=("n", 6), dtype=dtype)
    weights = {name: relay.var(name, shape=each.shape, dtype=dtype) for name, each in params.items()}
    hidden = relay.tanh(relay.nn.dense(x, weights["0.weight"]) + weights["0.bias"])
    logits = relay.nn.dense(hidden, weights["2.weight"]) + weights["2.bias"]
    return IRModule.from_expr(relay.Function([x, *weights.values()], logits)), params, twin


def batches(count: int, dtype: str = "float64") -> list[tuple[np.ndarray, np.ndarray]]:
    """x[5, 6] with labels of 4 classes."""
    random = np.random.default_rng(5)
    return [(random.standard_normal((5, 6)).astype(dtype), random.integers(0, 4, 5)) for _ in range(count)]
