"""Small networks of tensors, drawn by Hypothesis: what passes on convolutions, products and layouts look for.

Weights and inputs are multiples of 1/4 and values are squashed now and then, so that rounding errors stay small beside
them. A draw of zeros is the smallest network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

import relay
from relay.ir.expr import Expr, Function, Var
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from tests.programs.generate import Program

MOST_STEPS = 12
CHANNELS = (2, 4, 16)
Step: TypeAlias = Callable[["_Network", Expr], Expr]


def shape_of(value: Expr) -> tuple[int, ...]:
    type_ = value.checked_type
    assert isinstance(type_, TensorType)
    return tuple(extent for extent in type_.shape if isinstance(extent, int))


@dataclass(slots=True, eq=False)
class _Network:
    """The values of a network so far; images are NCHW."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    params: list[Var] = field(default_factory=list)
    values: list[Expr] = field(default_factory=list)

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def one_of(self, options: Any) -> Any:
        return options[self.number(0, len(options) - 1)]

    def quarters(self, shape: tuple[int, ...], low: int = -4, high: int = 4) -> np.ndarray[Any, Any]:
        """Multiples of 1/4 in [low/4, high/4]."""
        random = np.random.default_rng(self.number(0, 7))
        return np.asarray(random.integers(low, high + 1, shape) / 4, np.float32)

    def weights(self, *shape: int) -> Expr:
        return relay.const(self.quarters(shape))

    def bytes(self, *shape: int) -> Expr:
        return relay.const((self.quarters(shape) * 4).astype(np.int8))

    def inputs(self, rank: int) -> list[Var]:
        return [each for each in self.params if len(shape_of(each)) == rank]

    def input(self) -> None:
        shape = self.one_of(
            [(3, 4), (1, 2, 5, 6), (2, 3, 4), (2, 4, 7, 5), (4, 16), (1, 16, 4, 4), (2, 4, 4), (1, 4, 3, 3), (2, 16, 4)]
        )
        var = relay.var(f"x{len(self.params)}", shape=shape)
        self.params.append(var)
        self.values.append(var)

    def step(self) -> None:
        """One more value, mostly from the last: what nothing uses is no part of the program."""
        value = self.values[-1 if self.number(0, 2) else self.number(0, len(self.values) - 1)]
        particular = BY_RANK.get(len(shape_of(value)), ())
        steps = particular if particular and self.number(0, 2) else ANY_RANK
        self.values.append(self.one_of(steps)(self, value))

    def other(self, value: Expr) -> Expr:
        """A value of the same shape: one that is there, or a constant."""
        same = [each for each in self.values if shape_of(each) == shape_of(value)]
        return self.one_of(same) if self.number(0, 2) else self.weights(*shape_of(value))


# --------------------------------------------------------------------------------------------------- any number of axes


def _unary(net: _Network, x: Expr) -> Expr:
    return net.one_of([relay.nn.relu, relay.tanh, relay.sigmoid, relay.negative, relay.abs])(x)


def _scalar(net: _Network, x: Expr) -> Expr:
    operator = net.one_of([relay.add, relay.subtract, relay.multiply, relay.maximum, relay.divide])
    number = relay.const(np.float32(net.one_of([1, 2, 0.5, -1])))
    return operator(x, number) if operator is relay.divide or net.number(0, 1) else operator(number, x)


def _root(net: _Network, x: Expr) -> Expr:
    above = relay.add(relay.abs(x), relay.const(np.float32(1)))
    return net.one_of([relay.sqrt, relay.rsqrt, relay.log])(above)


def _power(net: _Network, x: Expr) -> Expr:
    return relay.power(relay.tanh(x), relay.const(np.float32(net.number(1, 3))))


def _binary(net: _Network, x: Expr) -> Expr:
    return net.one_of([relay.add, relay.subtract, relay.maximum])(x, net.other(x))


def _product(net: _Network, x: Expr) -> Expr:
    return relay.multiply(relay.tanh(x), net.other(x))


def _chosen(net: _Network, x: Expr) -> Expr:
    """By an input or a constant: rounding must not change which is taken."""
    same = [each for each in net.params if shape_of(each) == shape_of(x)]
    condition = same[0] if same else net.weights(*shape_of(x))
    return relay.where(relay.greater(condition, relay.const(np.float32(0))), x, net.other(x))


