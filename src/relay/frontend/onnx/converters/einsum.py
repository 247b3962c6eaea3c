"""Einsum.   tensors → what the letters of its equation say"""

from __future__ import annotations

from relay.frontend.onnx.node import Converter
from relay.frontend.shared.formulas.einsum import einsum
from relay.frontend.shared.node import converter

EINSUM: tuple[Converter, ...] = (converter("Einsum", einsum, "equation"),)
