"""Nodes of networks: products, convolutions, pools, normalizations, recurrences, quantization."""

from __future__ import annotations

import numpy as np

from tests.frontend.onnx_generated.draft import Array, Draft, Unfit
from tests.frontend.onnx_generated.reducing import softmax

MIDDLE = 1e-3


def _floats(draft: Draft, *shape: int) -> Array:
    return np.asarray(draft.random.uniform(-1, 1, shape), np.float32)


def _float(draft: Draft, least_rank: int = 0, most_rank: int = 5) -> str:
    return draft.pick("f", least_rank, most_rank, "float32")


def product(draft: Draft) -> None:
    x = _float(draft, least_rank=1, most_rank=4)
    shape = draft.values[x].shape
    batch = draft.broadcastable(shape[:-2]) if len(shape) > 1 and draft.chance(0.5) else ()
    columns = (draft.whole(1, 5),) if batch or draft.chance(0.8) else ()
    draft.node("MatMul", x, draft.operand(_floats(draft, *batch, shape[-1], *columns)))


def gemm(draft: Draft) -> None:
    x = _float(draft, 2, 2)
    rows, depth = draft.values[x].shape
    trans_a, trans_b, units = draft.whole(0, 1), draft.whole(0, 1), draft.whole(1, 5)
    rows, depth = (depth, rows) if trans_a else (rows, depth)
    inputs = [x, draft.operand(_floats(draft, *((units, depth) if trans_b else (depth, units))))]
    if draft.opset < 11 or draft.chance(0.7):
        inputs.append(draft.operand(_floats(draft, *draft.broadcastable((rows, units)))))
    scale = {name: draft.one_of(0.5, 2.0, None) for name in ("alpha", "beta")}
    draft.node("Gemm", *inputs, transA=trans_a, transB=trans_b, **scale)


def einsum(draft: Draft) -> None:
    x = _float(draft, 2, 3)
    letters = "abc"[: draft.values[x].ndim]
    kept = draft.random.permutation([*letters[:-1], "d"])[: draft.whole(1, len(letters))]
    weight = draft.operand(_floats(draft, draft.values[x].shape[-1], 3))
    draft.node("Einsum", x, weight, equation=f"{letters},{letters[-1]}d->{''.join(map(str, kept))}")


def _image(draft: Draft) -> str:
    """A batch of signals or images: one of those there are, or a new input."""
    if draft.chance(0.6):
        return _float(draft, 3, 4)
    space = [draft.whole(3, 7) for _ in range(draft.one_of(1, 2, 2))]
    return draft.input(_floats(draft, draft.whole(1, 2), draft.whole(1, 4), *space))


def _window(draft: Draft, space: tuple[int, ...], most: int = 3) -> dict[str, object]:
    kernel = [draft.whole(1, min(most, extent)) for extent in space]
    strides = draft.wholes(1, 2, len(space)) if draft.chance(0.7) else None
    window: dict[str, object] = {"strides": strides}
    if draft.chance(0.25):  # SAME_* of a window that is smaller than its step pads by less than nothing
        is_covering = strides is None or all(size >= step for size, step in zip(kernel, strides, strict=True))
        window["auto_pad"] = draft.one_of("SAME_UPPER", "SAME_LOWER", "VALID") if is_covering else "VALID"
    elif draft.chance(0.6):
        window["pads"] = [draft.whole(0, max(0, kernel[at % len(space)] - 1)) for at in range(2 * len(space))]
    return {"kernel_shape": kernel, **window}