def _cast(net: _Network, x: Expr) -> Expr:
    """There and back; with another result only for an input, where rounding has not yet happened."""
    other = net.one_of(["float64", "float16", "int32"]) if isinstance(x, Var) else "float64"
    return relay.cast(relay.cast(x, other), "float32")


def _widened(net: _Network, x: Expr) -> Expr:
    """Narrow numbers that several operators use wider."""
    wide = relay.cast(relay.cast(x, "float16") if isinstance(x, Var) else x, "float64")
    return relay.cast(relay.add(relay.tanh(wide), relay.abs(wide)), "float32")


def _sum(net: _Network, x: Expr) -> Expr:
    axis = net.number(0, len(shape_of(x)) - 1)
    return relay.multiply(relay.sum(x, axis=axis, keepdims=True), relay.const(np.float32(0.25)))


def _softmax(net: _Network, x: Expr) -> Expr:
    return net.one_of([relay.nn.softmax, relay.nn.log_softmax])(x, axis=net.number(-1, 0))


def _joined(net: _Network, x: Expr) -> Expr:
    axis = net.number(0, len(shape_of(x)) - 1)
    return relay.concatenate([x, net.other(x)], axis=axis)


def _parted(net: _Network, x: Expr) -> Expr:
    shape = shape_of(x)
    even = [axis for axis, extent in enumerate(shape) if extent % 2 == 0]
    if not even:
        return relay.copy(x)
    first, second = relay.split(x, 2, axis=net.one_of(even))
    return relay.add(first, second) if net.number(0, 1) else second


def _sliced(net: _Network, x: Expr) -> Expr:
    rank = len(shape_of(x))
    return relay.strided_slice(x, begin=(0,) * rank, end=tuple(max(1, extent - 1) for extent in shape_of(x)))


def _turned(net: _Network, x: Expr) -> Expr:
    axes = net.draw(st.permutations(range(len(shape_of(x)))))
    turned = relay.transpose(x, axes)
    return turned if net.number(0, 1) else relay.transpose(turned, [axes.index(axis) for axis in range(len(axes))])


def _reshaped(net: _Network, x: Expr) -> Expr:
    shape = shape_of(x)
    flat = relay.reshape(x, (-1,))
    return relay.reshape(flat, shape) if net.number(0, 1) else relay.reshape(flat, (shape[0], -1))


def _padded_by_shape(net: _Network, x: Expr) -> Expr:
    """What is known of a shape only as a tensor."""
    shape = relay.const(np.asarray(shape_of(x), np.int64))
    match net.number(0, 2):
        case 0:
            return relay.reshape(relay.dyn.reshape(x, shape), shape_of(x))
        case 1:
            wide = relay.dyn.broadcast_to(x, relay.concatenate([relay.const([2], "int64"), shape], axis=0))
            return relay.reshape(relay.max(wide, axis=0), shape_of(x))
        case _:
            return relay.add(relay.reshape(relay.dyn.ones(relay.shape_of(x)), shape_of(x)), x)


def _placed(net: _Network, x: Expr) -> Expr:
    """On a device of its own, where it is brought and taken from."""
    there = relay.annotation.on_device(_unary(net, x), "cuda")
    return net.one_of([relay.annotation.on_device, lambda value, _: value])(relay.tanh(there), "cuda")


# --------------------------------------------------------------------------------------------------------------- images


def _as_bytes(x: Expr) -> Expr:
    return relay.cast(relay.multiply(x, relay.const(np.float32(4))), "int8")


