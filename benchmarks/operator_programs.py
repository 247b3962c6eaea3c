"""Single operators as ONNX models, at the extents that networks have them in: a table, a row each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from benchmarks.workloads import Workload
from relay.testing.measuring.libraries import library
from relay.testing.measuring.peers import Arrays, Call, MakeCall

Shape = tuple[int, ...]
Weights = Mapping[str, NDArray[Any]]
Make = Callable[[], Workload]
OPSET, IR_VERSION = 20, 9


def values(shape: Shape, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def program(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, NDArray[Any]],
    weights: Weights | None = None,
    outputs: Sequence[str] = ("y",),
    natural: Mapping[str, MakeCall] | None = None,
    without: tuple[str, ...] = (),
) -> Workload:
    """Nodes that compute float32 outputs, as a workload."""
    value_info = helper.make_tensor_value_info
    graph = helper.make_graph(
        list(nodes), "operator",
        [value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in inputs.items()],
        [value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    return Workload(model.SerializeToString(), inputs, natural or {}, without)


def node(operator: str, *inputs: str, output: str = "y", **attributes: Any) -> NodeProto:
    return helper.make_node(operator, inputs, [output], **attributes)


# ------------------------------------------------------------------------------------------------------------ products


def product(left: Shape, right: Shape, *, weight: bool = False) -> Make:
    """left[.., m, k] · right[.., k, n]; with `weight` the right one is known when compiling."""

    def make() -> Workload:
        a, b = values(left), values(right, 1) / np.float32(math.sqrt(right[-2]))
        inputs, weights = ({"a": a}, {"b": b}) if weight else ({"a": a, "b": b}, {})
        return program([node("MatMul", "a", "b")], inputs, weights)

    return make


def attention(heads: int, queries: int, keys: int, depth: int) -> Make:
    """softmax(q · kᵀ / √depth) · v by heads."""

    def make() -> Workload:
        sequences = {"q": queries, "k": keys, "v": keys}
        inputs = {name: values((1, heads, n, depth), seed) for seed, (name, n) in enumerate(sequences.items())}
        nodes = [
            node("Transpose", "k", output="kt", perm=[0, 1, 3, 2]),
            node("MatMul", "q", "kt", output="scores"),
            node("Mul", "scores", "scale", output="scaled"),
            node("Softmax", "scaled", output="weights", axis=-1),
            node("MatMul", "weights", "v"),
        ]
        scale = np.array(1 / math.sqrt(depth), np.float32)
        return program(nodes, inputs, {"scale": scale}, natural={"pytorch": _torch_attention})

    return make


def _torch_attention(_model: object, inputs: Arrays, threads: int) -> Call:
    """As a person writes it in PyTorch."""
    torch = library("torch")
    torch.set_num_threads(threads)
    q, k, v = (torch.from_numpy(np.array(each)) for each in inputs.values())
    return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v)


def lstm_cell(batch: int, hidden: int) -> Make:
    """One step of an LSTM whose input is as wide as its state."""

    def make() -> Workload:
        state = {name: values((batch, hidden), seed) for seed, name in enumerate("xhc")}
        weights: dict[str, NDArray[Any]] = {
            "w": values((4 * hidden, 2 * hidden)) / np.float32(math.sqrt(2 * hidden)),
            "bias": values((4 * hidden,)),
            "sizes": np.full(4, hidden, np.int64),
        }
        nodes = [
            node("Concat", "x", "h", output="xh", axis=1),
            node("Gemm", "xh", "w", "bias", output="gates", transB=1),
            helper.make_node("Split", ["gates", "sizes"], ["gi", "gf", "gg", "go"], axis=1),
            *(node("Sigmoid", f"g{gate}", output=gate) for gate in "ifo"),
            node("Tanh", "gg", output="g"),
            node("Mul", "f", "c", output="kept"),
            node("Mul", "i", "g", output="taken"),
            node("Add", "kept", "taken", output="c_next"),
            node("Tanh", "c_next", output="squashed"),
            node("Mul", "o", "squashed", output="h_next"),
        ]
        return program(nodes, state, weights, outputs=("h_next", "c_next"))

    return make


# -------------------------------------------------------------------------------------------------------- convolutions


def conv(
    channels: tuple[int, int],
    kernel: int,
    size: int,
    stride: int = 1,
    groups: int = 1,
    dilation: int = 1,
    rank: int = 2,
) -> Make:
    """With a bias, padded so that stride 1 keeps the extents."""

    def make() -> Workload:
        window = (kernel,) * rank
        fan_in = channels[0] // groups * kernel**rank
        weights = {
            "w": values((channels[1], channels[0] // groups, *window), 1) / np.float32(math.sqrt(fan_in)),
            "b": values((channels[1],), 2),
        }
        pads = [dilation * (kernel - 1) // 2] * (2 * rank)
        convolution = node(
            "Conv", "x", "w", "b", kernel_shape=window, strides=(stride,) * rank, dilations=(dilation,) * rank,
            pads=pads, group=groups,
        )  # fmt: skip
        return program([convolution], {"x": values((1, channels[0], *(size,) * rank))}, weights, without=("jax",))

    return make


def conv_transpose(channels: tuple[int, int], kernel: int, size: int) -> Make:
    """Twice the extents."""

    def make() -> Workload:
        weight = values((*channels, kernel, kernel), 1) / np.float32(math.sqrt(channels[0] * 4))
        pads = [(kernel - 2) // 2] * 4
        nodes = [node("ConvTranspose", "x", "w", kernel_shape=(kernel, kernel), strides=(2, 2), pads=pads)]
        return program(nodes, {"x": values((1, channels[0], size, size))}, {"w": weight}, without=("jax",))

    return make


def one_input(operator: str, shape: Shape, weights: Weights | None = None, **attributes: Any) -> Make:
    """An operator of one tensor; `weights` are further inputs, in order. JAX does without poolings, as in networks."""
    without = ("jax",) if operator.endswith("Pool") else ()

    def make() -> Workload:
        nodes = [node(operator, "x", *(weights or {}), **attributes)]
        return program(nodes, {"x": values(shape)}, weights, without=without)

    return make


def resize(mode: str, channels: int, size: int) -> Make:
    """Twice the extents."""
    more = {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"} if mode == "nearest" else {}

    def make() -> Workload:
        nodes = [node("Resize", "x", "", "scales", mode=mode, **more)]
        scales = {"scales": np.array((1, 1, 2, 2), np.float32)}
        return program(nodes, {"x": values((1, channels, size, size))}, scales, without=("jax",))

    return make


def grid_sample(mode: str, channels: int, size: int) -> Make:
    """An image read at as many places as it has elements, all of them somewhere else."""

    def make() -> Workload:
        random = np.random.default_rng(1)
        grid = random.uniform(-1.0, 1.0, (1, size, size, 2)).astype(np.float32)
        torch_mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)

        def in_pytorch(_model: object, inputs: Arrays, threads: int) -> Call:
            torch = library("torch")
            torch.set_num_threads(threads)
            x, places = (torch.from_numpy(np.array(inputs[name])) for name in ("x", "grid"))
            return lambda: torch.nn.functional.grid_sample(x, places, mode=torch_mode, align_corners=False)

        nodes = [node("GridSample", "x", "grid", mode=mode)]
        inputs = {"x": values((1, channels, size, size)), "grid": grid}
        return program(nodes, inputs, natural={"pytorch": in_pytorch}, without=("jax", "torch-compile"))

    return make


def roi_align(regions: int, samples: int) -> Make:
    """Regions of the image of a detector's backbone, in bins; 0 samples: as many as a bin has elements."""

    def make() -> Workload:
        random = np.random.default_rng(1)
        corners, sizes = random.uniform(0, 600, (regions, 2)), random.uniform(16, 400, (regions, 2))
        inputs = {
            "x": values((1, 256, 50, 68)),
            "rois": np.concatenate([corners, corners + sizes], 1).astype(np.float32),
            "of": np.zeros(regions, np.int64),
        }
        nodes = [node("RoiAlign", "x", "rois", "of", output_height=7, output_width=7, spatial_scale=0.0625,
                      sampling_ratio=samples)]  # fmt: skip
        return program(nodes, inputs, without=("pytorch", "jax", "torch-compile"))

    return make


