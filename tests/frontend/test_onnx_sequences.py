"""Sequences and optionals: values that are no tensors, inside of graphs and at their ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import relay
from relay.base.diagnostics import RelayError
from relay.frontend.onnx import from_onnx
from relay.interpret.evaluate import evaluate
from tests.frontend.onnx_cases import floats, ints, model_of
from tests.frontend.running import assert_close, run_onnxruntime, run_relay

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64
node = helper.make_node


def model(nodes: Sequence[onnx.NodeProto], inputs: Sequence[onnx.ValueInfoProto], *outputs: str, **weights: Any) -> Any:
    stored = [numpy_helper.from_array(np.asarray(each), name) for name, each in weights.items()]
    made = [onnx.ValueInfoProto(name=output) for output in outputs]
    return model_of(helper.make_graph(list(nodes), "graph", list(inputs), made, stored), 18)


def tensor(name: str, *shape: int | str, dtype: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def sequence(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_sequence_value_info(name, FLOAT, shape)


def optional(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_value_info(name, helper.make_optional_type_proto(helper.make_tensor_type_proto(FLOAT, shape)))


def check(made: onnx.ModelProto, feeds: Mapping[str, Any]) -> None:
    """The same as onnxruntime, both ways to run."""
    feeds = {name: np.asarray(each) for name, each in feeds.items()}
    module, params = from_onnx(made)
    expected = run_onnxruntime(made, feeds)
    assert_close(run_relay(module, {**feeds, **params}), expected, 1e-6)
    found = relay.build(module)(**feeds, **params)
    assert_close(list(found) if isinstance(found, (tuple, list)) else [found], expected, 1e-6)


def graph(nodes: Sequence[onnx.NodeProto], output: str) -> onnx.GraphProto:
    """One inside a node."""
    return helper.make_graph(list(nodes), "inside", [], [onnx.ValueInfoProto(name=output)])


X, Y, AT = tensor("x", 2, 3), tensor("y", 4, 3), tensor("at", dtype=INT)
PAIR = node("SequenceConstruct", ["x", "y"], ["pair"])
FEEDS = {"x": floats(2, 3), "y": floats(4, 3, seed=1)}


@pytest.mark.parametrize("at", [0, 1, -1, -2])
def test_positions_that_the_run_knows(at: int) -> None:
    nodes = [
        PAIR, node("SequenceAt", ["pair", "at"], ["one"]), node("SequenceErase", ["pair", "at"], ["left"]),
        node("ConcatFromSequence", ["left"], ["rest"], axis=0), node("SequenceInsert", ["pair", "x", "at"], ["three"]),
        node("ConcatFromSequence", ["three"], ["all"], axis=0), node("SequenceLength", ["three"], ["count"]),
    ]  # fmt: skip
    check(model(nodes, [X, Y, AT], "one", "rest", "all", "count"), {**FEEDS, "at": np.int64(at)})


@pytest.mark.parametrize("at", [2, -3])
def test_a_position_outside_ends_the_run(at: int) -> None:
    module, _ = from_onnx(model([PAIR, node("SequenceAt", ["pair", "at"], ["one"])], [X, Y, AT], "one"))
    with pytest.raises(RelayError, match="SequenceAt the maker of one: the position lies outside of the list"):
        relay.build(module)(**FEEDS, at=np.int64(at))


def test_elements_that_are_known_leave_no_list() -> None:
    """Their extents are those of each alone."""
    nodes = [
        PAIR, node("SequenceInsert", ["pair", "x", "place"], ["three"]), node("SequenceErase", ["three"], ["two"]),
        node("SequenceAt", ["two", "place"], ["one"]), node("ConcatFromSequence", ["two"], ["all"], axis=-2),
        node("SequenceLength", ["two"], ["count"]),
    ]  # fmt: skip
    made = model(nodes, [X, Y], "one", "all", "count", place=np.int64(0))
    module, _ = from_onnx(made)
    assert "List" not in str(module)
    assert str(module["main"].body.checked_type).startswith("(Tensor[(2, 3), float32], Tensor[(4, 3), float32]")
    check(made, FEEDS)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_elements_side_by_side(axis: int) -> None:
    nodes = [
        node("SequenceConstruct", ["x", "z"], ["pair"]), node("SequenceErase", ["pair", "at"], ["left"]),
        node("SequenceInsert", ["left", "x"], ["two"]),
        node("ConcatFromSequence", ["two"], ["all"], axis=axis, new_axis=1),
    ]  # fmt: skip
    check(
        model(nodes, [X, tensor("z", 2, 3), AT], "all"), {"x": FEEDS["x"], "z": floats(2, 3, seed=5), "at": np.int64(0)}
    )


@pytest.mark.parametrize(("axis", "step"), [(0, 2), (1, 3), (1, 1)])
def test_parts_as_many_as_the_run_says(axis: int, step: int) -> None:
    nodes = [
        node("SplitToSequence", ["y", "step"], ["parts"], axis=axis), node("SequenceLength", ["parts"], ["count"]),
        node("SequenceAt", ["parts", "last"], ["one"]),
    ]  # fmt: skip
    made = model(nodes, [Y, tensor("step", dtype=INT)], "count", "one", last=np.int64(-1))
    check(made, {"y": FEEDS["y"], "step": np.int64(step)})


def test_parts_of_sizes_and_single_entries() -> None:
    nodes = [
        node("SplitToSequence", ["y", "sizes"], ["a"]), node("SplitToSequence", ["y", "known"], ["b"]),
        node("SplitToSequence", ["n", "one"], ["c"]), node("SplitToSequence", ["y"], ["d"], keepdims=0),
        *(node("SequenceAt", [each, "at"], [f"{each}_at"]) for each in "abcd"),
    ]  # fmt: skip
    made = model(
        nodes, [Y, AT, tensor("sizes", 2, dtype=INT), tensor("n", "rows", 2)], "a_at", "b_at", "c_at", "d_at",
        known=ints(3, 1), one=np.int64(1),
    )  # fmt: skip
    check(made, {"y": FEEDS["y"], "at": np.int64(1), "sizes": ints(1, 3), "n": floats(5, 2)})


@pytest.mark.parametrize("known", [True, False])
def test_a_function_of_each_element(known: bool) -> None:
    body = helper.make_graph(
        [node("Mul", ["e", "scaled"], ["product"]), node("Shape", ["e"], ["extents"])], "body",
        [tensor("e", "n", 3)], [tensor("product", "n", 3), tensor("extents", 2, dtype=INT)],
    )  # fmt: skip
    pair = PAIR if known else node("SplitToSequence", ["x", "one"], ["pair"])
    nodes = [
        pair, node("Add", ["row", "row"], ["scaled"]),
        node("SequenceMap", ["pair"], ["scaled_pair", "shapes"], body=body),
        node("ConcatFromSequence", ["scaled_pair"], ["all"], axis=0),
        node("ConcatFromSequence", ["shapes"], ["sizes"], axis=0),
    ]  # fmt: skip
    feeds = {**FEEDS, "row": floats(3, seed=7), "one": np.int64(1)}
    check(model(nodes, [X, Y, tensor("row", 3), tensor("one", dtype=INT)], "all", "sizes"), feeds)


def test_a_shape_is_that_of_the_elements_of_a_list() -> None:
    """Where the model does not say how many axes they have."""
    open_list = helper.make_tensor_sequence_value_info("s", FLOAT, None)
    made = model([node("SequenceInsert", ["s", "x"], ["longer"])], [open_list, X], "longer")
    with pytest.raises(RelayError, match="the input 's' has no shape of its elements"):
        from_onnx(made)
    module, _ = from_onnx(made, shape={"s": ("rows", 3)})
    given = [floats(1, 3), floats(4, 3)]
    for found in (relay.build(module)(given, FEEDS["x"]), evaluate(module, {"s": given, "x": FEEDS["x"]})):
        assert_close(list(found), [*given, FEEDS["x"]], 0)


def test_python_lists_come_in_and_go_out() -> None:
    made = model([node("SequenceInsert", ["s", "x"], ["longer"])], [sequence("s", "n", 3), X], "longer")
    module, _ = from_onnx(made)
    given = [floats(1, 3), floats(4, 3)]
    for found in (relay.build(module)(given, FEEDS["x"]), evaluate(module, {"s": given, "x": FEEDS["x"]})):
        assert_close(list(found), [*given, FEEDS["x"]], 0)


def test_an_optional_is_none_or_a_tensor() -> None:
    then = helper.make_graph(
        [node("OptionalGetElement", ["o"], ["held"])], "then", [], [onnx.ValueInfoProto(name="held")]
    )
    otherwise = helper.make_graph([node("Identity", ["x"], ["same"])], "else", [], [onnx.ValueInfoProto(name="same")])
    nodes = [
        node("OptionalHasElement", ["o"], ["has"]),
        node("If", ["has"], ["y"], then_branch=then, else_branch=otherwise),
    ]
    module, _ = from_onnx(model(nodes, [optional("o", 2, 3), X], "y", "has"))
    compiled, other = relay.build(module), floats(2, 3, seed=3)
    assert_close(list(compiled(other, FEEDS["x"])), [other, np.array(True)], 0)
    assert_close(list(compiled(None, FEEDS["x"])), [FEEDS["x"], np.array(False)], 0)


def test_a_choice_between_something_and_nothing() -> None:
    branches = {
        "then_branch": helper.make_graph([node("Optional", ["x"], ["some"])], "then", [], [optional("some", 2, 3)]),
        "else_branch": helper.make_graph(
            [node("Optional", [], ["none"], type=helper.make_tensor_type_proto(FLOAT, [2, 3]))], "else", [],
            [optional("none", 2, 3)],
        ),
    }  # fmt: skip
    nodes = [node("If", ["c"], ["o"], **branches), node("OptionalHasElement", ["o"], ["has"])]
    module, _ = from_onnx(model(nodes, [tensor("c", dtype=TensorProto.BOOL), X], "has"))
    assert [bool(relay.build(module)(np.bool_(c), FEEDS["x"])) for c in (True, False)] == [True, False]


def test_what_one_type_cannot_hold_is_refused() -> None:
    made = model([node("SequenceConstruct", ["x", "z"], ["s"]), node("SequenceLength", ["s"], ["n"])],
                 [X, tensor("z", 3)], "n")  # fmt: skip
    with pytest.raises(RelayError, match="SequenceConstruct of elements that no one type holds"):
        from_onnx(made)


def test_elements_without_a_rank_need_one() -> None:
    info = helper.make_tensor_sequence_value_info("s", FLOAT, None)
    made = model([node("SequenceLength", ["s"], ["n"])], [info], "n")
    with pytest.raises(RelayError, match="the input 's' has no shape of its elements"):
        from_onnx(made)
    module, _ = from_onnx(made, shape={"s": ("n", 3)})
    assert int(relay.build(module)([floats(2, 3), floats(5, 3)])) == 2
