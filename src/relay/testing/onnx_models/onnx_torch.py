"""An ONNX model as a PyTorch module, as a person would write it with `torch.nn.functional`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from relay.testing.measuring.libraries import library
from relay.testing.onnx_models.onnx_graph import OnnxNode, Table, read_onnx, run_by_table


def torch_module(model: bytes | Path) -> Any:
    """A `torch.nn.Module` of straight-line code that takes the inputs of the model in order and gives its outputs,
    dense and in the order of the axes, as every other library does."""
    torch, fx = library("torch"), library("torch.fx")
    graph = read_onnx(model)
    table = torch_table(torch)
    root = torch.nn.Module()
    for number, array in enumerate(graph.weights.values()):
        parameter = torch.nn.Parameter(torch.from_numpy(np.array(array)), requires_grad=False)
        root.register_parameter(f"weight_{number}", parameter)
    traced = fx.Graph(root)
    tracer = fx.proxy.GraphAppendingTracer(traced)
    inputs = [fx.Proxy(traced.placeholder(f"input_{number}"), tracer) for number in range(len(graph.inputs))]
    weights = {name: fx.Proxy(traced.get_attr(f"weight_{number}"), tracer) for number, name in enumerate(graph.weights)}
    outputs = run_by_table(graph, table, weights, inputs)
    traced.output(tuple(each.contiguous().node for each in outputs))
    traced.eliminate_dead_code()
    return fx.GraphModule(root, traced).eval()


def torch_table(torch: Any) -> Table:
    """How PyTorch computes each operator."""
    f = torch.nn.functional
    plain = {
        "Relu": f.relu, "Sigmoid": torch.sigmoid, "Tanh": torch.tanh, "Erf": torch.erf, "Exp": torch.exp,
        "Sqrt": torch.sqrt, "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Pow": torch.pow,
        "MatMul": torch.matmul,
    }  # fmt: skip
    table: dict[str, Callable[..., Any]] = {name: _without_node(each) for name, each in plain.items()}
    for several in (_windows(f), _shapes(torch), _reductions(torch)):
        table.update(several)

    def gemm(node: OnnxNode, a: Any, b: Any, c: Any = None) -> Any:
        a = a.t() if node.attributes.get("transA") else a
        if node.attributes.get("transB"):
            return f.linear(a, b, c)
        return torch.matmul(a, b) if c is None else torch.addmm(c, a, b)

    def clip(node: OnnxNode, x: Any, *_: Any) -> Any:
        low, high = node.constant(1), node.constant(2)
        return torch.clamp(x, None if low is None else float(low), None if high is None else float(high))

    def gelu(node: OnnxNode, x: Any) -> Any:
        return f.gelu(x, approximate=node.attributes.get("approximate", b"none").decode())

    def batch_norm(node: OnnxNode, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
        return f.batch_norm(x, mean, variance, scale, shift, eps=node.attributes.get("epsilon", 1e-5))

    def layer_norm(node: OnnxNode, x: Any, scale: Any, shift: Any = None) -> Any:
        width = tuple(node.constants[node.inputs[1]].shape)
        return f.layer_norm(x, width, scale, shift, node.attributes.get("epsilon", 1e-5))

    def softmax(node: OnnxNode, x: Any) -> Any:
        return torch.softmax(x, node.attributes.get("axis", -1))

    return {
        **table, "Gemm": gemm, "Clip": clip, "Gelu": gelu, "BatchNormalization": batch_norm,
        "LayerNormalization": layer_norm, "Softmax": softmax,
    }  # fmt: skip


def _without_node(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _, *inputs: function(*inputs)


def _windows(f: Any) -> Table:
    """Convolutions, poolings and resizing; spatial ranks 1 and 2."""

    def conv(node: OnnxNode, x: Any, weight: Any, bias: Any = None) -> Any:
        window = node.window()
        function = (f.conv1d, f.conv2d)[len(window.kernel) - 1]
        pads = window.even_pads(node.operator)
        return function(x, weight, bias, window.strides, pads, window.dilations, window.groups)

    def conv_transpose(node: OnnxNode, x: Any, weight: Any, bias: Any = None) -> Any:
        window, extra = node.window(), node.attributes.get("output_padding", [0, 0])
        pads = window.even_pads(node.operator)
        return f.conv_transpose2d(x, weight, bias, window.strides, pads, extra, window.groups, window.dilations)

    def max_pool(node: OnnxNode, x: Any) -> Any:
        window, ceil = node.window(), bool(node.attributes.get("ceil_mode", 0))
        pads = window.even_pads(node.operator)
        return f.max_pool2d(x, window.kernel, window.strides, pads, window.dilations, ceil_mode=ceil)

    def average_pool(node: OnnxNode, x: Any) -> Any:
        window, ceil = node.window(), bool(node.attributes.get("ceil_mode", 0))
        counted = bool(node.attributes.get("count_include_pad", 0))
        return f.avg_pool2d(x, window.kernel, window.strides, window.even_pads(node.operator), ceil, counted)

    def resize(node: OnnxNode, x: Any, *_: Any) -> Any:
        mode = {b"nearest": "nearest", b"linear": "bilinear"}[node.attributes["mode"]]
        scales = node.constant(2)
        factors = None if scales is None else [float(each) for each in scales[2:]]
        return f.interpolate(x, scale_factor=factors, mode=mode)

    return {
        "Conv": conv, "ConvTranspose": conv_transpose, "MaxPool": max_pool, "AveragePool": average_pool,
        "Resize": resize, "GlobalAveragePool": lambda _, x: f.adaptive_avg_pool2d(x, 1),
    }  # fmt: skip


def _shapes(torch: Any) -> Table:
    """What moves data."""

    def split(node: OnnxNode, x: Any, *_: Any) -> Any:
        axis, sizes, count = node.attributes.get("axis", 0), node.integers(1), len(node.outputs)
        parts = torch.tensor_split(x, count, axis) if sizes is None else torch.split(x, sizes, axis)
        return [parts[number] for number in range(count)]

    return {
        "Identity": lambda _, x: x,
        "Flatten": lambda node, x: torch.flatten(x, node.attributes.get("axis", 1)),
        "Reshape": lambda node, x, _: torch.reshape(x, node.integers(1)),
        "Transpose": lambda node, x: torch.permute(x, tuple(node.attributes["perm"])),
        "Concat": lambda node, *parts: torch.cat(parts, node.attributes["axis"]),
        "Split": split,
        "Slice": lambda node, x, *_: x[node.slices(1 + max(node.integers(3) or [0]))],
        "Gather": lambda node, x, indices: _gather(torch, node, x, indices),
        "Squeeze": lambda node, x, _: torch.squeeze(x, node.axes()),
        "Unsqueeze": lambda node, x, _: torch.unsqueeze(x, node.axes()[0]),
    }


def _gather(torch: Any, node: OnnxNode, x: Any, indices: Any) -> Any:
    """Rows by a tensor of any rank; a slice by a known number."""
    axis = node.attributes.get("axis", 0)
    known = node.constants.get(node.inputs[1])
    if known is not None and known.ndim == 0:
        return torch.select(x, axis, int(known))
    return torch.nn.functional.embedding(indices, x) if axis == 0 else torch.index_select(x, axis, indices)


def _reductions(torch: Any) -> Table:
    def reduction(function: Callable[..., Any]) -> Callable[..., Any]:
        def reduce(node: OnnxNode, x: Any, *_: Any) -> Any:
            return function(x, node.axes(), keepdim=bool(node.attributes.get("keepdims", 1)))

        return reduce

    return {"ReduceSum": reduction(torch.sum), "ReduceMean": reduction(torch.mean), "ReduceMax": reduction(torch.amax)}
