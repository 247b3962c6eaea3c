"""Operators that ONNX itself defines by others: the function that one node of such an operator stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from relay.arith.expr import Symbol
from relay.frontend.onnx.attributes import Schema
from relay.frontend.onnx.package import onnx_package
from relay.frontend.onnx.weights import ELEMENT_TYPES
from relay.frontend.shared.structures import OPTION
from relay.frontend.shared.value import Item
from relay.ir.types import TensorType, Type, TypeCall

if TYPE_CHECKING:
    from onnx import FunctionProto, NodeProto, TypeProto

_NUMBERS = {dtype: number for number, dtype in ELEMENT_TYPES.items()}


def has_definition(schema: Schema) -> bool:
    """Whether ONNX defines the operator, at least for some nodes."""
    known: Any = schema.definition  # whose stub lacks what it knows of functions
    return bool(known.has_function or known.has_context_dependent_function)


def definition_of(node: NodeProto, schema: Schema, inputs: Sequence[Item | None], opset: int) -> FunctionProto | None:
    """The body that ONNX gives an operator, of the newest opset that is not beyond the model's; None where it gives
    none. Some bodies depend on the node's attributes and on the types of its inputs. The node is one of `schema`."""
    known: Any = schema.definition
    function = onnx_package().FunctionProto()
    try:
        if known.has_function:
            version = _version(known.function_opset_versions, opset)
            function.ParseFromString(known.get_function_with_opset_version(version))
        elif known.has_context_dependent_function:
            version = _version(known.context_dependent_function_opset_versions, opset)
            types = [_type(each).SerializeToString() for each in inputs]
            function.ParseFromString(
                known.get_context_dependent_function_with_opset_version(version, node.SerializeToString(), types)
            )
        else:
            return None
    except (RuntimeError, ValueError, IndexError, onnx_package("google.protobuf.message").DecodeError):
        return None  # ONNX finds no body for these attributes and types
    if not function.node:
        return None
    _give_defaults(function, schema)
    return function


def _version(versions: Sequence[int], opset: int) -> int:
    return max((each for each in versions if each <= opset), default=min(versions))


def _give_defaults(function: FunctionProto, schema: Schema) -> None:
    """Attributes that the node leaves out are worth what the operator says."""
    for declared in schema.declared.values():
        if declared.default_value.type:
            function.attribute_proto.append(declared.default_value)


def _type(value: Item | None) -> TypeProto:
    return onnx_package().TypeProto() if value is None else _type_proto(value.type)


def _type_proto(type_: Type) -> TypeProto:
    found: TypeProto = onnx_package().TypeProto()
    match type_:
        case TensorType():
            found.tensor_type.elem_type = _NUMBERS[type_.dtype]
            found.tensor_type.shape.SetInParent()
            for extent in type_.shape:
                dim = found.tensor_type.shape.dim.add()
                match extent:
                    case int():
                        dim.dim_value = extent
                    case Symbol():
                        dim.dim_param = str(extent)
                    case _:
                        pass
        case TypeCall(func, (element,)):
            field: Any = found.optional_type if func == OPTION else found.sequence_type
            field.elem_type.CopyFrom(_type_proto(element))
        case _:
            pass
    return found
