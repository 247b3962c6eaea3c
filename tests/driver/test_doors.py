"""The public doors: what users evidently mean works, and what they cannot mean is told, never an error from inside."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import helper

import relay
from relay import transform
from tests.messages import check_message

X = np.ones(3, np.float32)
x = relay.var("x", shape=(3,))
y = relay.var("y", shape=(3,))
function = relay.Function([x], relay.exp(x))
module = relay.IRModule.from_expr(function)


def model() -> onnx.ModelProto:
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], "sum",
        [value("x", onnx.TensorProto.FLOAT, [3])], [value("y", onnx.TensorProto.FLOAT, [3])],
        [onnx.numpy_helper.from_array(X, "w")],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


# What users evidently mean


def test_an_expression_becomes_a_function_of_the_variables_that_it_takes_from_outside():
    main = relay.IRModule.from_expr(y - x * y)["main"]
    assert [each.name_hint for each in main.params] == ["y", "x"]
    np.testing.assert_array_equal(relay.build(y - x * y)(3 * X, 5 * X), -12 * X)


def test_a_function_is_taken_as_it_is():
    assert relay.IRModule.from_expr(function)["main"] is function


def test_what_an_importer_gives_is_a_program():
    pair = relay.frontend.from_onnx(model())
    np.testing.assert_array_equal(relay.build(pair)(X), 2 * X)
    np.testing.assert_array_equal(relay.build(pair, params={"w": 4 * X})(X), 5 * X)
    np.testing.assert_array_equal(relay.create_executor("interpreter", pair).evaluate()(X), 2 * X)
    np.testing.assert_array_equal(relay.create_executor("graph", pair).evaluate()(X), 2 * X)


def test_names_are_keys_of_a_module():
    named = relay.IRModule({"main": function})
    assert named["main"] is function
    assert named.get_global_vars() == (relay.GlobalVar("main"),)
    np.testing.assert_allclose(relay.build(named)(X), np.exp(X), rtol=1e-6)
    named.update({"other": function})
    assert named["other"] is function


def test_a_model_in_memory_is_compiled():
    np.testing.assert_array_equal(relay.compile_model(model())(X), 2 * X)
    np.testing.assert_array_equal(relay.compile_model(bytearray(model().SerializeToString()))(X), 2 * X)


def test_types_of_numpy_are_types_of_constants():
    assert relay.const(1, np.float32).dtype == "float32"
    assert relay.const(2**40, "int64").data == 2**40


# What they cannot mean

free = relay.split(relay.var("s", shape=(4,)), 2)
ATTACKS: dict[str, dict[str, Callable[[], Any]]] = {
    "programs": {
        "a path": lambda: relay.build("model.onnx"),
        "a pathlib path": lambda: relay.build(pathlib.Path("model.onnx")),
        "a module of PyTorch": lambda: relay.build(torch.nn.Linear(3, 3)),
        "an ONNX model": lambda: relay.build(model()),
        "nothing": lambda: relay.build(None),
        "an array": lambda: relay.build(X),
        "what is compiled": lambda: relay.build(relay.build(module)),
        "a free variable": lambda: relay.build(relay.Function([x], x + y)),
        "an executor of nothing": lambda: relay.create_executor("graph", 3),
        "parameters as the target": lambda: relay.build(module, {"x": X}),
        "no target": lambda: relay.build(module, None),
        "parameters in a list": lambda: relay.build(module, params=[X]),
        "a parameter without a name": lambda: relay.build(module, params={1: X}),
        "a level as text": lambda: relay.build(module, opt_level="3"),
        "a level between": lambda: relay.build(module, opt_level=1.5),
        "a number as a data type": lambda: relay.datatype(3),
        "the kind of a number": lambda: relay.analysis.check_kind(3),
        "a prelude of a number": lambda: relay.prelude.Prelude(3),
    },
    "files": {
        "a program as a model": lambda: relay.compile_model(module),
        "a module of PyTorch": lambda: relay.compile_model(torch.nn.Linear(3, 3)),
        "no model": lambda: relay.compile_model(None),
        "shapes in a list": lambda: relay.compile_model("model.onnx", shape=[3]),
        "a shape that is an extent": lambda: relay.compile_model("model.onnx", shape={"x": 3}),
        "an opset as text": lambda: relay.frontend.from_onnx(model(), opset="17"),
        "a shape of a model that is an extent": lambda: relay.frontend.from_onnx(model(), {"x": 3}),
        "no file": lambda: relay.load(None),
        "save to nothing": lambda: relay.build(module).save(None),
        "export to a number": lambda: relay.build(module).export(3),
        "no text": lambda: relay.parse(None),
        "a path as text": lambda: relay.parse(pathlib.Path("model.relay")),
        "a number as JSON": lambda: relay.load_json(3),
        "JSON of nothing": lambda: relay.save_json(None),
        "parameters of nothing": lambda: relay.save_param_dict(3),
        "parameters by number": lambda: relay.save_param_dict({1: X}),
        "parameters from text": lambda: relay.load_param_dict("abc"),
        "parameters from a number": lambda: relay.load_params(3),
        "a target that is a number": lambda: relay.Target.parse(3),
    },
    "nodes": {
        "no body": lambda: relay.Function([x], None),
        "a number for a body": lambda: relay.Function([x], 1.0),
        "a list for a body": lambda: relay.Function([x], [x, x]),
        "the parts of a split": lambda: relay.Function([x], free),
        "one parameter": lambda: relay.Function(x, x),
        "a name for a parameter": lambda: relay.Function(["x"], x),
        "a name for a type": lambda: relay.Function([x], x, "float32"),
        "a call of a number": lambda: relay.Call(3, [x]),
        "a call of a name": lambda: relay.Call("exp", [x]),
        "a call on a number": lambda: function(3),
        "a call on no list": lambda: relay.Call(function, x),
        "a dict of attributes": lambda: relay.Call(function, [x], {"axis": 1}),
        "a tuple of numbers": lambda: relay.Tuple([x, 3]),
        "a field by name": lambda: relay.TupleGetItem(relay.Tuple([x]), "a"),
        "a field of a number": lambda: relay.TupleGetItem(3, 0),
        "a let of a name": lambda: relay.Let("v", x, x),
        "a let of a number": lambda: relay.Let(y, 3, x),
        "a bool for a condition": lambda: relay.If(True, x, x),
        "no clauses": lambda: relay.Match(x, None),
        "a number for a clause": lambda: relay.Match(x, [3]),
        "a number for a pattern": lambda: relay.Clause(3, x),
        "a ref of a number": lambda: relay.RefCreate(3),
        "an operator by name": lambda: relay.Op("exp"),
        "a global by number": lambda: relay.GlobalVar(3),
        "a variable by number": lambda: relay.var(3),
        "a variable of a shape": lambda: relay.var("x", (3, 4)),
        "a variable of elements of no type": lambda: relay.var("x", shape=(3,), dtype=3),
        "a symbol in a strict type": lambda: relay.TensorType(("n",), "float32"),
        "a strict type of no elements": lambda: relay.TensorType((3,), "float17"),
        "a type without a shape": lambda: relay.TensorType(None, "float32"),
        "a tuple type of names": lambda: relay.TupleType(["float32"]),
        "a module of a list": lambda: relay.IRModule([function]),
        "a module of an expression": lambda: relay.IRModule({"main": relay.exp(x)}),
        "a module by numbers": lambda: relay.IRModule({3: function}),
        "a function by number": lambda: module[3],
        "no main": lambda: relay.IRModule.from_expr(None),
        "text of a number": lambda: relay.astext(3),
        "free variables of a number": lambda: relay.analysis.free_vars(3),
    },
    "constants": {
        "a text": lambda: relay.const("abc"),
        "nothing": lambda: relay.const(None),
        "lists of several lengths": lambda: relay.const([[1], [1, 2]]),
        "an expression": lambda: relay.const(x),
        "more than 32 bits": lambda: relay.const(2**40),
        "more than 64 bits": lambda: relay.const(2**70),
        "no element type": lambda: relay.const(1, "float17"),
    },
    "passes": {
        "of a function": lambda: transform.FoldConstant()(function),
        "of a text": lambda: transform.FoldConstant()("abc"),
        "of a number, typing": lambda: transform.InferType()(3),
        "a sequence of no list": lambda: transform.Sequential(3),
        "a sequence of numbers": lambda: transform.Sequential([3]),
        "a sequence of nothing": lambda: transform.Sequential([transform.FoldConstant()])(None),
        "a level as text": lambda: relay.PassContext(opt_level="3"),
        "no level": lambda: relay.PassContext(opt_level=None),
        "one name for a list": lambda: relay.PassContext(required_pass="FoldConstant"),
        "a number for a list": lambda: relay.PassContext(disabled_pass=3),
        "a number for the configuration": lambda: relay.PassContext(config=3),
        "a number for a Python function": lambda: relay.function(3),
        "a number for a class": lambda: relay.model(3),
    },
}  # fmt: skip


@pytest.mark.parametrize("family", ATTACKS)
def test_what_cannot_be_meant_is_told(family):
    texts: list[str] = []
    for name, attack in ATTACKS[family].items():
        with pytest.raises(relay.RelayError) as caught:
            attack()
        error = caught.value
        told = relay.RelayError(
            rule=error.rule, message=error.message, expected=error.expected, found=error.found, remedy=error.remedy,
        )  # fmt: skip
        texts.append(f"{name}\n{told}")
        assert error.span is None or error.span.source.name == __file__, name  # the user's line
    check_message("doors", family, "\n\n".join(texts))