def convolution(draft: Draft) -> None:
    x = _image(draft)
    _, channels, *space = draft.values[x].shape
    if not channels or not all(space):
        raise Unfit
    group = draft.one_of(*(each for each in (1, 2, 3, channels) if channels % each == 0))
    window = _window(draft, tuple(space))
    kernel: list[int] = window["kernel_shape"]  # pyright: ignore[reportAssignmentType]
    dilations = draft.wholes(1, 2, len(space)) if "auto_pad" not in window and draft.chance(0.3) else None
    out = group * draft.whole(1, 3)
    bias = [draft.operand(_floats(draft, out))] if draft.chance(0.5) else []
    weight = draft.operand(_floats(draft, out, channels // group, *kernel))
    window["kernel_shape"] = kernel if draft.chance(0.5) else None
    draft.node("Conv", x, weight, *bias, group=group, dilations=dilations, **window)


def transposed_convolution(draft: Draft) -> None:
    x = _image(draft)
    _, channels, *space = draft.values[x].shape
    if not channels or not all(space):
        raise Unfit
    group = draft.one_of(*(each for each in (1, channels) if channels % each == 0))
    kernel, out = draft.wholes(1, 3, len(space)), draft.whole(1, 3)
    strides = draft.wholes(1, 2, len(space))
    room = {"output_padding": [draft.whole(0, stride - 1) for stride in strides]} if draft.chance(0.3) else {}
    pads = [draft.whole(0, max(0, kernel[at % len(space)] - 1)) for at in range(2 * len(space))]
    bias = [draft.operand(_floats(draft, group * out))] if draft.chance(0.5) else []
    weight = draft.operand(_floats(draft, channels, out, *kernel))
    placed = {"pads": pads} if draft.chance(0.7) else {}
    draft.node("ConvTranspose", x, weight, *bias, group=group, strides=strides, kernel_shape=kernel, **placed, **room)


def pool(draft: Draft) -> None:
    x = _image(draft)
    space = draft.values[x].shape[2:]
    if not all(draft.values[x].shape):
        raise Unfit
    window = _window(draft, space)
    if draft.opset >= 10 and "auto_pad" not in window:
        window["ceil_mode"] = draft.one_of(0, 1, None)
    operator = draft.one_of("MaxPool", "MaxPool", "AveragePool", "LpPool")
    match operator:
        case "AveragePool":
            window["count_include_pad"] = draft.one_of(0, 1, None)
        case "LpPool":
            window.pop("ceil_mode", None)
            window["p"] = draft.one_of(1, 2, None)
        case _ if draft.opset >= 10 and draft.chance(0.3) and "auto_pad" not in window:
            window["dilations"] = draft.wholes(1, 2, len(space))
        case _:
            pass
    draft.node(operator, x, **window)


def global_pool(draft: Draft) -> None:
    draft.node(draft.one_of("GlobalAveragePool", "GlobalMaxPool"), _image(draft))


def normalization(draft: Draft) -> None:
    x = _image(draft)
    channels = draft.values[x].shape[1]
    epsilon = draft.one_of(1e-5, 1e-2, None)

    def per_channel(count: int = channels) -> str:
        return draft.operand(_floats(draft, count))

    match draft.one_of("batch", "instance", "group", "local", "mean", "lp"):
        case "batch":
            variance = draft.operand(np.abs(_floats(draft, channels)) + np.float32(0.1))
            three = [per_channel() for _ in range(3)]
            draft.node("BatchNormalization", x, *three, variance, epsilon=epsilon)
        case "instance":
            draft.node("InstanceNormalization", x, per_channel(), per_channel(), epsilon=epsilon)
        case "group":
            groups = draft.one_of(*(each for each in (1, 2, channels) if each and channels % each == 0))
            each = channels if draft.opset >= 21 else groups
            draft.node(
                "GroupNormalization", x, per_channel(each), per_channel(each), num_groups=groups, epsilon=epsilon
            )
        case "local":
            draft.node("LRN", x, size=draft.one_of(1, 3), alpha=0.1, bias=draft.one_of(1.0, 2.0))
        case "mean":
            rank = draft.values[x].ndim
            draft.node(
                "MeanVarianceNormalization", x, axes=[0, *range(2, rank)] if draft.chance(0.5) or rank < 4 else None
            )
        case _:
            draft.node("LpNormalization", x, axis=draft.axis(draft.values[x].ndim), p=draft.one_of(1, 2))


def layer_normalization(draft: Draft) -> None:
    x = _float(draft, 1)
    shape = draft.values[x].shape
    axis = draft.axis(len(shape))
    scale = draft.operand(_floats(draft, *shape[axis:]))
    if draft.chance(0.3):
        draft.node("RMSNormalization", x, scale, axis=axis)
        return
    bias = [draft.operand(_floats(draft, *shape[axis:]))] if draft.chance(0.6) else []
    draft.node("LayerNormalization", x, scale, *bias, axis=axis, epsilon=draft.one_of(1e-5, 1e-2, None))


def resize(draft: Draft) -> None:
    """Of space only, by factors or to extents."""
    x = _float(draft, 4, 4)
    shape = draft.values[x].shape
    mode = draft.one_of("nearest", "linear", "cubic")
    how: dict[str, object] = {"mode": mode}
    if draft.chance(0.7):
        how["coordinate_transformation_mode"] = draft.one_of(
            "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"
        )
    if mode == "nearest" and draft.chance(0.7):
        how["nearest_mode"] = draft.one_of("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    if mode == "cubic" and draft.chance(0.3):
        how["exclude_outside"] = 1
    if draft.opset < 11 or not all(shape):
        raise Unfit
    if draft.opset >= 18 and draft.chance(0.2) and mode != "nearest":
        how["antialias"] = 1
    roi = "" if draft.opset >= 13 else draft.given(np.zeros(0, np.float32))
    if draft.chance(0.5):
        scales = np.asarray([1, 1, draft.one_of(0.5, 1.5, 2.0), draft.one_of(0.6, 1.0, 2.0)], np.float32)
        draft.node("Resize", x, roi, draft.given(scales), **how)
    else:
        sizes = draft.integers(*shape[:2], draft.whole(1, 8), draft.whole(1, 8))
        draft.node("Resize", x, roi, "" if draft.opset >= 13 else draft.given(np.zeros(0, np.float32)), sizes, **how)


def recurrence(draft: Draft) -> None:
    operator, gates = draft.one_of(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    steps, batch, width, hidden = draft.whole(1, 4), draft.whole(1, 3), draft.whole(1, 4), draft.whole(1, 4)
    direction = draft.one_of("forward", "reverse", "bidirectional", None)
    ways = 2 if direction == "bidirectional" else 1
    inputs = [
        draft.input(_floats(draft, steps, batch, width)),
        draft.operand(_floats(draft, ways, gates * hidden, width)),
    ]
    inputs.append(draft.operand(_floats(draft, ways, gates * hidden, hidden)))
    if draft.chance(0.6):
        inputs.append(draft.operand(_floats(draft, ways, 2 * gates * hidden)))
        if draft.chance(0.4):
            inputs += ["", draft.operand(_floats(draft, ways, batch, hidden))]
    reset = draft.one_of(0, 1) if operator == "GRU" else None
    outputs = 3 if operator == "LSTM" else 2
    kept = [at for at in range(outputs) if draft.chance(0.7)] or [0]
    draft.node(
        operator,
        *inputs,
        outputs=outputs,
        kept=kept,
        hidden_size=hidden,
        direction=direction,
        linear_before_reset=reset,
    )


def quantized(draft: Draft) -> None:
    """There and back: elements beyond the middle of two steps go to the even one, NaN to no stated one."""
    x = _float(draft)
    if np.isnan(draft.values[x]).any():
        raise Unfit
    if draft.chance(0.3):
        low, high = min(0.0, float(draft.values[x].min())), max(0.0, float(draft.values[x].max()))
        if low == high:
            raise Unfit  # a step of nothing, which each evaluator replaces by another
        if abs(255 * low / (low - high) % 1 - 0.5) < MIDDLE:
            raise Unfit  # a zero in the middle of two numbers goes to one of them by the last bit of the step
        draft.node("DynamicQuantizeLinear", x, outputs=3)
        return
    dtype = draft.one_of("uint8", "int8")
    scale = draft.operand(np.asarray(draft.one_of(0.25, 0.1), np.float32))
    zero = draft.given(np.asarray(draft.whole(0, 5), dtype))
    (q,) = draft.node("QuantizeLinear", x, scale, zero)
    draft.node("DequantizeLinear", q, scale, zero)


def integer_product(draft: Draft) -> None:
    x = draft.pick("iu", 2, 3)
    value = draft.values[x]
    if value.dtype.itemsize != 1:
        raise Unfit
    weight = draft.operand(draft.array((value.shape[-1], 3), draft.one_of("int8", "uint8")))
    zero = [draft.given(np.asarray(1, value.dtype))] if draft.chance(0.5) else []
    draft.node("MatMulInteger", x, weight, *zero)


NETWORKS = (
    product, gemm, einsum, convolution, convolution, transposed_convolution, pool, pool, global_pool, normalization,
    layer_normalization, softmax, resize, recurrence, quantized, integer_product,
)  # fmt: skip
