"""The networks of `relay.testing` as ONNX models, so that other libraries run what relay runs.

Covers the operators that these networks use, in NCHW, with known extents; anything else is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Constant, Expr, Op, Tuple, TupleGetItem, Var
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ir.types import TensorType
from relay.testing.measuring.libraries import library
from relay.testing.workload import Parameters

OPSET, IR_VERSION = 20, 9


def to_onnx(module: IRModule, params: Parameters) -> bytes:
    """The bytes of an ONNX model of `@main`, whose inputs are the parameters without a value in `params`.

    Raises `RelayError` (rule `no-onnx-form`) for what has no ONNX form here.
    """
    function = infer_type(module)["main"]
    writer = _Writer(library("onnx"))
    inputs: list[Any] = []
    for var in function.params:
        writer.names[var] = var.name_hint
        if var.name_hint in params:
            writer.constant(params[var.name_hint], var.name_hint)
        else:
            inputs.append(writer.value_info(var.name_hint, _tensor_type(var)))
    for node in post_order(function.body):
        writer.visit(node)
    results = list(function.body.fields) if isinstance(function.body, Tuple) else [function.body]
    outputs: list[Any] = []
    for number, each in enumerate(results):
        writer.node("Identity", [writer.name(each)], output=f"output_{number}")
        outputs.append(writer.value_info(f"output_{number}", _tensor_type(each)))
    return writer.model(inputs, outputs)


class _Writer:
    """Collects nodes and constants; knows the ONNX value of each expression."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.names: dict[Expr, str] = {}
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def name(self, expr: Expr) -> str:
        return self.names[expr]

    def constant(self, array: NDArray[Any], name: str = "") -> str:
        name = name or f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def node(self, operator: str, inputs: list[str], *, output: str = "", **attributes: Any) -> str:
        output = output or f"value_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def value_info(self, name: str, type_: TensorType) -> Any:
        element = self.onnx.helper.np_dtype_to_tensor_dtype(type_.dtype.numpy)
        return self.onnx.helper.make_tensor_value_info(name, element, list(type_.shape))

    def visit(self, node: Expr) -> None:
        match node:
            case Var() if node in self.names:
                return
            case Constant():
                self.names[node] = self.constant(np.asarray(node.data))
            case Call(op=Op(operator)) if operator.name in _FORMS:
                self.names[node] = _FORMS[operator.name](self, node, node.attrs, *map(self._inputs, node.args))
            case TupleGetItem(tuple_value=Call(op=Op(operator)) as call, index=0) if operator.name in _FIRST_OF_SEVERAL:
                self.names[node] = self.name(call)
            case Tuple() | Op():
                return
            case _:
                raise RelayError(rule="no-onnx-form", message="this has no ONNX form here", found=_kind(node))

    def _inputs(self, arg: Expr) -> Any:
        """The name of an argument, or those of a tuple's fields."""
        return [self.name(each) for each in arg.fields] if isinstance(arg, Tuple) else self.name(arg)

    def model(self, inputs: list[Any], outputs: list[Any]) -> bytes:
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "main", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION).SerializeToString()


def _kind(node: Expr) -> str:
    return node.op.name if isinstance(node, Call) and isinstance(node.op, Op) else type(node).__name__


def _tensor_type(expr: Expr) -> TensorType:
    if not isinstance(expr.checked_type, TensorType):
        raise RelayError(rule="no-onnx-form", message="this has no ONNX form here", found=str(expr.checked_type))
    return expr.checked_type


def _rank(expr: Expr) -> int:
    return len(_tensor_type(expr).shape)


_FIRST_OF_SEVERAL = ("nn.batch_norm", "nn.dropout")
"""Operators of several results, of which ONNX gives the first."""

_Form: TypeAlias = Callable[..., str]


def _plain(operator: str) -> _Form:
    return lambda writer, _call, _attrs, *inputs: writer.node(operator, list(inputs))


def _window(writer: _Writer, operator: str, inputs: list[str], attrs: Any, kernel: Any, **more: Any) -> str:
    return writer.node(
        operator, inputs, kernel_shape=list(kernel), strides=list(attrs.strides), pads=list(attrs.padding),
        dilations=list(attrs.dilation), **more,
    )  # fmt: skip


def _conv(operator: str, *more: str) -> _Form:
    def form(writer: _Writer, _call: Call, attrs: Any, data: str, weight: str) -> str:
        if attrs.data_layout != "NCHW" or attrs.kernel_layout not in ("OIHW", "IOHW"):
            raise RelayError(rule="no-onnx-form", message="ONNX has one layout", expected="NCHW", found=str(attrs))
        extra = {name: list(getattr(attrs, name)) for name in more}
        return _window(writer, operator, [data, weight], attrs, attrs.kernel_size, group=attrs.groups, **extra)

    return form


