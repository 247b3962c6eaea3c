"""Inputs made from a seed, for trying and timing a program without data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol, evaluate
from relay.runtime.manifest import EntrySpec


def random_inputs(
    entry: EntrySpec, seed: int, extents: Mapping[str, int] | None = None
) -> dict[str, NDArray[np.generic]]:
    """Normally distributed floats, small integers and coin flips, by the entry's names; symbols are 1 unless given."""
    generator = np.random.default_rng(seed)
    values: dict[Symbol, int] = {symbol: (extents or {}).get(symbol.name, 1) for symbol in entry.symbols}
    arrays: dict[str, NDArray[np.generic]] = {}
    for spec in entry.inputs:
        shape = tuple(evaluate(extent, values) for extent in spec.shape)
        if spec.dtype.is_float:
            arrays[spec.name] = generator.standard_normal(shape, dtype=np.float32).astype(spec.dtype.numpy)
        else:
            arrays[spec.name] = generator.integers(0, 2, shape).astype(spec.dtype.numpy)
    return arrays
