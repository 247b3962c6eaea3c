"""Nodes that move elements, and those that compute shapes."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from tests.frontend.onnx_generated.draft import BOOL, EXTENTS, FLOAT, INTEGER, Draft, Unfit

ANY = FLOAT + INTEGER + BOOL


def listed(
    draft: Draft, operator: str, x: str, values: list[int], since: int, name: str = "axes", **rest: object
) -> None:
    """A node whose list of integers is an input since an opset, and an attribute before."""
    if draft.opset >= since:
        draft.node(operator, x, draft.integers(*values), **rest)
    else:
        draft.node(operator, x, **{name: values}, **rest)


def transpose(draft: Draft) -> None:
    x = draft.pick(ANY, least_rank=1)
    rank = draft.values[x].ndim
    draft.node(
        "Transpose", x, perm=[int(each) for each in draft.random.permutation(rank)] if draft.chance(0.8) else None
    )


def reshape(draft: Draft) -> None:
    """Extents in place of others, one of them open, some as they are."""
    x = draft.pick(ANY)
    shape, rest = [], draft.values[x].size
    for _ in range(draft.whole(0, 3)):
        fitting = [extent for extent in EXTENTS if rest and rest % extent == 0] or [1]
        shape.append(draft.one_of(*fitting))
        rest //= shape[-1]
    shape.append(rest)
    if draft.chance(0.6) and all(shape):
        shape[draft.whole(0, len(shape) - 1)] = -1
    shape = [
        0
        if draft.chance(0.5) and at < draft.values[x].ndim and extent == draft.values[x].shape[at] and extent
        else extent
        for at, extent in enumerate(shape)
    ]
    draft.node("Reshape", x, draft.integers(*shape))


def reshape_like(draft: Draft) -> None:
    """Shape arithmetic as exporters write it: some extents of a value and an open one."""
    x = draft.pick(ANY, least_rank=2)
    if not draft.values[x].size:
        raise Unfit  # an extent of 0, computed, would mean one that is kept: relay takes computed extents as they are
    (shape,) = draft.node("Shape", x)
    (first,) = draft.node("Gather", shape, draft.integers(draft.whole(0, draft.values[x].ndim - 1)), axis=0)
    parts = [first, draft.integers(-1)]
    (wanted,) = draft.node("Concat", *(parts if draft.chance(0.5) else parts[::-1]), axis=0)
    draft.node("Reshape", x, wanted)


def extents_as_data(draft: Draft) -> None:
    x = draft.pick(ANY)
    if draft.chance(0.3):
        draft.node("Size", x)
        return
    rank = draft.values[x].ndim
    part = {"start": draft.whole(-rank, rank), "end": draft.whole(-rank, rank)} if draft.opset >= 15 and rank else {}
    draft.node("Shape", x, **part)


def flatten(draft: Draft) -> None:
    x = draft.pick(ANY)
    draft.node("Flatten", x, axis=draft.whole(0, draft.values[x].ndim))


def squeeze(draft: Draft) -> None:
    x = draft.pick(ANY)
    shape = draft.values[x].shape
    ones = [
        axis - (len(shape) if draft.chance(0.3) and draft.opset >= 11 else 0)
        for axis, each in enumerate(shape)
        if each == 1
    ]
    if ones and draft.chance(0.7):
        listed(draft, "Squeeze", x, ones[: draft.whole(1, len(ones))], since=13)
    else:
        draft.node("Squeeze", x)


def unsqueeze(draft: Draft) -> None:
    x = draft.pick(ANY, most_rank=3)
    count = draft.whole(1, 2)
    rank = draft.values[x].ndim + count
    axes = [int(each) for each in draft.random.permutation(rank)[:count]]
    if draft.opset >= 11:
        axes = [axis - (rank if draft.chance(0.3) else 0) for axis in axes]
    listed(draft, "Unsqueeze", x, axes, since=13)


def concat(draft: Draft) -> None:
    x = draft.pick(ANY, least_rank=1)
    value, parts = draft.values[x], [x]
    axis = draft.axis(value.ndim)
    for _ in range(draft.whole(1, 2)):
        shape = list(value.shape)
        shape[axis] = draft.one_of(*EXTENTS)
        parts.append(x if draft.chance(0.3) else draft.operand(draft.array(shape, value.dtype.name)))
    order = draft.random.permutation(len(parts))
    draft.node("Concat", *[parts[int(at)] for at in order], axis=axis if draft.opset >= 11 else axis % value.ndim)


def split(draft: Draft) -> None:
    x = draft.pick(ANY, least_rank=1)
    axis = draft.axis(draft.values[x].ndim)
    extent = draft.values[x].shape[axis]
    axis = axis if draft.opset >= 11 else axis % draft.values[x].ndim
    if draft.chance(0.4):
        count = draft.whole(1, min(3, max(1, extent)))
        if draft.opset < 18 and extent % count:
            raise Unfit
        draft.node("Split", x, outputs=count, axis=axis, num_outputs=count if draft.opset >= 18 else None)
        return
    first = draft.whole(0, extent)
    parts = [first, extent - first]
    if draft.opset >= 13:
        draft.node("Split", x, draft.integers(*parts), outputs=2, axis=axis)
    else:
        draft.node("Split", x, outputs=2, axis=axis, split=parts)


def slices(draft: Draft) -> None:
    """From either end, forward and backward, beyond the ends too."""
    x = draft.pick(ANY, least_rank=1)
    shape = draft.values[x].shape
    axes = draft.axes(len(shape)) or [0]
    starts, ends, steps = [], [], []
    for axis in axes:
        extent = shape[axis]
        starts.append(draft.whole(-extent - 1, extent + 1))
        ends.append(draft.one_of(draft.whole(-extent - 1, extent + 1), 2**31 - 1, -(2**31)))
        steps.append(draft.one_of(1, 1, 2, 3, -1, -2))
    if draft.opset < 10:
        draft.node("Slice", x, axes=[axis % len(shape) for axis in axes], starts=starts, ends=ends)
        return
    if draft.opset < 11:
        axes = [axis % len(shape) for axis in axes]
    inputs = [draft.integers(*each) for each in (starts, ends, axes, steps)]
    draft.node("Slice", x, *inputs)


def gather(draft: Draft) -> None:
    x = draft.pick(ANY, least_rank=1)
    axis = draft.axis(draft.values[x].ndim)
    draft.node("Gather", x, _indices(draft, draft.shape(draft.whole(0, 2)), draft.values[x].shape[axis]), axis=axis)


def _indices(draft: Draft, shape: tuple[int, ...], extent: int, dtype: str = "") -> str:
    if not extent:
        raise Unfit
    low = -extent if draft.opset >= 11 else 0
    dtype = dtype or draft.one_of("int64", "int32")
    return draft.operand(np.asarray(draft.random.integers(low, extent, shape), dtype))


def gather_elements(draft: Draft) -> None:
    x = draft.pick(ANY, least_rank=1)
    value = draft.values[x]
    axis = draft.axis(value.ndim)
    shape = [draft.whole(1, extent) if extent else 0 for extent in value.shape]
    shape[axis] = draft.one_of(*EXTENTS)
    draft.node("GatherElements", x, _indices(draft, tuple(shape), value.shape[axis]), axis=axis)


def gather_nd(draft: Draft) -> None:
    x = draft.pick(ANY, least_rank=1)
    shape = draft.values[x].shape
    batch = draft.whole(0, len(shape) - 1) if draft.opset >= 12 else 0
    depth = draft.whole(1, len(shape) - batch)
    outer = shape[:batch] + draft.shape(draft.whole(0, 1))
    if not all(shape[batch : batch + depth]):
        raise Unfit
    columns = [draft.random.integers(-extent, extent, outer) for extent in shape[batch : batch + depth]]
    indices = draft.operand(np.stack(columns, -1).astype(np.int64))
    draft.node("GatherND", x, indices, batch_dims=batch or None)


def scatter_elements(draft: Draft) -> None:
    """Without places that are written twice, unless they are added up."""
    x = draft.pick(FLOAT, least_rank=1)
    value = draft.values[x]
    axis = draft.axis(value.ndim)
    reduction = draft.one_of(None, "add", "mul", "max", "min") if draft.opset >= 18 else None
    shape = [draft.whole(1, extent) if extent else 0 for extent in value.shape]
    if not all(shape):
        raise Unfit
    if reduction is None:
        order = np.argsort(draft.random.random(value.shape), axis=axis)
        indices = order[tuple(slice(0, extent) for extent in shape)]
    else:
        indices = draft.random.integers(0, value.shape[axis], shape)
    updates = draft.operand(draft.array(shape, value.dtype.name))
    draft.node("ScatterElements", x, draft.given(indices.astype(np.int64)), updates, axis=axis, reduction=reduction)


def scatter_nd(draft: Draft) -> None:
    x = draft.pick(FLOAT, least_rank=1)
    value = draft.values[x]
    depth = draft.whole(1, value.ndim)
    places = [np.unravel_index(i, value.shape[:depth]) for i in range(int(np.prod(value.shape[:depth])))]
    if not places:
        raise Unfit
    chosen = draft.random.permutation(len(places))[: draft.whole(1, min(4, len(places)))]
    indices = np.asarray([places[int(at)] for at in chosen], np.int64)
    updates = draft.operand(draft.array((len(chosen), *value.shape[depth:]), value.dtype.name))
    reduction = draft.one_of(None, "add", "mul") if draft.opset >= 16 else None
    draft.node("ScatterND", x, draft.operand(indices), updates, reduction=reduction)


def expand(draft: Draft) -> None:
    x = draft.pick(ANY, most_rank=3)
    shape = [draft.one_of(*EXTENTS) if extent == 1 else draft.one_of(1, extent) for extent in draft.values[x].shape]
    wider = list(draft.shape(draft.whole(0, 1))) + shape
    draft.node("Expand", x, draft.integers(*wider))


def tile(draft: Draft) -> None:
    x = draft.pick(ANY, least_rank=1, most_rank=4)
    draft.node("Tile", x, draft.integers(*draft.wholes(1, 3, draft.values[x].ndim)))


def pad(draft: Draft) -> None:
    x = draft.pick(FLOAT, least_rank=1, most_rank=4)
    value = draft.values[x]
    modes = ["constant", "edge", "reflect"] + (["wrap"] if draft.opset >= 19 else [])
    mode = draft.one_of(*modes, None)
    within = [extent - 1 if mode == "reflect" else extent if mode == "wrap" else 2 for extent in value.shape]
    pads = [draft.whole(0, max(0, min(2, each))) for each in within * 2]
    if mode in ("constant", None) and draft.chance(0.2):
        pads[0] = -1
    if draft.opset < 11:
        draft.node("Pad", x, pads=pads, mode=mode, value=1.5 if draft.chance(0.5) else None)
        return
    inputs = [draft.integers(*pads)]
    if draft.chance(0.5):
        inputs.append(draft.operand(np.asarray(1.5, value.dtype)))
    draft.node("Pad", x, *inputs, mode=mode)


def blocks(draft: Draft) -> None:
    x = draft.pick(FLOAT, least_rank=4, most_rank=4)
    if draft.chance(0.5):
        draft.node("SpaceToDepth", x, blocksize=2)
    else:
        draft.node("DepthToSpace", x, blocksize=2, mode=draft.one_of("DCR", "CRD") if draft.opset >= 11 else None)


def triangle(draft: Draft) -> None:
    inputs = [draft.pick(ANY, least_rank=2)]
    if draft.chance(0.7):
        inputs.append(draft.operand(np.asarray(draft.whole(-3, 3), np.int64)))
    draft.node("Trilu", *inputs, upper=draft.one_of(0, 1, None))


def filled(draft: Draft) -> None:
    """What a shape alone makes."""
    value = numpy_helper.from_array(draft.array((1,), draft.one_of("float32", "int64", "bool")))
    if draft.chance(0.5):
        (shape,) = draft.node("Shape", draft.pick(ANY, most_rank=3))
    else:
        shape = draft.integers(*draft.shape(draft.whole(0, 3)))
    draft.node("ConstantOfShape", shape, value=value if draft.chance(0.7) else None)


def eye(draft: Draft) -> None:
    draft.node("EyeLike", draft.pick(FLOAT, 2, 2), k=draft.whole(-2, 2), dtype=draft.one_of(1, 7, None))


def numbers(draft: Draft) -> None:
    start, count, step = draft.whole(-3, 3), draft.whole(0, 6), draft.one_of(1, 2, -1)
    dtype = draft.one_of("int64", "float32", "int32")
    draft.node("Range", *[draft.given(np.asarray(each, dtype)) for each in (start, start + count * step, step)])


def one_hot(draft: Draft) -> None:
    depth = draft.whole(2, 5)
    indices = draft.random.integers(-depth, depth, draft.shape(draft.whole(1, 2))).astype(np.int64)
    values = draft.given(draft.array((2,), draft.one_of("float32", "int64")))
    draft.node("OneHot", draft.operand(indices), draft.integers(depth), values, axis=draft.whole(-1, 1))


def reverse_sequence(draft: Draft) -> None:
    x = draft.pick(FLOAT, least_rank=2)
    time = draft.whole(0, 1)
    steps, batch = (draft.values[x].shape[axis] for axis in (time, 1 - time))
    lengths = draft.operand(np.asarray([draft.whole(1, max(1, steps)) for _ in range(batch)], np.int64))
    draft.node("ReverseSequence", x, lengths, time_axis=time, batch_axis=1 - time)


def compress(draft: Draft) -> None:
    x = draft.pick(ANY, least_rank=1)
    axis = draft.axis(draft.values[x].ndim) if draft.chance(0.7) else None
    extent = draft.values[x].size if axis is None else draft.values[x].shape[axis]
    condition = draft.operand(draft.array((draft.whole(1, max(1, extent)),), "bool"))
    draft.node(
        "Compress", x, condition, axis=axis if axis is None or draft.opset >= 11 else axis % draft.values[x].ndim
    )


SHAPING = (
    transpose, reshape, reshape_like, extents_as_data, flatten, squeeze, unsqueeze, concat, split, slices, gather,
    gather_elements, gather_nd, scatter_elements, scatter_nd, expand, tile, pad, blocks, triangle, filled, eye, numbers,
    one_hot, reverse_sequence, compress,
)  # fmt: skip
