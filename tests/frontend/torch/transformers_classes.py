"""How models of `transformers` are made: a class, a configuration, random weights and biases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import transformers
from torch import nn


def model(name: str, config: str, options: Mapping[str, Any]) -> Callable[[], nn.Module]:
    """What makes a model of a class by its configuration."""

    def make() -> nn.Module:
        made = getattr(transformers, name)(getattr(transformers, config)(**options))
        with torch.no_grad():
            for parameter in made.parameters():  # which begin as zeros, ones, or too small to show anything
                parameter.add_(0.1 * torch.randn_like(parameter))
        return made

    return make
