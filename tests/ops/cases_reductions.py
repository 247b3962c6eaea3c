"""Reductions, normalisation, softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from relay.base.dtypes import DType
from relay.ops.nn.norm import BatchNormAttributes, GroupNormAttributes, InstanceNormAttributes, LayerNormAttributes
from relay.ops.nn.norm_vector import L2NormalizeAttributes, LRNAttributes
from relay.ops.nn.softmax import SoftmaxAttributes
from relay.ops.reduction.reduce import ReduceAttributes
from relay.ops.reduction.reduce_index import ArgReduceAttributes
from relay.ops.reduction.scan import ScanAttributes
from relay.ops.reduction.variance import VarianceAttributes
from relay.ops.sorting.sort import ArgsortAttributes, SortAttributes, TopKAttributes
from tests.ops.case import EXACT, NARROW, SUMMED, Case, bools, floats, integers, scalar

_AXES = (((1,), False), ((0, -1), True), (None, False), ((), False))


def _torch_axes(axis: tuple[int, ...] | None) -> tuple[int, ...]:
    return (0, 1, 2) if axis is None else axis


def _reductions() -> list[Case]:
    torch_functions: dict[str, Callable[..., Any]] = {
        "sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin,
    }  # fmt: skip
    cases: list[Case] = []
    for name, function in torch_functions.items():
        for axis, keepdims in _AXES:
            oracle = lambda x, f=function, a=axis, k=keepdims: f(x, _torch_axes(a), k)  # noqa: E731
            attributes = ReduceAttributes(axis, keepdims)
            cases.append(Case(name, (floats(2, 3, 4),), attributes, None if axis == () else oracle, SUMMED, f"{axis}"))
        cases += [
            Case(name, (floats(2, 0, 3),), ReduceAttributes((0,)), label="empty result"),
            Case(name, (integers(3, 4, dtype="int8", low=-128, high=127),), ReduceAttributes((1,)), label="int8"),
            Case(
                name,
                (floats(3, 300, dtype="bfloat16", low=0),),
                ReduceAttributes((1,)),
                tolerance=NARROW,
                label="bfloat16",
            ),
            Case(name, (floats(2, 3, 4),), ReduceAttributes((1,), True, True), tolerance=SUMMED, label="exclude"),
            Case(name, (scalar(3.0),), ReduceAttributes()),
        ]
    for name in ("sum", "max", "min", "prod"):
        cases.append(Case(name, (floats(2, 0, 3),), ReduceAttributes((1,)), label="of nothing"))
    for name, function in (("all", torch.all), ("any", torch.any)):
        cases.append(Case(name, (bools(3, 4),), ReduceAttributes((1,)), lambda x, f=function: f(x, 1)))
        cases.append(Case(name, (bools(3, 0),), ReduceAttributes((1,)), lambda x, f=function: f(x, 1)))
    nan = np.array([[1, np.nan, 3], [2, 5, -np.inf]], np.float32)
    return [
        *cases,
        Case("max", (nan,), ReduceAttributes((1,)), lambda x: x.amax(1), EXACT, "nan"),
        Case("min", (nan,), ReduceAttributes((1,)), lambda x: x.amin(1), EXACT, "nan"),
        Case("min", (bools(3, 4),), ReduceAttributes((1,)), lambda x: x.all(1), EXACT, "of bools"),
        Case("max", (bools(3, 4),), ReduceAttributes((1,)), lambda x: x.any(1), EXACT, "of bools"),
        Case("sum", (bools(3, 4),), ReduceAttributes((0,), True), lambda x: x.any(0, True), EXACT, "of bools"),
        Case("prod", (bools(3, 4),), ReduceAttributes(), lambda x: x.all(), EXACT, "of bools"),
        Case("sum", (bools(0, 4),), ReduceAttributes((0,)), lambda x: x.any(0), EXACT, "of no bools"),
        Case("prod", (floats(2, 3, 4),), ReduceAttributes((2,)), lambda x: x.prod(2), SUMMED),
        Case("prod", (integers(2, 5),), ReduceAttributes(), tolerance=EXACT),
        Case("variance", (floats(3, 8), floats(3, 1, seed=1)), VarianceAttributes((1,)), tolerance=SUMMED),
        Case("variance", (floats(3, 8), floats(3, 8).mean(1, keepdims=True)), VarianceAttributes((1,), True, False, True),
             lambda x, _: x.var(1, keepdim=True), SUMMED, "unbiased"),
    ]  # fmt: skip


def _images() -> list[Case]:
    """Four axes, as layouts are about."""
    x = floats(2, 3, 4, 5)
    return [
        Case("mean", (x,), ReduceAttributes((2, 3)), lambda x: x.mean((2, 3)), SUMMED),
        Case("sum", (x,), ReduceAttributes((1,), True), lambda x: x.sum(1, True), SUMMED),
        Case("max", (x,), ReduceAttributes((0,)), lambda x: x.amax(0)),
        Case("sum", (x,), ReduceAttributes((0, 1), False, True), tolerance=SUMMED, label="exclude image"),
        Case("argmax", (x,), ArgReduceAttributes((1,)), lambda x: x.argmax(1).int()),
        Case("variance", (x, x.mean((2, 3), keepdims=True)), VarianceAttributes((2, 3), True), tolerance=SUMMED),
        Case("nn.softmax", (x,), SoftmaxAttributes(1), lambda x: x.softmax(1), SUMMED),
    ]


def _index_reductions() -> list[Case]:
    ties = np.array([[3, 1, 3, 0], [2, 2, 2, 2]], np.int32)
    nan = np.array([[1, np.nan, 3, np.nan], [-np.inf, -np.inf, -np.inf, -np.inf]], np.float32)
    cases: list[Case] = []
    for name, function in (("argmax", torch.argmax), ("argmin", torch.argmin)):
        cases += [
            Case(name, (floats(3, 5),), ArgReduceAttributes((1,)), lambda x, f=function: f(x, 1).int()),
            Case(name, (floats(3, 5),), ArgReduceAttributes((-2,), True), lambda x, f=function: f(x, 0, True).int(),
                 label="keepdims"),
            Case(name, (floats(3, 5),), ArgReduceAttributes(), lambda x, f=function: f(x).int(), label="all axes"),
            Case(name, (floats(2, 3, 4),), ArgReduceAttributes((0, 2)), label="two axes"),
            Case(name, (ties,), ArgReduceAttributes((1,)), label="ties"),
            Case(name, (ties,), ArgReduceAttributes((1,), select_last_index=True), label="last of ties"),
            Case(name, (nan,), ArgReduceAttributes((1,)), label="nan"),
            Case(name, (floats(0, 3),), ArgReduceAttributes((1,)), label="empty"),
        ]  # fmt: skip
    return cases


def _norms() -> list[Case]:
    x, vectors = floats(2, 6, 4, 5), [floats(6, seed=seed, low=0.5) for seed in (1, 2, 3, 4)]
    gamma, beta, mean, variance = vectors

    def layer(data: Any, g: Any, b: Any) -> Any:
        return functional.layer_norm(data, (6,), g, b, 1e-5)

    return [
        Case("nn.batch_norm", (x, gamma, beta, mean, variance), BatchNormAttributes(),
             lambda d, g, b, m, v: (functional.batch_norm(d, m, v, g, b, False, 0.0, 1e-5), m, v), SUMMED),
        Case("nn.batch_norm", (floats(3, 6), gamma, beta, mean, variance), BatchNormAttributes(-1, 1e-3, False, False),
             lambda d, g, b, m, v: (functional.batch_norm(d, m, v, None, None, False, 0.0, 1e-3), m, v), SUMMED, "plain"),
        Case("nn.layer_norm", (floats(2, 3, 6), gamma, beta), LayerNormAttributes(), layer, SUMMED),
        Case("nn.layer_norm", (floats(2, 6, 3), gamma, beta), LayerNormAttributes(1), lambda d, g, b: layer(d.mT, g, b).mT,
             SUMMED, "middle axis"),
        Case("nn.layer_norm", (floats(2, 6, dtype="bfloat16"), *(floats(6, dtype="bfloat16", seed=s) for s in (1, 2))),
             LayerNormAttributes(), tolerance=NARROW, label="bfloat16"),
        Case("nn.instance_norm", (x, gamma, beta), InstanceNormAttributes(),
             lambda d, g, b: functional.instance_norm(d, None, None, g, b, True, 0.0, 1e-5), SUMMED),
        Case("nn.group_norm", (x, gamma, beta), GroupNormAttributes(3),
             lambda d, g, b: functional.group_norm(d, 3, g, b, 1e-5), SUMMED),
        Case("nn.l2_normalize", (floats(2, 3, 4),), L2NormalizeAttributes(1e-12, (1,)),
             lambda d: functional.normalize(d, 2, 1), SUMMED),
        Case("nn.l2_normalize", (floats(2, 3),), L2NormalizeAttributes(1e-5), tolerance=SUMMED, label="all axes"),
        Case("nn.lrn", (floats(2, 7, 3, 3),), LRNAttributes(5, 1, 2.0, 0.1, 0.75),
             lambda d: functional.local_response_norm(d, 5, 0.1, 0.75, 2.0), SUMMED),
        Case("nn.lrn", (floats(2, 3, 7),), LRNAttributes(3, -1), tolerance=SUMMED, label="last axis"),
    ]  # fmt: skip


def _softmaxes() -> list[Case]:
    large = floats(3, 5) * 100
    cases: list[Case] = []
    for name, function in (("nn.softmax", torch.softmax), ("nn.log_softmax", torch.log_softmax)):
        cases += [
            Case(name, (floats(3, 5),), SoftmaxAttributes(), lambda x, f=function: f(x, -1), SUMMED),
            Case(name, (floats(2, 3, 4),), SoftmaxAttributes(1), lambda x, f=function: f(x, 1), SUMMED),
            Case(name, (large,), SoftmaxAttributes(), lambda x, f=function: f(x, -1), SUMMED, "large"),
            Case(name, (floats(0, 5),), SoftmaxAttributes()),
            Case(name, (floats(2, 9, dtype="bfloat16"),), SoftmaxAttributes(), tolerance=NARROW, label="bfloat16"),
        ]
    return cases


def _scans() -> list[Case]:
    return [
        Case("cumsum", (floats(3, 5),), ScanAttributes(1), lambda x: x.cumsum(1), SUMMED),
        Case("cumsum", (floats(3, 2, 4),), ScanAttributes(), lambda x: x.flatten().cumsum(0), SUMMED, "flat"),
        Case("cumsum", (integers(3, 5, dtype="int8", low=-128, high=127),), ScanAttributes(0, DType.INT32),
             lambda x: x.cumsum(0).int(), label="int8"),
        Case("cumsum", (floats(3, 5),), ScanAttributes(-2, None, True), tolerance=SUMMED, label="exclusive"),
        Case("cumsum", (floats(3, 0),), ScanAttributes(1), lambda x: x.cumsum(1), label="empty"),
        Case("cumsum", (floats(9, dtype="bfloat16"),), ScanAttributes(0), tolerance=NARROW, label="bfloat16"),
        Case("cumprod", (floats(3, 5),), ScanAttributes(0), lambda x: x.cumprod(0), SUMMED),
        Case("cumprod", (integers(6, low=1, high=3),), ScanAttributes(0, exclusive=True), label="exclusive"),
    ]  # fmt: skip


def _sorts() -> list[Case]:
    ties = integers(3, 7, low=0, high=3)
    nan = np.array([[1, np.nan, -np.inf, 3, np.nan, np.inf, 1]], np.float32)
    cases: list[Case] = []
    for ascend in (True, False):
        cases += [
            Case("argsort", (ties,), ArgsortAttributes(1, ascend),
                 lambda x, a=ascend: x.argsort(dim=1, descending=not a, stable=True).int(), label=f"{ascend}"),
            Case("argsort", (nan,), ArgsortAttributes(-1, ascend), label=f"nan {ascend}"),
            Case("sort", (floats(3, 4),), SortAttributes(0, ascend), lambda x, a=ascend: x.sort(0, not a)[0],
                 label=f"{ascend}"),
            Case("topk", (floats(3, 7),), TopKAttributes(3, 1, "both", ascend, DType.INT64),
                 lambda x, a=ascend: tuple(x.topk(3, 1, not a)), label=f"{ascend}"),
        ]  # fmt: skip
    return [
        *cases,
        Case("sort", (integers(9, dtype="uint8", low=0, high=255),), SortAttributes(0, False), label="uint8"),
        Case("sort", (floats(2, 0),), SortAttributes(1), label="empty"),
        Case("sort", (bools(3, 7),), SortAttributes(1, False), label="bool"),
        Case("sort", (floats(2, 70, 3, dtype="float16"),), SortAttributes(1), label="float16 between axes"),
        Case("argsort", (integers(300, dtype="int64"),), ArgsortAttributes(dtype=DType.FLOAT32), label="as float32"),
        Case("topk", (floats(2, 400),), TopKAttributes(3, dtype=DType.FLOAT32), label="places as float32"),
        Case("topk", (ties,), TopKAttributes(0, 0, "values"), label="all values"),
        Case("topk", (floats(3, 7),), TopKAttributes(3, dtype=DType.FLOAT32), label="places as floats"),
        Case("argsort", (floats(2, 300),), ArgsortAttributes(dtype=DType.FLOAT64), label="places as floats"),
        Case("topk", (ties,), TopKAttributes(2, -1, "indices"), label="indices"),
    ]


CASES: tuple[Case, ...] = (
    *_scans(),
    *_sorts(),
    *_reductions(),
    *_index_reductions(),
    *_norms(),
    *_softmaxes(),
    *_images(),
)
