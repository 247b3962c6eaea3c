"""A result that lies in something larger: the loops are those of the result, and write nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from relay import te
from relay.te.tensor import Gap
from relay.tir.interpretation.interpreter import interpret

SCHEDULES = {
    "plain": (),
    "rows_as_one": (te.Fuse("b", "i", "j"), te.Split("b", "i.j.fused", factor=4), te.Vectorize("b", "i.j.fused.inner")),
    "uneven": (te.Split("b", "j", factor=4), te.Vectorize("b", "j.inner"), te.Unroll("b", "j.outer")),
    "cached": (te.CacheWrite("b", "local"), te.ComputeAt("b.local", "b", "i"), te.Parallel("b", "i")),
}


@pytest.mark.parametrize("gap", [Gap(-1, 3), Gap(-2, 2), Gap(-3, 1)], ids=str)
@pytest.mark.parametrize("name", SCHEDULES)
def test_only_the_result_is_written(name: str, gap: Gap) -> None:
    a = te.placeholder((2, 3, 6), "float32", "a")
    b = te.compute((2, 3, 6), lambda h, i, j: a[h, i, j] * 2.0, name="b")
    function = te.lower(replace(b, gap=gap), [a], SCHEDULES[name])
    assert function.outputs[0].shape == gap.around((2, 3, 6))
    given = np.arange(36, dtype=np.float32).reshape(2, 3, 6)
    around = np.full(gap.around((2, 3, 6)), -1, np.float32)
    interpret(function, [given, around])
    expected = np.full_like(around, -1)
    expected[:2, :3, :6] = 2 * given
    np.testing.assert_array_equal(around, expected)