def _convolution(net: _Network, x: Expr) -> Expr:
    channels, height, width = shape_of(x)[1:]
    extent = min(net.one_of([1, 3, 3]), height, width)
    groups = net.one_of([1, 1, 1, 2 if channels % 2 == 0 else 1])
    kernel = net.weights(net.one_of(CHANNELS), channels // groups, extent, extent)
    if net.number(0, 3) == 3 and extent == 3:
        x = relay.nn.pad(x, ((0, 0), (0, 0), (1, 1), (0, 2)))
    strides = net.one_of([1, 1, 2])
    return relay.nn.conv2d(x, kernel, strides=strides, padding=net.number(0, extent // 2), groups=groups)


def _transposed_convolution(net: _Network, x: Expr) -> Expr:
    channels, width = shape_of(x)[1], shape_of(x)[3]
    outputs, extent = net.one_of(CHANNELS), net.number(2, 3)
    kernel = net.weights(channels, outputs, extent, extent)
    strides, cut = net.number(1, 2), net.number(0, min(1, width - 1))
    return relay.nn.conv2d_transpose(
        x, kernel, strides=(strides, 2), padding=(0, cut), channels=outputs, kernel_size=(extent, extent)
    )


def _byte_convolution(net: _Network, x: Expr) -> Expr:
    """Of bytes: of an input, where rounding has not yet happened."""
    images = net.inputs(4)
    if not images:
        return _convolution(net, x)
    image = net.one_of(images)
    kernel = net.bytes(net.one_of(CHANNELS), shape_of(image)[1], 2, 2)
    sums = relay.nn.conv2d(_as_bytes(image), kernel, padding=net.number(0, 1), out_dtype="int32")
    return relay.multiply(relay.cast(sums, "float32"), relay.const(np.float32(1 / 64)))


def _padded(net: _Network, x: Expr) -> Expr:
    """What is in front of it pads."""
    channels, height, width = shape_of(x)[1:]
    padded = relay.nn.pad(x, ((0, 0), (0, 0), (1, 1), (0, 2)))
    if min(height, width) < 2 or net.number(0, 2) == 0:
        return relay.nn.avg_pool2d(padded, (2, 2), count_include_pad=True)
    return relay.nn.conv2d(padded, net.weights(net.one_of(CHANNELS), channels, 2, 2))


def _scaled(net: _Network, x: Expr) -> Expr:
    """A convolution between scales by channel."""
    channels = shape_of(x)[1]
    scale = relay.const(net.quarters((channels, 1, 1), 1, 4))
    before = relay.multiply(x, scale)
    outputs = net.one_of(CHANNELS)
    made = relay.nn.conv2d(relay.nn.relu(before) if net.number(0, 1) else before, net.weights(outputs, channels, 1, 1))
    return relay.multiply(made, relay.const(net.quarters((outputs, 1, 1), 1, 4))) if net.number(0, 1) else made


def _branches(net: _Network, x: Expr) -> Expr:
    """Convolutions of one value, side by side."""
    channels = shape_of(x)[1]
    made = [relay.nn.conv2d(x, net.weights(net.one_of(CHANNELS), channels, 1, 1)) for _ in range(net.number(2, 3))]
    return relay.concatenate([relay.nn.relu(each) if net.number(0, 1) else each for each in made], axis=1)


def _channels(net: _Network, x: Expr) -> Expr:
    """A number for each channel, added or multiplied."""
    channels = shape_of(x)[1]
    match net.number(0, 3):
        case 0:
            return relay.nn.bias_add(x, net.weights(channels))
        case 1:
            return relay.add(x, net.weights(channels, 1, 1))
        case 2:
            return relay.multiply(x, relay.const(net.quarters((channels, 1, 1), 1, 4)))
        case _:
            return relay.multiply(x, net.weights(channels, 1, 1))


def _batch_norm(net: _Network, x: Expr) -> Expr:
    channels = shape_of(x)[1]
    variance = relay.const(net.quarters((channels,), 1, 4))
    three = [net.weights(channels) for _ in range(3)]
    return relay.nn.batch_norm(x, *three, variance)[0]


def _pooled(net: _Network, x: Expr) -> Expr:
    pool = net.one_of([relay.nn.max_pool2d, relay.nn.avg_pool2d])
    extent = 2 if min(shape_of(x)[2:]) > 1 else 1
    return pool(x, (extent, extent), strides=net.number(1, 2), padding=net.number(0, extent - 1))


def _globally_pooled(net: _Network, x: Expr) -> Expr:
    return relay.nn.global_avg_pool2d(x)


def _flat(net: _Network, x: Expr) -> Expr:
    return relay.nn.batch_flatten(x)


# ------------------------------------------------------------------------------------------------------------- matrices


def _layer(net: _Network, x: Expr) -> Expr:
    units = net.one_of([3, 4, 16])
    made = relay.nn.dense(x, net.weights(units, shape_of(x)[-1]))
    return relay.nn.bias_add(made, net.weights(units), axis=-1) if net.number(0, 1) else made


def _narrow_layer(net: _Network, x: Expr) -> Expr:
    """Of bytes or bfloat16: of an input, with weights of which no sum is rounded."""
    rows = net.inputs(2)
    if not rows:
        return _layer(net, x)
    data = net.one_of(rows)
    depth = shape_of(data)[1]
    if net.number(0, 1):
        sums = relay.nn.dense(_as_bytes(data), net.bytes(5, depth), out_dtype="int32")
        return relay.multiply(relay.cast(sums, "float32"), relay.const(np.float32(1 / 64)))
    weight = relay.const(net.quarters((5, depth), -1, 1), "bfloat16")
    return relay.cast(relay.nn.relu(relay.nn.dense(relay.cast(data, "bfloat16"), weight)), "float32")


def _layers(net: _Network, x: Expr) -> Expr:
    """Dense layers on one value, side by side."""
    inputs = shape_of(x)[-1]
    made = [relay.nn.dense(x, net.weights(net.one_of([3, 4]), inputs)) for _ in range(net.number(3, 4))]
    return relay.concatenate(made, axis=-1)


def _matrix(net: _Network, x: Expr) -> Expr:
    return relay.nn.matmul(x, net.weights(shape_of(x)[1], net.one_of([2, 5])))


def _outer_products(net: _Network, x: Expr) -> Expr:
    """A sum of products that sum over few rows: what the uses of one weight give to its gradient."""
    rows = [relay.sum(relay.tanh(x), axis=0, keepdims=True), net.weights(1, shape_of(x)[1])]
    first, second = (relay.nn.matmul(each, net.weights(1, 16), transpose_a=True) for each in rows)
    return relay.add(first, second)


def _layer_norm(net: _Network, x: Expr) -> Expr:
    extent = shape_of(x)[-1]
    return relay.nn.layer_norm(x, net.weights(extent), net.weights(extent))


def _batch_product(net: _Network, x: Expr) -> Expr:
    batch, _, inner = shape_of(x)
    return relay.nn.batch_matmul(x, net.weights(batch, net.one_of([2, 4]), inner))


def _batch_products(net: _Network, x: Expr) -> Expr:
    batch, _, inner = shape_of(x)
    made = [relay.nn.batch_matmul(x, net.weights(batch, net.one_of([2, 4]), inner)) for _ in range(3)]
    return relay.concatenate(made, axis=2)


def _attention(net: _Network, x: Expr) -> Expr:
    """Of one value, its own keys and values."""
    batch, length, inner = shape_of(x)
    keys, values = (net.other(x) if net.number(0, 1) else net.weights(batch, length, inner) for _ in range(2))
    scores = relay.multiply(relay.nn.batch_matmul(x, keys), relay.const(np.float32(net.one_of([0.5, 0.25]))))
    if net.number(0, 1):
        scores = relay.add(scores, net.weights(length, length))
    return relay.nn.batch_matmul(relay.nn.softmax(scores), values, transpose_b=False)


RARE: tuple[Step, ...] = (_padded_by_shape, _padded_by_shape, _placed, _power, _cast, _widened)
"""What few passes look for, and no other step makes."""
ANY_RANK: tuple[Step, ...] = (
    _unary, _scalar, _root, _binary, _product, _chosen, _sum, _softmax, _joined, _parted, _sliced, _turned, _reshaped,
    *RARE, *RARE,
)  # fmt: skip
BY_RANK: dict[int, tuple[Step, ...]] = {
    4: (_convolution, _padded, _branches, _scaled, _channels) * 3
    + (
        _batch_norm,
        _pooled,
        _globally_pooled,
        _flat,
        _transposed_convolution,
        _transposed_convolution,
        _byte_convolution,
    ),
    3: (_batch_product, _batch_products, _batch_products, _attention, _attention, _layer_norm),
    2: (_layer, _layer, _narrow_layer, _narrow_layer, _layers, _layers, _matrix, _layer_norm, *(_outer_products,) * 6),
}


@st.composite
def networks(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Program:
    """A network with one or two inputs, and arguments for them."""
    net = _Network(draw)
    for _ in range(net.number(1, 2)):
        net.input()
    for _ in range(net.number(1, MOST_STEPS)):
        net.step()
    result: Expr = net.values[-1]
    if net.number(0, 2) == 2:
        result = relay.Tuple((result, net.values[-1 - min(2, len(net.values) - 1)]))
    module = IRModule.from_expr(Function(tuple(net.params), result))
    return Program(module, tuple(net.quarters(shape_of(param), -8, 8) for param in net.params))
