"""Signals and their spectra: DFT, STFT, MelWeightMatrix, HannWindow, HammingWindow, BlackmanWindow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from relay.base.dtypes import DType
from relay.frontend.onnx.converters.shaping.computed import is_plain
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.onnx.weights import ELEMENT_TYPES
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.formulas.spectra import Count, as_count, half_of, one_more, transformed
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.computed_axes import LONG, named, others_first, scalar, shape_of_value
from relay.frontend.shared.places.resampling import DOUBLE, number, steps
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops import dyn
from relay.ops.elementwise.comparison import equal, greater, greater_equal, less, less_equal, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import (
    add,
    divide,
    floor_divide,
    logical_and,
    maximum,
    multiply,
    power,
    subtract,
)
from relay.ops.elementwise.elementwise_unary import cos, floor, log
from relay.ops.indexing.index import take
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.manipulation.transpose import transpose
from relay.ops.sorting.sort import argsort


def _count(node: OnnxNode, index: int, what: str) -> Count:
    if is_plain(node, index):
        return int(node.scalar(index, what))
    return as_dtype(scalar(node, index, what), LONG)


def _extent(value: Value, axis: int) -> Count:
    extent = value.shape[axis]
    return extent if isinstance(extent, int) else take(shape_of_value(value), const(axis, LONG), axis=0)


def _pairs(node: OnnxNode) -> bool:
    """Whether the numbers are complex."""
    value = node.value(0)
    if value.rank < 2 or value.shape[-1] not in (1, 2):
        node.unsupported(f"of {value.type}, whose last axis is neither 1 nor 2")
    return value.shape[-1] == 2


def _dft(node: OnnxNode) -> Result:
    """Along an attribute, or since opset 20 an input, which data may compute."""
    value, pairs = node.value(0), _pairs(node)
    inverse, onesided = bool(node.int("inverse")), bool(node.int("onesided"))
    last = value.rank - 1
    computed = node.optional_value(2) is not None and not is_plain(node, 2)
    if computed:
        axis = reshape(as_dtype(scalar(node, 2, "an axis"), LONG), (1,))
        wrapped = where(less(axis, const(0, LONG)), add(axis, const(value.rank, LONG)), axis)
        order: Expr | tuple[int, ...] = concatenate(
            [others_first(named(wrapped, 1, last, f"{node.operator} {node.name}")), const([last], LONG)], 0
        )
        moved = dyn.transpose(value.expr, order)
        extent: Count = reshape(take(shape_of_value(value), wrapped, axis=0), ())
    else:
        at = -2 if node.opset >= 20 else node.int("axis", 1)
        if node.optional_value(2) is not None:
            at = int(node.scalar(2, "an axis"))
        place = node.wrapped_axis(at, value.rank)
        if place == last:
            node.unsupported("along the axis of complex numbers")
        order = (*(each for each in range(last) if each != place), place, last)
        moved, extent = transpose(value.expr, order), _extent(value, place)
    if node.optional_value(1) is not None:
        length = _count(node, 1, "a length")
    elif inverse and onesided:
        length = (
            2 * (extent - 1) if isinstance(extent, int) else multiply(subtract(extent, const(1, LONG)), const(2, LONG))
        )
    else:
        length = extent
    result = transformed(moved, value.rank, value.dtype, pairs=pairs, extent=extent, length=length,
                         inverse=inverse, onesided=onesided)  # fmt: skip
    if isinstance(order, tuple):
        return transpose(result, tuple(order.index(axis) for axis in range(value.rank)))
    return dyn.transpose(result, argsort(order, 0, dtype=LONG))


def _stft(node: OnnxNode) -> Result:
    """Frames, one every `frame_step` elements, times a window, transformed: [batch, frames, frequencies, 2]."""
    value, pairs, window = node.value(0), _pairs(node), node.optional_value(2)
    if value.rank != 3:
        node.unsupported(f"of {value.type}")
    step = _count(node, 1, "a frame_step")
    if node.optional_value(3) is not None:
        length = _count(node, 3, "a frame_length")
    else:
        length = _extent(value, 1) if window is None else _extent(window, 0)
    room = subtract(as_count(_extent(value, 1)), as_count(length))
    frames: Count = add(floor_divide(room, as_count(step)), const(1, LONG))
    if isinstance(extent := value.shape[1], int) and isinstance(length, int) and isinstance(step, int):
        frames = (extent - length) // step + 1
    starts = multiply(cast(steps(frames), LONG), as_count(step))
    taken = take(value.expr, add(expand_dims(starts, 1), cast(steps(length), LONG)), axis=1)
    if window is not None:
        taken = multiply(taken, expand_dims(window.expr, 1))
    return transformed(taken, 4, value.dtype, pairs=pairs, extent=length, length=length, inverse=False,
                       onesided=bool(node.int("onesided")))  # fmt: skip


def _mel_weights(node: OnnxNode) -> Result:
    """[frequencies, bins]: triangles between three places at even distances of the mel scale (Stevens et al., 1937)."""
    bins, length = _count(node, 0, "a number of bins"), _count(node, 1, "a length")
    rate, low, high = (as_dtype(scalar(node, index, "a frequency"), DOUBLE) for index in (2, 3, 4))
    places: Count = bins + 2 if isinstance(bins, int) else add(bins, const(2, LONG))
    bottom, top = _mel(low), _mel(high)
    width = divide(subtract(top, bottom), cast(as_count(places), DOUBLE))
    frequency = add(multiply(steps(places), width), bottom)
    hertz = multiply(subtract(power(number(10), divide(frequency, number(2595))), number(1)), number(700))
    edges = floor(divide(multiply(cast(as_count(one_more(length)), DOUBLE), hertz), rate))

    def edge(first: int) -> Expr:
        return take(edges, add(cast(steps(bins), LONG), const(first, LONG)), axis=0)

    left, middle, right = edge(0), edge(1), edge(2)
    row = expand_dims(steps(one_more(half_of(length))), 1)
    rising = divide(subtract(row, left), maximum(subtract(middle, left), number(1)))
    rising = where(equal(middle, left), number(1), rising)
    falling = divide(subtract(right, row), maximum(subtract(right, middle), number(1)))
    up = logical_and(greater_equal(row, left), less_equal(row, middle))
    down = logical_and(logical_and(greater_equal(row, middle), less(row, right)), greater(right, middle))
    weights = where(down, falling, where(up, rising, number(0)))
    return cast(weights, _output_type(node))


def _mel(hertz: Expr) -> Expr:
    return multiply(log(add(divide(hertz, number(700)), number(1))), number(2595 / math.log(10)))


def _output_type(node: OnnxNode) -> DType:
    dtype = ELEMENT_TYPES.get(node.int("output_datatype", 1))
    if dtype is None:
        node.unsupported("of a type that Relay does not have")
    return dtype


def _window(terms: Sequence[float]) -> Callable[[OnnxNode], Result]:
    """Σ terms[k] · cos(2πk·n / N) (Harris, 1978)."""

    def convert(node: OnnxNode) -> Result:
        size = _count(node, 0, "a size")
        period = cast(as_count(size), DOUBLE)
        if not node.int("periodic", 1):
            period = subtract(period, number(1))
        angle = divide(multiply(steps(size), number(2 * math.pi)), period)
        total: Expr = number(terms[0])
        for order, term in enumerate(terms[1:], start=1):
            total = add(total, multiply(cos(multiply(angle, number(order))), number(term)))
        return cast(total, _output_type(node))

    return convert


SPECTRA: tuple[Converter, ...] = (
    converter("DFT", _dft, "axis", "inverse", "onesided", changes=(20,)),
    converter("STFT", _stft, "onesided"),
    converter("MelWeightMatrix", _mel_weights, "output_datatype"),
    converter("HannWindow", _window((0.5, -0.5)), "output_datatype", "periodic"),
    converter("HammingWindow", _window((25 / 46, -21 / 46)), "output_datatype", "periodic"),
    converter("BlackmanWindow", _window((0.42, -0.5, 0.08)), "output_datatype", "periodic"),
)
