"""Elements in order: `sort`, `argsort` and `topk` of float32 against NumPy, PyTorch and onnxruntime.

No two elements are equal, so that there is one right order. onnxruntime has no operator but TopK, of all elements where
they are sorted. Names tell the extents, the first of them the number of rows, and how many elements are wanted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import relay
from benchmarks.figures import RELAY, Failure, Record
from benchmarks.workloads import measure_calls, told
from relay.testing.measuring.libraries import library
from relay.testing.measuring.peers import Call, onnxruntime_call

OPSET, IR_VERSION = 20, 9
EXTENTS = ((1, 5), (100_000, 5), (1, 100), (64, 100), (1, 1000), (1, 8400), (1, 122_640), (1, 1_000_000))
WANTED = {5: 3, 100: 10, 1000: 10}
"""How many elements `topk` gives of rows of an extent; 100 of longer ones, as detectors keep before they suppress."""


@dataclass(frozen=True, slots=True)
class Sorting:
    """`kind` is `sort`, `argsort` or `topk`; `count` elements are wanted of each row."""

    kind: str
    rows: int
    extent: int
    count: int

    def data(self) -> NDArray[np.float32]:
        rng = np.random.default_rng(0)
        order = rng.permuted(np.tile(np.arange(self.extent, dtype=np.float32), (self.rows, 1)), axis=1)
        return order - np.float32(self.extent // 2)


def _sortings() -> Iterator[tuple[str, Sorting]]:
    for rows, extent in EXTENTS:
        count = WANTED.get(extent, 100)
        yield f"sort_{rows}x{extent}", Sorting("sort", rows, extent, extent)
        yield f"argsort_{rows}x{extent}", Sorting("argsort", rows, extent, extent)
        yield f"topk_{rows}x{extent}_{count}", Sorting("topk", rows, extent, count)


SORTINGS: Mapping[str, Sorting] = MappingProxyType(dict(_sortings()))
QUICK = ("sort_1x1000", "topk_1x8400")


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """A record an operator, extent, thread count and peer."""
    beginnings = tuple(options.only or (QUICK if options.quick else ("",)))
    for name, sorting in SORTINGS.items():
        if name.startswith(beginnings):
            for threads in options.threads:
                yield from _measure(name, sorting, threads, options)


def _measure(name: str, sorting: Sorting, threads: int, options: argparse.Namespace) -> Iterator[Record]:
    relay.set_num_threads(threads)
    calls: dict[str, Call] = {}
    data = sorting.data()
    for who, make in MAKERS.items():
        if who == RELAY or options.peers is None or who in options.peers:
            try:
                calls[who] = make(sorting, data, threads)
                calls[who]()
            except Exception as error:
                calls.pop(who, None)
                yield Failure(name, threads, who, told(error))
    yield from measure_calls(name, threads, calls, options)


def _ours(sorting: Sorting, data: NDArray[Any], _: int) -> Call:
    x = relay.var("x", shape=data.shape)
    match sorting.kind:
        case "sort":
            body = relay.sort(x)
        case "argsort":
            body = relay.argsort(x)
        case _:
            body = relay.topk(x, sorting.count, ret_type="values")
    executable = relay.build(relay.Function((x,), body), opt_level=3)
    return lambda: executable(data)


def _numpy(sorting: Sorting, data: NDArray[Any], _: int) -> Call:
    """The first elements as NumPy's users get them: parted from the others, then sorted."""
    count = sorting.count

    def topk() -> object:
        return -np.sort(np.partition(-data, count - 1, axis=-1)[:, :count], axis=-1)

    return {"sort": lambda: np.sort(data), "argsort": lambda: np.argsort(data), "topk": topk}[sorting.kind]


def _pytorch(sorting: Sorting, data: NDArray[Any], threads: int) -> Call:
    torch = library("torch")
    torch.set_num_threads(threads)
    x, count = torch.from_numpy(data), sorting.count
    calls: Mapping[str, Call] = {
        "sort": lambda: torch.sort(x)[0], "argsort": lambda: torch.argsort(x), "topk": lambda: torch.topk(x, count)[0],
    }  # fmt: skip
    return calls[sorting.kind]


def _onnxruntime(sorting: Sorting, data: NDArray[Any], threads: int) -> Call:
    node = helper.make_node("TopK", ["x", "k"], ["values", "places"], largest=int(sorting.kind == "topk"), sorted=1)
    name, dtype = ("places", TensorProto.INT64) if sorting.kind == "argsort" else ("values", TensorProto.FLOAT)
    value_info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node], "sorting", [value_info("x", TensorProto.FLOAT, data.shape)], [value_info(name, dtype, None)],
        [numpy_helper.from_array(np.array([sorting.count], np.int64), "k")],
    )  # fmt: skip
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION).SerializeToString()
    return onnxruntime_call(model, {"x": data}, threads)


MAKERS: Mapping[str, Callable[[Sorting, NDArray[Any], int], Call]] = MappingProxyType(
    {RELAY: _ours, "numpy": _numpy, "pytorch": _pytorch, "onnxruntime": _onnxruntime}
)
