"""Products of narrow numbers alone, weights known when they are compiled: bytes (uint8 × int8, sums int32) against
onnxruntime and PyTorch, bfloat16 (sums float32, results bfloat16) against PyTorch, and both against our float32.

Sums of bytes are exact, so the error of a peer is 0. PyTorch multiplies int8 by int8.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import relay
from benchmarks.figures import RELAY, Failure, Record, Work
from benchmarks.precision import FLOAT32
from benchmarks.workloads import measure_calls, told
from relay.testing.measuring.libraries import library
from relay.testing.measuring.peers import Call, onnxruntime_call

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_LARGEST_ERROR = 0.05
_OPSET, _IR_VERSION = 20, 9


@dataclass(frozen=True, slots=True)
class Product:
    """data[rows, depth] · weight[depth, columns]"""

    rows: int
    depth: int
    columns: int

    @property
    def work(self) -> Work:
        return Work(2 * self.rows * self.depth * self.columns, 0)


SIZES = (
    (1, 768, 3072), (16, 768, 3072), (128, 768, 768), (128, 768, 3072), (128, 3072, 768), (512, 512, 512),
    (1024, 1024, 1024),
)  # fmt: skip
PRODUCTS: Mapping[str, Product] = MappingProxyType(
    {f"{kind}_{m}x{k}x{n}": Product(m, k, n) for kind in ("bytes", "bf16") for m, k, n in SIZES}
)
QUICK = ("bytes_128x768x768", "bf16_128x768x768")


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """A record a product, thread count and peer."""
    beginnings = tuple(options.only or (QUICK if options.quick else ("",)))
    for name, product in PRODUCTS.items():
        if name.startswith(beginnings):
            for threads in options.threads:
                yield from _measure(name, product, threads, options)


def _measure(name: str, product: Product, threads: int, options: argparse.Namespace) -> Iterator[Record]:
    relay.set_num_threads(threads)
    calls: dict[str, Call] = {}
    for who, make in (_bytes(product) if name.startswith("bytes") else _bfloat16(product)).items():
        if who in (RELAY, FLOAT32) or options.peers is None or who in options.peers:
            try:
                calls[who] = make(threads)
                calls[who]()
            except Exception as error:
                calls.pop(who, None)
                yield Failure(name, threads, who, told(error))
    if RELAY in calls:
        yield from measure_calls(name, threads, calls, options, product.work, _LARGEST_ERROR)


def _ours(data: NDArray[Any], weight: NDArray[Any], out_dtype: str) -> Call:
    variable = relay.var("x", shape=data.shape, dtype=str(data.dtype))
    body = relay.nn.dense(variable, relay.const(np.ascontiguousarray(weight.T)), out_dtype=out_dtype)
    executable = relay.build(relay.Function((variable,), body), opt_level=3)
    return lambda: executable(data)


def _bytes(product: Product) -> Mapping[str, Callable[[int], Call]]:
    rng = np.random.default_rng(0)
    data = rng.integers(0, 128, (product.rows, product.depth), np.uint8)  # int8 holds them too
    weight = rng.integers(-128, 128, (product.depth, product.columns), np.int8)
    value_info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["x", "w"], ["y"])], "product",
        [value_info("x", TensorProto.UINT8, data.shape)], [value_info("y", TensorProto.INT32, None)],
        [numpy_helper.from_array(weight, "w")],
    )  # fmt: skip
    opset = helper.make_opsetid("", _OPSET)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION).SerializeToString()

    def pytorch(threads: int) -> Call:
        torch = library("torch")
        torch.set_num_threads(threads)
        x, w = torch.from_numpy(data.astype(np.int8)), torch.from_numpy(weight)
        call = vars(torch)["_int_mm"]
        return lambda: call(x, w)

    return {
        RELAY: lambda _: _ours(data, weight, "int32"),
        FLOAT32: lambda _: _ours(data.astype(np.float32), weight.astype(np.float32), "float32"),
        "onnxruntime": lambda threads: onnxruntime_call(model, {"x": data}, threads),
        "pytorch": pytorch,
    }


def _bfloat16(product: Product) -> Mapping[str, Callable[[int], Call]]:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((product.rows, product.depth), np.float32)
    weight = rng.standard_normal((product.depth, product.columns), np.float32) / np.float32(np.sqrt(product.depth))

    def pytorch(threads: int) -> Call:
        torch = library("torch")
        torch.set_num_threads(threads)
        x, w = (torch.from_numpy(np.ascontiguousarray(each)).bfloat16() for each in (data, weight.T))
        call = torch.nn.functional.linear
        return lambda: call(x, w)

    return {
        RELAY: lambda _: _ours(data.astype(_BFLOAT16), weight.astype(_BFLOAT16), "bfloat16"),
        FLOAT32: lambda _: _ours(data, weight, "float32"),
        "pytorch": pytorch,
    }
