"""Functions defined in a model: a call stands for the nodes of the body, with its inputs and attributes put in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from relay.base.graph import post_order
from relay.frontend.onnx.malformed import malformed
from relay.frontend.onnx.package import onnx_package
from relay.frontend.shared.names import printable

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto

FunctionKey = tuple[str, str, str]
"""Domain, name and overload."""

LARGEST_EXPANSION = 200_000
"""Nodes that a graph may stand for with all calls put in: thirty functions, each calling the next one twice, make a
billion."""


def function_table(model: ModelProto) -> dict[FunctionKey, FunctionProto]:
    """The functions of a model by what calls name.

    Raises `RelayError` (rule `malformed-onnx`) when calls go in circles, or stand for too many nodes.
    """
    table = {(function.domain, function.name, function.overload): function for function in model.functions}
    calls = {key: [_key(node) for node in _all_nodes(function)] for key, function in table.items()}
    sizes: dict[FunctionKey, int] = {}
    for key in post_order(table, lambda key: [callee for callee in calls[key] if callee in table]):
        if any(callee in table and callee not in sizes for callee in calls[key]):
            raise malformed(f"the function {printable(key[1])} calls itself, directly or through others")
        sizes[key] = 1 + sum(sizes.get(callee, 1) for callee in calls[key])
    total = sum(sizes.get(_key(node), 1) for node in _all_nodes(model.graph)) if table else 0
    if total > LARGEST_EXPANSION:
        raise malformed(
            "the graph calls functions that stand for too many nodes", expected=f"at most {LARGEST_EXPANSION:,}"
        )
    return table


def _key(node: NodeProto) -> FunctionKey:
    return node.domain, node.op_type, node.overload


def _all_nodes(body: FunctionProto | GraphProto) -> Iterator[NodeProto]:
    """The nodes of a body and of the graphs inside them."""
    nodes = list(body.node)
    while nodes:
        node = nodes.pop()
        yield node
        nodes += (inner for attribute in node.attribute if attribute.HasField("g") for inner in attribute.g.node)


def called_function(node: NodeProto, functions: Mapping[FunctionKey, FunctionProto]) -> FunctionProto | None:
    """The function that a node calls, if it calls one of the model's."""
    return functions.get(_key(node))


def body_of(function: FunctionProto, call: NodeProto) -> Iterator[NodeProto]:
    """Copies of the function's nodes, where attributes that refer to the function's have the values of `call`, and
    optional inputs that the call leaves out are left out too."""
    given = {attribute.name: attribute for attribute in (*function.attribute_proto, *call.attribute)}
    padded = (*call.input, *("" for _ in function.input[len(call.input) :]))
    absent = {formal for formal, actual in zip(function.input, padded, strict=False) if not actual}
    for node in function.node:
        yield _instantiated(node, given, absent)


def _instantiated(node: NodeProto, given: Mapping[str, AttributeProto], absent: set[str]) -> NodeProto:
    copy = onnx_package().NodeProto()
    copy.CopyFrom(node)
    nodes = [copy]
    while nodes:
        current = nodes.pop()
        current.input[:] = ["" if name in absent else name for name in current.input]
        kept = [filled for attribute in current.attribute if (filled := _filled(attribute, given)) is not None]
        del current.attribute[:]
        current.attribute.extend(kept)
        nodes += (inner for attribute in current.attribute if attribute.HasField("g") for inner in attribute.g.node)
    return copy


def _filled(attribute: AttributeProto, given: Mapping[str, AttributeProto]) -> AttributeProto | None:
    """The attribute itself, or the one it refers to under its own name; None if the call gives none."""
    if not attribute.ref_attr_name:
        return attribute
    value = given.get(attribute.ref_attr_name)
    if value is None:
        return None
    copy = onnx_package().AttributeProto()
    copy.CopyFrom(value)
    copy.name = attribute.name
    return copy
