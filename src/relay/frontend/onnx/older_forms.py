"""Nodes as older opsets write them, in the form of the newest, which is the only one that converters see.

Most of what changed is where a number stands: attributes became inputs. Where the meaning changed, the converter tells
the opsets apart itself (its `changes`). An attribute that an older opset lacks has the newest's default: that is what
the operator did before, but for what stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from relay.base.frozen import frozen
from relay.frontend.onnx.node import OnnxNode
from relay.frontend.onnx.package import onnx_package
from relay.frontend.shared.value import Value, known_value
from relay.ir.types import TensorType
from relay.ops.manipulation.shape import reshape


@frozen
class OlderForm:
    """What is other in versions before `until`. `attributes` are those of them that `renewed` understands."""

    until: int
    attributes: frozenset[str]
    renewed: Callable[[OnnxNode], OnnxNode]


def newest_name(operator: str) -> str:
    """What the newest opset calls an operator."""
    return _TAKEN_OVER.get(operator, operator)


def older_forms(operator: str, version: int) -> tuple[OlderForm, ...]:
    """The forms in which a version of an operator differs from the newest, oldest first."""
    return tuple(each for each in (_UNCHANGED, *_FORMS.get(operator, ())) if version < each.until)


def in_newest_form(node: OnnxNode, forms: Iterable[OlderForm], added: Mapping[str, object]) -> OnnxNode:
    """The node as the newest opset would write it; `added` are the attributes that are new since, by their defaults."""
    for form in forms:
        node = form.renewed(node)
    return replace(node, attributes={**added, **node.attributes}) if added else node


# Attributes that became inputs


def _inputs_since(until: int, **places: int) -> OlderForm:
    """Attributes by the position of the input that they are now: a number has the type of the first input."""

    def renewed(node: OnnxNode) -> OnnxNode:
        inputs = list(node.inputs) + [None] * (1 + max(places.values()) - len(node.inputs))
        for name, place in places.items():
            if node.has(name):
                inputs[place] = _as_input(node, name)
        return replace(node, inputs=tuple(inputs))

    return OlderForm(until, frozenset(places), renewed)


def _as_input(node: OnnxNode, name: str) -> Value:
    data = node.attributes[name]
    match data:
        case float():
            with np.errstate(over="ignore"):  # a bound beyond those of float16 is none
                array = np.asarray(data).astype(node.value(0).dtype.numpy)
        case int():
            array = np.asarray([data], np.int64)
        case (float(), *_):
            array = np.asarray(data, np.float32)
        case _:
            array = np.asarray(data, np.int64)
    return known_value(f"{node.name}.{name}", array)


# Broadcasting as it was before it followed NumPy


def _aligned(node: OnnxNode) -> OnnxNode:
    """`axis` is the one of the first input that the first of the second stands for."""
    if not node.has("axis"):
        return node
    left, right = node.value(0), node.value(1)
    trailing = left.rank - node.axis() - right.rank
    if trailing < 0:
        node.unsupported(f"with axis {node.int('axis')} of {left.type} and {right.type}")
    return replace(node, inputs=(left, _with_trailing_axes(right, trailing)))


def _slope_of_channels(node: OnnxNode) -> OnnxNode:
    """One slope a channel, the second axis."""
    data, slope = node.value(0), node.value(1)
    if slope.rank != 1 or slope.shape == (1,):
        return node
    return replace(node, inputs=(data, _with_trailing_axes(slope, max(0, data.rank - 2))))


def _with_trailing_axes(value: Value, count: int) -> Value:
    shape = (*value.shape, *(1 for _ in range(count)))
    return Value(value.name, reshape(value.expr, shape), TensorType(shape, value.dtype)) if count else value


# The rest


def _at_inference(node: OnnxNode) -> OnnxNode:
    if not node.int("is_test", 0):
        node.unsupported("in training mode")
    return node


def _type_by_number(node: OnnxNode) -> OnnxNode:
    types = onnx_package().TensorProto.DataType
    name = node.text("to")
    if name not in types.keys():  # noqa: SIM118 - protobuf's enumerations are no mappings
        node.unsupported(f"to {name!r}")
    return replace(node, attributes={**node.attributes, "to": int(types.Value(name))})


def _without_mask(node: OnnxNode) -> OnnxNode:
    """What it is at inference was not said."""
    if node.output_count > 1:
        node.unsupported("with a mask")
    return node


def _with(name: str, data: int | str) -> Callable[[OnnxNode], OnnxNode]:
    """An attribute that says what was the only meaning, unless the node has it."""
    return lambda node: node if node.has(name) else replace(node, attributes={**node.attributes, name: data})


def _resize_by_scales(node: OnnxNode) -> OnnxNode:
    """x and scales, as Resize takes them: places are those of the data, times the scale, rounded down."""
    meant = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    inputs = (node.value(0), None, node.value(1))
    return replace(node, inputs=inputs, attributes={**node.attributes, **meant})


def _gone(node: OnnxNode) -> OnnxNode:
    return node.unsupported("in its first form")


def _form(until: int, renewed: Callable[[OnnxNode], OnnxNode], *attributes: str) -> OlderForm:
    return OlderForm(until, frozenset(attributes), renewed)


_UNCHANGED = _form(6, lambda node: node, "consumed_inputs")
"""Which memory a result may take was once said by the model."""

_TAKEN_OVER = {"Scatter": "ScatterElements", "Upsample": "Resize"}

_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less")

_FORMS: Mapping[str, tuple[OlderForm, ...]] = {
    **dict.fromkeys(_ARITHMETIC, (_form(7, _aligned, "axis", "broadcast"),)),
    "BatchNormalization": (_form(7, _at_inference, "is_test"),),
    "Cast": (_form(6, _type_by_number),),
    "Clip": (_inputs_since(11, min=1, max=2),),
    "Concat": (_form(4, _with("axis", 1)),),
    "Dropout": (_form(7, _at_inference, "is_test"), _form(12, _without_mask), _inputs_since(12, ratio=1)),
    "Gemm": (_form(7, lambda node: node, "broadcast"),),
    "PRelu": (_form(7, _slope_of_channels),),
    "Pad": (_inputs_since(2, paddings=1), _inputs_since(11, pads=1, value=2)),
    "Reshape": (_inputs_since(5, shape=1),),
    "Resize": (_form(11, _resize_by_scales),),
    "RoiAlign": (_form(16, _with("coordinate_transformation_mode", "output_half_pixel")),),
    "Slice": (_inputs_since(10, starts=1, ends=2, axes=3),),
    "Split": (_inputs_since(13, split=1),),
    "Squeeze": (_inputs_since(13, axes=1),),
    "Tile": (_form(6, _gone),),
    "TopK": (_inputs_since(10, k=1),),
    "Unsqueeze": (_inputs_since(13, axes=1),),
    "Upsample": (_inputs_since(9, scales=1), _form(11, _resize_by_scales)),
}
