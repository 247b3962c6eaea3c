"""A graph that is being drawn: each node is valid, and its values are known while the next is chosen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tests.frontend.onnx_cases import model_of

Array = NDArray[Any]

MOST_ELEMENTS, MOST_AXES, LARGEST = 2_000, 5, 1e4
EXTENTS = (1, 2, 3, 4, 5, 7)
FLOAT, INTEGER, BOOL = "f", "iu", "b"
"""Kinds of elements, as NumPy calls them."""
_RECENT = 0.7
WEIGHTS_NEED_NO_INPUT = 4
"""The version of the format since which weights need not be inputs, too, which onnxruntime holds models to."""


class Unfit(Exception):
    """This node cannot stand here."""


@dataclass(eq=False)
class Draft:
    """`values` are those of all names so far. An extent of an input may have a name in place of a number."""

    random: np.random.Generator
    opset: int
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    values: dict[str, Array] = field(default_factory=dict)
    shapes: dict[str, tuple[int | str, ...]] = field(default_factory=dict)
    weights: dict[str, Array] = field(default_factory=dict)

    # Chance

    def chance(self, of: float) -> bool:
        return bool(self.random.random() < of)

    def whole(self, low: int, high: int) -> int:
        """From `low` to `high`, both included."""
        return int(self.random.integers(low, high + 1))

    def one_of(self, *choices: Any) -> Any:
        return choices[self.whole(0, len(choices) - 1)]

    def wholes(self, low: int, high: int, count: int) -> list[int]:
        return [self.whole(low, high) for _ in range(count)]

    def shape(self, rank: int) -> tuple[int, ...]:
        return tuple(self.one_of(*EXTENTS) for _ in range(rank))

    def broadcastable(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts with another one, and does not go beyond it."""
        kept = tuple(1 if self.chance(0.3) else extent for extent in shape)
        return kept[self.whole(0, len(kept)) :] if self.chance(0.5) else kept

    def axis(self, rank: int) -> int:
        """Counted from either end. Raises Unfit where there is none."""
        if not rank:
            raise Unfit
        return self.whole(-rank, rank - 1)

    def axes(self, rank: int) -> list[int]:
        """Some, in any order, counted from either end."""
        chosen = self.random.permutation(rank)[: self.whole(0, rank)]
        return [int(each) - (rank if self.chance(0.3) else 0) for each in chosen]

    def array(self, shape: Sequence[int], dtype: str = "float32") -> Array:
        """Elements of no great size; halves among the floats, so that ties are met."""
        match np.dtype(dtype).kind:
            case "b":
                return np.asarray(self.random.integers(0, 2, shape) > 0)
            case "f" if self.chance(0.3):
                return np.asarray(self.random.integers(-6, 7, shape) / 2, dtype)
            case "f":
                return np.asarray(self.random.uniform(-3, 3, shape), dtype)
            case "u":
                return np.asarray(self.random.integers(0, 9, shape), dtype)
            case _:
                return np.asarray(self.random.integers(-6, 7, shape), dtype)

    # Values

    def pick(self, kinds: str = FLOAT, least_rank: int = 0, most_rank: int = MOST_AXES, dtype: str = "") -> str:
        """The name of a value, more often of a late one. Raises Unfit where there is none."""
        fitting = [
            name
            for name, value in self.values.items()
            if value.dtype.kind in kinds and least_rank <= value.ndim <= most_rank and dtype in ("", value.dtype.name)
        ]
        if not fitting:
            raise Unfit
        return fitting[-self.whole(1, min(3, len(fitting)))] if self.chance(_RECENT) else self.one_of(*fitting)

    def ordered(self, kinds: str = FLOAT) -> str:
        """A value of which each element has a place in the order of all: no NaN, for which ONNX states none."""
        name = self.pick(kinds, least_rank=1)
        if np.isnan(self.values[name]).any():
            raise Unfit
        return name

    def input(self, array: Array, symbolic: float = 0.5) -> str:
        """A new input of the model, some of whose extents have names: the same name for the same extent."""
        name = f"x{len(self.shapes)}"
        self.values[name] = array
        self.shapes[name] = tuple(
            f"n{extent}" if extent > 1 and self.chance(symbolic) else extent for extent in array.shape
        )
        return name

    def given(self, array: Array) -> str:
        """A value that the model holds: a weight, or what a Constant node gives."""
        name = f"w{len(self.values)}"
        if self.chance(0.7):
            self.weights[name] = array
        else:
            value = numpy_helper.from_array(array)
            self.nodes.append(helper.make_node("Constant", [], [name], value=value))
        self.values[name] = array
        return name

    def operand(self, array: Array) -> str:
        """A value that stands beside others: held by the model, or given to it."""
        return self.input(array) if self.chance(0.3) else self.given(array)

    def integers(self, *values: int) -> str:
        return self.given(np.asarray(values, np.int64))

    # Nodes

    def has(self, operator: str) -> bool:
        """Whether the opset has an operator."""
        return onnx.defs.has(operator, max_inclusive_version=self.opset)

    def node(
        self, operator: str, *inputs: str, outputs: int = 1, kept: Sequence[int] | None = None, **attributes: Any
    ) -> list[str]:
        """Append a node, of whose outputs some may be left out, and give the names of those that are kept. Attributes
        that are None are left out. Raises Unfit where ONNX has no such node, or its values are too many or large."""
        if not self.has(operator):
            raise Unfit
        names = [
            f"{operator.lower()}{len(self.nodes)}_{at}" if kept is None or at in kept else "" for at in range(outputs)
        ]
        while names and not names[-1]:
            names.pop()
        given = {key: value for key, value in attributes.items() if value is not None}
        node = helper.make_node(operator, list(inputs), names, **given)
        found = self._evaluated(node)
        made = [name for name in names if name]
        self.nodes.append(node)
        self.values.update(zip(made, found, strict=True))
        return made

    def _evaluated(self, node: onnx.NodeProto) -> list[Array]:
        model, feeds = node_alone(node, self.values, self.opset)
        try:
            onnx.checker.check_model(onnx.shape_inference.infer_shapes(model, strict_mode=True), full_check=False)
            found = [np.asarray(each) for each in run_reference(model, feeds)]
        except Exception as error:  # ONNX's checker and its evaluator raise whatever comes
            raise Unfit from error
        if not all(map(_is_fit, found)):
            raise Unfit
        return found

    def model(self) -> onnx.ModelProto:
        """All values that no node takes are outputs."""
        used = {name for node in self.nodes for name in used_by(node)}
        made = [name for node in self.nodes for name in node.output if name]
        outputs = [name for name in made if name not in used] or made[-1:]
        graph = helper.make_graph(
            self.nodes,
            "drawn",
            [value_info(name, self.values[name].dtype, shape) for name, shape in self.shapes.items()],
            [onnx.ValueInfoProto(name=name) for name in outputs],
            [numpy_helper.from_array(each, name) for name, each in self.weights.items()],
        )
        return _model(graph, self.opset)

    def feeds(self) -> dict[str, Array]:
        return {name: self.values[name] for name in self.shapes}