# -------------------------------------------------------------------------------------------- element by element, moves


def eltwise(shape: Shape) -> Make:
    """tanh(a · b + a): two tensors read, one written."""

    def make() -> Workload:
        nodes = [node("Mul", "a", "b", output="ab"), node("Add", "ab", "a", output="sum"), node("Tanh", "sum")]
        return program(nodes, {"a": values(shape), "b": values(shape, 1)})

    return make


def add(left: Shape, right: Shape) -> Make:
    """With broadcasting."""
    return lambda: program([node("Add", "a", "b")], {"a": values(left), "b": values(right, 1)})


def gelu(shape: Shape) -> Make:
    """By erf, in the nodes that exporters write."""

    def make() -> Workload:
        nodes = [
            node("Div", "x", "root", output="scaled"),
            node("Erf", "scaled", output="erf"),
            node("Add", "erf", "one", output="shifted"),
            node("Mul", "x", "shifted", output="twice"),
            node("Mul", "twice", "half"),
        ]
        numbers = {"root": math.sqrt(2), "one": 1.0, "half": 0.5}
        natural: dict[str, MakeCall] = {"pytorch": _torch_gelu}
        return program(
            nodes, {"x": values(shape)}, {n: np.array(x, np.float32) for n, x in numbers.items()}, natural=natural
        )

    return make


