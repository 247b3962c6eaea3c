"""An ONNX model as plain values, and one way of running it by a table of functions, one an operator.

The tables (`onnx_torch`, `onnx_jax`) say how another library computes an operator. Tracing such a run gives the model
as a program of that library, so that all peers get what relay gets: the same file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.testing.measuring.libraries import library


@frozen(eq=False)
class OnnxNode:
    """One call of an operator. `constants` holds those inputs that are known; absent inputs have an empty name."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    constants: Mapping[str, NDArray[Any]]

    def constant(self, position: int) -> NDArray[Any] | None:
        """An input that must be known, or None where it is left out."""
        if position >= len(self.inputs) or not self.inputs[position]:
            return None
        name = self.inputs[position]
        if name not in self.constants:
            raise _refusal(self.operator, f"its input {position} is not a constant")
        return self.constants[name]

    def integers(self, position: int) -> list[int] | None:
        """A known input as a list of integers, or None where it is left out."""
        array = self.constant(position)
        return None if array is None else [int(each) for each in array.reshape(-1)]

    def axes(self) -> tuple[int, ...]:
        """Those that a reduction or a change of rank is about: an attribute or an input, as the opset has it."""
        return tuple(self.attributes.get("axes") or self.integers(1) or ())

    def slices(self, rank: int) -> tuple[slice, ...]:
        """What a Slice takes of each axis of its data."""
        begins, ends, axes, steps = (self.integers(position) for position in range(1, 5))
        if begins is None or ends is None:
            raise _refusal(self.operator, "it does not say what it takes")
        taken = [slice(None)] * rank
        for number, axis in enumerate(axes or range(len(begins))):
            taken[axis] = slice(begins[number], ends[number], steps[number] if steps else 1)
        return tuple(taken)

    def window(self) -> Window:
        """How a convolution or pooling moves over `rank` spatial axes."""
        rank = len(self.attributes["kernel_shape"])
        if self.attributes.get("auto_pad", b"NOTSET") != b"NOTSET":
            raise _refusal(self.operator, "it pads by itself")
        ones = [1] * rank
        pads = self.attributes.get("pads", [0] * (2 * rank))
        return Window(
            tuple(self.attributes["kernel_shape"]), tuple(self.attributes.get("strides", ones)),
            tuple(self.attributes.get("dilations", ones)), tuple(zip(pads[:rank], pads[rank:], strict=True)),
            int(self.attributes.get("group", 1)),
        )  # fmt: skip


@frozen
class Window:
    """Extents by spatial axis; `pads` are (before, after)."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    groups: int

    def even_pads(self, operator: str) -> list[int]:
        """One padding an axis. Raises `RelayError` (rule `peer-cannot`) where before and after differ."""
        if any(before != after for before, after in self.pads):
            raise _refusal(operator, f"its padding {self.pads} differs before and after")
        return [before for before, _ in self.pads]


@frozen(eq=False)
class OnnxGraph:
    """Nodes in an order in which they can run; `weights` are the constants by name."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    weights: Mapping[str, NDArray[Any]]
    nodes: tuple[OnnxNode, ...]


Table: TypeAlias = Mapping[str, Callable[..., Any]]
"""By operator: `(node, *inputs)` → its output, or a sequence of its outputs. Inputs that are left out are None."""


def read_onnx(model: bytes | Path) -> OnnxGraph:
    """The graph of a model file or its bytes."""
    onnx = library("onnx")
    proto = onnx.load_from_string(model) if isinstance(model, bytes) else onnx.load(str(model))
    weights = {each.name: onnx.numpy_helper.to_array(each) for each in proto.graph.initializer}
    nodes = tuple(
        OnnxNode(
            each.op_type, tuple(each.input), tuple(each.output),
            {a.name: onnx.helper.get_attribute_value(a) for a in each.attribute}, weights,
        )
        for each in proto.graph.node
    )  # fmt: skip
    inputs = tuple(each.name for each in proto.graph.input if each.name not in weights)
    return OnnxGraph(inputs, tuple(each.name for each in proto.graph.output), weights, nodes)


def run_by_table(graph: OnnxGraph, table: Table, weights: Mapping[str, Any], inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a graph. Raises `RelayError` (rule `peer-cannot`) for an operator that the table has not."""
    values: dict[str, Any] = {"": None, **weights, **dict(zip(graph.inputs, inputs, strict=True))}
    for node in graph.nodes:
        if node.operator not in table:
            raise _refusal(node.operator, "it is not in the table")
        found = table[node.operator](node, *(values[name] for name in node.inputs))
        several = found if len(node.outputs) > 1 else (found,)
        values.update(zip(node.outputs, several, strict=True))
    return tuple(values[name] for name in graph.outputs)


def is_tensor(array: NDArray[Any]) -> bool:
    """Whether a constant is data of a computation, rather than a shape or a list of axes."""
    return bool(np.issubdtype(array.dtype, np.floating)) or array.ndim > 1


def _refusal(operator: str, reason: str) -> RelayError:
    return RelayError(
        rule="peer-cannot", message=f"the ONNX operator {operator} cannot be given to this library", found=reason
    )
