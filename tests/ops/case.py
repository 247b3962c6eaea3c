"""What a table of operator cases is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from relay.base.dtypes import DType
from relay.ir.attributes import Attributes, NoAttributes


@dataclass(frozen=True)
class Tolerance:
    """How far from each other two results may be, relative to the largest magnitude, and why."""

    relative: float
    reason: str


EXACT = Tolerance(0.0, "the same operations in the same order")
ROUNDED = Tolerance(2e-6, "functions of a few units in the last place")
SUMMED = Tolerance(1e-5, "sums in another order")
NARROW = Tolerance(1e-2, "one rounding to 8 bits of mantissa, of sums in another order")


@dataclass(frozen=True)
class Case:
    """One call. `oracle` takes PyTorch tensors, one for each input, and gives what PyTorch says the result is."""

    operator: str
    inputs: tuple[Any, ...]
    attributes: Attributes = field(default_factory=NoAttributes)
    oracle: Callable[..., Any] | None = None
    tolerance: Tolerance = EXACT
    label: str = ""

    @property
    def name(self) -> str:
        return f"{self.operator}-{self.label or shape_text(self.inputs)}"


@dataclass(frozen=True)
class BadCase:
    """Input types that an operator refuses."""

    operator: str
    types: tuple[Any, ...]
    attributes: Attributes = field(default_factory=NoAttributes)


def shape_text(inputs: tuple[Any, ...]) -> str:
    parts = ["x".join(map(str, value.shape)) if isinstance(value, np.ndarray) else "tuple" for value in inputs]
    return "_".join(part or "scalar" for part in parts) or "none"


def floats(*shape: int, seed: int = 0, dtype: str = "float32", low: float = -3.0, high: float = 3.0) -> np.ndarray:
    """Numbers spread evenly between two bounds."""
    return np.random.default_rng(seed).uniform(low, high, shape).astype(DType(dtype).numpy)


def integers(*shape: int, seed: int = 0, dtype: str = "int32", low: int = -9, high: int = 9) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high + 1, shape).astype(DType(dtype).numpy)


def bools(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, shape).astype(bool)


def scalar(value: float, dtype: str = "float32") -> np.ndarray:
    return np.asarray(value).astype(DType(dtype).numpy)
