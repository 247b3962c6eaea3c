"""Whole graphs: names, order of parameters, symbolic shapes, constants, errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from relay.base.diagnostics import RelayError
from relay.frontend.onnx import from_onnx
from relay.frontend.onnx.weights import ELEMENT_TYPES
from relay.ir.expr import Call, Constant, Op
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from tests.frontend.onnx_cases import Array, floats, graph_of, ints
from tests.frontend.running import assert_close, run_onnxruntime, run_relay


def operators(module: IRModule) -> list[str]:
    return [
        node.op.name for node in post_order(module["main"].body) if isinstance(node, Call) and isinstance(node.op, Op)
    ]


def check(model: onnx.ModelProto, feeds: dict[str, Array]) -> IRModule:
    module, params = from_onnx(model)
    assert_close(run_relay(module, {**feeds, **params}), run_onnxruntime(model, feeds), 1e-5)
    return module


LINEAR = graph_of(
    [
        helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="first", transB=1),
        helper.make_node("Relu", ["h"], ["y"], name="second"),
    ],
    {"x": ["n", 4]},
    ["y"],
    {"b": floats(3), "w": floats(3, 4), "unused": floats(2)},
)


def test_inputs_come_first_then_the_weights_that_are_used_under_their_names() -> None:
    module, params = from_onnx(LINEAR)
    assert [var.name_hint for var in module["main"].params] == ["x", "b", "w"]
    assert list(params) == ["b", "w"]
    np.testing.assert_array_equal(params["w"], floats(3, 4))


def test_frozen_weights_are_constants() -> None:
    module, params = from_onnx(LINEAR, freeze_params=True)
    assert not params
    assert [var.name_hint for var in module["main"].params] == ["x"]
    constants = [node for node in post_order(module["main"].body) if isinstance(node, Constant)]
    assert sorted(constant.data.shape for constant in constants) == [(3,), (3, 4)]


def test_a_shape_given_replaces_the_models() -> None:
    module, _ = from_onnx(LINEAR, shape={"x": (7, 4)})
    assert str(module["main"].body.checked_type) == "Tensor[(7, 3), float32]"
    module, _ = from_onnx(LINEAR, shape={"x": ("batch", 4)})
    assert str(module["main"].body.checked_type) == "Tensor[(batch, 3), float32]"


def test_equal_names_of_dimensions_are_one_symbol_and_unnamed_ones_differ() -> None:
    model = graph_of(
        [helper.make_node("Concat", ["x", "y", "z"], ["out"], axis=0)],
        {"x": ["n", 2], "y": ["n", 2], "z": ["seq.len", 2]},
        ["out"],
    )
    module, _ = from_onnx(model)
    assert str(module["main"].body.checked_type) == "Tensor[(2*n + seq_len, 2), float32]"


def test_nodes_carry_the_place_of_their_onnx_node() -> None:
    module, _ = from_onnx(LINEAR)
    span = module["main"].body.span
    assert span is not None
    assert str(span) == "graph.onnx:2"
    assert span.source.line(2) == "y = Relu(h)  // second"


def test_a_model_is_read_from_a_path_from_bytes_and_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "linear.onnx"
    onnx.save(LINEAR, path)
    for source in (path, str(path), path.read_bytes(), LINEAR):
        module, params = from_onnx(source)
        assert len(params) == 2
        assert operators(module) == ["nn.dense", "nn.bias_add", "nn.relu"]


def test_several_outputs_are_a_tuple() -> None:
    model = graph_of([helper.make_node("Split", ["x"], ["a", "b"], axis=1)], {"x": [3, 4]}, ["b", "a", "x"])
    check(model, {"x": floats(3, 4)})


# Shape arithmetic


def reshape_by_shape() -> onnx.ModelProto:
    """Shape → Gather → Unsqueeze → Concat → Reshape, and back with arithmetic on the extents."""
    return graph_of(
        [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
            helper.make_node("Unsqueeze", ["n", "first"], ["column"]),
            helper.make_node("Concat", ["column", "rest"], ["shape"], axis=0),
            helper.make_node("Reshape", ["x", "shape"], ["wide"]),
            helper.make_node("Slice", ["s", "first", "two"], ["front"]),
            helper.make_node("ReduceProd", ["front"], ["count"], keepdims=1),
            helper.make_node("Concat", ["count", "minus"], ["back"], axis=0),
            helper.make_node("Reshape", ["wide", "back"], ["y"]),
        ],
        {"x": ["n", 6, 4]},
        ["y", "wide"],
        {"zero": np.asarray(0), "first": ints(0), "two": ints(2), "rest": ints(2, 3, 4), "minus": ints(-1)},
    )


def test_shape_arithmetic_leaves_no_trace_and_keeps_symbols() -> None:
    module = check(reshape_by_shape(), {"x": floats(5, 6, 4)})
    assert operators(module) == ["reshape", "reshape"]
    assert str(module["main"].body.checked_type) == "(Tensor[(6*n, 4), float32], Tensor[(n, 2, 3, 4), float32])"
    assert [var.name_hint for var in module["main"].params] == ["x"]


def test_extents_that_are_used_as_data_are_computed_by_the_program() -> None:
    model = graph_of(
        [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
            helper.make_node("Mul", ["n", "three"], ["many"]),
            helper.make_node("Cast", ["many"], ["count"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Div", ["x", "count"], ["y"]),
        ],
        {"x": ["n", 4]},
        ["y", "s", "many"],
        {"zero": np.asarray(0), "three": np.asarray(3)},
    )
    check(model, {"x": floats(5, 4)})


def test_the_expand_pattern_of_exporters() -> None:
    """Where(shape == -1, ones, shape) decides that an extent is not -1."""
    model = graph_of(
        [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
            helper.make_node("Unsqueeze", ["n", "first"], ["column"]),
            helper.make_node("Concat", ["column", "minus", "minus"], ["wanted"], axis=0),
            helper.make_node("ConstantOfShape", ["rank"], ["ones"], value=numpy_helper.from_array(ints(1))),
            helper.make_node("Equal", ["wanted", "minus"], ["mask"]),
            helper.make_node("Where", ["mask", "ones", "wanted"], ["shape"]),
            helper.make_node("Expand", ["w", "shape"], ["e"]),
            helper.make_node("Add", ["x", "e"], ["y"]),
        ],
        {"x": ["n", 3, 4]},
        ["y"],
        {"zero": np.asarray(0), "first": ints(0), "minus": ints(-1), "rank": ints(3), "w": floats(1, 3, 4)},
    )
    module = check(model, {"x": floats(5, 3, 4)})
    assert str(module["main"].body.checked_type) == "Tensor[(n, 3, 4), float32]"


def test_interpolation_by_scaled_extents() -> None:
    """Shape → Cast → Mul → Floor → Cast → Concat → Resize, as exporters write an upsampling."""
    model = graph_of(
        [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Slice", ["s", "two", "four"], ["hw"]),
            helper.make_node("Cast", ["hw"], ["floats"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Constant", [], ["factor"], value_float=1.5),
            helper.make_node("Mul", ["floats", "factor"], ["scaled"]),
            helper.make_node("Floor", ["scaled"], ["floored"]),
            helper.make_node("Cast", ["floored"], ["sizes"], to=onnx.TensorProto.INT64),
            helper.make_node("Slice", ["s", "zero", "two"], ["front"]),
            helper.make_node("Concat", ["front", "sizes"], ["all"], axis=0),
            helper.make_node("Resize", ["x", "", "", "all"], ["y"], mode="linear"),
        ],
        {"x": [2, 3, 5, 6]},
        ["y"],
        {"zero": ints(0), "two": ints(2), "four": ints(4)},
    )
    check(model, {"x": floats(2, 3, 5, 6)})


def test_weights_are_not_folded() -> None:
    model = graph_of(
        [helper.make_node("Mul", ["w", "v"], ["wv"]), helper.make_node("Add", ["x", "wv"], ["y"])],
        {"x": [3]}, ["y"], {"w": floats(3), "v": floats(3, seed=1)},
    )  # fmt: skip
    module = check(model, {"x": floats(3)})
    assert operators(module) == ["multiply", "add"]


def test_deep_graphs_do_not_meet_the_recursion_limit() -> None:
    nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(5000)]
    module, _ = from_onnx(graph_of(nodes, {"v0": ["n", 4]}, ["v5000"]))
    assert len(operators(module)) == 5000


# Control flow


def branch(node: onnx.NodeProto, weights: dict[str, Array] | None = None) -> onnx.GraphProto:
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
    stored = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    return helper.make_graph([node], "branch", [], outputs, stored)


def if_node(condition: str) -> onnx.NodeProto:
    return helper.make_node(
        "If", [condition], ["y"], name="choose",
        then_branch=branch(helper.make_node("Mul", ["x", "v"], ["a"]), {"v": floats(3)}),
        else_branch=branch(helper.make_node("Add", ["x", "w"], ["b"])),
    )  # fmt: skip


def test_a_branch_on_data_is_a_branch_of_the_program() -> None:
    model = graph_of(
        [
            helper.make_node("ReduceSum", ["x"], ["total"], keepdims=0),
            helper.make_node("Greater", ["total", "w"], ["positive"]),
            helper.make_node("ReduceMax", ["positive"], ["condition"], keepdims=1),
            if_node("condition"),
            helper.make_node("Relu", ["y"], ["z"]),
        ],
        {"x": [3]}, ["z"], {"w": floats(1)}, opset=20,
    )  # fmt: skip
    for sign in (1, -1):
        module = check(model, {"x": sign * np.array([1, 2, 3], dtype=np.float32)})
    assert [var.name_hint for var in module["main"].params] == ["x", "w", "v"]


def test_weights_of_one_name_in_two_branches_are_two_parameters() -> None:
    choose = helper.make_node(
        "If", ["condition"], ["y"],
        then_branch=branch(helper.make_node("Mul", ["x", "v"], ["a"]), {"v": floats(3)}),
        else_branch=branch(helper.make_node("Add", ["x", "v"], ["b"]), {"v": floats(3, seed=1)}),
    )  # fmt: skip
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["total"], keepdims=0),
        helper.make_node("Greater", ["total", "w"], ["condition"]),
        choose,
    ]
    model = graph_of(nodes, {"x": [3]}, ["y"], {"w": floats(1)}, opset=20)
    for sign in (1, -1):
        module = check(model, {"x": sign * np.array([1, 2, 3], dtype=np.float32)})
    assert [var.name_hint for var in module["main"].params] == ["x", "w", "v", "v_1"]


def test_a_branch_on_shapes_is_taken_at_import() -> None:
    model = graph_of(
        [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Size", ["s"], ["rank"]),
            helper.make_node("Equal", ["rank", "one"], ["condition"]),
            if_node("condition"),
        ],
        {"x": ["n"]}, ["y"], {"one": np.asarray(1), "w": floats(1)},
    )  # fmt: skip
    assert operators(from_onnx(model)[0]) == ["multiply"]


def test_names_inside_a_branch_are_its_own() -> None:
    model = graph_of([if_node("c"), helper.make_node("Relu", ["a"], ["z"])], {"x": [3]}, ["z"], {"w": floats(1)})
    model.graph.input.append(helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []))
    assert refused(model).rule == "malformed-onnx"


def test_what_a_branch_cannot_is_said_too() -> None:
    model = graph_of([if_node("c")], {"x": [3]}, ["y"], {"w": floats(1)})
    model.graph.input.append(helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []))
    model.graph.node[0].attribute[0].g.node[0].op_type = "StringNormalizer"
    del model.graph.node[0].attribute[0].g.node[0].input[1:]
    assert "StringNormalizer" in str(refused(model))


# Functions


def with_functions(nodes: list[onnx.NodeProto], functions: list[onnx.FunctionProto]) -> onnx.ModelProto:
    model = graph_of(nodes, {"x": [3]}, [nodes[-1].output[0]], {"w": floats(3)})
    model.functions.extend(functions)
    model.opset_import.append(helper.make_opsetid("mine", 1))
    return model


def function_of(name: str, inputs: list[str], nodes: list[onnx.NodeProto], **options: object) -> onnx.FunctionProto:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    return helper.make_function("mine", name, inputs, ["out"], nodes, opsets, **options)  # type: ignore[arg-type]


def test_functions_of_the_model_are_put_in_with_their_attributes() -> None:
    leaky = helper.make_node("LeakyRelu", ["a"], ["b"])
    leaky.attribute.add(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    clip = helper.make_node("Clip", ["c", "low"], ["out"])
    functions = [
        function_of(
            "Leak", ["a", "low"], [leaky, helper.make_node("Identity", ["b"], ["c"]), clip], attributes=["slope"]
        ),
        function_of("Twice", ["a"], [
            helper.make_node("Leak", ["a"], ["once"], domain="mine", slope=0.5),
            helper.make_node("Leak", ["once"], ["out"], domain="mine"),
        ]),
    ]  # fmt: skip
    nodes = [
        helper.make_node("Add", ["x", "w"], ["a"]),
        helper.make_node("Twice", ["a"], ["y"], domain="mine", name="outer"),
    ]
    module = check(with_functions(nodes, functions), {"x": -floats(3, low=3, high=4)})
    assert operators(module) == ["add", "nn.leaky_relu", "clip", "nn.leaky_relu", "clip"]


def test_what_a_function_cannot_is_named_by_its_call() -> None:
    bad = function_of("Bad", ["a"], [helper.make_node("StringNormalizer", ["a"], ["out"], name="inner")])
    error = refused(with_functions([helper.make_node("Bad", ["x"], ["y"], domain="mine", name="outer")], [bad]))
    assert "operator StringNormalizer   in outer/inner" in str(error)


def test_functions_without_end_are_refused() -> None:
    call = [helper.make_node("F0", ["x"], ["y"], domain="mine")]
    itself = function_of("F0", ["a"], [helper.make_node("F0", ["a"], ["out"], domain="mine")])
    assert refused(with_functions(call, [itself])).rule == "malformed-onnx"
    doubling = [
        function_of(f"F{level}", ["a"], [
            helper.make_node(f"F{level + 1}", ["a"], ["b"], domain="mine"),
            helper.make_node(f"F{level + 1}", ["b"], ["out"], domain="mine"),
        ])
        for level in range(30)
    ]  # fmt: skip
    chain = [
        function_of(f"F{level}", ["a"], [helper.make_node(f"F{level + 1}", ["a"], ["out"], domain="mine")])
        for level in range(2000)
    ]
    assert refused(with_functions(call, chain)).rule == "malformed-onnx"
    doubling.append(function_of("F30", ["a"], [helper.make_node("Relu", ["a"], ["out"])]))
    assert refused(with_functions(call, doubling)).rule == "malformed-onnx"


# Refusals


def refused(model: onnx.ModelProto | bytes, **options: object) -> RelayError:
    with pytest.raises(RelayError) as caught:
        from_onnx(model, **options)  # type: ignore[arg-type]
    return caught.value


def test_everything_that_cannot_be_imported_is_said_at_once(golden) -> None:
    model = graph_of(
        [
            helper.make_node("StringNormalizer", ["x"], ["a"], name="words_0"),
            helper.make_node("StringNormalizer", ["x"], ["b"], name="words_1"),
            helper.make_node("Relu", ["a"], ["c"], name="behind"),
            helper.make_node("FusedGelu", ["x"], ["d"], name="gelu", domain="com.microsoft"),
            helper.make_node("Pad", ["x", "pads"], ["e"], name="padded", mode="mirror"),
            helper.make_node("MaxPool", ["x"], ["f", "g"], name="pool", kernel_shape=[2, 2]),
            helper.make_node("Relu", ["x"], ["h"], name="odd", alpha=2.0),
            helper.make_node("Conv", ["x", "w"], ["i"], name="conv", auto_pad="SAME"),
            helper.make_node("Frobnicate", ["x"], ["j"]),
        ],
        {"x": [1, 1, 4, 4]},
        ["c", "d", "e", "g", "h", "i", "j"],
        {"pads": ints(0, 0, 1, 1, 0, 0, 1, 1), "w": floats(1, 1, 3, 3)},
        opset=12,
    )
    golden("unsupported.txt", str(refused(model)))


def test_a_type_error_names_the_node(golden) -> None:
    model = graph_of(
        [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Add", ["r", "w"], ["y"], name="layer1.add")],
        {"x": [2, 3]}, ["y"], {"w": floats(4)},
    )  # fmt: skip
    golden("type_error.txt", str(refused(model)))


MALFORMED = {
    "missing_input": [helper.make_node("Relu", ["nowhere"], ["y"])],
    "unsorted": [helper.make_node("Relu", ["b"], ["y"]), helper.make_node("Relu", ["x"], ["b"])],
    "cycle": [helper.make_node("Add", ["x", "b"], ["y"]), helper.make_node("Relu", ["y"], ["b"])],
    "name_twice": [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y"])],
    "no_such_output": [helper.make_node("Relu", ["x"], ["z"])],
}


@pytest.mark.parametrize("name", MALFORMED)
def test_broken_graphs_are_refused(name: str, golden) -> None:
    error = refused(graph_of(MALFORMED[name], {"x": [2]}, ["y"]))
    assert error.rule == "malformed-onnx"
    golden(f"malformed_{name}.txt", str(error))


def test_inputs_that_the_model_does_not_have(golden) -> None:
    golden("unknown_input.txt", str(refused(LINEAR, shape={"data": (1, 4)})))


def test_opsets_outside_the_range() -> None:
    for opset in (0, 29, 2**40):
        model = graph_of([helper.make_node("Relu", ["x"], ["y"])], {"x": [2]}, ["y"])
        model.opset_import[0].version = opset
        assert f"opset {opset}" in str(refused(model))
        assert operators(from_onnx(model, opset=17)[0]) == ["nn.relu"]


def test_a_huge_declared_weight_is_refused_before_it_is_allocated() -> None:
    model = onnx.ModelProto()
    model.CopyFrom(LINEAR)
    model.graph.initializer[0].dims[:] = [2**40, 2**20]
    assert refused(model).rule == "bad-tensor"


def test_strings_and_sparse_weights_are_refused() -> None:
    model = onnx.ModelProto()
    model.CopyFrom(LINEAR)
    model.graph.initializer[0].data_type = onnx.TensorProto.STRING
    assert refused(model).rule == "unsupported-element-type"
    model.CopyFrom(LINEAR)
    sparse = model.graph.sparse_initializer.add()
    sparse.values.name = "s"
    assert "sparse" in str(refused(model))


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/hostname", "missing.bin", "link.bin", "", "\0"])
def test_external_data_must_lie_in_the_models_folder(location: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(48))
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    (folder / "m.onnx").write_bytes(external(location).SerializeToString())
    with pytest.raises(RelayError, match="bad-external-data"):
        from_onnx(folder / "m.onnx")


def test_external_data_beside_the_model_is_read(tmp_path: Path) -> None:
    weight = floats(3, 4)
    (tmp_path / "w.bin").write_bytes(b"pad!" + weight.tobytes())
    (tmp_path / "m.onnx").write_bytes(external("w.bin", offset=4).SerializeToString())
    _, params = from_onnx(tmp_path / "m.onnx")
    np.testing.assert_array_equal(params["w"], weight)
    assert refused((tmp_path / "m.onnx").read_bytes()).rule == "bad-external-data"
    (tmp_path / "w.bin").write_bytes(bytes(50))
    with pytest.raises(RelayError, match="bad-external-data"):
        from_onnx(tmp_path / "m.onnx")


def external(location: str, offset: int = 0) -> onnx.ModelProto:
    """`LINEAR` with the data of `w` in another file."""
    model = onnx.ModelProto()
    model.CopyFrom(LINEAR)
    tensor = next(t for t in model.graph.initializer if t.name == "w")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": str(offset), "length": "48"}.items():
        tensor.external_data.add(key=key, value=value)
    return model


def test_without_the_onnx_package_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    error = refused(b"")
    assert (error.rule, error.remedy) == ("missing-package", 'pip install "relay-ir[onnx]"')


def test_importing_relay_does_not_import_onnx() -> None:
    code = "import sys, relay.frontend; sys.exit('onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("dtype", [onnx.TensorProto.DataType.Name(each) for each in ELEMENT_TYPES])
def test_weights_of_every_element_type_in_both_storages(dtype: str) -> None:
    number = onnx.TensorProto.DataType.Value(dtype)
    values = np.array([0, 1, 2, 3, 1]).astype(helper.tensor_dtype_to_np_dtype(number))
    for tensor in (
        numpy_helper.from_array(values, "w"),
        helper.make_tensor("w", number, [5], values.astype(np.float32) if values.dtype.kind not in "iub" else values),
    ):
        model = graph_of([helper.make_node("Identity", ["w"], ["y"])], {}, ["y"])
        model.graph.initializer.append(tensor)
        _, params = from_onnx(model)
        assert params["w"].dtype == values.dtype
        np.testing.assert_array_equal(params["w"].astype(np.float32), values.astype(np.float32))
