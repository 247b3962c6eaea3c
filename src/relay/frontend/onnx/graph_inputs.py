"""The inputs of a graph: tensors, and lists and optionals of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relay.frontend.onnx.malformed import malformed, without_shape, without_type
from relay.frontend.onnx.weights import element_type
from relay.frontend.shared.inputs import GivenTypes
from relay.frontend.shared.names import SymbolNames, printable
from relay.frontend.shared.structures import LIST, OPTION
from relay.ir.types import ANY, TensorType, TypeCall
from relay.ops.framework.build import dimensions

if TYPE_CHECKING:
    from onnx import GraphProto, TensorShapeProto, TypeProto, ValueInfoProto

_DEEPEST = 8  # a list of lists of …


def graph_inputs(graph: GraphProto, given: GivenTypes) -> list[tuple[str, TensorType | TypeCall]]:
    """Name and type of each input that is not a weight."""
    weights = {tensor.name for tensor in graph.initializer} | {s.values.name for s in graph.sparse_initializer}
    infos = [info for info in graph.input if info.name not in weights]
    given.check_names([info.name for info in infos])
    reader = _InputTypes(given, SymbolNames())
    return [(info.name, reader.read(info)) for info in infos]


class _InputTypes:
    def __init__(self, given: GivenTypes, symbols: SymbolNames) -> None:
        self._given = given
        self._symbols = symbols

    def read(self, info: ValueInfoProto) -> TensorType | TypeCall:
        if not info.name:
            raise malformed("an input of the graph has no name")
        return self._type(info.name, info.type, inside=0)

    def _type(self, name: str, proto: TypeProto, inside: int) -> TensorType | TypeCall:
        what = f"the input {printable(name)!r}"
        kind = proto.WhichOneof("value")
        if inside > _DEEPEST:
            raise malformed(f"{what} is nested too deep", expected=f"at most {_DEEPEST} lists and optionals")
        match kind:
            case "sequence_type":
                return TypeCall(LIST, (self._type(name, proto.sequence_type.elem_type, inside + 1),))
            case "optional_type":
                return TypeCall(OPTION, (self._type(name, proto.optional_type.elem_type, inside + 1),))
            case "tensor_type" | None:
                return self._tensor(name, proto, inside)
            case _:
                raise without_type(what, str(kind))

    def _tensor(self, name: str, proto: TypeProto, inside: int) -> TensorType:
        what, tensor = f"the input {printable(name)!r}", proto.tensor_type
        element = element_type(tensor.elem_type, what) if tensor.elem_type else self._given.dtype_of(name)
        shape = self._given.shape_of(name)
        if shape is None:
            if not tensor.HasField("shape"):
                of = " of its elements" if inside else ""
                raise without_shape(f"{what} has no shape{of}", f'give one: shape={{"{printable(name)}": (…)}}')
            extents = [self._extent(name, tensor.shape, axis) for axis in range(len(tensor.shape.dim))]
            shape = dimensions(extents)
        if len(shape) > np.iinfo(np.int8).max // 4:
            raise malformed(f"{what} has {len(shape)} axes")
        # The elements of a list need not have the extents of each other, whatever these are called.
        shape = tuple(extent if isinstance(extent, int) or not inside else ANY for extent in shape)
        return TensorType(shape, element)

    def _extent(self, name: str, shape: TensorShapeProto, axis: int) -> int | str:
        """A number, or the name of a symbol: the model's, or one of our own where it has none."""
        extent = shape.dim[axis]
        if extent.HasField("dim_value"):
            if extent.dim_value < 0:
                raise malformed(
                    f"axis {axis} of the input {printable(name)!r} has extent {extent.dim_value}",
                    remedy=f'give the shape: shape={{"{printable(name)}": (…)}}',
                )
            return extent.dim_value
        if extent.dim_param in self._given.extents:
            return self._given.extents[extent.dim_param]
        return self._symbols.of(extent.dim_param or f"{name}_{axis}")
