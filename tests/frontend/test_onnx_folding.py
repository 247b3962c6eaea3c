"""What is computed while a model is read is what the run would compute, and what ONNX's reference evaluator does."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from relay.frontend.onnx import folding, from_onnx
from relay.ir.expr import Constant
from tests.frontend.onnx_cases import Array, Case, model_of
from tests.frontend.running import run_relay

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]
NUMBERS = (*INTEGERS, *FLOATS)
PAIRWISE = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max"), NUMBERS),
    **dict.fromkeys(("Less", "LessOrEqual", "Greater", "GreaterOrEqual"), NUMBERS),
    "Equal": (bool, *NUMBERS), "And": (bool,), "Or": (bool,),
}  # fmt: skip
ONE_BY_ONE = {"Neg": NUMBERS, "Floor": FLOATS, "Ceil": FLOATS, "Sqrt": FLOATS, "Not": (bool,)}
EACH = [(op, dtype) for op, dtypes in (*PAIRWISE.items(), *ONE_BY_ONE.items()) for dtype in dtypes]


def extremes(dtype: Any) -> list[Any]:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return [False, True]
    if kind == "f":
        limits = np.finfo(dtype)
        return [-np.inf, limits.min, -2.5, -1, -0.0, 0.0, limits.tiny, 0.5, 1, 3, limits.max, np.inf, np.nan]
    whole = np.iinfo(dtype)
    wanted = (whole.min, whole.min + 1, -7, -2, -1, 0, 1, 2, 7, whole.max - 1, whole.max)
    return [value for value in wanted if whole.min <= value <= whole.max]


def expected(model: onnx.ModelProto) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overflow is what this is about
        (value,) = ReferenceEvaluator(model).run(None, {})
    return np.asarray(value)


def check(operator: str, inputs: tuple[Array, ...], attributes: dict[str, Any]) -> None:
    model = Case(operator, inputs, attributes, weights=(0, 1), opset=18).model()
    module, _ = from_onnx(model)
    body = module["main"].body
    assert isinstance(body, Constant)  # it was folded
    wanted = expected(model)
    assert body.data.dtype == wanted.dtype
    np.testing.assert_array_equal(body.data, wanted)


@pytest.mark.parametrize(("operator", "dtype"), EACH, ids=lambda value: getattr(value, "__name__", value))
def test_extreme_values(operator, dtype, monkeypatch):
    """Arrays of all pairs, and scalars."""
    monkeypatch.setattr(folding, "_worth_folding", lambda _: True)  # floats that are weights, too
    values = extremes(dtype)
    chosen = list(itertools.product(values, values)) if operator in PAIRWISE else [(value,) for value in values]
    columns = tuple(np.asarray(column, dtype) for column in zip(*chosen, strict=True))
    scalars = [tuple(np.asarray(value, dtype) for value in each) for each in (chosen[0], chosen[-1])]
    modes = ({"fmod": 1}, {}) if operator == "Mod" else ({},)
    for inputs, attributes in itertools.product((columns, *scalars), modes):
        if not (operator == "Mod" and np.dtype(dtype).kind == "f" and not attributes):  # ONNX has no such Mod
            check(operator, inputs, attributes)


@pytest.mark.parametrize("operator", ["ReduceProd", "ReduceSum"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_reductions_that_overflow_are_left_to_the_run(operator, dtype):
    model = Case(operator, (np.asarray([np.iinfo(dtype).max, 3, 5], dtype),), {"keepdims": 0}, (0,), opset=18).model()
    module, params = from_onnx(model)
    np.testing.assert_array_equal(run_relay(module, params)[0], expected(model))


NODES = {
    "Mul": (helper.make_node("Mul", ["s", "h"], ["y"]),),
    "Add": (helper.make_node("Add", ["s", "h"], ["y"]),),
    "Div": (helper.make_node("Div", ["s", "h"], ["y"]),),
    "product": (helper.make_node("Mul", ["s", "h"], ["q"]), helper.make_node("ReduceProd", ["q"], ["y"], keepdims=0)),
    "narrow": (helper.make_node("Mul", ["s", "h"], ["q"]), helper.make_node("Cast", ["q"], ["y"], to=6)),
}


@pytest.mark.parametrize("extents", [["n", 3], [4, 3], ["n", "m"]], ids=str)
@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("factor", [2**63 - 1, 2**61, -(2**63), 0, 2**40])
def test_shape_arithmetic_that_overflows_wraps(extents, nodes, factor):
    x = np.ones((4, 3), np.float32)
    graph = helper.make_graph(
        [helper.make_node("Shape", ["x"], ["s"]), *NODES[nodes]],
        "overflow",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, extents)],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(np.asarray([factor, factor], np.int64), "h")],
    )
    model = model_of(graph, 18)
    module, params = from_onnx(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (wanted,) = ReferenceEvaluator(model).run(None, {"x": x})
    np.testing.assert_array_equal(run_relay(module, {"x": x, **params})[0], wanted)
