"""Tensors that stand in attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.frontend.onnx.node import OnnxNode
from relay.frontend.onnx.weights import read_tensor


def tensor_attribute(node: OnnxNode, name: str) -> NDArray[Any]:
    """The array of a tensor attribute."""
    tensor: Any = node.attributes[name]
    return read_tensor(tensor, None, f"the attribute `{name}` of {node.name}")


def fill_value(node: OnnxNode) -> NDArray[Any]:
    """The element that ConstantOfShape repeats: float32 0 unless given."""
    if not node.has("value"):
        return np.zeros((), dtype=np.float32)
    array = tensor_attribute(node, "value")
    if array.size != 1:
        node.unsupported(f"with a value of {array.size} elements")
    return array.reshape(())
