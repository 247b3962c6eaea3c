"""Inputs that are fixed when a model is read: `from_onnx(…, constants={name: value})`."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from relay.base.diagnostics import RelayError
from relay.frontend.onnx import from_onnx
from relay.frontend.onnx.weights import ELEMENT_TYPES
from tests.frontend.onnx_cases import floats, graph_of, model_of
from tests.frontend.onnx_suite import SuiteCase, difference, suite_cases
from tests.frontend.running import run_relay

ATTRIBUTES_IN_DISGUISE = (
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
    "ReduceSumSquare", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Trilu", "Unsqueeze", "Expand", "Compress",
)  # fmt: skip


def disguised() -> list[SuiteCase]:
    """Cases of one node, all of whose inputs but the first say what it does."""
    nodes = [(case, case.model.graph.node) for case in suite_cases(("node",))]
    return [
        case for case, (first, *rest) in nodes
        if not rest and first.op_type in ATTRIBUTES_IN_DISGUISE and len(case.data[0][0]) > 1
    ]  # fmt: skip


def test_cases_of_the_suite_with_fixed_inputs() -> None:
    cases = disguised()
    assert len(cases) > 100
    for case in cases:
        (inputs, expected), *_ = case.data
        given = dict(zip((info.name for info in case.model.graph.input), inputs, strict=False))
        first, *others = given
        module, params = from_onnx(case.model, constants={name: given[name] for name in others})
        assert [var.name_hint for var in module["main"].params] == [first]
        found = run_relay(module, {first: given[first], **params})
        assert not difference(case, found, expected), case.name


def reshaping(shape: list[int | str] | None = None, dtype: int = onnx.TensorProto.INT64) -> onnx.ModelProto:
    """x[n, 6] in a shape of n entries."""
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 6])
    wanted = helper.make_tensor_value_info("shape", dtype, ["n"] if shape is None else shape)
    node = helper.make_node("Reshape", ["x", "shape"], ["y"])
    return model_of(helper.make_graph([node], "g", [x, wanted], [onnx.ValueInfoProto(name="y")]), 17)


def test_a_fixed_input_is_no_parameter_and_fixes_the_extents_that_it_names() -> None:
    module, _ = from_onnx(reshaping(), constants={"shape": [4, -1]})
    (parameter,) = module["main"].params
    assert str(parameter.checked_type) == "Tensor[(2, 6), float32]"
    assert str(module["main"].body.checked_type) == "Tensor[(4, 3), float32]"


def test_a_fixed_input_that_data_need_is_a_constant_of_the_program() -> None:
    model = graph_of([helper.make_node("Add", ["x", "b"], ["y"])], {"x": ["n", 3], "b": [3]}, ["y"])
    module, params = from_onnx(model, constants={"b": [1.0, 2.0, 3.0]})
    assert not params
    x = floats(2, 3)
    np.testing.assert_allclose(run_relay(module, {"x": x})[0], x + np.float32([1, 2, 3]), rtol=1e-6)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([2.5, 1.0], "expected: elements of type int64\n  found:    float64"),
        ([[2, 6]], "expected: 1 axes\n  found:    2, of the extents (1, 2)"),
        ("twelve", "expected: elements of type int64"),
    ],
)
def test_what_an_input_does_not_take(value: Any, told: str) -> None:
    with pytest.raises(RelayError) as caught:
        from_onnx(reshaping(), constants={"shape": value})
    assert caught.value.rule == "wrong-argument"
    assert told in str(caught.value)


def test_a_number_of_entries_that_the_model_does_not_have() -> None:
    with pytest.raises(RelayError, match="3 entries along axis 0"):
        from_onnx(reshaping([3]), constants={"shape": [4, -1]})


def test_a_constant_without_an_input() -> None:
    with pytest.raises(RelayError, match="no input called 'axes'"):
        from_onnx(reshaping(), constants={"axes": [1]})


def test_every_element_type_of_onnx_can_be_fixed() -> None:
    for number, dtype in ELEMENT_TYPES.items():
        info = helper.make_tensor_value_info("x", number, [2])
        graph = helper.make_graph(
            [helper.make_node("Identity", ["x"], ["y"])], "g", [info], [onnx.ValueInfoProto(name="y")]
        )
        fixed = np.ones(2).astype(dtype.numpy)
        module, _ = from_onnx(model_of(graph, 25), constants={"x": fixed})
        np.testing.assert_array_equal(run_relay(module, {})[0].astype(np.float32), fixed.astype(np.float32))
