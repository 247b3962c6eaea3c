"""Programs in which what is fused may be read at several places, each drawn by a number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import relay
from relay import nn
from relay.ir.expr import Expr, Function, Var
from tests.targets.cpu.groups import shape_of

Step = Callable[["Draws", Expr], Expr]


class Draws:
    """A program under construction: what was drawn so far, and its parameters."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.parameters: list[Var] = []

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def parameter(self, *shape: int) -> Var:
        self.parameters.append(relay.var(f"p{len(self.parameters)}", shape=shape, dtype="float32"))
        return self.parameters[-1]

    def weight(self, *shape: int) -> Expr:
        return relay.const((self.random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32))


def program(seed: int) -> Function:
    """A function of one to a few tensors: up to ten operators in a row, some of which read a value twice."""
    draws = Draws(seed)
    shape = draws.pick((96,), (40, 64), (64, 40), (256, 256), (1, 16, 14, 14), (1, 32, 28, 28), (2, 8, 24, 24))
    value: Expr = draws.parameter(*shape)
    for _ in range(draws.random.integers(2, 11)):
        rank = len(shape_of(value))
        steps = [*ANYWHERE, *(ON_IMAGES if rank == 4 else ()), *(ON_MATRICES if rank == 2 else ())]
        if np.prod(shape_of(value)) < SMALLEST:
            steps = [step for step in steps if step not in SHRINKING]
        if np.prod(shape_of(value)) > LARGEST:
            steps = [step for step in steps if step not in GROWING]
        value = draws.pick(*steps)(draws, value)
    return Function(draws.parameters, value)


SMALLEST, LARGEST = 64, 1 << 17
"""Elements of values that steps may still make fewer, or more."""


def unary(draws: Draws, x: Expr) -> Expr:
    of = (relay.sigmoid, relay.tanh, relay.exp, relay.negative, nn.relu, relay.abs, lambda x: relay.clip(x, -1.0, 6.0))
    return draws.pick(*of)(x)


def twice(draws: Draws, x: Expr) -> Expr:
    join = draws.pick(relay.multiply, relay.add, relay.maximum, relay.subtract)
    return join(x, draws.pick(relay.sigmoid, relay.tanh, nn.relu, lambda x: x * relay.const(0.5), lambda x: x)(x))


def several_times(draws: Draws, x: Expr) -> Expr:
    for _ in range(draws.random.integers(2, 6)):
        x = twice(draws, x)
    return x


def with_other_places(draws: Draws, x: Expr) -> Expr:
    """What is computed is read where it is, and elsewhere."""
    y = draws.pick(relay.sigmoid, nn.relu, lambda x: x * relay.const(0.5))(x)
    axis = int(draws.random.integers(len(shape_of(y))))
    return y + draws.pick(lambda y: relay.reverse(y, axis=axis), lambda y: rolled(y, axis))(y)


def rolled(x: Expr, axis: int) -> Expr:
    extent = shape_of(x)[axis]
    ends = [relay.strided_slice(x, begin=[b], end=[e], axes=[axis]) for b, e in ((1, extent), (0, 1))]
    return relay.concatenate(ends, axis=axis)


def shifted(draws: Draws, x: Expr) -> Expr:
    axis = int(draws.random.integers(len(shape_of(x))))
    widths = [(0, 0)] * len(shape_of(x))
    widths[axis] = (1, 0)
    y = draws.pick(relay.sigmoid, nn.relu)(x)
    part = relay.strided_slice(y, begin=[0], end=[shape_of(y)[axis] - 1], axes=[axis])
    return y * nn.pad(part, tuple(widths)) if shape_of(y)[axis] > 1 else y


def row(draws: Draws, x: Expr) -> Expr:
    """With what is computed of a row, or of a column, for all."""
    shape = shape_of(x)
    axis = int(draws.random.integers(len(shape)))
    part = draws.parameter(*(extent if position == axis else 1 for position, extent in enumerate(shape)))
    return draws.pick(relay.add, relay.multiply)(x, draws.pick(relay.exp, relay.sigmoid, nn.relu)(part))


def normalized(draws: Draws, x: Expr) -> Expr:
    axis = draws.pick(-1, -1, 0)
    y = x - relay.mean(x, axis=axis, keepdims=True)
    return draws.pick(y, y * relay.rsqrt(relay.variance(x, axis=axis, keepdims=True) + relay.const(1e-3)))


