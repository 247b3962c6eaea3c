"""Strategies that make programs around one heavy operator: what fusion makes groups of, at awkward shapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

import relay
from relay.arith.expr import Symbol
from relay.ir.expr import Call, Expr, Function, Op, Var
from relay.ir.traversal import post_order
from relay.ops.nn.conv_transpose import TRANSPOSED_CONVOLUTIONS

EXTENTS = (1, 2, 3, 5, 7, 8, 16, 17, 31, 32, 33, 48)
CHANNELS = (1, 2, 3, 5, 8, 15, 16, 17, 24, 32, 33, 64, 72)
SPECIAL = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-41, -1e-45], np.float32)
CONCRETE = 3  # what a symbolic extent is when the program runs

_ELEMENTWISE: tuple[Callable[[Expr], Expr], ...] = (
    relay.nn.relu, relay.sigmoid, relay.tanh, relay.exp, relay.negative,
    lambda x: relay.clip(x, -1.0, 6.0), lambda x: relay.sqrt(relay.abs(x)), lambda x: x * relay.sigmoid(x),
)  # fmt: skip


@dataclass(eq=False)
class Case:
    """A program under construction: its draws, and its parameters so far."""

    draw: st.DrawFn
    parameters: list[Var] = field(default_factory=list)

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def parameter(self, *shape) -> Var:
        var = relay.var(f"p{len(self.parameters)}", shape=shape, dtype="float32")
        self.parameters.append(var)
        return var

    def weight(self, *shape) -> Expr:
        """A constant, or a parameter."""
        if self.pick(True, False) or not all(isinstance(extent, int) for extent in shape):
            return self.parameter(*shape)
        data = np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)
        return relay.const(data)

    def batch(self):
        return self.pick(1, 1, 2, 3, Symbol("n"))

    def image(self, layout: str = "") -> tuple[Expr, str]:
        layout = layout or self.pick("NCHW", "NHWC")
        extents = {"N": self.batch(), "C": self.pick(*CHANNELS), "H": self.pick(*EXTENTS), "W": self.pick(*EXTENTS)}
        return self.parameter(*(extents[letter] for letter in layout)), layout

    def table(self) -> Expr:
        rank = self.pick(1, 2, 3)
        return self.parameter(*([self.batch(), self.pick(*EXTENTS)][: rank - 1]), self.pick(*CHANNELS, 128, 130))

    def around(self, x: Expr, steps: int = 2) -> Expr:
        """A few elementwise and broadcasting operators on `x`."""
        for _ in range(self.draw(st.integers(0, steps))):
            shape = shape_of(x)
            match self.pick("unary", "residual", "bias", "row", "scalar", "self", "twice"):
                case "unary":
                    x = self.pick(*_ELEMENTWISE)(x)
                case "residual":
                    x = relay.add(x, self.parameter(*shape))
                case "bias" if shape:
                    x = relay.add(x, self.weight(shape[-1]))
                case "row" if len(shape) > 1:
                    x = relay.multiply(x, self.weight(shape[-2], 1))
                case "scalar":
                    x = x * relay.const(0.5)
                case "self":
                    x = relay.maximum(x, relay.negative(x))
                case "twice":
                    x = relay.add(relay.tanh(x), relay.sigmoid(x))
        return x


def shape_of(x: Expr) -> tuple:
    return x.checked_type.shape


def channel_of(x: Expr, layout: str):
    return shape_of(x)[layout.index("C")]


def spatial_of(x: Expr, layout: str) -> tuple[int, ...]:
    return tuple(shape_of(x)[layout.index(letter)] for letter in layout if letter in "HW")


def convolution(case: Case) -> Expr:
    x, layout = case.image()
    x = case.around(x, 1)
    channels = channel_of(x, layout)
    kind = case.pick("plain", "plain", "depthwise", "grouped", "multiplier")
    groups = 1
    outputs = case.pick(*CHANNELS)
    if kind in ("depthwise", "multiplier"):
        groups, outputs = channels, channels * (1 if kind == "depthwise" else case.pick(2, 3))
    elif kind == "grouped":
        groups = case.pick(*[g for g in range(1, channels + 1) if channels % g == 0])
        outputs = groups * case.pick(1, 2, 3, 8, 16)
    taps, padding, dilation = [], [], []
    for extent in spatial_of(x, layout):
        before, after = case.pick((0, 0), (1, 1), (0, 1), (2, 1), (3, 3))
        step = case.pick(1, 1, 2)
        fitting = [t for t in (1, 2, 3, 5, 7) if (t - 1) * step + 1 <= extent + before + after]
        taps.append(case.pick(*fitting))
        padding.append((before, after))
        dilation.append(step)
    kernel = "OIHW" if layout == "NCHW" else case.pick("HWIO", "OIHW", "HWOI")
    extents = {"O": outputs, "I": channels // groups, "H": taps[0], "W": taps[1]}
    return relay.nn.conv2d(
        x, case.weight(*(extents[letter] for letter in kernel)),
        strides=(case.pick(1, 2, 3), case.pick(1, 2)),
        padding=(padding[0][0], padding[1][0], padding[0][1], padding[1][1]),
        dilation=tuple(dilation), groups=groups, channels=outputs, kernel_size=tuple(taps),
        data_layout=layout, kernel_layout=kernel,
    )  # fmt: skip


def convolution_1d(case: Case) -> Expr:
    channels, outputs, taps = case.pick(*CHANNELS), case.pick(*CHANNELS), case.pick(1, 2, 3, 5)
    groups = case.pick(1, 1, *[g for g in range(2, channels + 1) if channels % g == 0])
    outputs = outputs if groups == 1 else groups * case.pick(1, 2, 16)
    x = case.parameter(case.batch(), channels, case.pick(*EXTENTS[4:], 1500))
    return relay.nn.conv1d(
        case.around(x, 1), case.weight(outputs, channels // groups, taps), strides=case.pick(1, 2),
        padding=case.pick((0, 0), (1, 2)), dilation=case.pick(1, 1, 1 if taps > 2 else 2), groups=groups,
        channels=outputs, kernel_size=taps,
    )  # fmt: skip


def transposed_convolution(case: Case) -> Expr:
    rank = case.pick(1, 2, 2)
    x = case.image("NCHW")[0] if rank == 2 else case.parameter(case.batch(), case.pick(*CHANNELS), case.pick(*EXTENTS))
    channels, taps, stride = shape_of(x)[1], case.pick(1, 2, 3, 4, 5), case.pick(1, 2, 3)
    groups = case.pick(1, 1, 1, *[g for g in range(2, channels + 1) if channels % g == 0])
    outputs = case.pick(*CHANNELS[:8]) if groups == 1 else groups * case.pick(1, 2, 16)
    operator = relay.nn.conv2d_transpose if rank == 2 else relay.nn.conv1d_transpose
    return operator(
        case.around(x, 1), case.weight(channels, outputs // groups, *(taps,) * rank), strides=(stride,) * rank,
        padding=(case.pick(0, 1),) * rank if taps > 2 else (0,) * rank, channels=outputs, kernel_size=(taps,) * rank,
        groups=groups, output_padding=(case.pick(0, stride - 1),) * rank,
    )  # fmt: skip


def dense(case: Case) -> Expr:
    x = case.table()
    return relay.nn.dense(case.around(x, 1), case.weight(case.pick(*CHANNELS, 100), shape_of(x)[-1]))


def byte_product(case: Case) -> Expr:
    """A product of bytes made of numbers, with a constant weight, and numbers made of its sums."""
    dtype = case.pick("int8", "uint8")
    rng = np.random.default_rng(case.pick(0, 1))

    def narrow(x: Expr) -> Expr:
        return relay.cast(x * relay.const(40.0), dtype)

    sums = _narrow_product(case, narrow, lambda shape: rng.integers(-128, 128, shape).astype(np.int8), "int32")
    numbers = relay.cast(sums, "float32") * relay.const(2.0**-9)
    return case.pick(numbers, relay.cast(narrow(relay.round(numbers)), "float32"))


def bfloat16_product(case: Case) -> Expr:
    """A product of numbers rounded to bfloat16 with a constant weight of such."""
    rng = np.random.default_rng(case.pick(0, 1))

    def weight(shape: tuple[int, ...]) -> np.ndarray:
        return rng.standard_normal(shape).astype(ml_dtypes.bfloat16)

    return _narrow_product(case, lambda x: relay.cast(x, "bfloat16"), weight, "float32")


def _narrow_product(
    case: Case, narrow: Callable[[Expr], Expr], weight: Callable[[tuple[int, ...]], np.ndarray], out_dtype: str
) -> Expr:
    """A dense layer or a convolution."""
    if case.pick(True, False):
        x = case.table()
        shape = (case.pick(*CHANNELS, 100), shape_of(x)[-1])
        return relay.nn.dense(narrow(x), relay.const(weight(shape)), out_dtype=out_dtype)
    x, layout = case.image()
    outputs, taps = case.pick(*CHANNELS), case.pick(*[t for t in (1, 2, 3) if t <= min(spatial_of(x, layout))])
    extents = {"O": outputs, "I": channel_of(x, layout), "H": taps, "W": taps}
    kernel = "OIHW" if layout == "NCHW" else case.pick("HWIO", "OIHW")
    return relay.nn.conv2d(
        narrow(x), relay.const(weight(tuple(extents[letter] for letter in kernel))), strides=(case.pick(1, 2), 1),
        padding=case.pick((0, 0), (1, 1), (0, 1)), data_layout=layout, kernel_layout=kernel, out_dtype=out_dtype,
    )  # fmt: skip


def batch_matmul(case: Case) -> Expr:
    batch, m, k, n = case.batch(), case.pick(*EXTENTS), case.pick(*EXTENTS), case.pick(*CHANNELS)
    ta, tb = case.pick(False, True), case.pick(False, True)
    a = case.parameter(*((batch, k, m) if ta else (batch, m, k)))
    b = case.parameter(*((batch, n, k) if tb else (batch, k, n)))
    return relay.nn.batch_matmul(case.around(a, 1), b, transpose_a=ta, transpose_b=tb)


def pooling(case: Case) -> Expr:
    x, layout = case.image()
    x = case.around(x, 1)
    if case.pick(True, False, False):
        whole = case.pick(relay.nn.global_avg_pool2d, relay.nn.global_max_pool2d)
        return whole(x, layout=layout)
    size = tuple(min(case.pick(1, 2, 3), extent) for extent in spatial_of(x, layout))
    padding = case.pick((0, 0, 0, 0), tuple(min(1, s - 1) for s in (*size, *size)))
    strides = (case.pick(1, 2), case.pick(1, 2, 3))
    pool = case.pick(relay.nn.max_pool2d, relay.nn.avg_pool2d)
    return pool(x, pool_size=size, strides=strides, padding=padding, layout=layout)


def reduction(case: Case) -> Expr:
    x = case.around(case.pick(case.table, lambda: case.image()[0])(), 1)
    rank = len(shape_of(x))
    axes = case.draw(st.lists(st.integers(0, rank - 1), min_size=1, max_size=rank, unique=True))
    reduce = case.pick(relay.sum, relay.max, relay.mean, relay.min, relay.variance)
    return reduce(x, axis=tuple(sorted(axes)), keepdims=case.pick(True, False))


def rowwise(case: Case) -> Expr:
    x = case.around(case.pick(case.table, lambda: case.image()[0])(), 1)
    axis = case.draw(st.integers(-len(shape_of(x)), -1))
    match case.pick("softmax", "log_softmax", "layer_norm", "l2"):
        case "softmax":
            return relay.nn.softmax(x, axis=axis)
        case "log_softmax":
            return relay.nn.log_softmax(x, axis=axis)
        case "layer_norm":
            extent = shape_of(x)[axis]
            if not isinstance(extent, int):
                return relay.nn.softmax(x, axis=axis)
            return relay.nn.layer_norm(x, case.weight(extent), case.weight(extent), axis=axis)
        case _:
            return relay.nn.l2_normalize(x, 1e-3, (axis % len(shape_of(x)),))


def norm(case: Case) -> Expr:
    x, _ = case.image("NCHW")
    channels = channel_of(x, "NCHW")
    gamma, beta = case.weight(channels), case.weight(channels)
    if case.pick(True, False):
        return relay.nn.instance_norm(x, gamma, beta)
    groups = case.pick(*[g for g in (1, 2, 3, 8) if channels % g == 0])
    return relay.nn.group_norm(x, gamma, beta, groups)


def movement(case: Case) -> Expr:
    x, layout = case.image()
    x = case.around(x, 1)
    shape = shape_of(x)
    match case.pick("transpose", "concatenate", "resize", "take", "layout", "pad", "slice", "flatten", "tile"):
        case "transpose":
            return relay.transpose(x, case.draw(st.permutations(range(4))))
        case "concatenate":
            axis = case.pick(1, 2, 3)
            other = case.parameter(*(case.pick(*EXTENTS) if i == axis else e for i, e in enumerate(shape)))
            return relay.concatenate((x, case.around(other, 1), x), axis=axis)
        case "resize":
            size = (case.pick(*EXTENTS), case.pick(*EXTENTS))
            return relay.image.resize2d(x, size=size, layout=layout, method=case.pick("nearest_neighbor", "linear"))
        case "take":
            indices = relay.const(np.array([0, shape[-1] - 1, 0], np.int32))
            return relay.take(x, indices, axis=3)
        case "layout":
            return relay.layout_transform(x, layout, case.pick("NCHW", "NHWC", "NHCW"))
        case "pad":
            return relay.nn.pad(x, ((0, 0), (0, 1), (2, 0), (1, 1)))
        case "slice":
            return relay.strided_slice(x, begin=[0], end=[shape[3]], strides=[2], axes=[3])
        case "flatten":
            return relay.nn.batch_flatten(x)
        case _:
            return relay.tile(x, (1, 2, 1, 1))


def attention(case: Case) -> Expr:
    batch, m, k, n, v = (case.pick(*each) for each in ((1, 2, 3), EXTENTS, EXTENTS, EXTENTS, EXTENTS))
    query, key, value = case.parameter(batch, m, k), case.parameter(batch, n, k), case.parameter(batch, n, v)
    scores = relay.nn.batch_matmul(query, key, transpose_b=True) * relay.const(0.3)
    if case.pick(True, False):
        scores = relay.add(scores, case.parameter(*case.pick((n,), (m, n), (batch, 1, n), (batch, m, n))))
    return relay.nn.batch_matmul(relay.nn.softmax(scores, axis=-1), value, transpose_b=False)


KINDS = {
    each.__name__: each
    for each in (
        convolution, convolution_1d, transposed_convolution, dense, byte_product, bfloat16_product, batch_matmul,
        pooling, reduction, rowwise, norm, movement, attention,
    )
}  # fmt: skip


@st.composite
def programs(draw: st.DrawFn, kind: str) -> Function:
    """A function around one operator of a kind."""
    case = Case(draw)
    body = case.around(KINDS[kind](case))
    if case.pick(False, False, True):
        body = beside_others(case, body)
    return Function(case.parameters, body)


def beside_others(case: Case, x: Expr) -> Expr:
    """`x` as a part of something larger, where what computes it may write it to its place."""
    shape = shape_of(x)
    if not shape or not all(isinstance(extent, int) for extent in shape):
        return x
    axis = case.pick(*range(len(shape)))
    extents = (case.pick(*[e for e in EXTENTS if e == 1 or e <= shape[axis] // 2]) for _ in range(2))
    before, after = (case.parameter(*shape[:axis], extent, *shape[axis + 1 :]) for extent in extents)
    return relay.concatenate(case.pick((before, x), (x, after), (before, x, after)), axis)


def inputs_of(function: Function, seed: int = 0, special: float = 0.0) -> list[np.ndarray]:
    """Arrays for its parameters, none of which begins where a vector does; symbolic extents are `CONCRETE`. A part
    `special` of the elements are infinite, no numbers, zeros or too small to be normal; not of kernels of transposed
    convolutions, since whether these are multiplied with the zeros between and around data is left open."""
    rng = np.random.default_rng(seed)
    calls = [node for node in post_order(function.body) if isinstance(node, Call) and isinstance(node.op, Op)]
    finite = {id(node.args[1]) for node in calls if node.op.operator in TRANSPOSED_CONVOLUTIONS}
    shapes = [tuple(e if isinstance(e, int) else CONCRETE for e in shape_of(p)) for p in function.params]
    arrays: list[np.ndarray] = []
    for parameter, shape in zip(function.params, shapes, strict=True):
        flat = rng.standard_normal(math.prod(shape) + 1).astype(np.float32)
        chosen = rng.random(flat.shape) < (0.0 if id(parameter) in finite else special)
        flat[chosen] = rng.choice(SPECIAL, int(chosen.sum()))
        arrays.append(flat[1:].reshape(shape))
    return arrays
