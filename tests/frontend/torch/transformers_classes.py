"""How models of `transformers` are made: a class, a configuration, random weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import transformers
from torch import nn


def model(name: str, config: str, options: Mapping[str, Any]) -> Callable[[], nn.Module]:
    """What makes a model of a class by its configuration."""

    def make() -> nn.Module:
        return getattr(transformers, name)(getattr(transformers, config)(**options))

    return make
