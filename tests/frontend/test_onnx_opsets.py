"""Opsets and domains that a model imports, nodes as older opsets write them, and operators that ONNX defines itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from relay.base.diagnostics import RelayError
from relay.frontend.onnx import from_onnx
from tests.frontend.onnx_cases import floats, graph_of, ints
from tests.frontend.running import assert_close, run_onnxruntime, run_relay
from tests.pages import run_page


def imported_opsets(model: onnx.ModelProto, *opsets: tuple[str, int]) -> onnx.ModelProto:
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    del changed.opset_import[:]
    changed.opset_import.extend(helper.make_opsetid(*each) for each in opsets)
    return changed


RELU = graph_of([helper.make_node("Relu", ["x"], ["y"], name="first")], {"x": [2]}, ["y"])


@pytest.mark.parametrize(
    ("opsets", "told"),
    [
        ([("ai.onnx.ml", 3)], "Relu is of the standard operators, no opset of which is imported"),
        ([("", 17), ("ai.onnx", 18)], "the opset of the standard operators is imported twice"),
        ([("", 17), ("ai.onnx.ml", 9)], "opset 9 of ai.onnx.ml   in the model; 1 to 5 can be imported"),
    ],
)
def test_opsets_that_do_not_say_what_is_meant(opsets: list[tuple[str, int]], told: str) -> None:
    with pytest.raises(RelayError) as caught:
        from_onnx(imported_opsets(RELU, *opsets))
    assert told in str(caught.value)


def test_a_model_older_than_opsets_means_the_first() -> None:
    model = imported_opsets(RELU)
    model.ir_version = 2
    module, _ = from_onnx(model)
    assert_close(run_relay(module, {"x": np.float32([-1, 2])}), [np.float32([0, 2])], 0)


def test_an_operator_of_another_domain_is_named_with_it() -> None:
    model = graph_of([helper.make_node("SVMRegressor", ["x"], ["y"], domain="ai.onnx.ml")], {"x": [2, 3]}, ["y"])
    with pytest.raises(RelayError, match=r"operator ai\.onnx\.ml\.SVMRegressor   in the maker of y"):
        from_onnx(imported_opsets(model, ("ai.onnx.ml", 1)), shape={"x": (2, 3)})


# Node, opset, shape of x, shape of b, and the shape in which NumPy broadcasts b.
OLD = {
    "one a channel": (helper.make_node("Add", ["x", "b"], ["y"], broadcast=1, axis=1), 6, (2, 3, 4), (3,), (3, 1)),
    "one a row": (helper.make_node("Mul", ["x", "b"], ["y"], broadcast=1, axis=0), 6, (2, 3), (2,), (2, 1)),
    "last axes": (helper.make_node("Sub", ["x", "b"], ["y"], broadcast=1), 6, (2, 3, 4), (3, 4), (3, 4)),
    "consumed": (helper.make_node("Add", ["x", "b"], ["y"], consumed_inputs=[0, 0]), 1, (2, 3), (2, 3), (2, 3)),
    "slopes": (helper.make_node("PRelu", ["x", "b"], ["y"]), 6, (2, 3, 4), (3,), (3, 1)),
}
MEANINGS = {
    "Add": np.add, "Mul": np.multiply, "Sub": np.subtract, "PRelu": lambda x, slope: np.where(x < 0, x * slope, x),
}  # fmt: skip


@pytest.mark.parametrize("name", OLD)
def test_broadcasting_before_opset_7(name: str) -> None:
    node, opset, shape, other, aligned = OLD[name]
    x, b = floats(*shape), floats(*other, seed=1)
    model = imported_opsets(graph_of([node], {"x": shape, "b": other}, ["y"]), ("", opset))
    module, _ = from_onnx(model)
    assert_close(run_relay(module, {"x": x, "b": b}), [MEANINGS[node.op_type](x, b.reshape(aligned))], 1e-6)


_X = floats(2, 6)

# Nodes of the first opset, and what NumPy makes of x.
FIRST = {
    "Cast": (helper.make_node("Cast", ["x"], ["y"], to="INT32"), _X.astype(np.int32)),
    "Clip": (helper.make_node("Clip", ["x"], ["y"], min=-0.5, max=0.5), np.clip(_X, -0.5, 0.5)),
    "Concat": (helper.make_node("Concat", ["x", "x"], ["y"]), np.concatenate([_X, _X], 1)),
    "Pad": (
        helper.make_node("Pad", ["x"], ["y"], paddings=[0, 1, 0, 2], value=1.5),
        np.pad(_X, ((0, 0), (1, 2)), constant_values=1.5),
    ),
    "Reshape": (helper.make_node("Reshape", ["x"], ["y"], shape=[4, -1]), _X.reshape(4, 3)),
    "Slice": (helper.make_node("Slice", ["x"], ["y"], starts=[1], ends=[-1], axes=[1]), _X[:, 1:-1]),
    "TopK": (helper.make_node("TopK", ["x"], ["y", "places"], k=2), -np.sort(-_X, 1)[:, :2]),
    "Squeeze": (helper.make_node("Squeeze", ["x"], ["y"]), _X),
    "consumed": (helper.make_node("Relu", ["x"], ["y"], consumed_inputs=[0]), np.maximum(_X, 0)),
}


@pytest.mark.parametrize("name", FIRST)
def test_nodes_of_the_first_opset(name: str) -> None:
    node, expected = FIRST[name]
    module, params = from_onnx(imported_opsets(graph_of([node], {"x": _X.shape}, ["y"]), ("", 1)))
    assert_close(run_relay(module, {"x": _X, **params}), [expected], 1e-6)


@pytest.mark.parametrize(
    ("node", "told"),
    [
        (helper.make_node("Cast", ["x"], ["y"], to="BLOB"), "Cast to 'BLOB'"),
        (helper.make_node("Tile", ["x", "x", "x"], ["y"]), "Tile in its first form"),
        (helper.make_node("Dropout", ["x"], ["y", "mask"], is_test=1), "Dropout with a mask"),
        (
            helper.make_node("Upsample", ["x"], ["y"], height_scale=2.0, width_scale=2.0),
            "`height_scale`, `width_scale`",
        ),
    ],
)
def test_what_the_first_opset_has_no_converter_for(node: onnx.NodeProto, told: str) -> None:
    with pytest.raises(RelayError) as caught:
        from_onnx(imported_opsets(graph_of([node], {"x": [2, 6]}, ["y"]), ("", 1)))
    assert told in str(caught.value)


def test_training_of_old_models_is_refused() -> None:
    node = helper.make_node("Dropout", ["x"], ["y"], ratio=0.5)
    with pytest.raises(RelayError, match="Dropout in training mode"):
        from_onnx(imported_opsets(graph_of([node], {"x": [4]}, ["y"]), ("", 6)))


def test_an_operator_without_a_converter_is_what_onnx_defines_it_to_be() -> None:
    """Statistics of LayerNormalization, which Relay's operator does not give, and a function inside a function."""
    model = graph_of(
        [
            helper.make_node("LayerNormalization", ["x", "scale", "bias"], ["a", "mean", "deviation"]),
            helper.make_node("CenterCropPad", ["a", "size"], ["y"], axes=[0, 1]),
        ],
        {"x": [3, 4]},
        ["y", "mean", "deviation"],
        {"scale": floats(4), "bias": floats(4), "size": ints(2, 6)},
        opset=18,
    )
    module, params = from_onnx(model)
    x = floats(3, 4, seed=3)
    assert_close(run_relay(module, {"x": x, **params}), run_onnxruntime(model, {"x": x}), 1e-5)


def test_the_page(tmp_path: Path) -> None:
    run_page("from_onnx.md", tmp_path)
