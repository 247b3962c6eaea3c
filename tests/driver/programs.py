"""Small programs that the tests of building, keeping and calling share."""

from __future__ import annotations

import numpy as np

import relay

LAYER = """#[version = "0.0.5"]
def @main(%x: Tensor[(n, 4), float32], %w: Tensor[(3, 4), float32]) -> Tensor[(n, 3), float32] {
  nn.relu(nn.dense(%x, %w))
}
"""
"""One layer; the batch `n` is open."""


def layer() -> relay.IRModule:
    return relay.parse(LAYER)


def layer_result(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.maximum(x @ w.T, 0)


def rows(count: int, columns: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, columns), dtype=np.float32)


WEIGHT = rows(3, seed=1)


def same_shape_pair() -> relay.IRModule:
    """Adds two vectors whose extents must agree, which only the run can tell."""
    return relay.parse(
        '#[version = "0.0.5"]\ndef @main(%x: Tensor[(n), float32], %y: Tensor[(m), float32]) { add(%x, %y) }'
    )


def identity(dtype: str, shape: tuple[object, ...] = (2, 3)) -> relay.Executable:
    """Gives a copy of its input (concatenated with nothing else, so every element type can pass)."""
    x = relay.var("x", shape=shape, dtype=dtype)
    return relay.build(relay.Function([x], relay.reshape(x, newshape=shape)))
