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

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.frontend.onnx import from_onnx
from relay.ir.expr import Call, Constant
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


def with_constants(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its weights as constants of the graph, which are computed with whatever their type."""
    for tensor in reversed(model.graph.initializer):
        model.graph.node.insert(0, helper.make_node("Constant", [], [tensor.name], value=tensor))
    del model.graph.initializer[:]
    return model


def check(operator: str, inputs: tuple[Array, ...], attributes: dict[str, Any]) -> None:
    model = with_constants(Case(operator, inputs, attributes, weights=(0, 1), opset=18).model())
    module, _ = from_onnx(model)
    body = module["main"].body
    assert isinstance(body, Constant)  # it was folded
    wanted = expected(model)
    assert body.data.dtype == wanted.dtype
    np.testing.assert_array_equal(body.data, wanted)


@pytest.mark.parametrize(("operator", "dtype"), EACH, ids=lambda value: getattr(value, "__name__", value))
def test_extreme_values(operator, dtype):
    """Arrays of all pairs, and scalars."""
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
def test_reductions_that_overflow_wrap(operator, dtype):
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


# What is known of shapes, whatever operator it goes through

VECTOR = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 6])


def imported(nodes: list[onnx.NodeProto], weights: dict[str, Array], output: str = "y") -> Any:
    weights_of = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "shapes", [VECTOR], [onnx.ValueInfoProto(name=output)], weights_of)
    return from_onnx(model_of(graph, 18))


@pytest.mark.parametrize(
    ("through", "shape"),
    [
        ([helper.make_node("Sum", ["s", "s", "s"], ["t"])], "(3*n, 18)"),
        ([helper.make_node("Abs", ["s"], ["t"])], "(n, 6)"),
        ([helper.make_node("GatherND", ["s", "last"], ["r"]), helper.make_node("Concat", ["r", "one"], ["t"], axis=0)],
         "(6, 1)"),
        ([helper.make_node("Max", ["s", "one"], ["t"])], "(max(n, 1), 6)"),
        ([helper.make_node("Pad", ["s", "front"], ["p"]), helper.make_node("Slice", ["p", "one", "far"], ["t"])],
         "(n, 6)"),
        ([helper.make_node("MatMul", ["s", "swap"], ["m"]), helper.make_node("Abs", ["m"], ["t"])], None),
    ],
    ids=["Sum", "Abs", "GatherND", "Max", "Pad", "MatMul"],
)  # fmt: skip
def test_extents_are_known_through_every_operator(through, shape):
    """What moves and adds extents keeps them; what is not worked out here is left to the run."""
    weights = {
        "last": np.asarray([[1]]), "one": np.asarray([1]), "front": np.asarray([1, 0]), "far": np.asarray([9]),
        "swap": np.asarray([[0, 1], [1, 0]]), "value": np.asarray([1.0], np.float32),
    }  # fmt: skip
    nodes = [helper.make_node("Shape", ["x"], ["s"]), *through]
    nodes += [helper.make_node("ConstantOfShape", ["t"], ["y"], value=numpy_helper.from_array(weights.pop("value")))]
    if shape is None:
        module, params = imported(nodes, weights)
        (found,) = run_relay(module, {"x": np.zeros((5, 6), np.float32), **params})
        assert found.shape == (6, 5)
        return
    module, params = imported(nodes, weights)
    assert str(module["main"].body.checked_type) == f"Tensor[{shape}, float32]"
    assert not params


def test_shape_arithmetic_leaves_no_parameters_behind():
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Mul", ["s", "factors"], ["t"]),
        helper.make_node("Reshape", ["x", "t"], ["y"]),
    ]
    module, params = imported(nodes, {"factors": np.asarray([1, 1])})
    assert not params
    assert [var.name_hint for var in module["main"].params] == ["x"]


def test_a_large_result_of_known_elements_is_left_to_the_run():
    module, params = imported(
        [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Tile", ["s", "many"], ["y"])],
        {"many": np.asarray([2**20])},
    )
    assert isinstance(module["main"].body, Call)
    (found,) = run_relay(module, {"x": np.ones((2, 6), np.float32), **params})
    assert found.shape == (2**21,)


def test_an_extent_that_no_input_tells_is_refused_only_where_the_program_needs_it():
    area = Symbol("n") * Symbol("m")
    reshaped = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Reshape", ["x", "s"], ["y"])]
    graph = helper.make_graph(reshaped, "area", [VECTOR], [onnx.ValueInfoProto(name="y")])
    module, _ = from_onnx(model_of(graph, 18), shape={"x": (area, 6)})
    assert str(module["main"].body.checked_type) == "Tensor[(n*m, 6), float32]"
    graph.output[0].name = "s"
    with pytest.raises(RelayError, match=r"the program needs the extent [nm] as a value"):
        from_onnx(model_of(graph, 18), shape={"x": (area, 6)})
