"""The attributes of a node, held against the operator's schema: names, types, required ones, defaults."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from relay.base.frozen import frozen
from relay.frontend.onnx.package import onnx_package

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, NodeProto, SparseTensorProto, TensorProto, TypeProto
    from onnx.defs import OpSchema

AttributeData: TypeAlias = Union[
    int, float, str, "tuple[int, ...]", "tuple[float, ...]", "tuple[str, ...]", "TensorProto", "GraphProto",
    "SparseTensorProto", "TypeProto",
]  # fmt: skip

# AttributeProto.AttributeType, by number (onnx.proto3).
_NAMES = {
    1: "a float", 2: "an integer", 3: "a string", 4: "a tensor", 5: "a graph", 6: "floats", 7: "integers",
    8: "strings", 9: "tensors", 10: "graphs", 11: "a sparse tensor", 12: "sparse tensors", 13: "a type", 14: "types",
}  # fmt: skip


@frozen(eq=False)
class Schema:
    """What ONNX says of an operator at an opset. `declared` are its attributes, `defaults` what they are worth where a
    node does not have them; `inputs` and `outputs` the least and the largest number of each, `input_names` what the
    inputs are called; `definition` is ONNX's own record."""

    since_version: int
    declared: Mapping[str, OpSchema.Attribute]
    defaults: Mapping[str, AttributeData]
    inputs: tuple[int, int]
    outputs: tuple[int, int]
    input_names: tuple[str, ...]
    definition: OpSchema


def find_schema(domain: str, operator: str, opset: int) -> Schema | None:
    """The schema of an operator, or None when ONNX did not have it yet. One that is deprecated means what it did."""
    defs = onnx_package("onnx.defs")
    if not defs.has(operator, domain):
        return None
    try:
        found: OpSchema = defs.get_schema(operator, opset, domain)
    except defs.SchemaError:
        return None
    declared = dict(found.attributes)
    defaults = {name: data for name, each in declared.items() if (data := _data(each.default_value)) is not None}
    inputs, outputs = (found.min_input, found.max_input), (found.min_output, found.max_output)
    names = tuple(each.name for each in found.inputs)
    return Schema(found.since_version, declared, defaults, inputs, outputs, names, found)


def read_attributes(node: NodeProto, schema: Schema) -> tuple[dict[str, AttributeData], list[str]]:
    """`(attributes with the schema's defaults, what is wrong with them)`."""
    found: dict[str, AttributeData] = {}
    problems: list[str] = []
    for attribute in node.attribute:
        problem = _problem(attribute, schema, found)
        data = None if problem else _data(attribute)
        if problem is None and data is None:
            problem = f"has an attribute `{attribute.name}` that cannot be read"
        if problem is not None:
            problems.append(f"{node.op_type} {problem}")
        elif data is not None:
            found[attribute.name] = data
    problems += [
        f"{node.op_type} lacks the attribute `{name}`"
        for name, declared in schema.declared.items()
        if declared.required and not any(attribute.name == name for attribute in node.attribute)
    ]
    return {**schema.defaults, **found}, problems


def not_understood(attributes: Mapping[str, AttributeData], schema: Schema, understood: Container[str]) -> list[str]:
    """Attributes that a converter does not know, unless they say what they would say by default."""
    return [name for name, data in attributes.items() if name not in understood and data != schema.defaults.get(name)]


def _problem(attribute: AttributeProto, schema: Schema, found: Mapping[str, AttributeData]) -> str | None:
    declared: Any = schema.declared.get(attribute.name)
    if declared is None:
        return f"has no attribute `{attribute.name}` in opset {schema.since_version}"
    if attribute.name in found:
        return f"has the attribute `{attribute.name}` twice"
    if attribute.ref_attr_name:
        return f"takes the attribute `{attribute.name}` from a function, outside of one"
    expected = declared.type.value
    if attribute.type != expected:
        return (
            f"has an attribute `{attribute.name}` that is {_NAMES.get(attribute.type, 'of unknown type')}, "
            f"not {_NAMES.get(expected, 'of its type')}"
        )
    return None


def _data(attribute: AttributeProto) -> AttributeData | None:
    """The value of an attribute; None for a type that no operator we import has, and for text that is not UTF-8."""
    match attribute.type:
        case 1:
            return attribute.f
        case 2:
            return attribute.i
        case 3:
            return _text(attribute.s)
        case 4:
            return attribute.t
        case 5:
            return attribute.g
        case 6:
            return tuple(attribute.floats)
        case 7:
            return tuple(attribute.ints)
        case 8:
            texts = [_text(item) for item in attribute.strings]
            return None if None in texts else tuple(text for text in texts if text is not None)
        case 11:
            return attribute.sparse_tensor
        case 13:
            return attribute.tp
        case 13:
            return attribute.tp
        case _:
            return None


def _text(encoded: bytes) -> str | None:
    try:
        return encoded.decode()
    except UnicodeDecodeError:
        return None
