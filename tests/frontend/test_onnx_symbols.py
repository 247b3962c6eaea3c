"""Operators with a symbol for each extent of each input, which others take when they are given: convolutions whose
weights are inputs, windows over images of any size."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import relay
from relay.frontend.onnx import from_onnx
from relay.ir.types import TensorType
from tests.frontend.onnx_cases import Case, floats, graph_of, ints
from tests.frontend.running import assert_close, run_onnx_reference, run_onnxruntime, run_relay

_IMAGE, _ROW = floats(2, 4, 7, 6), floats(2, 4, 9)
_BYTES = np.random.default_rng(0).integers(0, 255, (1, 4, 7, 6)).astype(np.uint8)
_SMALL = np.random.default_rng(1).integers(0, 255, (6, 4, 3, 2)).astype(np.uint8)
_OFFSETS = floats(2, 2 * 3 * 2 * 2, 5, 5, seed=2)
_POOLED = {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1], "dilations": [1, 2]}

CASES = (
    Case("Conv", (_IMAGE, floats(6, 4, 3, 2, seed=1)), {"strides": [2, 1], "pads": [1, 0, 1, 1], "dilations": [1, 2]}),
    Case("Conv", (_ROW, floats(6, 4, 3, seed=1), floats(6, seed=2)), {"pads": [1, 1]}, name="over rows"),
    Case("ConvTranspose", (_IMAGE, floats(4, 3, 3, 2, seed=1)), {"strides": [2, 1], "pads": [1, 0, 1, 0]}),
    Case("ConvTranspose", (_IMAGE, floats(4, 3, 3, 3, seed=1)), {"strides": [2, 2], "kernel_shape": [3, 3],
         "auto_pad": "SAME_UPPER"}),
    Case("ConvInteger", (_BYTES, _SMALL), {"strides": [2, 1]}),
    Case("DeformConv", (_IMAGE, floats(6, 4, 3, 2, seed=1), _OFFSETS), {"offset_group": 2}, opset=19),
    Case("MaxPool", (_IMAGE,), _POOLED, outputs=2),
    Case("MaxPool", (_IMAGE,), {**_POOLED, "storage_order": 1}, outputs=2),
    Case("MaxPool", (_ROW,), {"kernel_shape": [3], "strides": [2]}, outputs=2, name="over rows"),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_extents_that_the_run_knows(case: Case) -> None:
    model, feeds = case.model(), case.feeds()
    shape = {name: tuple(f"{name}_{axis}" for axis in range(array.ndim)) for name, array in feeds.items()}
    module, _ = from_onnx(model, shape=shape)
    expected = run_onnx_reference(model, feeds)
    assert_close(run_relay(module, feeds), expected, 1e-5)
    found = relay.build(module)(**feeds)
    assert_close(list(found) if isinstance(found, (tuple, list)) else [found], expected, 1e-5)


def test_a_shape_that_is_partly_computed() -> None:
    """What the run finds is named once: zeros are made for it, behind a shape that becomes a constant on the way. The
    other extents of what is expanded are its own."""
    model = graph_of(
        [
            helper.make_node("Cast", ["count"], ["n"], to=onnx.TensorProto.INT64),
            helper.make_node("Concat", ["n", "rest"], ["shape"], axis=0),
            helper.make_node("Expand", ["row", "shape"], ["places"]),
            helper.make_node("GatherElements", ["x", "places"], ["taken"], axis=2),
            helper.make_node("Shape", ["taken"], ["extents"]),
            helper.make_node("ConstantOfShape", ["extents"], ["zeros"]),
            helper.make_node("Concat", ["taken", "zeros"], ["y"], axis=1),
        ],
        {"x": [4, 2, 3], "count": [1]},
        ["y"],
        {"row": np.array([[0, 1, 2], [2, 0, 0]]), "rest": ints(2, 3)},
    )
    module, params = from_onnx(model)
    type_ = module["main"].body.checked_type
    assert isinstance(type_, TensorType)
    assert type_.shape[1:] == (4, 3)
    feeds = {"x": floats(4, 2, 3), "count": np.array([3], np.float32)}
    expected = run_onnxruntime(model, feeds)
    assert_close(run_relay(module, {**feeds, **params}), expected, 0.0)
    assert_close([relay.build(module)(**feeds, **params)], expected, 0.0)


def _regions(inputs: dict[str, list[int | str]], *before: onnx.NodeProto) -> onnx.ModelProto:
    """Regions of an image in bins, of which `boxes` and `of` tell."""
    align = helper.make_node("RoiAlign", ["x", "boxes", "of"], ["y"], output_height=2, output_width=3)
    model = graph_of([*before, align], inputs, ["y"], {"zero": ints(0)}, opset=16)
    for given in model.graph.input:
        if given.name == "of":
            given.type.tensor_type.elem_type = onnx.TensorProto.INT64
    return model


@pytest.mark.parametrize("mode", ["a symbol", "computed"])
def test_regions_of_any_number(mode: str) -> None:
    """As many as the caller gives, or as have a score above a limit."""
    boxes = np.array([[0, 0, 4, 3], [1, 1.5, 3, 5.5], [2, 2, 9, 9], [0.5, 1, 1, 1.5]], np.float32)
    if mode == "a symbol":
        model = _regions({"x": [1, 3, 6, 5], "boxes": ["k", 4], "of": ["k"]})
        calls = [{"boxes": boxes[:k], "of": np.zeros(k, np.int64)} for k in (3, 1, 0)]
    else:
        model = _regions(
            {"x": [1, 3, 6, 5], "all": [4, 4], "scores": [4]},
            helper.make_node("Relu", ["scores"], ["good"]), helper.make_node("NonZero", ["good"], ["places"]),
            helper.make_node("Squeeze", ["places", "zero"], ["chosen"]),
            helper.make_node("Gather", ["all", "chosen"], ["boxes"]),
            helper.make_node("Sub", ["chosen", "chosen"], ["of"]),
        )  # fmt: skip
        calls = [{"all": boxes, "scores": np.array(s, np.float32)} for s in ([1, -1, 2, 3], [-1] * 4)]
    module, params = from_onnx(model)
    run = relay.build(module)
    for call in calls:
        feeds = {"x": floats(1, 3, 6, 5), **call}
        expected = run_onnx_reference(model, feeds)
        assert_close(run_relay(module, {**feeds, **params}), expected, 1e-5)
        assert_close([run(**feeds, **params)], expected, 1e-5)


def test_regions_of_an_image_that_there_is_not_end_the_run() -> None:
    model = _regions({"x": [2, 3, 6, 5], "boxes": ["k", 4], "of": ["k"]})
    run = relay.build(from_onnx(model)[0])
    boxes = np.array([[0, 0, 4, 3], [1, 1.5, 3, 5.5]], np.float32)
    with pytest.raises(
        relay.RelayError, match=r"RoiAlign .*: an index lies outside of an axis with 2 entries"
    ) as caught:
        run(floats(2, 3, 6, 5), boxes, ints(0, 2))
    assert (caught.value.rule, caught.value.found) == ("index-out-of-range", "2")


@pytest.mark.parametrize(("attribute", "value"), [("mode", "sum"), ("coordinate_transformation_mode", "asymmetric")])
def test_regions_in_a_way_that_onnx_does_not_know_are_refused(attribute: str, value: str) -> None:
    case = Case("RoiAlign", (floats(1, 3, 6, 5), floats(2, 4), ints(0, 0)), {attribute: value}, opset=16)
    with pytest.raises(relay.RelayError, match=f"with {attribute} '{value}'") as caught:
        from_onnx(case.model())
    assert caught.value.rule == "unsupported-onnx"