def _torch_gelu(_model: object, inputs: Arrays, threads: int) -> Call:
    torch = library("torch")
    torch.set_num_threads(threads)
    x = torch.from_numpy(np.array(inputs["x"]))
    return lambda: torch.nn.functional.gelu(x)


def layer_norm(rows: int, width: int) -> Make:
    scale = {"scale": values((width,), 1), "shift": values((width,), 2)}
    return one_input("LayerNormalization", (rows, width), scale, axis=-1)


def gather(rows: int, width: int, count: int) -> Make:
    def make() -> Workload:
        places = np.random.default_rng(0).integers(0, rows, count)
        nodes = [node("Gather", "table", "places", axis=0)]
        workload = program(nodes, {"places": places}, {"table": values((rows, width))})
        return replace(workload, unread_bytes=4 * width * (rows - count))

    return make


def concat(shape: Shape, count: int, axis: int) -> Make:
    def make() -> Workload:
        inputs = {f"x{number}": values(shape, number) for number in range(count)}
        return program([node("Concat", *inputs, axis=axis)], inputs)

    return make


def reduction(operator: str, shape: Shape, *axes: int) -> Make:
    """The axes are an input, as since opset 18."""
    return one_input(operator, shape, {"axes": np.array(axes, np.int64)}, keepdims=0)


