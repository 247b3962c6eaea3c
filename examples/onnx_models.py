"""Well-known networks as ONNX models, made from a seed: nothing is downloaded.

    python examples/onnx_models.py resnet18 -o resnet18.onnx
    python examples/onnx_models.py encoder -o bert.onnx --layers 12 --width 768 --heads 12 --feedforward 3072

Needs numpy and onnx only. The graphs are those that exporters write: batch normalisation as a node of its own,
shape arithmetic for a symbolic batch, attention out of MatMul, Transpose and Softmax, gelu out of Erf. Weights are
random, scaled (He et al. 2015, section 2.2) so that activations stay near 1 through the depth. One seed, one model.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclass(frozen=True)
class EncoderSize:
    """Extents of the transformer encoder. BERT-base is `EncoderSize(12, 768, 12, 3072, 128)`.

    With a `vocabulary` the input is `int64 [batch, sequence]`, looked up in a table; without one it is
    `float32 [batch, sequence, width]`.
    """

    layers: int = 4
    width: int = 256
    heads: int = 4
    feedforward: int = 1024
    sequence: int = 64
    vocabulary: int = 0


ENCODER_FIELDS = ("layers", "width", "heads", "feedforward", "sequence", "vocabulary")


@dataclass(frozen=True)
class Request:
    """What is asked of every model. `batch` is a number or the name of a symbolic dimension."""

    batch: int | str = 1
    image_size: tuple[int, int] = (224, 224)  # height, width
    seed: int = 0
    opset: int = 17
    classes: int = 1000
    fold_batch_norm: bool = False
    encoder: EncoderSize = EncoderSize()


class GraphBuilder:
    """Collects nodes and weights; every method returns the name of the value that it made."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[TensorProto] = []
        self._random = np.random.default_rng(request.seed)
        self._counts: dict[str, int] = {}

    def node(self, op: str, inputs: Sequence[str], name: str = "", **attributes: object) -> str:
        """One node with one output. Without a name it is called after its operator and a number, as exporters do."""
        number = self._counts.get(op, 0)
        self._counts[op] = number + 1
        name = name or f"{op}_{number}"
        output = f"{name}_output"
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=name, **attributes))
        return output

    def weight(self, name: str, array: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def normal(self, name: str, shape: Sequence[int], deviation: float, mean: float = 0.0) -> str:
        return self.weight(name, self.draw(shape, deviation, mean))

    def draw(self, shape: Sequence[int], deviation: float, mean: float = 0.0) -> np.ndarray:
        values = self._random.standard_normal(tuple(shape), dtype=np.float32)
        values *= np.float32(deviation)
        values += np.float32(mean)
        return values

    def scalar(self, name: str, value: float) -> str:
        return self.weight(name, np.asarray(value, dtype=np.float32))

    # Blocks that image networks share

    def conv(
        self, x: str, name: str, channels: tuple[int, int], kernel: int, stride: int = 1, padding: int = 0,
        groups: int = 1, gain: float = 2.0, bias: bool = True,
    ) -> str:  # fmt: skip
        """x[n, c, h, w] → [n, channels[1], h', w']. `gain` 2 makes up for a relu that follows, 1 for none."""
        fan_in = channels[0] // groups * kernel * kernel
        shape = (channels[1], channels[0] // groups, kernel, kernel)
        inputs = [x, self.normal(f"{name}.weight", shape, math.sqrt(gain / fan_in))]
        if bias:
            inputs.append(self.normal(f"{name}.bias", (channels[1],), 0.05))
        return self._conv_node(inputs, name, kernel, stride, padding, groups)

    def conv_norm(
        self, x: str, name: str, channels: tuple[int, int], kernel: int, stride: int = 1, padding: int = 0,
        groups: int = 1, gain: float = 2.0, scale: float = 1.0,
    ) -> str:  # fmt: skip
        """A convolution and its batch normalisation, as two nodes or folded into one; `scale` is the mean of gamma."""
        fan_in = channels[0] // groups * kernel * kernel
        weight = self.draw((channels[1], channels[0] // groups, kernel, kernel), math.sqrt(gain / fan_in))
        gamma = self.draw((channels[1],), 0.1 * scale, scale)
        beta, mean = self.draw((channels[1],), 0.1), self.draw((channels[1],), 0.1)
        variance = np.abs(self.draw((channels[1],), 0.1, 1.0))
        epsilon = 1e-5
        if self.request.fold_batch_norm:
            factor = gamma / np.sqrt(variance + np.float32(epsilon))
            inputs = [x, self.weight(f"{name}.weight", weight * factor[:, None, None, None]),
                      self.weight(f"{name}.bias", beta - mean * factor)]  # fmt: skip
            return self._conv_node(inputs, name, kernel, stride, padding, groups)
        y = self._conv_node([x, self.weight(f"{name}.weight", weight)], name, kernel, stride, padding, groups)
        statistics = {"weight": gamma, "bias": beta, "running_mean": mean, "running_var": variance}
        names = [self.weight(f"{name}.bn.{part}", array) for part, array in statistics.items()]
        return self.node("BatchNormalization", [y, *names], f"{name}.bn", epsilon=epsilon, momentum=0.9)

    def _conv_node(self, inputs: list[str], name: str, kernel: int, stride: int, padding: int, groups: int) -> str:
        return self.node(
            "Conv", inputs, name, dilations=[1, 1], group=groups, kernel_shape=[kernel, kernel],
            pads=[padding] * 4, strides=[stride, stride],
        )  # fmt: skip

    def relu(self, x: str) -> str:
        return self.node("Relu", [x])

    def max_pool(self, x: str, kernel: int, stride: int, padding: int = 0, ceil_mode: int = 0) -> str:
        return self.node(
            "MaxPool", [x], kernel_shape=[kernel, kernel], pads=[padding] * 4, strides=[stride, stride],
            ceil_mode=ceil_mode,
        )  # fmt: skip

    def linear(self, x: str, name: str, features: tuple[int, int], gain: float = 1.0, mean: float = 0.0) -> str:
        """x[batch, features[0]] → [batch, features[1]]"""
        weight = self.normal(f"{name}.weight", (features[1], features[0]), math.sqrt(gain / features[0]), mean)
        bias = self.normal(f"{name}.bias", (features[1],), 0.05)
        return self.node("Gemm", [x, weight, bias], name, alpha=1.0, beta=1.0, transB=1)

    def classifier(self, x: str, features: int) -> str:
        """Mean over the image, then one linear layer."""
        flat = self.node("Flatten", [self.node("GlobalAveragePool", [x])], axis=1)
        return self.linear(flat, "fc", (features, self.request.classes), gain=2.0)


def resnet18(graph: GraphBuilder, x: str) -> str:
    """He et al. 2015 (1512.03385), table 1: two 3×3 convolutions a block."""

    def body(x: str, name: str, inner: int, channels: tuple[int, int], stride: int) -> str:
        y = graph.relu(graph.conv_norm(x, f"{name}.conv1", (channels[0], inner), 3, stride, 1))
        return graph.conv_norm(y, f"{name}.conv2", (inner, inner), 3, 1, 1, gain=1.0, scale=0.5)

    return _resnet(graph, x, (2, 2, 2, 2), 1, body)


def resnet50(graph: GraphBuilder, x: str) -> str:
    """He et al. 2015 (1512.03385), table 1: 1×1, 3×3, 1×1 with the stride on the 3×3, as torchvision has it."""

    def body(x: str, name: str, inner: int, channels: tuple[int, int], stride: int) -> str:
        y = graph.relu(graph.conv_norm(x, f"{name}.conv1", (channels[0], inner), 1))
        y = graph.relu(graph.conv_norm(y, f"{name}.conv2", (inner, inner), 3, stride, 1))
        return graph.conv_norm(y, f"{name}.conv3", (inner, channels[1]), 1, gain=1.0, scale=0.5)

    return _resnet(graph, x, (3, 4, 6, 3), 4, body)


BlockBody = Callable[[str, str, int, tuple[int, int], int], str]


def _resnet(graph: GraphBuilder, x: str, blocks: Sequence[int], expansion: int, body: BlockBody) -> str:
    x = graph.relu(graph.conv_norm(x, "conv1", (3, 64), 7, 2, 3))
    x = graph.max_pool(x, 3, 2, 1)
    channels = 64
    for stage, count in enumerate(blocks):
        inner = 64 << stage
        for index in range(count):
            name, stride = f"layer{stage + 1}.{index}", 2 if stage and not index else 1
            shape = (channels, inner * expansion)
            shortcut = x
            if stride != 1 or shape[0] != shape[1]:
                shortcut = graph.conv_norm(x, f"{name}.downsample", shape, 1, stride, gain=1.0)
            x = graph.relu(graph.node("Add", [body(x, name, inner, shape, stride), shortcut]))
            channels = shape[1]
    return graph.classifier(x, channels)


def mobilenet_v2(graph: GraphBuilder, x: str) -> str:
    """Sandler et al. 2018 (1801.04381), table 2: inverted residuals with relu6 and linear bottlenecks."""

    def relu6(x: str) -> str:
        return graph.node("Clip", [x, lower, upper])

    lower, upper = graph.scalar("relu6.min", 0.0), graph.scalar("relu6.max", 6.0)
    x = relu6(graph.conv_norm(x, "features.0", (3, 32), 3, 2, 1))
    channels, number = 32, 1
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expansion, outer, count, first_stride in stages:
        for index in range(count):
            name, stride, inner = f"features.{number}", first_stride if not index else 1, channels * expansion
            y = x if expansion == 1 else relu6(graph.conv_norm(x, f"{name}.expand", (channels, inner), 1))
            y = relu6(graph.conv_norm(y, f"{name}.depthwise", (inner, inner), 3, stride, 1, groups=inner))
            residual = stride == 1 and channels == outer
            y = graph.conv_norm(y, f"{name}.project", (inner, outer), 1, scale=0.5 if residual else 1.0)
            x = graph.node("Add", [x, y]) if residual else y
            channels, number = outer, number + 1
    return graph.classifier(relu6(graph.conv_norm(x, "features.18", (320, 1280), 1)), 1280)


def squeezenet(graph: GraphBuilder, x: str) -> str:
    """Iandola et al. 2016 (1602.07360), version 1.1; its poolings round the number of windows up."""
    x = graph.relu(graph.conv(x, "features.0", (3, 64), 3, 2))
    channels = 64
    fires = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
    for number, (squeeze, expand) in enumerate(fires, start=2):
        if number in (2, 4, 6):
            x = graph.max_pool(x, 3, 2, ceil_mode=1)
        name = f"fire{number}"
        narrow = graph.relu(graph.conv(x, f"{name}.squeeze", (channels, squeeze), 1))
        sides = [
            graph.relu(graph.conv(narrow, f"{name}.expand{k}x{k}", (squeeze, expand), k, 1, k // 2)) for k in (1, 3)
        ]
        x = graph.node("Concat", sides, axis=1)
        channels = 2 * expand
    x = graph.relu(graph.conv(x, "classifier", (channels, graph.request.classes), 1))
    return graph.node("Flatten", [graph.node("GlobalAveragePool", [x])], axis=1)


def vgg16(graph: GraphBuilder, x: str) -> str:
    """Simonyan and Zisserman 2014 (1409.1556), configuration D. The first linear layer fits the image size."""
    channels, number = 3, 0
    height, width = graph.request.image_size
    for outer, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            x = graph.relu(graph.conv(x, f"features.{number}", (channels, outer), 3, 1, 1))
            channels, number = outer, number + 1
        x = graph.max_pool(x, 2, 2)
        height, width = height // 2, width // 2
    x = graph.node("Flatten", [x], axis=1)
    x = graph.relu(graph.linear(x, "classifier.0", (512 * height * width, 4096), gain=2.0))
    x = graph.relu(graph.linear(x, "classifier.1", (4096, 4096), gain=2.0))
    return graph.linear(x, "classifier.2", (4096, graph.request.classes))


def mlp(graph: GraphBuilder, x: str) -> str:
    """784 → 512 → 256 → 10, relu between, softmax at the end."""
    x = graph.relu(graph.linear(x, "fc1", (784, 512), gain=2.0))
    x = graph.relu(graph.linear(x, "fc2", (512, 256), gain=2.0))
    return graph.node("Softmax", [graph.linear(x, "fc3", (256, 10), gain=2.0)], axis=-1)


def encoder(graph: GraphBuilder, x: str) -> str:
    """Vaswani et al. 2017 (1706.03762), section 3.1, with gelu: the encoder of BERT."""
    size = graph.request.encoder
    source = x
    if size.vocabulary:
        x = graph.node("Gather", [graph.normal("embedding", (size.vocabulary, size.width), 1.0), x], axis=0)
        x = graph.node("Add", [x, graph.normal("positions", (1, size.sequence, size.width), 0.2)])
        x = _layer_norm(graph, x, "embedding.norm")
    for index in range(size.layers):
        name = f"layer{index}"
        x = _layer_norm(graph, graph.node("Add", [x, _attention(graph, x, source, name)]), f"{name}.norm1")
        hidden = _gelu(graph, _project(graph, x, f"{name}.up", (size.width, size.feedforward)), name)
        down = _project(graph, hidden, f"{name}.down", (size.feedforward, size.width))
        x = _layer_norm(graph, graph.node("Add", [x, down]), f"{name}.norm2")
    return x


def _project(graph: GraphBuilder, x: str, name: str, features: tuple[int, int]) -> str:
    """x[batch, sequence, features[0]] → [batch, sequence, features[1]]"""
    weight = graph.normal(f"{name}.weight", features, math.sqrt(1.0 / features[0]))
    product = graph.node("MatMul", [x, weight], f"{name}.matmul")
    return graph.node("Add", [graph.normal(f"{name}.bias", (features[1],), 0.05), product])


def _attention(graph: GraphBuilder, x: str, source: str, name: str) -> str:
    """softmax(q · kᵀ / √depth) · v by heads; `source` is a value whose axis 0 is the batch."""
    size = graph.request.encoder
    depth = size.width // size.heads

    def by_heads(part: str, order: list[int]) -> str:
        projected = _project(graph, x, f"{name}.{part}", (size.width, size.width))
        shape = _shape(graph, source, f"{name}.{part}", (size.sequence, size.heads, depth))
        return graph.node("Transpose", [graph.node("Reshape", [projected, shape])], perm=order)

    query, key, value = by_heads("q", [0, 2, 1, 3]), by_heads("k", [0, 2, 3, 1]), by_heads("v", [0, 2, 1, 3])
    scores = graph.node("MatMul", [query, key], f"{name}.scores")
    scaled = graph.node("Div", [scores, graph.scalar(f"{name}.root", math.sqrt(depth))])
    context = graph.node("MatMul", [graph.node("Softmax", [scaled], axis=-1), value], f"{name}.context")
    joined = graph.node("Transpose", [context], perm=[0, 2, 1, 3])
    shape = _shape(graph, source, f"{name}.join", (size.sequence, size.width))
    return _project(graph, graph.node("Reshape", [joined, shape]), f"{name}.out", (size.width, size.width))


def _shape(graph: GraphBuilder, source: str, name: str, rest: Sequence[int]) -> str:
    """The shape `(batch, *rest)`: a constant, or computed from `source` when the batch is symbolic."""
    if isinstance(graph.request.batch, int):
        return graph.weight(f"{name}.shape", np.asarray((graph.request.batch, *rest)))
    zero = graph.weight(f"{name}.zero", np.asarray(0))
    batch = graph.node("Gather", [graph.node("Shape", [source]), zero], axis=0)
    column = graph.node("Unsqueeze", [batch, graph.weight(f"{name}.axes", np.asarray([0]))])
    return graph.node("Concat", [column, graph.weight(f"{name}.rest", np.asarray(rest))], axis=0)


def _gelu(graph: GraphBuilder, x: str, name: str) -> str:
    """x / 2 · (1 + erf(x / √2)), in the five nodes that exporters write."""
    inner = graph.node("Erf", [graph.node("Div", [x, graph.scalar(f"{name}.sqrt2", math.sqrt(2.0))])])
    outer = graph.node("Add", [inner, graph.scalar(f"{name}.one", 1.0)])
    return graph.node("Mul", [graph.node("Mul", [x, outer]), graph.scalar(f"{name}.half", 0.5)])


def _layer_norm(graph: GraphBuilder, x: str, name: str) -> str:
    """Over the last axis: one node where the opset has it (17), else its formula."""
    width, epsilon = graph.request.encoder.width, 1e-5
    gamma, beta = graph.normal(f"{name}.weight", (width,), 0.1, 1.0), graph.normal(f"{name}.bias", (width,), 0.1)
    if graph.request.opset >= 17:
        return graph.node("LayerNormalization", [x, gamma, beta], name, axis=-1, epsilon=epsilon)
    centred = graph.node("Sub", [x, graph.node("ReduceMean", [x], axes=[-1], keepdims=1)])
    square = graph.node("Pow", [centred, graph.scalar(f"{name}.two", 2.0)])
    variance = graph.node("ReduceMean", [square], axes=[-1], keepdims=1)
    deviation = graph.node("Sqrt", [graph.node("Add", [variance, graph.scalar(f"{name}.epsilon", epsilon)])])
    scaled = graph.node("Mul", [graph.node("Div", [centred, deviation]), gamma])
    return graph.node("Add", [scaled, beta])


MODELS: dict[str, Callable[[GraphBuilder, str], str]] = {
    model.__name__: model for model in (resnet18, resnet50, mobilenet_v2, squeezenet, vgg16, encoder, mlp)
}


def build(
    name: str,
    batch: int | str = 1,
    image_size: tuple[int, int] = (224, 224),
    seed: int = 0,
    opset: int = 17,
    classes: int = 1000,
    fold_batch_norm: bool = False,
    encoder: EncoderSize = EncoderSize(),
) -> onnx.ModelProto:
    """The model called `name` (a key of `MODELS`), checked. Its input is `x`, its output `y`.

    `batch` may be a string, the name of a symbolic dimension; `image_size` is (height, width); `classes` does not
    concern `mlp` and `encoder`. Raises KeyError for an unknown name, ValueError for extents that do not fit.
    """
    request = Request(batch, image_size, seed, opset, classes, fold_batch_norm, encoder)
    if min(image_size) < 32:
        raise ValueError(f"the image must have at least 32 × 32 pixels, not {image_size}")
    if encoder.width % encoder.heads:
        raise ValueError(f"{encoder.heads} heads do not divide a width of {encoder.width}")
    graph = GraphBuilder(request)
    MODELS[name](graph, "x")
    graph.nodes[-1].output[0] = "y"
    x, y = _interface(name, request)
    proto = helper.make_graph(graph.nodes, name, [x], [y], graph.weights)
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(
        proto, opset_imports=opsets, ir_version=helper.find_min_ir_version_for(opsets), producer_name="onnx_models"
    )
    onnx.checker.check_model(model)
    return model


def _interface(name: str, request: Request) -> tuple[onnx.ValueInfoProto, onnx.ValueInfoProto]:
    size, batch, element = request.encoder, request.batch, TensorProto.FLOAT
    if name == "encoder":
        taken: list[int | str] = [batch, size.sequence, *([] if size.vocabulary else [size.width])]
        made: list[int | str] = [batch, size.sequence, size.width]
        element = TensorProto.INT64 if size.vocabulary else TensorProto.FLOAT
    elif name == "mlp":
        taken, made = [batch, 784], [batch, 10]
    else:
        taken, made = [batch, 3, *request.image_size], [batch, request.classes]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, made)
    return helper.make_tensor_value_info("x", element, taken), y


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write a well-known network, with random weights, as an ONNX model.")
    parser.add_argument("name", choices=sorted(MODELS))
    parser.add_argument("-o", "--output", type=Path, required=True, help="the file to write")
    parser.add_argument("--batch", default="1", help="a number, or the name of a symbolic dimension (default 1)")
    parser.add_argument("--image-size", type=int, nargs=2, default=(224, 224), metavar=("HEIGHT", "WIDTH"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--opset", type=int, default=17)
    parser.add_argument("--fold-batch-norm", action="store_true", help="fold batch normalisation into convolutions")
    for field in ENCODER_FIELDS:
        default = getattr(EncoderSize, field)
        parser.add_argument(f"--{field}", type=int, default=default, help=f"of the encoder (default {default})")
    given = parser.parse_args(arguments)
    batch = int(given.batch) if given.batch.isdecimal() else given.batch
    size = EncoderSize(**{field: getattr(given, field) for field in ENCODER_FIELDS})
    height, width = given.image_size
    model = build(
        given.name, batch, (height, width), given.seed, given.opset,
        fold_batch_norm=given.fold_batch_norm, encoder=size,
    )  # fmt: skip
    onnx.save(model, given.output)


if __name__ == "__main__":
    main()
