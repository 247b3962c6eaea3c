"""Attention: heads apart and together, shared heads, masks, causal ones, rows that attend to nothing."""

from __future__ import annotations

import numpy as np

from tests.frontend.onnx_cases import Array, Case, bools, floats

_QUERY, _KEY, _VALUE = floats(2, 4, 5, 8), floats(2, 4, 6, 8, seed=1), floats(2, 4, 6, 7, seed=2)
_SHARED = (floats(2, 2, 6, 8, seed=1), floats(2, 2, 6, 7, seed=2))
_FLAT = (floats(2, 5, 32), floats(2, 6, 16, seed=1), floats(2, 6, 14, seed=2))
_PAST = (floats(2, 4, 3, 8, seed=3), floats(2, 4, 3, 7, seed=4))


def _mask_with_an_empty_row() -> Array:
    mask = bools(5, 6)
    mask[2] = False
    return mask


ATTENTION_CASES: tuple[Case, ...] = (
    Case("Attention", (_QUERY, _KEY, _VALUE), opset=23),
    Case("Attention", (_QUERY, *_SHARED), {"scale": 0.3}, opset=23, name="shared"),
    Case("Attention", _FLAT, {"q_num_heads": 4, "kv_num_heads": 2}, opset=23, name="flat"),
    Case("Attention", (_QUERY, _KEY, _VALUE), {"is_causal": 1}, opset=23),
    Case("Attention", (_QUERY, _KEY, _VALUE, floats(2, 1, 5, 6, seed=5)), opset=23, name="added"),
    Case("Attention", (_QUERY, _KEY, _VALUE, bools(5, 6) | np.eye(5, 6, dtype=bool)), opset=23, name="chosen"),
    Case("Attention", (_QUERY, _KEY, _VALUE, _mask_with_an_empty_row()), opset=24, name="nothing"),
    Case("Attention", (_QUERY, _KEY, _VALUE, None, *_PAST), opset=23, outputs=3, name="past"),
)
