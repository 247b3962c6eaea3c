"""Loop, Scan and If are what onnxruntime computes, interpreted and compiled."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import relay
from relay.base.diagnostics import RelayError
from relay.frontend.onnx import from_onnx
from tests.frontend.onnx_cases import Array, floats, ints, model_of
from tests.frontend.running import assert_close, run_onnxruntime, run_relay

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
Infos = Sequence[tuple[str, int, Sequence[int | str] | None]]


def infos(given: Infos) -> list[onnx.ValueInfoProto]:
    return [helper.make_tensor_value_info(name, dtype, shape) for name, dtype, shape in given]


def body_of(nodes: Sequence[onnx.NodeProto], inputs: Infos, outputs: Infos, **weights: Any) -> onnx.GraphProto:
    stored = [numpy_helper.from_array(np.asarray(each), name) for name, each in weights.items()]
    return helper.make_graph(list(nodes), "body", infos(inputs), infos(outputs), stored)


def model(nodes: Sequence[onnx.NodeProto], inputs: Infos, outputs: Infos, **weights: Any) -> onnx.ModelProto:
    return model_of(body_of(nodes, inputs, outputs, **weights), 17)


def check(made: onnx.ModelProto, *several: Mapping[str, Any]) -> relay.IRModule:
    """The same as onnxruntime for each of the feeds, both ways to run."""
    module, params = from_onnx(made)
    compiled = relay.build(module)
    for feeds in several:
        arrays: dict[str, Array] = {name: np.asarray(each) for name, each in feeds.items()}
        expected = run_onnxruntime(made, arrays)
        assert_close(run_relay(module, {**arrays, **params}), expected, 1e-5)
        found = compiled(**arrays, **params)
        assert_close(list(found) if isinstance(found, (tuple, list)) else [found], expected, 1e-5)
    return module


def result_type(module: relay.IRModule) -> str:
    return str(module["main"].body.checked_type)


HEAD: Infos = [("i", INT, []), ("go", BOOL, [])]


def loop_model(
    nodes: Sequence[onnx.NodeProto], *, shape: Sequence[int | str] | None = (2,),
    outputs: Sequence[str] = ("last", "all"), count: bool = True, **weights: Any,
) -> onnx.ModelProto:  # fmt: skip
    """A loop over `s`, from the input x[2], `n` times at most, which gives `each` out."""
    inside: Infos = [*HEAD, ("s", FLOAT, shape)]
    results: Infos = [("go_on", BOOL, []), ("next", FLOAT, shape), ("each", FLOAT, shape)][: 1 + len(outputs)]
    loop = helper.make_node(
        "Loop", ["n" if count else "", "", "x"], list(outputs), name="the loop", body=body_of(nodes, inside, results)
    )
    scale = helper.make_node("Mul", ["x", "two"], ["scaled"])
    given: Infos = [("n", INT, []), ("x", FLOAT, [2])] if count else [("x", FLOAT, [2])]
    made: Infos = [("last", FLOAT, None), ("all", FLOAT, None)][: len(outputs)]
    return model([scale, loop], given, made, two=np.float32(2), **weights)


GO_ON = helper.make_node("Identity", ["go"], ["go_on"])
STEP = [
    helper.make_node("Cast", ["i"], ["turn"], to=FLOAT),
    helper.make_node("Mul", ["turn", "scaled"], ["more"]),
    helper.make_node("Add", ["s", "more"], ["next"]),
    helper.make_node("Identity", ["next"], ["each"]),
]


def test_a_loop_takes_along_gathers_and_sees_what_is_around_it() -> None:
    module = check(loop_model([GO_ON, *STEP]), *({"n": np.int64(n), "x": floats(2)} for n in (4, 1, 0)))
    assert re.fullmatch(r"\(Tensor\[\(2,\), float32\], Tensor\[\(\w+, 2\), float32\]\)", result_type(module))


def test_a_loop_ends_early() -> None:
    stop = [
        helper.make_node("ReduceMax", ["next"], ["largest"], keepdims=0),
        helper.make_node("Less", ["largest", "limit"], ["go_on"]),
    ]
    made = loop_model([*STEP, *stop], limit=np.float32(20))
    check(made, *({"n": np.int64(n), "x": np.float32([1, 2])} for n in (2, 100, 0)))
    check(loop_model([*STEP, *stop], count=False, limit=np.float32(20)), {"x": np.float32([1, 2])})


def test_a_state_that_grows_has_an_extent_that_the_run_knows() -> None:
    grow = [GO_ON, helper.make_node("Concat", ["s", "scaled"], ["next"], axis=0)]
    made = loop_model(grow, shape=None, outputs=["last"])
    module = check(made, *({"n": np.int64(n), "x": floats(2)} for n in (3, 0)))
    assert re.fullmatch(r"Tensor\[\(\w+,\), float32\]", result_type(module))


def test_an_extent_that_changes_is_a_number_to_compute_with() -> None:
    nodes = [
        GO_ON, helper.make_node("Shape", ["s"], ["extent"]), helper.make_node("Cast", ["extent"], ["length"], to=FLOAT),
        helper.make_node("Concat", ["s", "length"], ["next"], axis=0),
    ]  # fmt: skip
    check(loop_model(nodes, shape=None, outputs=["last"]), *({"n": np.int64(n), "x": floats(2)} for n in (3, 0)))


def test_loops_in_loops() -> None:
    inner = helper.make_node(
        "Loop", ["n", "", "s"], ["next", "rows"],
        body=body_of(
            [helper.make_node("Identity", ["go2"], ["go3"]), helper.make_node("Add", ["t", "scaled"], ["t2"]),
             helper.make_node("Mul", ["t2", "s"], ["row"])],
            [("j", INT, []), ("go2", BOOL, []), ("t", FLOAT, [2])],
            [("go3", BOOL, []), ("t2", FLOAT, [2]), ("row", FLOAT, [2])],
        ),
    )  # fmt: skip
    sum_rows = helper.make_node("ReduceSum", ["rows", "zero"], ["each"], keepdims=0)
    check(loop_model([GO_ON, inner, sum_rows], zero=ints(0)), {"n": np.int64(3), "x": floats(2)})


@pytest.mark.parametrize("attributes", [
    {},
    {"scan_input_directions": [1, 0], "scan_output_directions": [1]},
    {"scan_input_axes": [1, 0], "scan_output_axes": [-1]},
])  # fmt: skip
def test_a_scan_goes_along_axes_both_ways(attributes: dict[str, Any]) -> None:
    body = body_of(
        [helper.make_node("Mul", ["a", "b"], ["product"]), helper.make_node("Add", ["s", "product"], ["next"]),
         helper.make_node("Add", ["next", "scaled"], ["each"])],
        [("s", FLOAT, [4]), ("a", FLOAT, [4]), ("b", FLOAT, [4])], [("next", FLOAT, [4]), ("each", FLOAT, [4])],
    )  # fmt: skip
    nodes = [
        helper.make_node("Mul", ["x", "two"], ["scaled"]),
        helper.make_node("Scan", ["x", "p", "q"], ["last", "all"], body=body, num_scan_inputs=2, **attributes),
    ]
    p_shape = ["four", "n"] if "scan_input_axes" in attributes else ["n", "four"]
    made = model(
        nodes, [("x", FLOAT, [4]), ("p", FLOAT, p_shape), ("q", FLOAT, ["n", 4])],
        [("last", FLOAT, None), ("all", FLOAT, None)], two=np.float32(2),
    )  # fmt: skip
    p = floats(3, 4, seed=1)
    feeds = {"x": floats(4), "p": p.T.copy() if "scan_input_axes" in attributes else p, "q": floats(3, 4, seed=2)}
    module, params = from_onnx(made, shape={"p": (4, "n") if "scan_input_axes" in attributes else ("n", 4)})
    assert_close(run_relay(module, {**feeds, **params}), run_onnxruntime(made, feeds), 1e-5)


def test_branches_may_differ_in_extents() -> None:
    branches = {
        f"{name}_branch": body_of(
            [helper.make_node("Concat", ["x"] * times, [name], axis=0)], [], [(name, FLOAT, None)]
        )
        for name, times in (("then", 2), ("else", 3))
    }
    made = model([helper.make_node("If", ["c"], ["y"], **branches)], [("c", BOOL, []), ("x", FLOAT, [2])],
                 [("y", FLOAT, None)])  # fmt: skip
    module = check(made, *({"c": np.bool_(c), "x": floats(2)} for c in (True, False)))
    assert re.fullmatch(r"Tensor\[\(\w+,\), float32\]", result_type(module))


def test_a_state_must_keep_its_rank() -> None:
    deeper = [GO_ON, helper.make_node("Unsqueeze", ["s", "zero"], ["next"])]
    with pytest.raises(RelayError, match="Loop whose state changes its rank or its element type"):
        from_onnx(loop_model(deeper, shape=None, outputs=["last"], zero=ints(0)))


def test_loops_that_are_deep_in_each_other_are_told() -> None:
    """Each may have to be imported again, as often as those around it are: the whole stays bounded."""
    inner: list[onnx.NodeProto] = [helper.make_node("Concat", ["s10", "s10"], ["next10"], axis=0)]
    for depth in range(9, -1, -1):
        body = body_of(
            [helper.make_node("Identity", [f"go{depth}"], [f"on{depth}"]), *inner],
            [(f"i{depth}", INT, []), (f"go{depth}", BOOL, []), (f"s{depth + 1}", FLOAT, None)],
            [(f"on{depth}", BOOL, []), (f"next{depth + 1}", FLOAT, None)],
        )
        inner = [helper.make_node("Loop", ["n", "", f"s{depth}"], [f"next{depth}"], body=body)]
    made = model(inner, [("n", INT, []), ("s0", FLOAT, [2])], [("next0", FLOAT, None)])
    with pytest.raises(RelayError, match="more than 6 loops deep in each other"):
        from_onnx(made)