def soft(draws: Draws, x: Expr) -> Expr:
    return nn.softmax(x, axis=draws.pick(-1, -1, 0))


def repeated(draws: Draws, x: Expr) -> Expr:
    axis = int(draws.random.integers(len(shape_of(x))))
    ways = (
        lambda x: relay.repeat(x, 2, axis=axis),
        lambda x: relay.tile(x, (2,)),
        lambda x: relay.concatenate([x, x], axis),
    )
    return draws.pick(*ways)(x)


def taken(draws: Draws, x: Expr) -> Expr:
    axis = int(draws.random.integers(len(shape_of(x))))
    extent = shape_of(x)[axis]
    indices = draws.random.integers(0, extent, draws.pick(extent, 2 * extent)).astype(np.int32)
    return relay.take(x, relay.const(indices), axis=axis)


def sliced(draws: Draws, x: Expr) -> Expr:
    axis = int(draws.random.integers(len(shape_of(x))))
    extent = shape_of(x)[axis]
    return relay.strided_slice(x, begin=[extent // 4], end=[max(extent // 4 + 1, extent - 1)], axes=[axis])


def turned(draws: Draws, x: Expr) -> Expr:
    return relay.transpose(x, axes=[int(axis) for axis in draws.random.permutation(len(shape_of(x)))])


def reshaped(draws: Draws, x: Expr) -> Expr:
    return relay.reshape(x, (-1, shape_of(x)[-1]))


def joined(draws: Draws, x: Expr) -> Expr:
    axis = int(draws.random.integers(len(shape_of(x))))
    return relay.concatenate([draws.pick(nn.relu, relay.sigmoid)(x), relay.tanh(x)], axis=axis)


def reduced(draws: Draws, x: Expr) -> Expr:
    axis = int(draws.random.integers(len(shape_of(x))))
    return draws.pick(relay.sum, relay.max, relay.mean)(x, axis=axis, keepdims=True) + draws.pick(x, relay.exp(x))


def dense(draws: Draws, x: Expr) -> Expr:
    return nn.dense(x, draws.weight(draws.pick(16, 64, 200), shape_of(x)[-1]))


def resized(draws: Draws, x: Expr) -> Expr:
    *_, rows, columns = shape_of(x)
    method = draws.pick("linear", "linear", "nearest_neighbor", "cubic")
    factor = draws.pick(1, 2, 2)
    return relay.image.resize2d(x, size=(max(1, rows * factor // draws.pick(1, 2)), columns * factor), method=method)


def convolved(draws: Draws, x: Expr) -> Expr:
    _, channels, rows, columns = shape_of(x)
    size = draws.pick(1, 3) if min(rows, columns) >= 3 else 1
    weight = draws.weight(draws.pick(8, 16, 32), channels, size, size)
    return nn.conv2d(x, weight, padding=(size // 2, size // 2), kernel_size=(size, size))


def depthwise(draws: Draws, x: Expr) -> Expr:
    channels = shape_of(x)[1]
    return nn.conv2d(x, draws.weight(channels, 1, 3, 3), padding=(1, 1), kernel_size=(3, 3), groups=channels)


def pooled(draws: Draws, x: Expr) -> Expr:
    return draws.pick(nn.max_pool2d, nn.avg_pool2d)(x, pool_size=(3, 3), strides=(1, 1), padding=(1, 1))


def biased(draws: Draws, x: Expr) -> Expr:
    return nn.bias_add(x, draws.parameter(shape_of(x)[1]), axis=1)


ANYWHERE: tuple[Step, ...] = (
    unary, unary, twice, twice, several_times, with_other_places, shifted, row, row, normalized, soft,
    repeated, taken, sliced, turned, reshaped, joined, reduced,
)  # fmt: skip
ON_MATRICES: tuple[Step, ...] = (dense, dense)
ON_IMAGES: tuple[Step, ...] = (resized, resized, convolved, convolved, convolved, depthwise, pooled, biased)
GROWING: tuple[Step, ...] = (repeated, taken, joined, resized)
SHRINKING: tuple[Step, ...] = (sliced, taken)
