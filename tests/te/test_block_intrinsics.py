"""Micro-kernels that look at a block themselves: what they are told, and what they may leave out."""

from __future__ import annotations

import numpy as np
import pytest

from relay import te
from relay.base.diagnostics import RelayError
from relay.te.tensorize import Block, BlockIntrinsic, refused_block
from relay.tir.expr import Load
from relay.tir.interpretation.interpreter import interpret
from relay.tir.stmt import For, Stmt, Store
from relay.tir.traversal import walk_statement


def column_sum() -> tuple[te.Tensor, te.Tensor]:
    a = te.placeholder((6, 3), "float32", "a")
    k = te.reduce_axis(3, "k")
    return a, te.compute((6,), lambda i: te.sum(a[i, k], axis=k), name="b")


def in_one_go(block: Block) -> Stmt:
    """The three terms of each element, by one store."""
    (row, _, _), (term, count, reduced) = block.loops
    if not reduced or not isinstance(count, int):
        raise refused_block("sum3", block, "a loop that sums", str(term))
    load = block.sources[0]
    assert isinstance(load, Load)
    terms = [Load(load.buffer, (row, place)) for place in range(count)]
    return For(row, block.loops[0][1], Store(block.targets[0].buffer, (row,), terms[0] + terms[1] + terms[2]))


@pytest.mark.parametrize("sets", [True, False])
def test_a_block_that_sets_its_results_has_no_start(sets: bool) -> None:
    a, b = column_sum()
    intrinsic = BlockIntrinsic("sum3", in_one_go, sets)
    function = te.lower(b, [a], [te.Tensorize("b", "i", "sum3")], intrinsics=[intrinsic])
    x, found = np.arange(18, dtype=np.float32).reshape(6, 3), np.full(6, np.nan, np.float32)
    interpret(function, [x, found])
    np.testing.assert_array_equal(found, x.sum(1))
    loops = [each.variable.name for each in walk_statement(function.body) if isinstance(each, For)]
    assert any(name.endswith(".init") for name in loops) is not sets


def test_it_refuses_with_a_reason() -> None:
    def refuse(block: Block) -> Stmt:
        raise refused_block("sum3", block, "another block", "this one")

    a, b = column_sum()
    with pytest.raises(RelayError, match="schedule-tensorize") as caught:
        te.lower(b, [a], [te.Tensorize("b", "i", "sum3")], intrinsics=[BlockIntrinsic("sum3", refuse)])
    assert "the block of `b` is not what intrinsic `sum3` computes" in str(caught.value)


def test_it_is_told_of_guards() -> None:
    seen: list[str] = []

    def look(block: Block) -> Stmt:
        seen.extend(map(str, block.guards))
        return Store(block.targets[0].buffer, (0,), block.sources[0])

    a, b = column_sum()
    steps = [te.Split("b", "i", factor=4), te.Tensorize("b", "i.inner", "sum3")]
    te.lower(b, [a], steps, intrinsics=[BlockIntrinsic("sum3", look, sets=True)])
    assert len(seen) == 1
    assert seen[0].endswith("< 6")
