"""The entry: a model in, a module of Relay and its parameters out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relay.base.arguments import MAPPING, WHOLE_NUMBER, takes
from relay.frontend.onnx.converters.table import CONVERTERS
from relay.frontend.onnx.fixed_inputs import fixed_inputs
from relay.frontend.onnx.graph import GraphImporter
from relay.frontend.onnx.graph_inputs import graph_inputs
from relay.frontend.onnx.malformed import malformed
from relay.frontend.onnx.opsets import STANDARD, model_opsets, supported
from relay.frontend.onnx.reading import ModelSource, read_model
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.findings import Findings
from relay.frontend.shared.inputs import GivenTypes, Shape
from relay.frontend.shared.value import Item
from relay.ir.module import IRModule
from relay.ir.types import TensorType, TypeCall


@takes(shape=MAPPING, opset=WHOLE_NUMBER, constants=MAPPING)
def from_onnx(
    model: ModelSource,
    shape: Mapping[str, Shape] | None = None,
    dtype: str | Mapping[str, str] = "float32",
    opset: int | None = None,
    freeze_params: bool = False,
    constants: Mapping[str, ArrayLike] | None = None,
    training: bool = False,
) -> tuple[IRModule, dict[str, NDArray[Any]]]:
    """Import an ONNX model: `(module, parameters by name)`.

    `model` is a path, the bytes of a file, or an `onnx.ModelProto`. `@main` takes the inputs of the graph, in their
    order, then the initialisers that are used, under their names; its value is the output, or a tuple of all outputs.

    `shape` gives the shape of inputs by name, in place of the model's; a string in it names a symbolic extent, as
    symbolic dimensions of the model do (`("n", 3, 224, 224)`). `dtype` is the element type of inputs that the model
    does not type. `opset` is taken in place of the one that the model states. With `freeze_params` the weights become
    constants of the program, and the parameters are empty. `constants` fixes inputs by name: they are no parameters,
    and what depends on their numbers (a shape that is an input, axes, sizes) is known from the start. With `training`
    all that the graph computes of weights is computed by the program, so gradients reach them.

    Raises `RelayError`: `unsupported-onnx` (operators, attributes, opsets and domains that cannot be imported, all of
    them at once, with the names of the nodes), `malformed-onnx`, `not-an-onnx-model`, `cannot-read`, `bad-tensor`,
    `bad-external-data`, `unsupported-element-type`, `unknown-input`, `wrong-argument`, `missing-package`, and the rules
    of the operators' type relations, placed at the node.
    """
    module, views = read_onnx(model, shape, dtype, opset, freeze_params, constants=constants, training=training)
    return module, {name: np.require(view, requirements="A") for name, view in views.items()}


@takes(shape=MAPPING, opset=WHOLE_NUMBER, constants=MAPPING)
def read_onnx(
    model: ModelSource,
    shape: Mapping[str, Shape] | None = None,
    dtype: str | Mapping[str, str] = "float32",
    opset: int | None = None,
    freeze_params: bool = False,
    path: str | os.PathLike[str] | None = None,
    constants: Mapping[str, ArrayLike] | None = None,
    training: bool = False,
) -> tuple[IRModule, dict[str, NDArray[Any]]]:
    """`from_onnx`, for who copies the weights anyhow: they are views of the model's bytes, wherever those begin. With
    bytes, `path` says of which file they are."""
    source = read_model(model, path)
    proto = source.proto
    findings = Findings("unsupported-onnx")
    builder = ProgramBuilder(findings, freeze_params, training)
    opsets = model_opsets(proto.opset_import, proto.ir_version)
    opsets = supported(opsets if opset is None else {**opsets, STANDARD: opset}, findings)
    fixed = fixed_inputs(proto.graph.input, constants or {})
    given = GivenTypes({**(shape or {}), **fixed.shapes}, dtype, fixed.extents)
    inputs = [
        builder.constant(name, fixed.arrays[name]) if name in fixed.arrays else _input(builder, name, type_)
        for name, type_ in graph_inputs(proto.graph, given)
    ]
    outputs = GraphImporter(source, opsets, CONVERTERS, inputs, builder).run()
    if findings or outputs is None:
        raise findings.error(source.name)
    if not outputs:
        raise malformed("the graph has no outputs")
    return builder.finish(outputs)


def _input(builder: ProgramBuilder, name: str, type_: TensorType | TypeCall) -> Item:
    return builder.input(name, type_) if isinstance(type_, TensorType) else builder.structure_input(name, type_)
