"""A model of the list: how it is made, and the inputs that it is compared with eager on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

Inputs = tuple[tuple[Any, ...], Mapping[str, Any]]
"""Positional arguments and keyword arguments."""


@dataclass(frozen=True)
class Case:
    """`inputs(size)` are those of a size, of which 0 is the one exported; with `dynamic` shapes there is size 1 too."""

    name: str
    module: Callable[[], nn.Module]
    inputs: Callable[[int], Inputs]
    dynamic: Any = field(default=None)


def tensors(*shapes: tuple[int, ...]) -> Callable[[int], Inputs]:
    """Normal inputs; at size 1 their first axis has two entries more."""
    return lambda size: (tuple(torch.randn(shape[0] + 2 * size, *shape[1:]) for shape in shapes), {})


def tokens(batch: int, length: int, kinds: int = 50) -> Callable[[int], Inputs]:
    """Token numbers; at size 1 the sequence has three more."""
    return lambda size: ((torch.randint(0, kinds, (batch, length + 3 * size)),), {})
