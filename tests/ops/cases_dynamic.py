"""Operators whose result has extents that only values tell."""

from __future__ import annotations

import numpy as np
import torch

from relay.base.dtypes import DType
from relay.ops.creation.create import ArangeAttributes
from relay.ops.dyn import (
    DynInitAttributes,
    DynOneHotAttributes,
    DynPadAttributes,
    DynReshapeAttributes,
    DynStridedSliceAttributes,
)
from relay.ops.sorting.dyn_topk import DynTopKAttributes
from relay.ops.sorting.unique import UniqueAttributes
from tests.ops.case import Case, floats, integers, scalar

SPARSE = np.asarray([[0, 1.5, 0], [-2, 0, np.nan]], np.float32)
REPEATS = np.asarray([3, np.nan, -0.0, 3, 0, np.nan, -7], np.float32)


def _long(*numbers: int) -> np.ndarray:
    return np.asarray(numbers, np.int64)


def _widths(*pairs: tuple[int, int]) -> np.ndarray:
    return np.asarray(pairs, np.int64)


def _topk(x: torch.Tensor, k: int, axis: int) -> tuple[torch.Tensor, torch.Tensor]:
    found = x.topk(k, axis)
    return found.values, found.indices.int()


CASES: tuple[Case, ...] = (
    Case("arange", (scalar(0, "int32"), scalar(7, "int32"), scalar(2, "int32")), ArangeAttributes(DType.INT32),
         lambda *_: torch.arange(0, 7, 2).int(), label="of-values"),
    Case("argwhere", (SPARSE,), oracle=lambda x: torch.argwhere(x).int()),
    Case("argwhere", (floats(0, 3),), oracle=lambda x: torch.argwhere(x).int()),
    Case("unique", (integers(9, low=-2, high=2),), UniqueAttributes(return_counts=True), label="sorted"),
    Case("unique", (REPEATS,), UniqueAttributes(sorted=False, return_counts=True), label="as-they-appear"),
    Case("unique", (integers(0, dtype="int64"),), UniqueAttributes(), label="empty"),
    Case("dyn.full", (scalar(2.5), _long(2, 3)), DynInitAttributes(), lambda *_: torch.full((2, 3), 2.5)),
    Case("dyn.full", (scalar(2.5), integers(0)), DynInitAttributes(DType.BOOL), label="scalar"),
    Case("dyn.zeros", (_long(2, 0),), DynInitAttributes(), lambda _: torch.zeros(2, 0)),
    Case("dyn.ones", (_long(3),), DynInitAttributes(DType.INT8), lambda _: torch.ones(3, dtype=torch.int8)),
    Case("dyn.broadcast_to", (floats(3, 1), _long(2, 3, 4)), oracle=lambda x, _: x.broadcast_to(2, 3, 4)),
    Case("dyn.reshape", (floats(2, 6), _long(0, -1, 2)), DynReshapeAttributes(), oracle=lambda x, _: x.reshape(2, 3, 2)),
    Case("dyn.reshape", (floats(1, 1), integers(0)), DynReshapeAttributes(), lambda x, _: x.reshape(()), label="scalar"),
    Case("dyn.reshape", (floats(0, 3), _long(2, 0, 3)), DynReshapeAttributes(allowzero=True),
         lambda x, _: x.reshape(2, 0, 3), label="zeros-are-extents"),
    Case("dyn.transpose", (floats(2, 3, 4), _long(2, 0, -2)), oracle=lambda x, _: x.permute(2, 0, 1)),
    Case("dyn.transpose", (floats(), _long()), oracle=lambda x, _: x, label="scalar"),
    Case("dyn.tile", (floats(2, 3), _long(2, 1, 3)), oracle=lambda x, _: x.tile(2, 1, 3), label="new-axis"),
    Case("dyn.tile", (floats(2, 3), _long(0)), oracle=lambda x, _: x.tile(0), label="no-times"),
    Case("dyn.nn.pad", (floats(2, 3), _widths((1, -1), (0, 2)), scalar(9.5)), DynPadAttributes(),
         lambda x, *_: torch.nn.functional.pad(x, (0, 2, 1, -1), value=9.5)),
    Case("dyn.nn.pad", (floats(2, 3), _widths((2, 1), (0, 4)), scalar(0)), DynPadAttributes("edge"),
         lambda x, *_: torch.nn.functional.pad(x[None], (0, 4, 2, 1), "replicate")[0], label="edge"),
    Case("dyn.nn.pad", (floats(4, 3), _widths((2, 3), (2, 0)), scalar(0)), DynPadAttributes("reflect"),
         lambda x, *_: torch.nn.functional.pad(x[None], (2, 0, 2, 3), "reflect")[0], label="reflect"),
    Case("dyn.nn.pad", (floats(3), _widths((5, 9)), scalar(0)), DynPadAttributes("reflect"), label="reflect-twice"),
    Case("dyn.nn.pad", (floats(4, 3), _widths((2, 3), (-1, 1)), scalar(0)), DynPadAttributes("wrap"),
         lambda x, *_: torch.nn.functional.pad(x[None, :, 1:], (0, 1, 2, 3), "circular")[0], label="wrap-what-is-left"),
    Case("dyn.one_hot", (integers(2, 3, low=-1, high=4), scalar(2), scalar(-1), scalar(4, "int64")),
         DynOneHotAttributes(DType.FLOAT32, 1)),
    Case("dyn.topk", (floats(3, 7), scalar(2, "int64")), DynTopKAttributes(0), lambda x, _: _topk(x, 2, 0)),
    Case("dyn.topk", (floats(3, 7), scalar(0, "int32")), DynTopKAttributes(is_ascend=True, ret_type="values"),
         lambda x, _: x.sort(-1).values, label="all"),
    Case("dyn.strided_slice", (floats(5, 7, 2), _long(1, -2), _long(9, 0), _long(2, -3)), DynStridedSliceAttributes(),
         lambda x, *_: x[1:9:2].flip(1)[:, 1:6:3]),
    Case("dyn.strided_slice", (floats(5, 7), _long(1, -4), _long(-1, 2), _long(1, 1)),
         DynStridedSliceAttributes("size"), lambda x, *_: x[1:, 3:5], label="sizes"),
)  # fmt: skip
