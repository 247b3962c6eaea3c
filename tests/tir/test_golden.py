"""Passes, shown as text: each case is a function, a pass, and what the pass makes of it.

`UPDATE_GOLDEN=1 pytest tests/tir/test_golden.py` rewrites the expected halves; read the difference before committing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from relay.arith.expr import evaluate
from relay.tir.interpretation.interpreter import interpret
from relay.tir.passes.dispatch_tails import dispatch_tails
from relay.tir.passes.hoist_invariants import hoist_invariants
from relay.tir.passes.partition_loops import partition_loops
from relay.tir.passes.simplify import simplify
from relay.tir.passes.unroll_loops import unroll_loops
from relay.tir.passes.vectorize_loops import vectorize_loops
from relay.tir.pipeline import lower
from relay.tir.stmt import PrimFunc
from relay.tir.text.parser import parse_primfunc
from relay.tir.text.printer import print_primfunc
from relay.tir.verification.verifier import verify

CASES = sorted((Path(__file__).parent.parent / "golden" / "tir").glob("*.tir"))
PASSES: dict[str, Callable[[PrimFunc], PrimFunc]] = {
    function.__name__: function
    for function in (simplify, partition_loops, dispatch_tails, vectorize_loops, hoist_invariants, unroll_loops, lower)
}
SEPARATOR = "=====>\n"


def outputs(func: PrimFunc, size: int) -> list[np.ndarray]:
    values = dict.fromkeys(func.symbols, size)
    random = np.random.default_rng(7)
    arrays: list[np.ndarray] = []
    for buffer in func.parameters:
        shape = tuple(evaluate(extent, values) for extent in buffer.shape)
        arrays.append(random.integers(0, 8, shape).astype(buffer.dtype.numpy))
    interpret(func, arrays, values)
    return arrays[len(func.inputs) :]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_pass(path: Path) -> None:
    before, expected = path.read_text().split(SEPARATOR)
    name = before.split("# pass: ")[1].split("\n")[0]
    func = parse_primfunc(before, path.name)
    result = PASSES[name](func)
    text = print_primfunc(result)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(before + SEPARATOR + text)
        expected = text
    assert text == expected
    assert print_primfunc(PASSES[name](result)) == text, "a second run changes it"
    for size in (0, 5, 33):
        for left, right in zip(outputs(func, size), outputs(result, size), strict=True):
            np.testing.assert_array_equal(left, right)
    assert {violation.rule for violation in verify(result)} <= {"index-unproven"}
