"""The edges of operators, where onnxruntime says what ONNX means, and values that no model may have."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from onnxruntime.capi import onnxruntime_pybind11_state as state

import relay
from relay.frontend.onnx import from_onnx
from tests.frontend.onnx_cases import Array, Case, floats
from tests.frontend.running import assert_close, run_onnxruntime, run_relay
from tests.messages import check_message


def longs(*values: Any) -> Array:
    return np.asarray(values, np.int64)


def runs(case: Case, *, symbolic: bool = False) -> list[list[Array]]:
    """The outputs by the interpreter, and compiled."""
    names = case.feeds()
    shape = {name: tuple(f"{name}_{axis}" for axis in range(array.ndim)) for name, array in names.items()}
    module, params = from_onnx(case.model(), shape=shape if symbolic else None)
    compiled = relay.build(module)(**names, **params)
    return [run_relay(module, {**names, **params}), list(compiled) if isinstance(compiled, tuple) else [compiled]]


def imported(case: Case) -> list[Array]:
    module, params = from_onnx(case.model())
    return run_relay(module, {**case.feeds(), **params})


def check(case: Case, *, symbolic: bool = False) -> None:
    expected = run_onnxruntime(case.model(), case.feeds())
    for found in runs(case, symbolic=symbolic):
        assert_close(found, expected, case.tolerance)


def outputs_or_none(run: Callable[[], list[Array]], refusals: tuple[type[Exception], ...]) -> list[Array] | None:
    try:
        return run()
    except refusals:
        return None


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_negative_pads_cut(mode):
    """Whatever onnxruntime cuts is the same here; what it refuses is refused, but that an axis may become empty."""
    refusals = (state.Fail, state.InvalidArgument)
    for pads in itertools.product((4, 2, 0, -1, -2, -3, -5), repeat=2):
        inputs = (floats(3), longs(*pads), *([np.float32(9)] if mode == "constant" else []))
        case = Case("Pad", tuple(map(np.asarray, inputs)), {"mode": mode}, weights=(1, 2), opset=18)
        expected = outputs_or_none(partial(run_onnxruntime, case.model(), case.feeds()), refusals)
        found = outputs_or_none(partial(imported, case), (relay.RelayError,))
        if expected is not None:
            assert found is not None, pads
            assert_close(found, expected, 0)
        else:
            assert found is None or found[0].size == 0 == 3 + sum(pads), pads


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(
    ("mode", "pads"), [("constant", (4, -5)), ("constant", (-5, 4)), ("edge", (2, -1)), ("reflect", (-1, 1))]
)
def test_a_pad_that_crops_what_it_added(mode, pads, symbolic):
    check(Case("Pad", (floats(3), longs(*pads)), {"mode": mode}, weights=(1,), opset=18), symbolic=symbolic)


def test_a_crop_beyond_a_symbolic_extent_ends_the_run():
    case = Case("Pad", (floats(6), longs(-2, -3)), {"mode": "constant"}, weights=(1,), opset=18)
    module, _ = from_onnx(case.model(), shape={"in0": ("n",)})
    run = relay.build(module)
    assert run(floats(5)).shape == (0,)
    with pytest.raises(relay.RelayError) as caught:
        run(floats(4))
    check_message("onnx", "pad-cuts-too-much", caught.value)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(("extent", "parts"), [(7, 2), (7, 4), (6, 3), (6, 4), (1, 1)])
def test_the_last_part_of_a_split_may_be_smaller(extent, parts, symbolic):
    case = Case("Split", (floats(extent, 2),), {"num_outputs": parts, "axis": 0}, opset=18, outputs=parts)
    check(case, symbolic=symbolic)


def test_before_opset_18_a_split_is_of_equal_parts():
    case = Case("Split", (floats(7),), opset=13, outputs=2)
    with pytest.raises(relay.RelayError, match="2 equal parts must divide the extent 7"):
        from_onnx(case.model())


def test_sizes_of_a_split_must_add_up():
    case = Case("Split", (floats(7), longs(2, 3)), weights=(1,), outputs=2)
    with pytest.raises(relay.RelayError, match=r"Split of 7 into parts of \(2, 3\)"):
        from_onnx(case.model())


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float32])
@pytest.mark.parametrize("shapes", [((1,), (1,), (1,)), ((), (1,), ())])
def test_a_range_of_tensors_of_one_element(dtype, shapes):
    check(Case("Range", tuple(np.full(shape, value, dtype) for shape, value in zip(shapes, (1, 8, 2), strict=True))))


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_indices_may_be_fewer_than_the_data(axis, symbolic):
    indices = np.array([[1, -2], [0, 2]], np.int64)
    check(Case("GatherElements", (floats(3, 4), indices), {"axis": axis}), symbolic=symbolic)


@pytest.mark.parametrize("weights", [(), (1, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_the_upper_bound_wins_where_bounds_cross(weights, dtype):
    low, high = np.asarray(3, dtype), np.asarray(1, dtype)
    check(Case("Clip", (np.arange(5).astype(dtype), low, high), weights=weights))


INDEXED = {
    "Gather": Case("Gather", (floats(5, 2), longs(0, -5, 4)), {"axis": 0}),
    "GatherElements": Case("GatherElements", (floats(5, 2), longs((0, 4), (-5, 1))), {"axis": 0}),
    "GatherND": Case("GatherND", (floats(3, 5), longs((2, 4), (-3, -5)))),
    "ScatterElements": Case("ScatterElements", (floats(5, 2), longs((0, 4), (-5, 1)), floats(2, 2))),
    "ScatterND": Case("ScatterND", (floats(3, 5), longs((2, 4), (-3, -5)), floats(2))),
}
SYMBOLIC = {
    "Gather": {"in0": ("n", "m"), "in1": ("k",)},
    "GatherElements": {"in0": ("n", "m"), "in1": ("k", "l")},
    "GatherND": {"in0": ("n", "m"), "in1": ("k", 2)},
    "ScatterElements": {"in0": ("n", "m"), "in1": ("k", "l"), "in2": ("k", "l")},
    "ScatterND": {"in0": ("n", "m"), "in1": ("k", 2), "in2": ("k",)},
}


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("operator", INDEXED)
@pytest.mark.parametrize("outside", [5, -6, 2**40])
def test_an_index_outside_is_an_error_with_the_node_the_index_and_the_extent(operator, symbolic, outside):
    case = INDEXED[operator]
    check(case)
    indices = case.inputs[1]
    assert indices is not None
    wrong = indices.copy()
    wrong.reshape(-1)[-1] = outside
    module, _ = from_onnx(case.model(), shape=SYMBOLIC[operator] if symbolic else None)
    expected = f"{operator} the_node: an index lies outside of an axis with 5 entries"
    for run in (relay.build(module), relay.create_executor("interpreter", module).evaluate()):
        with pytest.raises(relay.RelayError, match=expected) as caught:
            run(case.inputs[0], wrong, *case.inputs[2:])
        assert (caught.value.rule, caught.value.found) == ("index-out-of-range", str(outside))


@pytest.mark.parametrize("operator", INDEXED)
def test_an_index_of_the_model_is_looked_at_when_it_is_read(operator):
    case = INDEXED[operator]
    indices = case.inputs[1]
    assert indices is not None
    wrong = indices.copy()
    wrong.reshape(-1)[-1] = 5
    model = Case(case.operator, (case.inputs[0], wrong, *case.inputs[2:]), case.attributes, weights=(1,)).model()
    with pytest.raises(relay.RelayError) as caught:
        from_onnx(model)
    check_message("onnx", f"index-outside-{operator}", caught.value)
