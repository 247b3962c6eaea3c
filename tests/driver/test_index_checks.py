"""`check_indices`: an index outside of its axis ends the call with an error, wherever the program runs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relay
from relay.driver.compilation import Compilation
from relay.driver.targets import targets_for
from relay.lower.program.region import CallKernel, CheckIndex
from relay.runtime.graph.graph import Graph
from relay.transform.simplify.eliminate_common_subexpr import EliminateCommonSubexpr
from relay.transform.simplify.fold_constant import FoldConstant
from tests.messages import check_message

TABLE = np.arange(15, dtype=np.float32).reshape(5, 3)
CHOSEN = """
def @main(%table: Tensor[(5, 3), float32], %rows: Tensor[(n), int64]) {
  take(%table, check_indices(%rows, extents=[5], what="the table"), axis=0, mode="wrap")
}
"""
CHOSEN_IN_A_BRANCH = """
def @main(%table: Tensor[(m, 3), float32], %row: int32, %chosen: bool) {
  if (%chosen) { take(%table, check_indices(%row, extents=[m], what="the table"), axis=0, mode="wrap") }
  else { take(%table, 0, axis=0) }
}
"""
PAIRS = """
def @main(%rows: Tensor[(4, 2), int32]) { add(check_indices(%rows, extents=[5, 3], what="the pairs"), 1) }
"""

RUNNERS: dict[str, Callable[[relay.IRModule], Callable[..., Any]]] = {
    "compiled": relay.build,
    "interpreted": lambda module: relay.create_executor("interpreter", module).evaluate(),
}
EVERYWHERE = pytest.mark.parametrize("runner", RUNNERS.values(), ids=RUNNERS)


def program(text: str) -> relay.IRModule:
    return relay.parse(f'#[version = "0.0.5"]\n{text.strip()}\n', "program.relay")


def longs(*indices: int) -> np.ndarray:
    return np.asarray(indices, np.int64)


@EVERYWHERE
def test_indices_inside_count_from_both_ends(runner):
    run = runner(program(CHOSEN))
    np.testing.assert_array_equal(run(TABLE, longs(0, -1, 4, -5)), TABLE[[0, -1, 4, -5]])
    assert run(TABLE, longs()).shape == (0, 3)


@EVERYWHERE
@pytest.mark.parametrize("index", [5, -6, 2**62, -(2**63)])
def test_an_index_outside_is_an_error_that_tells_it(runner, index):
    run = runner(program(CHOSEN))
    for _ in range(2):  # the second call of these shapes goes another way
        with pytest.raises(relay.RelayError, match="the table: an index lies outside of an axis with 5") as caught:
            run(TABLE, longs(1, index, 2))
        assert (caught.value.rule, caught.value.expected, caught.value.found) == (
            "index-out-of-range", "from -5 to 4", str(index),
        )  # fmt: skip
    np.testing.assert_array_equal(run(TABLE, longs(1, 1, 2)), TABLE[[1, 1, 2]])


def test_the_message():
    with pytest.raises(relay.RelayError) as caught:
        relay.build(program(CHOSEN))(TABLE, longs(7))
    check_message("values", "index-out-of-range", caught.value)


@EVERYWHERE
def test_only_the_branch_that_runs_is_checked(runner):
    run = runner(program(CHOSEN_IN_A_BRANCH))
    np.testing.assert_array_equal(run(TABLE, np.int32(-2), np.bool_(True)), TABLE[-2])
    np.testing.assert_array_equal(run(TABLE, np.int32(9), np.bool_(False)), TABLE[0])
    for _ in range(2):
        with pytest.raises(relay.RelayError, match="an axis with 5 entries"):
            run(TABLE, np.int32(9), np.bool_(True))
    with pytest.raises(relay.RelayError, match="an axis with 1 entry"):
        run(TABLE[:1], np.int32(-2), np.bool_(True))


@EVERYWHERE
def test_each_entry_of_the_last_axis_has_its_extent(runner):
    run = runner(program(PAIRS))
    inside = np.array([[4, 2], [-5, -3], [0, 0], [1, 1]], np.int32)
    np.testing.assert_array_equal(run(inside), inside + 1)
    for at, index, expected in (((0, 1), 3, "from -3 to 2"), ((3, 0), -6, "from -5 to 4")):
        outside = inside.copy()
        outside[at] = index
        with pytest.raises(relay.RelayError) as caught:
            run(outside)
        assert (caught.value.expected, caught.value.found) == (expected, str(index))


@EVERYWHERE
def test_an_empty_axis_has_no_index(runner):
    text = 'def @main(%i: Tensor[(n), int64]) { check_indices(%i, extents=[0], what="it") }'
    run = runner(program(text))
    assert run(longs()).shape == (0,)
    with pytest.raises(relay.RelayError) as caught:
        run(longs(0))
    assert caught.value.expected == "no index at all"


def test_a_graph_of_kernels_checks_too_and_its_document_says_so():
    graph = relay.create_executor("graph", program(CHOSEN.replace("(n)", "(2)"))).evaluate()
    np.testing.assert_array_equal(graph(TABLE, longs(3, -3)), TABLE[[3, -3]])
    with pytest.raises(relay.RelayError, match="the table: an index lies outside"):
        graph(TABLE, longs(3, 5))
    assert Graph.from_json(graph.get_graph_json()) == graph.graph
    assert "the table" in graph.get_graph_json()


def test_a_program_in_c_is_told_by_the_status(tmp_path):
    relay.build(program(CHOSEN.replace("(n)", "(2)"))).export(tmp_path / "model.so")
    assert "1  an index is out of range: the table" in (tmp_path / "model.h").read_text()
    run = ctypes.CDLL(str(tmp_path / "model.so")).model_run
    result = np.empty((2, 3), np.float32)
    for indices, status in ((longs(1, -5), 0), (longs(1, -6), 1)):
        buffers = (ctypes.c_void_p * 3)(TABLE.ctypes.data, indices.ctypes.data, result.ctypes.data)
        assert run(buffers, None) == status
    np.testing.assert_array_equal(result[0], TABLE[1])


def test_a_function_that_came_out_checks_too():
    text = """
    def @main(%table: Tensor[(5, 3), float32]) {
      fn (%row: int64) { take(%table, check_indices(%row, extents=[5], what="the table"), axis=0, mode="wrap") }
    }
    """
    row = relay.build(program(text))(TABLE)
    np.testing.assert_array_equal(row(np.int64(-1)), TABLE[-1])
    with pytest.raises(relay.RelayError) as caught:
        row(np.int64(8))
    assert caught.value.found == "8"


def test_passes_leave_it_to_the_run():
    module = program('def @main() { check_indices(7, extents=[5], what="it") }')
    folded = EliminateCommonSubexpr(FoldConstant(module))
    assert "check_indices" in str(folded)
    with pytest.raises(relay.RelayError, match="an axis with 5 entries"):
        relay.build(module)()


def test_checked_rows_stay_a_straight_line_of_two_kernels():
    compilation = Compilation(program(CHOSEN), targets_for("llvm"), 3)
    assert not compilation.program.uses_heap
    (region,) = compilation.program.procedure("main").regions()
    assert [type(each) for each in region.instructions] == [CallKernel, CheckIndex, CallKernel]


COMPUTED = """
def @main(%table: Tensor[(5, 3), float32], %rows: Tensor[(400), int64]) {
  %0 = maximum(%rows, 0i64);
  (take(%table, check_indices(%0, extents=[5], what="the table"), axis=0, mode="wrap"), sum(%0))
}
"""


def test_what_computes_the_indices_keeps_its_room():
    """The kernel that finds an index outside reads them; it does not stand for them."""
    module = program(COMPUTED)
    (region,) = relay.driver.compile_stages(module).program.procedure("main").regions()
    kernels = [each.kernel for each in region.calls]
    assert sum("check_indices_fault" in name for name in kernels) == 1
    rows = np.random.default_rng(0).integers(-3, 5, 400)
    chosen, total = relay.build(module)(TABLE, rows)
    np.testing.assert_array_equal(chosen, TABLE[np.maximum(rows, 0)])
    assert total == np.maximum(rows, 0).sum()
