"""The training steps that `training` measures: losses as programs, weights, a batch, and how weights are updated.

A step is one program: the loss, its gradient and the update, which is given the memory of weights and of the
optimiser's state. Those it is compared with are not imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import relay
from benchmarks.training_updates import ADAM, ADAMW, MOMENTUM, SGD, Update
from relay import nn, op
from relay.testing.programs import tree_lstm

MLP_WIDTHS, MLP_BATCH = (784, 512, 512, 10), 64
LSTM_INPUTS, LSTM_HIDDEN, LSTM_BATCH, LSTM_STEPS = 128, 256, 16, 32
IMAGES, CLASSES = 8, 1000
RESNET_IMAGE, RESNET_STAGES = 64, ((64, 1), (128, 2), (256, 2), (512, 2))
MOBILENET_IMAGE = 96
MOBILENET_STAGES = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)  # fmt: skip
"""(expansion, channels, repeats, stride of the first)"""
LAYERS, WIDTH, HEADS, FEEDFORWARD, VOCABULARY = 6, 512, 8, 2048, 1000
TOKENS = (4, 128)
TREES, LEAVES, TREE_HIDDEN = 8, (150 + 4) // 8, 128

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """A loss `@main(weights…, batch…)`, the weights by name, the batch, and the update."""

    loss: relay.IRModule
    weights: Mapping[str, Array]
    batch: tuple[Any, ...]
    update: Update

    @property
    def given_away(self) -> tuple[str, ...]:
        """The inputs of a step whose memory its results take, in order."""
        return (*self.weights, *self.update.state_names(self.weights))

    def step(self) -> relay.IRModule:
        """`@main(weights…, state…, batch…)` → the loss, and the weights and the state after the step."""
        loss, given = relay.GlobalVar("loss"), self.loss["main"].params
        names, places = list(self.weights), [at for at, each in enumerate(given) if each.name_hint in self.weights]
        arguments = {each.name_hint: relay.var(each.name_hint, each.type_annotation) for each in given}
        both = relay.Call(relay.value_and_grad(loss, wrt=places), list(arguments.values()))
        gradients = {name: relay.TupleGetItem(relay.TupleGetItem(both, 1), at) for at, name in enumerate(names)}
        state, results = self.update.applied({name: arguments[name] for name in names}, gradients)
        inputs = [arguments[name] for name in names] + state
        inputs += [each for name, each in arguments.items() if name not in self.weights]
        main = relay.Function(inputs, relay.Tuple([relay.TupleGetItem(both, 0), *results]))
        functions = {name: each for name, each in self.loss.functions.items() if name.name_hint != "main"}
        module = self.loss.with_functions({**functions, loss: self.loss["main"], relay.GlobalVar("main"): main})
        return relay.transform.infer_type(module)

    def build(self) -> relay.Executable:
        return relay.build(self.step(), opt_level=3, donate=self.given_away)

    def arrays(self) -> list[Array]:
        """Copies of the weights, and the state that the first step is given."""
        weights = {name: each.copy() for name, each in self.weights.items()}
        return [*weights.values(), *self.update.first_state(weights)]

    def call(self, executable: relay.Executable | None = None) -> Callable[[], tuple[Array, ...]]:
        """Steps, one after another, on arrays of their own; each gives the loss and then those arrays."""
        made, arrays = executable or self.build(), self.arrays()
        return lambda: made(*arrays, *self.batch)

    def gradients(self, arrays: Sequence[Array]) -> list[Array]:
        """What the first step found, told from the weights and the state that it left."""
        return self.update.gradients(self.weights, arrays)


class Net:
    """Layers, whose weights become parameters as they are made: `weights`, by name."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)
        self.weights: dict[str, Array] = {}
        self.vars: list[relay.Var] = []

    def weight(self, name: str, *shape: int, fan_in: int = 0, value: float = 0.0) -> relay.Var:
        """Normal with variance 1 / fan-in, or all the same."""
        drawn = self.random.standard_normal(shape, dtype=np.float32) / np.float32(max(fan_in, 1)) ** 0.5
        self.weights[name] = drawn if fan_in else np.full(shape, value, np.float32)
        self.vars.append(relay.var(name, shape=shape))
        return self.vars[-1]

    def dense(self, x: relay.Expr, name: str, inputs: int, units: int) -> relay.Expr:
        product = nn.dense(x, self.weight(f"{name}_w", units, inputs, fan_in=inputs))
        return nn.bias_add(product, self.weight(f"{name}_b", units), axis=-1)

    def conv(
        self, x: relay.Expr, name: str, channels: tuple[int, int], size: int, stride: int = 1, groups: int = 1
    ) -> relay.Expr:
        """From and to `channels`, without bias, padded so that only the stride makes images smaller."""
        inputs, outputs = channels[0] // groups, channels[1]
        weight = self.weight(f"{name}_w", outputs, inputs, size, size, fan_in=inputs * size * size)
        padding = (size // 2, size // 2)
        return nn.conv2d(x, weight, strides=(stride, stride), padding=padding, groups=groups, channels=outputs,
                         kernel_size=(size, size))  # fmt: skip

    def batch_norm(self, x: relay.Expr, name: str, channels: int) -> relay.Expr:
        """By the mean and the variance of the batch."""
        gamma, beta = self.weight(f"{name}_g", channels, value=1), self.weight(f"{name}_b", channels)
        statistics = op.mean(x, axis=[0, 2, 3]), op.variance(x, axis=[0, 2, 3])
        return nn.batch_norm(x, gamma, beta, *statistics)[0]

    def layer_norm(self, x: relay.Expr, name: str, width: int) -> relay.Expr:
        return nn.layer_norm(x, self.weight(f"{name}_g", width, value=1), self.weight(f"{name}_b", width))

    def training(self, loss: relay.Expr, batch: Mapping[relay.Var, Any], update: Update) -> Training:
        module = relay.IRModule.from_expr(relay.Function([*self.vars, *batch], loss))
        return Training(relay.transform.infer_type(module), self.weights, tuple(batch.values()), update)


def cross_entropy(logits: relay.Expr, labels: relay.Expr, classes: int) -> relay.Expr:
    """The mean over rows of logits[rows, classes] for labels[rows]."""
    chosen = op.one_hot(labels, 1.0, 0.0, classes, -1, "float32")
    return op.negative(op.mean(op.sum(op.multiply(nn.log_softmax(logits), chosen), axis=-1)))


def mlp() -> Training:
    """784–512–512–10 with relu over rows of digits."""
    net, data = Net(), relay.var("data", shape=(MLP_BATCH, MLP_WIDTHS[0]))
    labels, x = relay.var("labels", shape=(MLP_BATCH,), dtype="int64"), data
    for layer, (inputs, units) in enumerate(pairwise(MLP_WIDTHS)):
        x = net.dense(nn.relu(x) if layer else x, f"fc{layer}", inputs, units)
    batch = {data: _drawn(*data.checked_type.shape), labels: _numbers(MLP_WIDTHS[-1], MLP_BATCH)}
    return net.training(cross_entropy(x, labels, MLP_WIDTHS[-1]), batch, SGD)


def lstm() -> Training:
    """A layer over sequences, and the mean square of what its states differ from targets."""
    shape = (LSTM_STEPS, LSTM_BATCH)
    xs, targets = relay.var("xs", shape=(*shape, LSTM_INPUTS)), relay.var("targets", shape=(*shape, LSTM_HIDDEN))
    net = Net()
    gates = 4 * LSTM_HIDDEN
    w_ih = net.weight("w_ih", gates, LSTM_INPUTS, fan_in=LSTM_INPUTS)
    w_hh = net.weight("w_hh", gates, LSTM_HIDDEN, fan_in=LSTM_HIDDEN)
    b_ih, b_hh = net.weight("b_ih", gates), net.weight("b_hh", gates)
    rows = op.add(nn.dense(xs, w_ih), b_ih)
    h = c = op.zeros((LSTM_BATCH, LSTM_HIDDEN), "float32")
    outputs: list[relay.Expr] = []
    for t in range(LSTM_STEPS):
        row = op.reshape(op.strided_slice(rows, [t], [t + 1], axes=[0]), (LSTM_BATCH, gates))
        i, f, g, o = op.split(op.add(op.add(nn.dense(h, w_hh), b_hh), row), 4, axis=1)
        c = op.add(op.multiply(op.sigmoid(f), c), op.multiply(op.sigmoid(i), op.tanh(g)))
        h = op.multiply(op.sigmoid(o), op.tanh(c))
        outputs.append(h)
    off = op.subtract(op.stack(outputs, 0), targets)
    batch = {xs: _drawn(*shape, LSTM_INPUTS), targets: _drawn(*shape, LSTM_HIDDEN)}
    return net.training(op.mean(op.multiply(off, off)), batch, ADAM)


def resnet18() -> Training:
    """He et al. 2016, 1512.03385, with batch norm of the batch."""
    net, data = Net(), relay.var("data", shape=(IMAGES, 3, RESNET_IMAGE, RESNET_IMAGE))

    def block(x: relay.Expr, name: str, inputs: int, channels: int, stride: int) -> relay.Expr:
        y = nn.relu(net.batch_norm(net.conv(x, f"{name}_1", (inputs, channels), 3, stride), f"{name}_n1", channels))
        y = net.batch_norm(net.conv(y, f"{name}_2", (channels, channels), 3), f"{name}_n2", channels)
        if stride > 1 or inputs != channels:
            x = net.batch_norm(net.conv(x, f"{name}_s", (inputs, channels), 1, stride), f"{name}_ns", channels)
        return nn.relu(op.add(y, x))

    before = RESNET_STAGES[0][0]
    x = nn.relu(net.batch_norm(net.conv(data, "first", (3, before), 7, 2), "first_n", before))
    x = nn.max_pool2d(x, (3, 3), (2, 2), padding=(1, 1))
    for stage, (channels, stride) in enumerate(RESNET_STAGES):
        for unit in range(2):
            x = block(x, f"s{stage}u{unit}", before, channels, 1 if unit else stride)
            before = channels
    return _classifying(net, data, net.dense(_averaged(x, before), "fc", before, CLASSES))


def mobilenet_v2() -> Training:
    """Sandler et al. 2018, 1801.04381, table 2, with batch norm of the batch."""
    net, data = Net(), relay.var("data", shape=(IMAGES, 3, MOBILENET_IMAGE, MOBILENET_IMAGE))

    def layer(
        x: relay.Expr, name: str, channels: tuple[int, int], size: int, stride: int = 1, groups: int = 1
    ) -> relay.Expr:
        return net.batch_norm(net.conv(x, name, channels, size, stride, groups), f"{name}_n", channels[1])

    def relu6(x: relay.Expr) -> relay.Expr:
        return op.clip(x, 0.0, 6.0)

    before, number = 32, 0
    x = relu6(layer(data, "first", (3, before), 3, 2))
    for expansion, channels, repeats, first in MOBILENET_STAGES:
        for unit in range(repeats):
            name, inner, stride = f"b{number}", before * expansion, 1 if unit else first
            y = x if expansion == 1 else relu6(layer(x, f"{name}_up", (before, inner), 1))
            y = relu6(layer(y, f"{name}_of_each", (inner, inner), 3, stride, inner))
            y = layer(y, f"{name}_down", (inner, channels), 1)
            x = op.add(x, y) if stride == 1 and before == channels else y
            before, number = channels, number + 1
    x = relu6(layer(x, "last", (before, 1280), 1))
    return _classifying(net, data, net.dense(_averaged(x, 1280), "fc", 1280, CLASSES))


def _averaged(x: relay.Expr, channels: int) -> relay.Expr:
    return op.reshape(nn.global_avg_pool2d(x), (IMAGES, channels))


def _classifying(net: Net, data: relay.Var, logits: relay.Expr) -> Training:
    labels = relay.var("labels", shape=(IMAGES,), dtype="int64")
    batch = {data: _drawn(*data.checked_type.shape), labels: _numbers(CLASSES, IMAGES)}
    return net.training(cross_entropy(logits, labels, CLASSES), batch, MOMENTUM)


def transformer() -> Training:
    """An encoder that normalises first (Xiong et al. 2020, 2002.04745), from tokens to logits of tokens."""
    net, tokens = Net(), relay.var("tokens", shape=TOKENS, dtype="int64")
    labels, depth = relay.var("labels", shape=(TOKENS[0] * TOKENS[1],), dtype="int64"), WIDTH // HEADS

    def by_heads(x: relay.Expr) -> relay.Expr:
        apart = op.transpose(op.reshape(x, (*TOKENS, HEADS, depth)), (0, 2, 1, 3))
        return op.reshape(apart, (TOKENS[0] * HEADS, TOKENS[1], depth))

    def attention(x: relay.Expr, name: str) -> relay.Expr:
        q, k, v = map(by_heads, op.split(net.dense(x, f"{name}_qkv", WIDTH, 3 * WIDTH), 3, axis=-1))
        scores = op.multiply(nn.batch_matmul(q, k), relay.const(depth**-0.5, "float32"))
        context = op.reshape(nn.batch_matmul(nn.softmax(scores), v, transpose_b=False), (TOKENS[0], HEADS, -1, depth))
        joined = op.reshape(op.transpose(context, (0, 2, 1, 3)), (*TOKENS, WIDTH))
        return net.dense(joined, f"{name}_out", WIDTH, WIDTH)

    x = op.take(net.weight("embedding", VOCABULARY, WIDTH, fan_in=1), tokens, axis=0)
    for layer in range(LAYERS):
        name = f"l{layer}"
        x = op.add(x, attention(net.layer_norm(x, f"{name}_n1", WIDTH), name))
        up = nn.gelu(net.dense(net.layer_norm(x, f"{name}_n2", WIDTH), f"{name}_up", WIDTH, FEEDFORWARD))
        x = op.add(x, net.dense(up, f"{name}_down", FEEDFORWARD, WIDTH))
    logits = net.dense(net.layer_norm(x, "last_n", WIDTH), "head", WIDTH, VOCABULARY)
    rows = op.reshape(logits, (TOKENS[0] * TOKENS[1], VOCABULARY))
    batch = {tokens: _numbers(VOCABULARY, *TOKENS), labels: _numbers(VOCABULARY, TOKENS[0] * TOKENS[1])}
    return net.training(cross_entropy(rows, labels, VOCABULARY), batch, ADAMW)


def tree() -> Training:
    """Trees of different shapes, and the sum of the squares of what their roots are."""
    tree_type, weights = tree_lstm.tree_type(TREE_HIDDEN), tree_lstm.parameters(TREE_HIDDEN, TREE_HIDDEN)
    encode, hidden = tree_lstm.tree_lstm(tree_type, TREE_HIDDEN, TREE_HIDDEN), TREE_HIDDEN

    @relay.function
    def loss(
        w_leaf: relay.Tensor[(3 * hidden, hidden)], b_leaf: relay.Tensor[(3 * hidden,)],
        w_node: relay.Tensor[(5 * hidden, 2 * hidden)], b_node: relay.Tensor[(5 * hidden,)], trees: list[tree_type],
    ):  # fmt: skip
        total = 0.0
        for h, c in [encode(each, w_leaf, b_leaf, w_node, b_node) for each in trees]:
            total = total + op.sum(h * h) + op.sum(c * c)
        return total

    random = np.random.default_rng(0)
    trees = [tree_lstm.random_tree(tree_type, LEAVES, TREE_HIDDEN, random) for _ in range(TREES)]
    return Training(loss.module, weights, (trees,), SGD)


def _drawn(*shape: Any) -> Array:
    return np.random.default_rng(1).standard_normal(shape, dtype=np.float32)


def _numbers(limit: int, *shape: int) -> Array:
    return np.random.default_rng(2).integers(0, limit, shape)


TRAININGS: Mapping[str, Callable[[], Training]] = MappingProxyType(
    {
        "train_mlp_b64": mlp,
        "train_lstm_h256": lstm,
        "train_resnet18_b8": resnet18,
        "train_mobilenet_v2_b8": mobilenet_v2,
        "train_transformer_6x512": transformer,
        "train_treelstm_h128": tree,
    }
)
