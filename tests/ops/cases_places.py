"""Elements at places that indices tell: changed, read, counted and searched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from relay.base.dtypes import DType
from relay.ir.attributes import NoAttributes
from relay.ops.creation.triangle import TriluAttributes
from relay.ops.indexing.coordinates import MeshgridAttributes
from relay.ops.indexing.scatter import ScatterAttributes, ScatterElementsAttributes, ScatterNDAttributes
from relay.ops.indexing.sequence import ReverseSequenceAttributes, SequenceMaskAttributes
from relay.ops.sorting.search import SearchSortedAttributes
from tests.ops.case import Case, bools, floats, integers, scalar

TORCH_NAMES = {"add": "sum", "mul": "prod", "min": "amin", "max": "amax", "mean": "mean"}


def _put(axis: int) -> Callable[..., Any]:
    """What PyTorch puts at places without repetitions."""
    return lambda x, i, updates: x.scatter(axis, i.long() % x.shape[axis], updates)


def _combined(axis: int, mode: str, include_self: bool = True) -> Callable[..., Any]:
    def combined(x: torch.Tensor, i: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
        return x.scatter_reduce(axis, i.long() % x.shape[axis], updates, TORCH_NAMES[mode], include_self=include_self)

    return combined


def _scatters() -> list[Case]:
    data, updates = floats(5, 4), floats(3, 4, seed=1)
    apart = np.array([[4, 0, -1, 2], [0, 2, 1, 3], [-3, 1, 0, 0]], np.int64)
    repeated = integers(6, 4, low=-5, high=4)
    outside = np.array([5, 1, -6, 99, -1], np.int32)
    pairs = np.array([[0, 2, -1], [1, -3, 0]], np.int64)
    columns = np.array([[0, 2], [3, 1], [1, 0], [2, 3], [-4, -1]], np.int32)
    return [
        Case("scatter", (data, apart, updates), ScatterAttributes(0), _put(0)),
        Case("scatter", (data, columns, floats(5, 2, seed=1)), ScatterAttributes(-1), _put(1), label="the last axis"),
        Case("scatter", (data[:, 0], outside, floats(5, seed=1)), ScatterAttributes(0),
             lambda x, _, u: torch.stack([x[0], u[1], x[2], x[3], u[4]]), label="outside"),
        Case("scatter", (data, integers(0, 4), floats(0, 4)), ScatterAttributes(0), lambda x, _, __: x, label="nothing"),
        Case("scatter", (bools(4), np.array([2, 0]), bools(2, seed=1)), ScatterAttributes(0), _put(0), label="bools"),
        Case("scatter_add", (data, repeated, floats(6, 4, seed=1)), ScatterAttributes(0), _combined(0, "add")),
        *(
            Case("scatter_elements", (floats(5, 4), repeated, floats(6, 4, seed=1)), ScatterElementsAttributes(0, mode),
                 _combined(0, mode), label=mode)
            for mode in TORCH_NAMES
        ),
        *(
            Case("scatter_elements", (floats(9, 4), repeated, floats(6, 4, seed=1)), ScatterElementsAttributes(0, mode, False),
                 _combined(0, mode, False), label=f"{mode} of updates alone")
            for mode in TORCH_NAMES
        ),
        *(
            Case("scatter_elements", (integers(3, 5, dtype=dtype), integers(3, 5, low=0, high=4), integers(3, 5, dtype=dtype)),
                 ScatterElementsAttributes(1, mode, False), _combined(1, mode, False), label=f"{mode} of {dtype} alone")
            for mode, dtype in (("min", "int32"), ("max", "int8"), ("mean", "int64"), ("mul", "int32"))
        ),
        Case("scatter_elements", (floats(5, dtype="bfloat16"), integers(9, low=0, high=3), floats(9, dtype="bfloat16")),
             ScatterElementsAttributes(0, "max", False), label="bfloat16 alone"),
        Case("scatter_elements", (floats(5, 4), integers(0, 4), floats(0, 4)), ScatterElementsAttributes(0, "mean", False),
             lambda x, _, __: x, label="mean of nothing"),
        Case("scatter_elements", (floats(3), np.array([0, 7, -9]), floats(3, seed=1)), ScatterElementsAttributes(0, "mul", False),
             lambda x, _, u: torch.stack([u[0], x[1], x[2]]), label="outside, of updates alone"),
        Case("scatter_elements", (floats(3), np.array([1, 1, 1]), floats(3, seed=1)), ScatterElementsAttributes(0, "update", False),
             lambda x, _, u: torch.stack([x[0], u[2], x[2]]), label="the last one stays, as always"),
        Case("scatter_elements", (floats(3), np.array([1, 1, 1]), floats(3, seed=1)), ScatterElementsAttributes(),
             lambda x, _, u: torch.stack([x[0], u[2], x[2]]), label="the last one stays"),
        Case("scatter_elements", (integers(3, 5, dtype="int8"), integers(3, 5, low=0, high=4), integers(3, 5, dtype="int8")),
             ScatterElementsAttributes(1, "mul"), label="int8"),
        Case("scatter_elements", (floats(5, dtype="bfloat16"), integers(9, low=0, high=4), floats(9, dtype="bfloat16")),
             ScatterElementsAttributes(0, "add"), label="bfloat16"),
        Case("scatter_elements", (integers(3, 5, dtype="int32"), integers(3, 5, low=0, high=4), integers(3, 5, dtype="int32")),
             ScatterElementsAttributes(1, "mean"), _combined(1, "mean"), label="means of integers"),
        Case("scatter_elements", (floats(5, dtype="bfloat16"), integers(9, low=0, high=4), floats(9, dtype="bfloat16")),
             ScatterElementsAttributes(0, "mean"), label="means of bfloat16"),
        Case("scatter_nd", (floats(5, 4), np.array([[4, 7, -1, 0, 4]]), floats(5, 4, seed=1)), ScatterNDAttributes("mean"),
             lambda x, _, u: torch.stack([(x[0] + u[3]) / 2, *x[1:4], (x[4] + u[0] + u[2] + u[4]) / 4]), label="mean rows"),
        Case("scatter_elements", (np.array([np.nan, 1, 2], np.float32), np.array([0, 1]), np.array([1, np.nan], np.float32)),
             ScatterElementsAttributes(0, "max"), lambda *_: torch.tensor([np.nan, np.nan, 2]), label="NaN"),
        Case("scatter_nd", (floats(5, 4, 2), pairs, floats(3, 2, seed=1)), ScatterNDAttributes(),
             lambda x, i, u: x.index_put((i[0], i[1]), u)),
        Case("scatter_nd", (floats(5, 4), integers(1, 2, 3, low=-5, high=4), floats(2, 3, 4, seed=1)),
             ScatterNDAttributes("add"), lambda x, i, u: x.index_put((i[0].long(),), u, accumulate=True), label="add rows"),
        Case("scatter_nd", (floats(5, 4), np.array([[4, 7, -6, 0, 4]]), floats(5, 4, seed=1)), ScatterNDAttributes("add"),
             lambda x, _, u: torch.stack([x[0] + u[3], *x[1:4], x[4] + u[0] + u[4]]), label="add rows, some outside"),
        Case("scatter_nd", (floats(3, 3), np.array([[0, 3, 1], [0, 0, -4]]), floats(3, seed=1)), ScatterNDAttributes(),
             lambda x, _, u: x.index_put((torch.tensor([0]), torch.tensor([0])), u[0]), label="outside"),
        Case("scatter_nd", (floats(4), np.array([2]), scalar(9.0)), ScatterNDAttributes("max"),
             lambda x, _, u: x.index_put((torch.tensor(2),), u), label="one element"),
    ]  # fmt: skip


def _coordinates() -> list[Case]:
    data, i, j = floats(5, 4, 2), integers(3, 1, low=-5, high=4), integers(6, low=-4, high=3, dtype="int64")
    m, n = floats(3), floats(4, seed=1)
    return [
        Case("adv_index", ((data, i, j),), oracle=lambda xs: xs[0][xs[1].long(), xs[2]]),
        Case("adv_index", ((data, j),), oracle=lambda xs: xs[0][xs[1]], label="one axis"),
        Case("adv_index", ((floats(3), np.array([5, -9])),), oracle=lambda xs: xs[0][[2, 0]], label="outside"),
        Case("adv_index", ((floats(3, 2), scalar(1, "int32"), scalar(-1, "int32")),), oracle=lambda xs: xs[0][1, -1],
             label="scalars"),
        Case("meshgrid", ((m, n),), MeshgridAttributes(), lambda xs: torch.meshgrid(*xs, indexing="ij")),
        Case("meshgrid", ((m, n, floats(2)),), MeshgridAttributes("xy"), lambda xs: torch.meshgrid(*xs, indexing="xy"),
             label="xy"),
        Case("meshgrid", ((m, scalar(1.0)),), MeshgridAttributes(), lambda xs: torch.meshgrid(*xs, indexing="ij"),
             label="scalar"),
        Case("unravel_index", (integers(6, low=0, high=23), np.array([2, 3, 4])), NoAttributes(),
             lambda i, s: torch.stack(torch.unravel_index(i.long(), tuple(s.tolist()))).int()),
        Case("unravel_index", (scalar(7, "int64"), np.array([3, 4], np.int32)), NoAttributes(),
             lambda *_: torch.tensor([1, 3]), label="scalar"),
        Case("unravel_index", (np.array([-1, 6, 99]), np.array([2, 3])), NoAttributes(),
             lambda *_: torch.tensor([[0, 1, 1], [0, 2, 2]]), label="outside"),
    ]  # fmt: skip


def _sequences() -> list[Case]:
    data = floats(3, 5, 2)
    lengths = np.array([5, 0, 3], np.int32)

    def masked(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return torch.where((torch.arange(5) < lengths[:, None])[..., None], x, torch.tensor(-1.0))

    def reversed_(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        ends = lengths.clip(0, 5).tolist()
        return torch.stack([torch.cat([row[:end].flip(0), row[end:]]) for row, end in zip(x, ends, strict=True)])

    return [
        Case("reverse_sequence", (data, lengths), ReverseSequenceAttributes(), reversed_),
        Case("reverse_sequence", (data, np.array([9, -2, 1], np.int64)), ReverseSequenceAttributes(-2, 0), reversed_,
             label="lengths outside"),
        Case("reverse_sequence", (floats(2, 3, 4), np.array([1, 2, 0, 2])), ReverseSequenceAttributes(0, 2),
             label="the first axis"),
        Case("sequence_mask", (data, lengths), SequenceMaskAttributes(-1.0, 1), masked),
        Case("sequence_mask", (floats(5, 3, 2), lengths), SequenceMaskAttributes(-1.0, 0),
             lambda x, n: masked(x.transpose(0, 1), n).transpose(0, 1), label="axis 0"),
        Case("sequence_mask", (integers(2, 3, dtype="int8"), np.array([-1, 9])), SequenceMaskAttributes(7.5, 1),
             lambda x, _: torch.stack([torch.full((3,), 7, dtype=torch.int8), x[1]]), label="int8"),
        Case("trilu", (floats(2, 3, 5), scalar(1, "int64")), TriluAttributes(), lambda x, _: x.triu(1)),
        Case("trilu", (floats(4, 3), scalar(-2, "int32")), TriluAttributes(False), lambda x, _: x.tril(-2), label="lower"),
        Case("trilu", (bools(3, 3), scalar(2**40, "int64")), TriluAttributes(), lambda x, _: x & False, label="far away"),
    ]  # fmt: skip


def _searches() -> list[Case]:
    row = np.sort(integers(9, low=0, high=6))
    rows = np.sort(floats(2, 7), axis=-1)
    special = np.array([-np.inf, -1, -0.0, 0.0, np.inf, np.nan], np.float32)
    return [
        Case("searchsorted", (row, integers(4, 5, low=-1, high=8)), SearchSortedAttributes(),
             lambda s, v: torch.searchsorted(s, v, out_int32=True)),
        Case("searchsorted", (row, integers(4, 5, low=-1, high=8)), SearchSortedAttributes(True, DType.INT64),
             lambda s, v: torch.searchsorted(s, v, right=True), label="right"),
        Case("searchsorted", (rows, floats(2, 3, seed=1)), SearchSortedAttributes(),
             lambda s, v: torch.searchsorted(s, v, out_int32=True), label="rows"),
        Case("searchsorted", (special, special), SearchSortedAttributes(), label="NaN and zeros"),
        Case("searchsorted", (floats(0), floats(2)), SearchSortedAttributes(), lambda _, __: torch.zeros(2, dtype=torch.int32),
             label="in nothing"),
    ]  # fmt: skip


def _suppressions() -> list[Case]:
    boxes = floats(2, 9, 4, low=0, high=4)
    scores = floats(2, 3, 9, seed=1, low=0, high=1)
    scores[0, 0, 3:6] = scores[0, 0, 3]  # the first of equal scores comes first
    limits = (scalar(0.3), scalar(0.1))
    return [
        Case("vision.all_class_non_max_suppression", (boxes, scores, scalar(4, "int64"), *limits)),
        Case("vision.all_class_non_max_suppression", (boxes, scores, scalar(0, "int32"), *limits), label="none"),
        Case("vision.all_class_non_max_suppression", (np.zeros((1, 3, 4), np.float32), scores[:1, :, :3],
                                                      scalar(9, "int64"), *limits), label="boxes without area"),
    ]  # fmt: skip


CASES: tuple[Case, ...] = (*_scatters(), *_coordinates(), *_sequences(), *_searches(), *_suppressions())
