"""`build_graph(…, region=…)`: the kernels of one region of a program with branches, recursion or data, one by one."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.driver import build_graph, compile_stages
from relay.runtime.values.values import data_list
from tests.messages import check_message

RECURRENT = """
type List[A] { Cons(A, List[A]), Nil, }
def @run(%steps: List[Tensor[(2, 3), float32]], %h: Tensor[(2, 3), float32], %w: Tensor[(3, 6), float32])
    -> Tensor[(2, 3), float32] {
  match (%steps) {
    Cons(%x, %rest) => {
      let %both = concatenate((exp(%x), nn.softmax(%h)), axis=1);
      @run(%rest, nn.softmax(nn.dense(%both, %w)), %w)
    },
    Nil => { %h },
  }
}
def @main(%steps: List[Tensor[(2, 3), float32]], %h: Tensor[(2, 3), float32], %w: Tensor[(3, 6), float32])
    -> Tensor[(2, 3), float32] {
  @run(%steps, %h, %w)
}"""
WRITES_ROWS = """
def @fill(%n: int32, %x: Tensor[(4, 3), float32], %places: Tensor[(1, 3), int64])
    -> (Tensor[(4, 3), float32], Tensor[(3, 4), float32]) {
  let %row = nn.softmax(multiply(cast(%n, dtype="float32"), ones(shape=[1, 3], dtype="float32")));
  let %next = scatter_elements(%x, %places, %row, axis=0);
  if (less(%n, 1)) { (%next, transpose(nn.softmax(%x))) } else { @fill(subtract(%n, 1), %next, %places) }
}
def @main(%x: Tensor[(4, 3), float32], %places: Tensor[(1, 3), int64])
    -> (Tensor[(4, 3), float32], Tensor[(3, 4), float32]) {
  @fill(2, %x, %places)
}"""
BOUNDED = """
def @go(%n: int32, %x: Tensor[(3,), float32], %i: Tensor[(2,), int64]) -> Tensor[(3,), float32] {
  let %inside = check_indices(%i, extents=[3], what="a place");
  if (less(%n, 1)) { %x } else { @go(subtract(%n, 1), add(%x, sum(take(nn.softmax(%x), %inside, axis=0))), %i) }
}
def @main(%x: Tensor[(3,), float32], %i: Tensor[(2,), int64]) -> Tensor[(3,), float32] { @go(2, %x, %i) }"""
OPEN = """
def @go(%k: int32, %x: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32] {
  if (less(%k, 1)) { %x } else { @go(subtract(%k, 1), nn.softmax(%x)) }
}
def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32] { @go(2, %x) }"""


def program(text: str) -> relay.IRModule:
    return relay.parse(f'#[version = "0.0.5"]\n{text.strip()}\n', "program.relay")


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize("opt_level", range(4))
def test_the_region_of_a_recursion_run_turn_by_turn_is_the_recursion(opt_level):
    module, w, h = program(RECURRENT), random(3, 6), random(2, 3, seed=1)
    steps = [random(2, 3, seed=each) for each in range(2, 6)]
    expected = relay.build(module, opt_level=opt_level)(data_list(steps), h, w)
    region = build_graph(module, opt_level=opt_level, region="@run, region 1")
    for x in steps:
        region.run(**{"%3": x, "%1": h, "%2": w})  # what a cell holds, the state, the weights
        h = region.get_output(0)
    np.testing.assert_allclose(h, expected, rtol=1e-5)


def test_each_value_can_be_looked_at_which_a_program_would_write_to_its_place_in_another():
    region = build_graph(program(RECURRENT), opt_level=1, region="@run, region 1")
    x, h, w = random(2, 3), random(2, 3, seed=1), random(3, 6, seed=2)
    values = region.debug_run(**{"%3": x, "%1": h, "%2": w})
    both = next(value for name, value in values.items() if "concatenate" in name)
    softmax = np.exp(h) / np.exp(h).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(both, np.concatenate((np.exp(x), softmax), axis=1), rtol=1e-5)


def test_a_region_that_changes_a_part_of_a_tensor_leaves_its_input_as_it_is():
    module, x, places = program(WRITES_ROWS), random(4, 3), np.array([[3, 0, 2]])
    name = next(
        f"@fill, region {number}"
        for procedure in compile_stages(module).program.procedures if procedure.name == "fill"
        for number, each in enumerate(procedure.regions(), start=1)
        if any("scatter" in call.kernel for call in each.calls)
    )  # fmt: skip
    region = build_graph(module, region=name)
    arrays = {
        each.name: {(4, 3): x, (1, 3): places}.get(each.shape, np.asarray(2, each.dtype.numpy)).astype(each.dtype.numpy)
        for each in region.entry.inputs
    }
    for _ in range(2):  # the second run reads what the first was given
        region.run(**arrays)
        row = np.full((1, 3), 1 / 3, np.float32)
        expected = x.copy()
        np.put_along_axis(expected, places, row, axis=0)
        np.testing.assert_allclose(region.get_output(0), expected, rtol=1e-6)


def test_an_index_outside_ends_the_run_of_a_region():
    region = build_graph(program(BOUNDED), region="@go, region 1")
    region.run(**{"%2": np.array([0, 2])})
    assert region.get_num_outputs() == 0  # it only looks
    with pytest.raises(relay.RelayError, match="a place"):
        region.run(**{"%2": np.array([0, 3])})


@pytest.mark.parametrize(("text", "region"), [(RECURRENT, "@run, region 2"), (OPEN, "@go, region 1")])
def test_what_is_no_region_that_a_graph_can_run_is_named(text, region):
    with pytest.raises(relay.RelayError) as caught:
        build_graph(program(text), region=region)
    check_message("graph", f"region-{caught.value.rule}", caught.value)