def _pool(operator: str) -> _Form:
    def form(writer: _Writer, _call: Call, attrs: Any, data: str) -> str:
        more = {"count_include_pad": int(attrs.count_include_pad)} if operator == "AveragePool" else {}
        return _window(writer, operator, [data], attrs, attrs.pool_size, ceil_mode=int(attrs.ceil_mode), **more)

    return form


def _batch_norm(
    writer: _Writer, call: Call, attrs: Any, data: str, gamma: str, beta: str, mean: str, variance: str
) -> str:
    (channels,) = _tensor_type(call.args[1]).shape
    assert isinstance(channels, int)
    scale = gamma if attrs.scale else writer.constant(np.ones(channels, np.float32))
    shift = beta if attrs.center else writer.constant(np.zeros(channels, np.float32))
    return writer.node("BatchNormalization", [data, scale, shift, mean, variance], epsilon=attrs.epsilon)


def _bias_add(writer: _Writer, call: Call, attrs: Any, data: str, bias: str) -> str:
    after = (-attrs.axis if attrs.axis < 0 else _rank(call) - attrs.axis) - 1
    shaped = writer.node("Reshape", [bias, writer.integers(-1, *([1] * after))]) if after else bias
    return writer.node("Add", [data, shaped])


def _dense(writer: _Writer, call: Call, _attrs: Any, data: str, weight: str) -> str:
    if _rank(call) == 2:
        return writer.node("Gemm", [data, weight], transB=1)
    return writer.node("MatMul", [data, writer.node("Transpose", [weight], perm=[1, 0])])


def _batch_matmul(writer: _Writer, _call: Call, attrs: Any, left: str, right: str) -> str:
    left, right = (
        writer.node("Transpose", [each], perm=[0, 2, 1]) if turned else each
        for each, turned in ((left, attrs.transpose_a), (right, attrs.transpose_b))
    )
    return writer.node("MatMul", [left, right])


def _clip(writer: _Writer, _call: Call, attrs: Any, data: str) -> str:
    limits = [writer.constant(np.array(each, np.float32)) for each in (attrs.a_min, attrs.a_max)]
    return writer.node("Clip", [data, *limits])


def _reshape(writer: _Writer, call: Call, _attrs: Any, data: str) -> str:
    shape = [extent for extent in _tensor_type(call).shape if isinstance(extent, int)]
    return writer.node("Reshape", [data, writer.integers(*shape)])


def _strided_slice(writer: _Writer, _call: Call, attrs: Any, data: str) -> str:
    axes = range(len(attrs.begin)) if attrs.axes is None else attrs.axes
    parts = [writer.integers(*each) for each in (attrs.begin, attrs.end, axes)]
    return writer.node("Slice", [data, *parts])


_FORMS: Mapping[str, _Form] = MappingProxyType(
    {
        **{name: _plain(operator) for name, operator in {
            "nn.relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid", "erf": "Erf", "add": "Add", "subtract": "Sub",
            "multiply": "Mul", "divide": "Div", "power": "Pow", "nn.dropout": "Identity",
            "nn.global_avg_pool2d": "GlobalAveragePool",
        }.items()},
        "nn.conv2d": _conv("Conv"),
        "nn.conv2d_transpose": _conv("ConvTranspose", "output_padding"),
        "nn.max_pool2d": _pool("MaxPool"),
        "nn.avg_pool2d": _pool("AveragePool"),
        "nn.batch_norm": _batch_norm,
        "nn.bias_add": _bias_add,
        "nn.dense": _dense,
        "nn.batch_matmul": _batch_matmul,
        "nn.batch_flatten": _reshape,
        "reshape": _reshape,
        "squeeze": _reshape,
        "expand_dims": _reshape,
        "clip": _clip,
        "strided_slice": _strided_slice,
        "nn.softmax": lambda writer, _call, attrs, data: writer.node("Softmax", [data], axis=attrs.axis),
        "nn.layer_norm": lambda writer, _call, attrs, *inputs: writer.node(
            "LayerNormalization", list(inputs), axis=attrs.axis, epsilon=attrs.epsilon
        ),
        "transpose": lambda writer, _call, attrs, data: writer.node("Transpose", [data], perm=list(attrs.axes)),
        "concatenate": lambda writer, _call, attrs, parts: writer.node("Concat", parts, axis=attrs.axis),
        "take": lambda writer, _call, attrs, data, places: writer.node("Gather", [data, places], axis=attrs.axis or 0),
    }
)  # fmt: skip
"""How each operator is written: `(writer, call, attributes, *inputs)` → the name of its value."""
