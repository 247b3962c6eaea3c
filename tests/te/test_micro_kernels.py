"""The schedules that everything rests on: what comes out is the loop nest that one would write by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from relay import te
from relay.arith.expr import FloorDiv, FloorMod, Max, Min, children
from relay.tir.buffer import Scope
from relay.tir.expr import Load, Ramp
from relay.tir.pipeline import lower
from relay.tir.stmt import Allocate, For, If, Store
from relay.tir.traversal import statement_values, walk_statement, walk_value

SCHEDULES = Path(__file__).parent.parent / "golden" / "schedule"


@pytest.fixture(params=["micro_kernel", "convolution", "rfactor", "softmax", "cache_write", "tensorize", "compute_at"])
def scheduled(request, programs):
    head, *rest = (SCHEDULES / f"{request.param}.txt").read_text().splitlines()
    steps = te.parse_steps("\n".join(rest[: rest.index("----- before")]))
    program = programs[head.removeprefix("# program: ")]()
    return request.param, program, program.lower(steps)


def accesses(func):
    """(buffer, indices) of every load and store."""
    for statement in walk_statement(func.body):
        if isinstance(statement, Store):
            yield statement.buffer, statement.indices
        for value in statement_values(statement):
            for node in walk_value(value):
                if isinstance(node, Load):
                    yield node.buffer, node.indices


def is_affine(index):
    expr = index.base if isinstance(index, Ramp) else index
    return not isinstance(expr, (FloorDiv, FloorMod, Min, Max)) and all(map(is_affine, children(expr)))


def test_indices_are_affine(scheduled):
    assert all(is_affine(index) for _, indices in accesses(scheduled[2]) for index in indices)


def test_passes_leave_the_result(scheduled):
    _, program, func = scheduled
    for found, expected in zip(program.run(lower(func)), program.run(program.lower()), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_hot_loops_have_no_guards_and_accumulators_are_registers(scheduled):
    name, _, func = scheduled
    if name not in ("micro_kernel", "convolution"):
        return
    lowered = lower(func)
    assert not any(isinstance(statement, If) for statement in walk_statement(lowered.body))
    constant = [
        all(isinstance(index.base if isinstance(index, Ramp) else index, int) for index in indices)
        for buffer, indices in accesses(lowered)
        if buffer.scope is Scope.REGISTER
    ]
    assert constant
    assert all(constant)


def test_gemm_micro_kernel_is_what_one_would_write(programs):
    """Per step of k: 14 rows times 2 vectors of 16, accumulators in registers, one store of each element at the end."""
    text = (SCHEDULES / "micro_kernel.txt").read_text().splitlines()[1:]
    steps = te.parse_steps("\n".join(text[: text.index("----- before")]))
    lowered = lower(programs["dense"]().lower(steps))
    tiles = [node for node in walk_statement(lowered.body) if isinstance(node, Allocate)]
    assert [tile.buffer.shape for tile in tiles] == [(14, 32), (14, 32)]  # whole tiles, and the last two rows
    tile = tiles[0]
    hot = next(node for node in walk_statement(tile.body) if isinstance(node, For) and str(node.variable) == "k.outer")
    updates = [node for node in walk_statement(hot.body) if isinstance(node, Store)]
    assert len(updates) == 4 * 14 * 2
    assert all(update.value.lanes == 16 for update in updates)
    stores = [x for x in walk_statement(tile.body) if isinstance(x, Store) and x.buffer.scope is Scope.GLOBAL]
    assert len(stores) == 14 * 2


def test_scheduling_takes_a_few_milliseconds(programs):
    """Counted in nodes rather than seconds: what is lowered stays proportional to what is written."""
    text = (SCHEDULES / "convolution.txt").read_text().splitlines()[1:]
    steps = te.parse_steps("\n".join(text[: text.index("----- before")]))
    func = programs["conv"]().lower(steps)
    assert sum(1 for _ in walk_statement(func.body)) < 40
