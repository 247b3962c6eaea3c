"""Casts between all element types, by ONNX's reference and by its tables of special values."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference.ops.op_cast import cast_to

import relay
from relay.frontend.onnx import from_onnx
from relay.frontend.onnx.weights import ELEMENT_TYPES
from tests.frontend.onnx_cases import Array, model_of
from tests.frontend.running import run_relay

TYPES = {onnx.TensorProto.DataType.Name(number): number for number in ELEMENT_TYPES}
FLOAT8 = [name for name in TYPES if name.startswith("FLOAT8E") and name != "FLOAT8E8M0"]
NARROW = [*FLOAT8, "FLOAT4E2M1", "INT2", "INT4", "UINT2", "UINT4"]


def cast_model(source: str, target: str, extent: int, **options: object) -> onnx.ModelProto:
    node = helper.make_node("Cast", ["x"], ["y"], to=TYPES[target], **options)
    graph = helper.make_graph(
        [node], "cast", [helper.make_tensor_value_info("x", TYPES[source], [extent])], [onnx.ValueInfoProto(name="y")]
    )
    return model_of(graph, 28)


def cast(x: Array, source: str, target: str, **options: object) -> Array:
    module, _ = from_onnx(cast_model(source, target, len(x), **options))
    interpreted = run_relay(module, {"x": x})[0]
    compiled = np.asarray(relay.build(module)(x))
    assert interpreted.dtype == compiled.dtype == helper.tensor_dtype_to_np_dtype(TYPES[target])
    with np.errstate(invalid="ignore"):  # NaN
        np.testing.assert_array_equal(interpreted.astype(np.float64), compiled.astype(np.float64))
    return interpreted


def numbers(name: str) -> Array:
    """Every value of a type of at most 16 bits, and such values of a wider one."""
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(TYPES[name]))
    if name == "BOOL":
        return np.array([False, True])
    if dtype.itemsize == 1:
        bits = {"FLOAT4E2M1": 4, "INT4": 4, "UINT4": 4, "INT2": 2, "UINT2": 2}.get(name, 8)
        return np.arange(1 << bits, dtype=np.uint8).view(dtype)
    if dtype.itemsize == 2:
        return np.arange(1 << 16, dtype=np.uint16).view(dtype)
    if dtype.kind == "f":
        return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(dtype)
    return np.arange(-3 if dtype.kind == "i" else 0, 300).astype(dtype)


@pytest.mark.parametrize("target", FLOAT8)
@pytest.mark.parametrize(
    "source", [*FLOAT8, "FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "INT32", "UINT8", "INT4", "BOOL"]
)
@pytest.mark.parametrize("saturate", [1, 0])
def test_to_floats_of_eight_bits(source: str, target: str, saturate: int) -> None:
    x = numbers(source)
    with np.errstate(all="ignore"):
        wanted = cast_to(x.astype(np.float32), TYPES[target], bool(saturate)).astype(np.float32)
    np.testing.assert_array_equal(cast(x, source, target, saturate=saturate).astype(np.float32), wanted)


@pytest.mark.parametrize("source", NARROW)
@pytest.mark.parametrize("target", ["FLOAT", "FLOAT16", "DOUBLE", "BFLOAT16"])
def test_from_narrow_types(source: str, target: str) -> None:
    x = numbers(source)
    with np.errstate(invalid="ignore"):
        wanted = cast_to(x, TYPES[target], True).astype(np.float64)
        np.testing.assert_array_equal(cast(x, source, target).astype(np.float64), wanted)


@pytest.mark.parametrize("target", ["INT2", "INT4", "UINT2", "UINT4", "FLOAT4E2M1"])
@pytest.mark.parametrize("source", ["FLOAT", "INT32", "UINT8", "INT64", "INT4", "UINT2"])
def test_to_types_of_less_than_a_byte(source: str, target: str) -> None:
    """Integers keep their low bits; what ONNX leaves open (floats out of range) is not asked."""
    x = numbers(source)
    if source == "FLOAT":
        limit = 6 if target == "FLOAT4E2M1" else ml_dtypes.iinfo(helper.tensor_dtype_to_np_dtype(TYPES[target])).max
        x = x[np.abs(x) <= limit] if target.startswith(("INT", "FLOAT")) else x[(x >= 0) & (x <= limit)]
    wanted = x.astype(np.int32 if source != "FLOAT" else np.float32)
    wanted = wanted.astype(helper.tensor_dtype_to_np_dtype(TYPES[target])).astype(np.float64)
    np.testing.assert_array_equal(cast(x, source, target).astype(np.float64), wanted)


SMALLEST, LARGEST = 2.0**-127, 2.0**127


@pytest.mark.parametrize(
    ("mode", "saturate", "given", "wanted"),
    [
        ("up", 1, [0, 1, 1.01, 1.5, 3, 2.0**-140], [SMALLEST, 1, 2, 2, 4, SMALLEST]),
        ("up", 1, [np.inf, np.nan, 2.9e38], [LARGEST, np.nan, LARGEST]),
        ("nearest", 0, [0, 1.49, 1.5, 2.9, 3, 3.1e38, np.inf, np.nan], [np.nan, 1, 2, 2, 4, np.nan, np.nan, np.nan]),
        ("nearest", 1, [1.49, 1.5, 6, 3.1e38], [1, 2, 8, LARGEST]),
        ("down", 1, [0.99, 1, 1.99, 6, np.inf], [0.5, 1, 1, 4, LARGEST]),
        ("up", 0, [1.01, 4, 2.9e38], [2, 4, np.nan]),
    ],
)  # fmt: skip
def test_powers_of_two(mode: str, saturate: int, given: list[float], wanted: list[float]) -> None:
    """ONNX's table of Cast to float8e8m0."""
    x = np.asarray(given, np.float32)
    found = cast(x, "FLOAT", "FLOAT8E8M0", round_mode=mode, saturate=saturate)
    np.testing.assert_array_equal(found.astype(np.float32), np.asarray(wanted, np.float32))
    np.testing.assert_array_equal(cast(found, "FLOAT8E8M0", "FLOAT"), np.asarray(wanted, np.float32))


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_types_pass_through_what_only_moves_them(dtype: str) -> None:
    x = numbers(dtype)[:12]
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["rows"]),
        helper.make_node("Transpose", ["rows"], ["columns"]),
        helper.make_node("Identity", ["columns"], ["y"]),
    ]
    info = helper.make_tensor_value_info("x", TYPES[dtype], [len(x)])
    shape = onnx.numpy_helper.from_array(np.array([2, -1]), "shape")
    module, params = from_onnx(
        model_of(helper.make_graph(nodes, "g", [info], [onnx.ValueInfoProto(name="y")], [shape]), 28)
    )
    for found in (run_relay(module, {"x": x, **params})[0], np.asarray(relay.build(module)(x, **params))):
        np.testing.assert_array_equal(found.astype(np.float32), x.reshape(2, -1).T.astype(np.float32))
