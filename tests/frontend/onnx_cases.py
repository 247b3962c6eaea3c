"""One-node models with seeded inputs: what the importer is held to onnxruntime with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """`inputs` in order; those whose position is in `weights` are initialisers. None leaves an optional input out."""

    operator: str
    inputs: tuple[Array | None, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    weights: tuple[int, ...] = ()
    opset: int = 17
    outputs: int = 1
    tolerance: float = 1e-5  # relative to the largest magnitude of the output; ROUNDING
    name: str = ""
    domain: str = ""

    @property
    def qualified(self) -> str:
        """What the table of converters calls the operator."""
        return f"{self.domain}.{self.operator}" if self.domain else self.operator

    def __str__(self) -> str:
        parts = [self.operator, self.name, *(f"{k}={v}" for k, v in self.attributes.items()), f"opset{self.opset}"]
        return "-".join(part for part in parts if part).replace(" ", "")

    def model(self) -> onnx.ModelProto:
        names = ["" if array is None else f"in{i}" for i, array in enumerate(self.inputs)]
        given = [(f"in{i}", a) for i, a in enumerate(self.inputs) if a is not None and i not in self.weights]
        stored = [(f"in{i}", a) for i, a in enumerate(self.inputs) if a is not None and i in self.weights]
        outputs = [f"out{i}" for i in range(self.outputs)]
        node = helper.make_node(self.operator, names, outputs, name="the_node", domain=self.domain, **self.attributes)
        graph = helper.make_graph(
            [node],
            "case",
            [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given],
            [onnx.ValueInfoProto(name=output) for output in outputs],
            [numpy_helper.from_array(a, n) for n, a in stored],
        )
        return model_of(graph, self.opset, self.domain)

    def feeds(self) -> dict[str, Array]:
        return {f"in{i}": a for i, a in enumerate(self.inputs) if a is not None and i not in self.weights}


def model_of(graph: onnx.GraphProto, opset: int, domain: str = "") -> onnx.ModelProto:
    """`opset` is that of the domain; the standard one is there, too."""
    opsets = [helper.make_opsetid(domain, opset)] + ([helper.make_opsetid("", 17)] if domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=helper.find_min_ir_version_for(opsets))


def graph_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: Sequence[str],
    weights: Mapping[str, Array] | None = None,
    opset: int = 17,
) -> onnx.ModelProto:
    """A model of several nodes over float32 inputs."""
    return model_of(
        helper.make_graph(
            list(nodes),
            "graph",
            [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, list(s)) for n, s in inputs.items()],
            [onnx.ValueInfoProto(name=o) for o in outputs],
            [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()],
        ),
        opset,
    )


def floats(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Array:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def ints(*values: int) -> Array:
    return np.asarray(values, dtype=np.int64)


def whole(*shape: int, seed: int = 0, low: int = -9, high: int = 9, dtype: str = "int64") -> Array:
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def bools(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 2, shape).astype(bool)


def scalar(value: float, dtype: str = "float32") -> Array:
    return np.asarray(value, dtype=dtype)