def node_alone(
    node: onnx.NodeProto, values: Mapping[str, Array], opset: int
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A model of one node, and what it is given."""
    feeds = {name: values[name] for name in used_by(node) if name in values}
    inputs = [value_info(name, each.dtype, each.shape) for name, each in feeds.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    return _model(helper.make_graph([node], "one", inputs, outputs), opset), feeds


def _model(graph: onnx.GraphProto, opset: int) -> onnx.ModelProto:
    model = model_of(graph, opset)
    model.ir_version = max(model.ir_version, WEIGHTS_NEED_NO_INPUT)
    return model


def value_info(name: str, dtype: np.dtype[Any], shape: Sequence[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), list(shape))


def used_by(node: onnx.NodeProto) -> list[str]:
    """The names that a node takes, those in its graphs included."""
    names = [name for name in node.input if name]
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            inner = {name for each in attribute.g.node for name in each.output} | {x.name for x in attribute.g.input}
            taken = [name for each in attribute.g.node for name in used_by(each)]
            taken += [each.name for each in attribute.g.output]
            names += [name for name in taken if name not in inner]
    return list(dict.fromkeys(names))


def run_reference(model: onnx.ModelProto, feeds: dict[str, Array]) -> list[Any]:
    """What ONNX's evaluator gives."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return list(ReferenceEvaluator(model).run(None, feeds))  # pyright: ignore[reportArgumentType]


def _is_fit(value: Array) -> bool:
    if value.size > MOST_ELEMENTS or value.ndim > MOST_AXES or value.dtype.kind not in "fiub":
        return False
    return bool(np.all(np.abs(value[np.isfinite(value)].astype(np.float64)) <= LARGEST))
