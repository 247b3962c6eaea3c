"""An ONNX model as a function of JAX, compiled by XLA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from relay.testing.measuring.libraries import library
from relay.testing.onnx_models.onnx_graph import OnnxNode, Table, is_tensor, read_onnx, run_by_table


def jax_function(model: bytes | Path) -> Callable[..., Any]:
    """A compiled function of the inputs of the model, in order, that gives its outputs."""
    jax = library("jax")
    graph = read_onnx(model)
    table = jax_table(jax)
    weights = {name: jax.numpy.asarray(each) for name, each in graph.weights.items() if is_tensor(each)}
    known = {name: each for name, each in graph.weights.items() if name not in weights}

    def run(weights: Any, inputs: Sequence[Any]) -> Any:
        return run_by_table(graph, table, {**known, **weights}, inputs)

    compiled = jax.jit(run)
    return lambda *inputs: compiled(weights, inputs)


def jax_table(jax: Any) -> Table:
    """How JAX computes each operator."""
    jnp = jax.numpy
    plain = {
        "Relu": jax.nn.relu, "Sigmoid": jax.nn.sigmoid, "Tanh": jnp.tanh, "Erf": jax.scipy.special.erf, "Exp": jnp.exp,
        "Sqrt": jnp.sqrt, "Add": jnp.add, "Sub": jnp.subtract, "Mul": jnp.multiply, "Div": jnp.divide,
        "Pow": jnp.power, "MatMul": jnp.matmul, "Identity": lambda x: x,
    }  # fmt: skip
    table: dict[str, Callable[..., Any]] = {name: _without_node(each) for name, each in plain.items()}

    def gemm(node: OnnxNode, a: Any, b: Any, c: Any = None) -> Any:
        a, b = (x.T if node.attributes.get(name) else x for x, name in ((a, "transA"), (b, "transB")))
        return a @ b if c is None else a @ b + c

    def clip(node: OnnxNode, x: Any, *_: Any) -> Any:
        return jnp.clip(x, node.constant(1), node.constant(2))

    def gelu(node: OnnxNode, x: Any) -> Any:
        return jax.nn.gelu(x, approximate=node.attributes.get("approximate", b"none") == b"tanh")

    def layer_norm(node: OnnxNode, x: Any, scale: Any, shift: Any = 0) -> Any:
        mean = x.mean(-1, keepdims=True)
        centred = x - mean
        variance = (centred * centred).mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt(variance + node.attributes.get("epsilon", 1e-5)) * scale + shift

    return {
        **table, **_windows(jax), **_shapes(jnp), **_reductions(jnp), "Gemm": gemm, "Clip": clip, "Gelu": gelu,
        "LayerNormalization": layer_norm,
        "Softmax": lambda node, x: jax.nn.softmax(x, node.attributes.get("axis", -1)),
    }  # fmt: skip


def _without_node(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _, *inputs: function(*inputs)


def _windows(jax: Any) -> Table:
    lax = jax.lax
    letters = {1: ("NCH", "OIH", "NCH"), 2: ("NCHW", "OIHW", "NCHW")}

    def conv(node: OnnxNode, x: Any, weight: Any, bias: Any = None) -> Any:
        window = node.window()
        rank = len(window.kernel)
        y = lax.conv_general_dilated(
            x, weight, window.strides, window.pads, rhs_dilation=window.dilations, dimension_numbers=letters[rank],
            feature_group_count=window.groups,
        )  # fmt: skip
        return y if bias is None else y + bias.reshape((-1,) + (1,) * rank)

    def max_pool(node: OnnxNode, x: Any) -> Any:
        window = node.window()
        pads = ((0, 0), (0, 0), *window.pads)
        start = -jax.numpy.inf
        return lax.reduce_window(x, start, lax.max, (1, 1, *window.kernel), (1, 1, *window.strides), pads)

    return {"Conv": conv, "MaxPool": max_pool, "GlobalAveragePool": lambda _, x: x.mean((2, 3), keepdims=True)}


def _shapes(jnp: Any) -> Table:
    def split(node: OnnxNode, x: Any, *_: Any) -> Any:
        sizes, axis = node.integers(1), node.attributes.get("axis", 0)
        if sizes is None:
            return jnp.split(x, len(node.outputs), axis)
        ends = [sum(sizes[:count]) for count in range(1, len(sizes))]
        return jnp.split(x, ends, axis)

    return {
        "Flatten": lambda _, x: x.reshape(x.shape[0], -1),
        "Reshape": lambda node, x, _: x.reshape(node.integers(1)),
        "Transpose": lambda node, x: x.transpose(node.attributes["perm"]),
        "Concat": lambda node, *parts: jnp.concatenate(parts, node.attributes["axis"]),
        "Split": split,
        "Slice": lambda node, x, *_: x[node.slices(x.ndim)],
        "Gather": lambda node, x, indices: jnp.take(x, indices, axis=node.attributes.get("axis", 0), mode="clip"),
        "Squeeze": lambda node, x, _: jnp.squeeze(x, node.axes()),
        "Unsqueeze": lambda node, x, _: jnp.expand_dims(x, node.axes()),
    }


def _reductions(jnp: Any) -> Table:
    def reduction(function: Callable[..., Any]) -> Callable[..., Any]:
        def reduce(node: OnnxNode, x: Any, *_: Any) -> Any:
            return function(x, node.axes(), keepdims=bool(node.attributes.get("keepdims", 1)))

        return reduce

    return {"ReduceSum": reduction(jnp.sum), "ReduceMean": reduction(jnp.mean), "ReduceMax": reduction(jnp.max)}
