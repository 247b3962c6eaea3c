"""A slice of the campaign of random ONNX graphs, and what it found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.endurance import slices
from tests.frontend.onnx_generated.campaign import Disagreement, Generated, check, generated, trial
from tests.frontend.onnx_generated.draft import Array, run_reference

COUNT = 10


def test_random_graphs_agree(tmp_path: Path) -> None:
    outcomes = [trial(slices.trial_random(1, number), tmp_path) for number in range(COUNT)]
    assert outcomes.count("agrees") > 0.8 * COUNT


def test_one_seed_gives_one_graph() -> None:
    drawn = [generated(slices.trial_random(2, 7)) for _ in range(2)]
    assert drawn[0].model.SerializeToString() == drawn[1].model.SerializeToString()


def test_a_result_that_is_off_is_a_disagreement() -> None:
    example = generated(slices.trial_random(1, 0))
    off = [each + each.dtype.type(1) if each.dtype.kind == "f" else each for each in example.expected]
    assert any(each.dtype.kind == "f" for each in off)
    with pytest.raises(Disagreement, match="in place of ONNX's"):
        check(Generated(example.model, example.feeds, off, example.is_frozen), 0)


FOUND = {
    "constant indices of an axis that is known at run time": """
        17 (float[n] x) => (y) <int64[3,1] at = {2, -1, 0}, float[3] new = {1, 2, 3}> { y = ScatterND(x, at, new) }""",
    "places that are not zero, in a tensor of three axes": "17 (float[4,2,1] x) => (y) { y = NonZero(x) }",
    "another shape of no elements": """
        17 (float[7,0,4] x) => (y) <int64[2] shape = {-1, 4}> { e = Exp(x) r = Reshape(e, shape) y = Exp(r) }""",
    "a bound that an older Clip leaves out, of float16": "8 (float16[3] x) => (y) { y = Clip<min=1.0>(x) }",
}


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("name", FOUND)
def test_what_the_campaign_found(name: str, level: int) -> None:
    opset, text = FOUND[name].split(maxsplit=1)
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> found {text}')
    type_ = model.graph.input[0].type.tensor_type
    shape = [dim.dim_value if dim.HasField("dim_value") else 5 for dim in type_.shape.dim]
    x: Array = np.random.default_rng(0).integers(0, 3, shape).astype(helper.tensor_dtype_to_np_dtype(type_.elem_type))
    feeds = {"x": x}
    assert check(Generated(model, feeds, run_reference(model, feeds), is_frozen=True), level) == "agrees"
