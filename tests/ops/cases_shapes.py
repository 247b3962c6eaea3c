"""Elements moved, repeated, taken, made."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional

from relay.base.dtypes import DType
from relay.ops.checked import CheckedAttributes, CheckedExtentAttributes
from relay.ops.creation.create import ArangeAttributes, InitAttributes, ShapeOfAttributes
from relay.ops.device import DeviceCopyAttributes, OnDeviceAttributes
from relay.ops.indexing.check_indices import CheckIndicesAttributes
from relay.ops.indexing.index import GatherAttributes, GatherNDAttributes, OneHotAttributes, TakeAttributes
from relay.ops.manipulation.combine import ConcatenateAttributes, SplitAttributes, StackAttributes
from relay.ops.manipulation.layout_transform import LayoutTransformAttributes
from relay.ops.manipulation.pad import MirrorPadAttributes, PadAttributes
from relay.ops.manipulation.shape import (
    ExpandDimsAttributes,
    ReshapeAttributes,
    ReshapeLikeAttributes,
    SqueezeAttributes,
)
from relay.ops.manipulation.slice import SliceLikeAttributes, StridedSliceAttributes
from relay.ops.manipulation.tile import BroadcastToAttributes, RepeatAttributes, TileAttributes
from relay.ops.manipulation.transpose import ReverseAttributes, TransposeAttributes
from tests.ops.case import Case, bools, floats, integers, scalar

INFINITE = 2**31 - 1


def _shapes() -> list[Case]:
    return [
        *(
            Case("reshape", (floats(2, 3, 4),), ReshapeAttributes(codes), lambda x, s=shape: x.reshape(s), label=str(codes))
            for codes, shape in (
                ((4, 6), (4, 6)), ((-1,), (24,)), ((0, -1), (2, 12)), ((-2,), (2, 3, 4)), ((-3, -2), (6, 4)),
                ((-4, 1, 2, -2), (1, 2, 3, 4)), ((0, -4, -1, 1, 0), (2, 3, 1, 4)), ((0, -3), (2, 12)),
                ((3, 8), (3, 8)), ((2, -4, 3, -1, 4), (2, 3, 1, 4)), ((0, 0, 2, 2), (2, 3, 2, 2)),
            )
        ),
        Case("reshape", (floats(0, 3),), ReshapeAttributes((0, 3), True), lambda x: x.reshape(0, 3), label="allowzero"),
        Case("reshape", (floats(1),), ReshapeAttributes(()), lambda x: x.reshape(()), label="to scalar"),
        Case("reshape_like", (floats(2, 6), floats(3, 4)), ReshapeLikeAttributes(), oracle=lambda x, y: x.reshape(y.shape)),
        Case("reshape_like", (floats(2, 6, 5), floats(9, 3, 2)), ReshapeLikeAttributes(1, 2, 1),
             lambda x, _: x.reshape(2, 3, 2, 5), label="part"),
        Case("nn.batch_flatten", (floats(2, 3, 4),), oracle=lambda x: x.flatten(1)),
        Case("nn.batch_flatten", (floats(3),), oracle=lambda x: x.reshape(3, 1)),
        Case("squeeze", (floats(1, 2, 1, 3),), SqueezeAttributes(), torch.squeeze),
        Case("squeeze", (floats(1, 2, 1, 3),), SqueezeAttributes((-2,)), lambda x: x.squeeze(2), label="axis"),
        Case("expand_dims", (floats(2, 3),), ExpandDimsAttributes(-1, 2), lambda x: x[..., None, None]),
        Case("expand_dims", (scalar(1.0),), ExpandDimsAttributes(0), lambda x: x[None]),
        Case("on_device", (floats(2, 3),), OnDeviceAttributes("cpu"), lambda x: x),
        Case("on_device", (integers(3),), OnDeviceAttributes("cpu:1", False, True), label="constrained"),
        Case("device_copy", (floats(2, 3),), DeviceCopyAttributes("cpu", "cpu:1"), lambda x: x),
        Case("checked_extent", (floats(2, 3),), CheckedExtentAttributes(1, 3, "fails"), lambda x: x),
        Case("checked", (floats(2, 3), scalar(True, "bool")), CheckedAttributes("fails"), lambda x, _: x),
        Case("transpose", (floats(2, 3, 4),), TransposeAttributes(), lambda x: x.permute(2, 1, 0)),
        Case("transpose", (floats(2, 3, 4),), TransposeAttributes((1, -1, 0)), lambda x: x.permute(1, 2, 0), label="axes"),
        Case("reverse", (floats(2, 3),), ReverseAttributes(-1), lambda x: x.flip(1)),
        Case("layout_transform", (floats(1, 3, 4, 5),), LayoutTransformAttributes("NCHW", "NHWC"),
             lambda x: x.permute(0, 2, 3, 1)),
        Case("layout_transform", (floats(6, 3, 2, 2),), LayoutTransformAttributes("OIHW", "OHWI4o"), label="packed"),
        Case("layout_transform", (floats(2, 2, 2, 3, 4),), LayoutTransformAttributes("OHWI4o", "OIHW"), label="unpacked"),
        Case("layout_transform", (floats(1, 2, 3, 3, 4),), LayoutTransformAttributes("NCHW4c", "NCHW2c"), label="repacked"),
        Case("layout_transform", (integers(3, 5, dtype="int8"),), LayoutTransformAttributes("OI", "OI2o"), label="int8"),
    ]  # fmt: skip


def _combinations() -> list[Case]:
    parts = (floats(2, 3), floats(4, 3, seed=1), floats(0, 3))
    return [
        Case("concatenate", (parts,), ConcatenateAttributes(0), torch.cat),
        Case("concatenate", ((floats(2, 1, 3), floats(2, 2, 3, seed=1)),), ConcatenateAttributes(-2),
             lambda xs: torch.cat(xs, 1), label="middle"),
        Case("concatenate", ((floats(3),),), ConcatenateAttributes(0), torch.cat, label="one"),
        Case("stack", ((floats(2, 3), floats(2, 3, seed=1)),), StackAttributes(-1), lambda xs: torch.stack(xs, -1)),
        Case("split", (floats(6, 2),), SplitAttributes(3), lambda x: x.split(2)),
        Case("split", (floats(2, 7),), SplitAttributes((2, 2, 5), -1), lambda x: x.tensor_split((2, 2, 5), 1), label="places"),
        Case("split", (floats(2, 3),), SplitAttributes((2, 9), 1), label="beyond the end"),
    ]  # fmt: skip


def _slices() -> list[Case]:
    x = floats(5, 6)
    return [
        Case("strided_slice", (x,), StridedSliceAttributes((1, 0), (4, 6), (1, 2)), lambda x: x[1:4, ::2]),
        Case("strided_slice", (x,), StridedSliceAttributes((-3,), (INFINITE,)), lambda x: x[-3:], label="negative"),
        Case(
            "strided_slice", (x,), StridedSliceAttributes((1,), (-1,), axes=(-1,)), lambda x: x[:, 1:-1], label="axes"
        ),
        Case("strided_slice", (x,), StridedSliceAttributes((4, -1), (-INFINITE, 0), (-2, -1)), label="backwards"),
        Case("strided_slice", (x,), StridedSliceAttributes((3, 9), (1, 12)), label="empty"),
        Case("strided_slice", (x,), StridedSliceAttributes((1,), (3, 2)), lambda x: x[1:3, :2], label="more ends"),
        Case("strided_slice", (x,), StridedSliceAttributes((1, 2), (4,), (1, -1)), label="from the third down"),
        Case(
            "strided_slice",
            (x,),
            StridedSliceAttributes((1, 2), (2, -1), (), "size"),
            lambda x: x[1:3, 2:],
            label="size",
        ),
        Case("slice_like", (x, floats(2, 3)), SliceLikeAttributes(), lambda x, y: x[:2, :3]),
        Case("slice_like", (x, floats(2, 3)), SliceLikeAttributes((-1,)), lambda x, y: x[:, :3], label="axes"),
        Case("tile", (floats(2, 3),), TileAttributes((2, 1)), lambda x: x.tile(2, 1)),
        Case("tile", (floats(2, 3),), TileAttributes((2, 1, 2)), lambda x: x.tile(2, 1, 2), label="more"),
        Case("tile", (floats(0, 3),), TileAttributes((2, 2)), lambda x: x.tile(2, 2), label="of nothing"),
        Case("tile", (floats(2, 3),), TileAttributes((0,)), lambda x: x.tile(1, 0), label="none"),
        Case("repeat", (floats(2, 3),), RepeatAttributes(2, -1), lambda x: x.repeat_interleave(2, 1)),
        Case("repeat", (floats(3),), RepeatAttributes(0), lambda x: x.repeat_interleave(0), label="none"),
        Case("broadcast_to", (floats(3, 1),), BroadcastToAttributes((2, 3, 4)), lambda x: x.expand(2, 3, 4)),
        Case("broadcast_to_like", (floats(1, 4), floats(3, 4)), oracle=lambda x, y: x.expand(3, 4)),
    ]


def _updates() -> list[Case]:
    row = (floats(6, 4), floats(1, 4, seed=1))
    numbers = (integers(2, 3, dtype="int8"), integers(2, 3, dtype="int8", seed=1))
    return [
        _set(floats(5, 7, 2), floats(2, 2, 2, seed=1), (1, -2), (5, 0), (2, -3), (slice(1, 5, 2), [5, 2]), "both ways"),
        _set(*row, (-1,), (9,), (1,), slice(5, 6), "a row", "int32"),
        _set(*row, (2**62,), (2**63 - 1,), (2**62,), slice(0, 0), "far away"),
        _set(floats(5), floats(4, seed=1), (3,), (9,), (1,), slice(3, 5), "beyond the end"),
        _set(floats(5), floats(1, seed=1), (0,), (5,), (2,), slice(0, 1), "fewer than the slice"),
        _set(floats(3, 2), floats(0, 2), (2,), (2,), (1,), slice(0, 0), "nothing"),
        _set(*numbers, (), (), (), slice(0, 2), "all"),
        _set(scalar(1.0), scalar(2.0), (), (), (), (), "scalar"),
    ]


def _set(
    data: np.ndarray, part: np.ndarray, begin: tuple[int, ...], end: tuple[int, ...], strides: tuple[int, ...],
    where: Any, label: str, dtype: str = "int64",
) -> Case:  # fmt: skip
    """A `strided_set` that changes the elements at `where`, as PyTorch counts them."""

    def oracle(data: torch.Tensor, part: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
        changed = data.clone()
        changed[where] = part[: len(changed[where])] if part.ndim else part
        return changed

    places = (np.array(each, dtype) for each in (begin, end, strides))
    return Case("strided_set", (data, part, *places), oracle=oracle, label=label)


def _indexing() -> list[Case]:
    table, rows = floats(5, 3), integers(2, 4, low=0, high=4)
    out_of_range = np.array([-1, 0, 4, 5, 99, -99], np.int64)
    return [
        Case("take", (table, rows), TakeAttributes(0, 0), lambda t, i: t[i]),
        Case("take", (table, out_of_range), TakeAttributes(0, 0, "clip"), lambda t, i: t[i.clip(0, 4)], label="clip"),
        Case("take", (table, out_of_range), TakeAttributes(0, 0, "wrap"), lambda t, i: t[i % 5], label="wrap"),
        Case("take", (table, integers(2, low=0, high=2)), TakeAttributes(0, -1), lambda t, i: t[:, i], label="last axis"),
        Case("take", (table, rows), TakeAttributes(), lambda t, i: t.flatten()[i], label="flat"),
        Case("take", (table, scalar(2, "int32")), TakeAttributes(0, 0), lambda t, i: t[2], label="scalar index"),
        Case("take", (floats(2, 3, 4), integers(2, 5, low=0, high=2)), TakeAttributes(1, 1), label="batch"),
        Case("take", (table, integers(0)), TakeAttributes(0, 0), lambda t, i: t[i.long()], label="nothing"),
        Case("gather", (floats(3, 4), integers(3, 2, low=-4, high=3)), GatherAttributes(1),
             lambda x, i: x.gather(1, i.long() % 4)),
        Case("gather", (floats(3, 4), integers(5, 4, low=0, high=2)), GatherAttributes(0),
             lambda x, i: x.gather(0, i.long()), label="axis 0"),
        Case("gather_nd", (floats(3, 4, 2), integers(2, 5, low=-3, high=2)), GatherNDAttributes(), lambda x, i: x[i[0], i[1]]),
        Case("gather_nd", (floats(2, 3, 4), integers(1, 2, 5, low=0, high=2)), GatherNDAttributes(1), label="batch"),
        Case("check_indices", (integers(2, 4, low=-5, high=4),), CheckIndicesAttributes((5,), "a"), lambda i: i),
        Case("check_indices", (integers(2, 2, low=0, high=2),), CheckIndicesAttributes((5, 3), "a"), label="pairs"),
        Case("one_hot", (integers(2, 3, low=0, high=4), scalar(1.0), scalar(0.0)), OneHotAttributes(DType.FLOAT32, 5, -1),
             lambda i, _, __: functional.one_hot(i.long(), 5).float()),
        Case("one_hot", (np.array([0, 7, -1, 2], np.int64), scalar(3, "int32"), scalar(-1, "int32")),
             OneHotAttributes(DType.INT32, 4, 0), label="outside"),
    ]  # fmt: skip


def _paddings() -> list[Case]:
    x = floats(3, 4)
    return [
        Case("nn.pad", (x, scalar(7.0)), PadAttributes(((1, 2), (0, 3))), lambda x, _: functional.pad(x, (0, 3, 1, 2), value=7)),
        Case("nn.pad", (x, scalar(0.0)), PadAttributes(((-1, 1), (2, -2))), lambda x, _: functional.pad(x, (2, -2, -1, 1)),
             label="cut"),
        Case("nn.pad", (floats(1, 3, 4), scalar(0.0)), PadAttributes(((0, 0), (2, 1), (3, 2)), "reflect"),
             lambda x, _: functional.pad(x, (3, 2, 2, 1), "reflect"), label="reflect"),
        Case("nn.pad", (floats(1, 3, 4), scalar(0.0)), PadAttributes(((0, 0), (2, 1), (5, 0)), "edge"),
             lambda x, _: functional.pad(x, (5, 0, 2, 1), "replicate"), label="edge"),
        Case("nn.pad", (integers(2, dtype="int8"), scalar(-3, "int8")), PadAttributes(((1, 1),)), label="int8"),
        Case("nn.pad", (integers(2, dtype="int8"), scalar(-3.5)), PadAttributes(((1, 1),)), label="float around int8"),
        Case("nn.pad", (x, floats(1)), PadAttributes(((1, 2), (0, 3))), label="one element"),
        Case("nn.pad", (floats(3), scalar(9.0)), PadAttributes(((4, -5),)), lambda x, _: torch.full((2,), 9.0),
             label="cut beyond the end"),
        Case("nn.pad", (floats(3), scalar(9.0)), PadAttributes(((-5, 4),)), lambda x, _: torch.full((2,), 9.0),
             label="cut beyond the start"),
        Case("nn.pad", (floats(0, 2), scalar(1.0)), PadAttributes(((1, 0), (0, 1))), label="of nothing"),
        Case("nn.mirror_pad", (x,), MirrorPadAttributes("SYMMETRIC", ((3, 1), (0, 4)))),
        Case("nn.mirror_pad", (x,), MirrorPadAttributes("REFLECT", ((2, 1), (0, 3))), label="reflect"),
    ]  # fmt: skip


def _images() -> list[Case]:
    """Four axes, as layouts are about."""
    x = floats(2, 3, 4, 5)
    return [
        Case("concatenate", ((x, floats(2, 1, 4, 5)),), ConcatenateAttributes(1), lambda xs: torch.cat(xs, 1)),
        Case("split", (x,), SplitAttributes((1,), 1), lambda x: x.split((1, 2), 1)),
        Case("nn.pad", (x, scalar(0.0)), PadAttributes(((0, 0), (0, 1), (1, 2), (3, 0)))),
        Case("nn.mirror_pad", (x,), MirrorPadAttributes("REFLECT", ((0, 0), (0, 0), (1, 2), (3, 0)))),
        Case("repeat", (x,), RepeatAttributes(2, 3), lambda x: x.repeat_interleave(2, 3)),
        Case("reverse", (x,), ReverseAttributes(1), lambda x: x.flip(1)),
    ]


def _creations() -> list[Case]:
    return [
        Case("full", (scalar(2.5),), InitAttributes((2, 3)), lambda v: torch.full((2, 3), 2.5)),
        Case("full", (scalar(2.5),), InitAttributes((2,), DType.INT32), lambda v: torch.full((2,), 2).int(), label="int32"),
        Case("full", (scalar(2.5),), InitAttributes((2,), DType.BOOL), label="bool"),
        Case("full_like", (integers(2, 3), scalar(1.9)), oracle=lambda x, v: torch.ones_like(x)),
        Case("zeros", (), InitAttributes((2, 0), DType.FLOAT32), lambda: torch.zeros(2, 0)),
        Case("ones", (), InitAttributes((3,), DType.INT8), lambda: torch.ones(3, dtype=torch.int8)),
        Case("zeros_like", (floats(2, 3),), oracle=torch.zeros_like),
        Case("ones_like", (bools(2, 3),), oracle=torch.ones_like),
        Case("arange", (scalar(1.0), scalar(4.0), scalar(0.5)), ArangeAttributes(DType.FLOAT32, 1.0, 4.0, 0.5),
             lambda *_: torch.arange(1.0, 4.0, 0.5)),
        Case("arange", (scalar(9, "int32"), scalar(0, "int32"), scalar(-4, "int32")),
             ArangeAttributes(DType.INT32, 9, 0, -4), lambda *_: torch.arange(9, 0, -4).int(), label="down"),
        Case("arange", (scalar(3, "int64"), scalar(1, "int64"), scalar(1, "int64")),
             ArangeAttributes(DType.INT64, 3, 1, 1), label="empty"),
        Case("shape_of", (floats(2, 0, 3),), ShapeOfAttributes(), lambda x: torch.tensor(x.shape).int()),
        Case("shape_of", (floats(2, 3),), ShapeOfAttributes(DType.INT64), lambda x: torch.tensor(x.shape), label="int64"),
        Case("ndarray_size", (floats(2, 5),), ShapeOfAttributes(), lambda x: torch.tensor(10).int()),
    ]  # fmt: skip


CASES: tuple[Case, ...] = (
    *_shapes(), *_combinations(), *_slices(), *_updates(), *_indexing(), *_paddings(), *_images(), *_creations(),
)  # fmt: skip
