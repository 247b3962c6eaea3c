"""Random numbers. PyTorch draws others from the same seed; `test_random.py` has the published words."""

from __future__ import annotations

import numpy as np

from relay.base.dtypes import DType
from relay.ops.creation.random import DistributionAttributes, ThreefryGenerateAttributes
from relay.ops.creation.threefry import FIRST_STEP, key_of
from tests.ops.case import NARROW, ROUNDED, Case, scalar

KEY = key_of(0x1234 << 200 | 7)
LAST = np.array([1, 2, 3, 4, 5, 6, (1 << 64) - 1, (1 << 64) - 1, 0, 1], np.uint64)
"""A key whose counter is about to wrap, and whose path has room for one step more."""
FULL = np.array([1, 2, 3, 4, 5, 7, 0, 9, 0, 0], np.uint64)
"""A key whose path is full."""


def _bounds(low: float, high: float, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    return KEY, scalar(low, dtype), scalar(high, dtype)


CASES: tuple[Case, ...] = (
    Case("random.threefry_generate", (KEY,), ThreefryGenerateAttributes((3, 5)), label="some"),
    Case("random.threefry_generate", (LAST,), ThreefryGenerateAttributes((2, 1, 4)), label="counter-wraps"),
    Case("random.threefry_generate", (KEY,), ThreefryGenerateAttributes(()), label="scalar"),
    Case("random.threefry_generate", (KEY,), ThreefryGenerateAttributes((2, 0)), label="none"),
    Case("random.threefry_split", (KEY,), label="new"),
    Case("random.threefry_split", (LAST,), label="last-step"),
    Case("random.threefry_split", (FULL,), label="path-is-full"),
    Case("random.threefry_split", (np.full(10, FIRST_STEP, np.uint64),), label="any-words"),
    Case("random.uniform", _bounds(0, 1), DistributionAttributes((4, 3)), tolerance=ROUNDED, label="unit"),
    Case("random.uniform", _bounds(-2, 5, "float64"), DistributionAttributes((7,), DType.FLOAT64), tolerance=ROUNDED,
         label="float64"),
    Case("random.uniform", _bounds(0, 1, "bfloat16"), DistributionAttributes((9,), DType.BFLOAT16), tolerance=NARROW,
         label="bfloat16"),
    Case("random.normal", _bounds(3, 2), DistributionAttributes((5, 3)), tolerance=ROUNDED, label="some"),
    Case("random.normal", _bounds(0, 1, "float64"), DistributionAttributes((6,), DType.FLOAT64), tolerance=ROUNDED,
         label="float64"),
)  # fmt: skip