OPERATORS: Mapping[str, Make] = MappingProxyType(
    {
        **{f"gemm_{n}": product((n, n), (n, n)) for n in (256, 512, 1024, 2048)},
        **{f"gemv_{n}": product((1, n), (n, n), weight=True) for n in (512, 1024, 2048, 4096)},
        **{f"gemm_m{m}_768x3072": product((m, 768), (768, 3072), weight=True) for m in (2, 4, 8, 16, 128)},
        "batch_matmul_12x128x64x128": product((12, 128, 64), (12, 64, 128)),
        "batch_matmul_12x128x128x64": product((12, 128, 128), (12, 128, 64)),
        "batch_matmul_64x33x65x17": product((64, 33, 65), (64, 65, 17)),
        "attention_h12_128x128": attention(12, 128, 128, 64),
        "attention_h8_512x512": attention(8, 512, 512, 64),
        "attention_h12_1x128": attention(12, 1, 128, 64),
        "lstm_cell_b8_h256": lstm_cell(8, 256),
        "lstm_cell_b8_h512": lstm_cell(8, 512),
        "conv_3x64_k7s2_224": conv((3, 64), 7, 224, 2),
        "conv_64x64_k1s1_56": conv((64, 64), 1, 56),
        "conv_64x64_k3s1_56": conv((64, 64), 3, 56),
        "conv_64x256_k1s1_56": conv((64, 256), 1, 56),
        "conv_256x128_k1s1_56": conv((256, 128), 1, 56),
        "conv_128x128_k3s2_56": conv((128, 128), 3, 56, 2),
        "conv_128x128_k3s1_28": conv((128, 128), 3, 28),
        "conv_512x256_k1s1_28": conv((512, 256), 1, 28),
        "conv_256x256_k3s2_28": conv((256, 256), 3, 28, 2),
        "conv_256x256_k3s1_14": conv((256, 256), 3, 14),
        "conv_256x1024_k1s1_14": conv((256, 1024), 1, 14),
        "conv_1024x256_k1s1_14": conv((1024, 256), 1, 14),
        "conv_512x512_k3s2_14": conv((512, 512), 3, 14, 2),
        "conv_512x512_k3s1_7": conv((512, 512), 3, 7),
        "conv_2048x512_k1s1_7": conv((2048, 512), 1, 7),
        "conv_grouped_32x256_k3_14": conv((256, 256), 3, 14, groups=32),
        "conv_dilated_256_k3d2_28": conv((256, 256), 3, 28, dilation=2),
        "conv1d_80x512_k3_1500": conv((80, 512), 3, 1500, rank=1),
        "conv1d_256x256_k9_512": conv((256, 256), 9, 512, rank=1),
        "conv_transpose_512x256_k4_8": conv_transpose((512, 256), 4, 8),
        "conv_transpose_128x64_k4_32": conv_transpose((128, 64), 4, 32),
        "conv_transpose_64x3_k4_64": conv_transpose((64, 3), 4, 64),
        "dwconv_32_s1_112": conv((32, 32), 3, 112, groups=32),
        "dwconv_96_s2_112": conv((96, 96), 3, 112, 2, groups=96),
        "dwconv_144_s1_56": conv((144, 144), 3, 56, groups=144),
        "dwconv_384_s1_14": conv((384, 384), 3, 14, groups=384),
        "dwconv_960_s1_7": conv((960, 960), 3, 7, groups=960),
        "softmax_1536x128": one_input("Softmax", (1536, 128), axis=-1),
        "softmax_8x50257": one_input("Softmax", (8, 50257), axis=-1),
        "softmax_axis1_16x64x1024": one_input("Softmax", (16, 64, 1024), axis=1),
        "layernorm_128x768": layer_norm(128, 768),
        "eltwise_64k": eltwise((256, 256)),
        "eltwise_4m": eltwise((2048, 2048)),
        "add_bias_512x2048": add((512, 2048), (2048,)),
        "add_column_512x2048": add((512, 2048), (512, 1)),
        "gelu_128x3072": gelu((128, 3072)),
        "sum_axis0_1024x1024": reduction("ReduceSum", (1024, 1024), 0),
        "sum_axis1_1024x1024": reduction("ReduceSum", (1024, 1024), 1),
        "sum_all_1024x1024": reduction("ReduceSum", (1024, 1024), 0, 1),
        "mean_axis1_64x128x96": reduction("ReduceMean", (64, 128, 96), 1),
        "max_axis2_64x128x96": reduction("ReduceMax", (64, 128, 96), 2),
        "mean_hw_1x256x56x56": reduction("ReduceMean", (1, 256, 56, 56), 2, 3),
        "max_pool_64_k3s2_112": one_input(
            "MaxPool", (1, 64, 112, 112), kernel_shape=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1)
        ),
        "avg_pool_128_k2s2_56": one_input("AveragePool", (1, 128, 56, 56), kernel_shape=(2, 2), strides=(2, 2)),
        "global_avg_pool_2048_7": one_input("GlobalAveragePool", (1, 2048, 7, 7)),
        "resize_nearest_64_56": resize("nearest", 64, 56),
        "resize_linear_64_56": resize("linear", 64, 56),
        "grid_sample_nearest_64_56": grid_sample("nearest", 64, 56),
        "grid_sample_linear_64_56": grid_sample("linear", 64, 56),
        "grid_sample_cubic_3_224": grid_sample("cubic", 3, 224),
        "roi_align_100_s2": roi_align(100, 2),
        "roi_align_100_s0": roi_align(100, 0),
        "transpose_2d_2048": one_input("Transpose", (2048, 2048), perm=(1, 0)),
        "transpose_0213_128x12x64": one_input("Transpose", (1, 128, 12, 64), perm=(0, 2, 1, 3)),
        "transpose_nchw_nhwc_64_112": one_input("Transpose", (1, 64, 112, 112), perm=(0, 2, 3, 1)),
        "gather_32000x768_128": gather(32000, 768, 128),
        "concat_4x64x56x56": concat((1, 64, 56, 56), 4, 1),
        "concat_last_2x128x768": concat((128, 768), 2, 1),
    }
)  # fmt: skip
"""By name: family, extents, kernel `k`, stride `s`, dilation `d`, and the extent of an image or a sequence."""
