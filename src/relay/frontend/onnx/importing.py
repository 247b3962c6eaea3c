"""The entry: a model in, a module of Relay and its parameters out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from relay.base.arguments import MAPPING, WHOLE_NUMBER, takes
from relay.frontend.onnx.converters.table import CONVERTERS
from relay.frontend.onnx.graph import NEWEST_OPSET, OLDEST_OPSET, STANDARD_DOMAINS, GraphImporter
from relay.frontend.onnx.malformed import malformed
from relay.frontend.onnx.reading import ModelSource, read_model
from relay.frontend.onnx.weights import element_type
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.findings import Findings
from relay.frontend.shared.inputs import GivenTypes, Shape
from relay.frontend.shared.names import SymbolNames, printable
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.ops.framework.build import dimensions

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, ValueInfoProto


@takes(shape=MAPPING, opset=WHOLE_NUMBER)
def from_onnx(
    model: ModelSource,
    shape: Mapping[str, Shape] | None = None,
    dtype: str | Mapping[str, str] = "float32",
    opset: int | None = None,
    freeze_params: bool = False,
) -> tuple[IRModule, dict[str, NDArray[Any]]]:
    """Import an ONNX model: `(module, parameters by name)`.

    `model` is a path, the bytes of a file, or an `onnx.ModelProto`. `@main` takes the inputs of the graph, in their
    order, then the initialisers that are used, under their names; its value is the output, or a tuple of all outputs.

    `shape` gives the shape of inputs by name, in place of the model's; a string in it names a symbolic extent, as
    symbolic dimensions of the model do (`("n", 3, 224, 224)`). `dtype` is the element type of inputs that the model
    does not type. `opset` is taken in place of the one that the model states. With `freeze_params` the weights become
    constants of the program, and the parameters are empty.

    Raises `RelayError`: `unsupported-onnx` (operators, attributes, opsets and domains that cannot be imported, all of
    them at once, with the names of the nodes), `malformed-onnx`, `not-an-onnx-model`, `cannot-read`, `bad-tensor`,
    `bad-external-data`, `unsupported-element-type`, `unknown-input`, `missing-package`, and the rules of the
    operators' type relations, placed at the node.
    """
    module, views = read_onnx(model, shape, dtype, opset, freeze_params)
    return module, {name: np.require(view, requirements="A") for name, view in views.items()}


@takes(shape=MAPPING, opset=WHOLE_NUMBER)
def read_onnx(
    model: ModelSource,
    shape: Mapping[str, Shape] | None = None,
    dtype: str | Mapping[str, str] = "float32",
    opset: int | None = None,
    freeze_params: bool = False,
    path: str | os.PathLike[str] | None = None,
) -> tuple[IRModule, dict[str, NDArray[Any]]]:
    """`from_onnx`, for who copies the weights anyhow: they are views of the model's bytes, wherever those begin. With
    bytes, `path` says of which file they are."""
    source = read_model(model, path)
    proto = source.proto
    findings = Findings("unsupported-onnx")
    builder = ProgramBuilder(findings, freeze_params)
    found = _opset(proto, findings) if opset is None else _supported(opset, findings)
    inputs = [builder.input(name, type_) for name, type_ in _inputs(proto.graph, GivenTypes(shape or {}, dtype))]
    outputs = GraphImporter(source, found, CONVERTERS, inputs, builder).run()
    if findings or outputs is None:
        raise findings.error(source.name)
    if not outputs:
        raise malformed("the graph has no outputs")
    return builder.finish(outputs)


def _opset(model: ModelProto, findings: Findings) -> int:
    """The opset of the standard operators."""
    versions = [entry.version for entry in model.opset_import if entry.domain in STANDARD_DOMAINS]
    if len(versions) != 1:
        raise malformed(f"the model names {len(versions)} opsets of the standard operators", expected="exactly one")
    return _supported(versions[0], findings)


def _supported(opset: int, findings: Findings) -> int:
    """The opset itself, or the nearest that is supported, so that the search for other problems can go on."""
    nearest = min(max(opset, OLDEST_OPSET), NEWEST_OPSET)
    if nearest != opset:
        findings.add(f"opset {opset}", f"the model; {OLDEST_OPSET} to {NEWEST_OPSET} can be imported")
    return nearest


def _inputs(graph: GraphProto, given: GivenTypes) -> list[tuple[str, TensorType]]:
    """Name and type of each input that is not a weight."""
    weights = {tensor.name for tensor in graph.initializer} | {s.values.name for s in graph.sparse_initializer}
    infos = [info for info in graph.input if info.name not in weights]
    given.check_names([info.name for info in infos])
    symbols = SymbolNames()
    return [(info.name, _input(info, given, symbols)) for info in infos]


def _input(info: ValueInfoProto, given: GivenTypes, symbols: SymbolNames) -> TensorType:
    what = f"the input {printable(info.name)!r}"
    if not info.name:
        raise malformed("an input of the graph has no name")
    if info.type.WhichOneof("value") not in ("tensor_type", None):
        kind = info.type.WhichOneof("value")
        raise malformed(
            f"{what} is not a tensor", expected="a tensor", remedy=f"it is a {kind}, which has no type in Relay"
        )
    tensor = info.type.tensor_type
    element = element_type(tensor.elem_type, what) if tensor.elem_type else given.dtype_of(info.name)
    shape = given.shape_of(info.name)
    if shape is None:
        if not tensor.HasField("shape"):
            raise malformed(f"{what} has no shape", remedy=f'give one: shape={{"{printable(info.name)}": (…)}}')
        shape = dimensions([_extent(info, axis, symbols) for axis in range(len(tensor.shape.dim))])
    if len(shape) > np.iinfo(np.int8).max // 4:
        raise malformed(f"{what} has {len(shape)} axes")
    return TensorType(shape, element)


def _extent(info: ValueInfoProto, axis: int, symbols: SymbolNames) -> int | str:
    """A number, or the name of a symbol: the model's, or one of our own where it has none."""
    extent = info.type.tensor_type.shape.dim[axis]
    if extent.HasField("dim_value"):
        if extent.dim_value < 0:
            raise malformed(
                f"axis {axis} of the input {printable(info.name)!r} has extent {extent.dim_value}",
                remedy=f'give the shape: shape={{"{printable(info.name)}": (…)}}',
            )
        return extent.dim_value
    return symbols.of(extent.dim_param or f"{info.name}_{axis}")
