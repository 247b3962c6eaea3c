"""What any importer gets from the builder of programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.span import Source, Span
from relay.frontend.shared import Findings, GivenTypes, Node, ProgramBuilder, Value, array_of, converter
from relay.ir.expr import Constant
from relay.ir.types import ANY
from relay.ops.elementwise.elementwise_binary import add
from relay.ops.framework.build import tensor_type

PLACE = Span(Source("model.txt", "y = Add x w"), 1)
ADD = converter("Add", lambda node: add(node.expr(0), node.expr(1)))


def builder(**options: Any) -> ProgramBuilder:
    return ProgramBuilder(Findings("unsupported-lines"), **options)


def added(build: ProgramBuilder, left: Value, right: Value) -> Value:
    (value,) = build.convert(ADD, Node("Add", "y", (left, right), {}, 1), ["y"], PLACE)
    assert value is not None
    return value


def test_weights_become_parameters_where_the_outputs_reach_them():
    build = builder()
    x, used = build.input("x", tensor_type((2,))), build.weight("w", np.ones(2, np.float32))
    build.weight("unused", np.ones(2, np.float32))
    module, parameters = build.finish([added(build, x, used)])
    assert [var.name_hint for var in module["main"].params] == ["x", "w"]
    assert list(parameters) == ["w"]


def test_frozen_weights_are_constants_of_the_program():
    build = builder(freeze_params=True)
    module, parameters = build.finish([build.weight("w", np.ones(2, np.float32))])
    assert isinstance(module["main"].body, Constant)
    assert not parameters


def test_the_error_of_an_operator_is_placed_at_the_node():
    build = builder()
    x, y = build.input("x", tensor_type((2,))), build.input("y", tensor_type((3,)))
    with pytest.raises(RelayError, match="extents-differ") as caught:
        added(build, x, y)
    assert "at model.txt:1" in str(caught.value)


def test_what_cannot_be_converted_is_found_and_has_no_value():
    build = builder()
    node = Node("Add", "sum", (build.input("x", tensor_type((2,))), None), {}, 1)
    assert build.convert(ADD, node, ["y"], PLACE) == (None,)
    assert "Add without its input 1" in str(build.findings.error("model.txt"))


def test_float_weights_are_not_computed_with():
    build = builder()
    w = build.weight("w", np.ones(2, np.float32))
    assert added(build, w, w).known is None
    two = build.weight("k", np.array([2]))
    assert added(build, two, two).known == np.array([4])


def test_extents_used_as_data_are_read_off_the_inputs():
    build = builder()
    x = build.input("x", tensor_type(("n", 3)))
    shape = array_of(x.shape)
    assert shape is not None
    module, _ = build.finish([build.known("shape", shape, PLACE)])
    assert "shape_of(%x" in str(module)


def test_extents_that_are_not_known_or_too_large_are_no_elements():
    assert array_of((ANY, 2)) is None
    assert array_of((2**70,)) is None
    assert str(array_of((Symbol("n"), 2))) == "[n 2]"


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (3, "the shape given for the input 'x' is not a tuple of extents"),
        ((2, -1), "an extent of a shape is a whole number or a symbol"),
        ((2, 1.5), "an extent of a shape is a whole number or a symbol"),
    ],
)
def test_a_shape_that_is_none_is_refused(shape, message):
    with pytest.raises(RelayError, match=message):
        GivenTypes({"x": shape}).shape_of("x")


def test_given_names_are_inputs_of_the_model():
    given = GivenTypes({}, {"y": "int8"})
    given.check_names(["x", "y"])
    with pytest.raises(RelayError, match="the model has no input called 'y'") as caught:
        given.check_names([])
    assert caught.value.expected == "one of (it has no inputs)"


def test_an_element_type_is_given_for_all_inputs_or_by_name():
    assert GivenTypes({}, "int8").dtype_of("x") == "int8"
    assert GivenTypes({}, {"y": "int8"}).dtype_of("x") == "float32"
    with pytest.raises(RelayError, match="int7"):
        GivenTypes({}, "int7").dtype_of("x")
