"""The work of kernels, as the compiler counts it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import relay
from relay.arith.expr import evaluate
from relay.runtime.artefact.arena_map import ArenaMap, region_arena
from relay.runtime.artefact.work import KernelWork
from relay.tir.stmt import For
from relay.tir.traversal import walk_statement


def works(inputs: Sequence[relay.Var], body: relay.Expr) -> tuple[KernelWork, ...]:
    return relay.driver.compile_stages(relay.Function(inputs, body)).manifest.kernels


def zeros(*shape: int) -> relay.Expr:
    return relay.const(np.zeros(shape, np.float32))


def test_constants_and_values_are_told_apart():
    x = relay.var("x", shape=(8, 16))
    (work,) = works([x], relay.nn.relu(relay.nn.matmul(x, zeros(16, 32))))
    assert work.operators == ("nn.matmul", "nn.relu")
    assert (work.multiply_adds, work.constant_bytes, work.value_bytes) == (8 * 16 * 32, 4 * 16 * 32, 4 * 8 * (16 + 32))
    assert work.pointers == 3


def test_a_gather_does_not_read_its_table():
    indices = relay.var("i", shape=(10,), dtype="int32")
    (work,) = works([indices], relay.take(zeros(1000, 16), indices, axis=0))
    assert work.constant_bytes == 4 * 10 * 16


def test_a_sum_reads_all_of_its_input():
    x = relay.var("x", shape=(100, 16))
    (work,) = works([x], relay.sum(x, axis=0))
    assert work.value_bytes == 4 * (100 * 16 + 16)


@pytest.mark.parametrize("n", [1, 9])
def test_symbols_are_those_that_a_call_passes(n):
    x = relay.var("x", shape=("n", 16))
    (work,) = works([x], relay.nn.matmul(x, zeros(16, 32)))
    values = dict.fromkeys(work.symbols, n)
    assert evaluate(work.multiply_adds, values) == n * 16 * 32
    assert evaluate(work.value_bytes, values) == 4 * n * (16 + 32)


UPDATES = {
    "strided_set": lambda x, rows, at: relay.strided_set(x, rows, at, relay.add(at, relay.const([8], "int64"))),
    "scatter_nd": lambda x, rows, at: relay.scatter_nd(
        x, relay.expand_dims(relay.broadcast_to(at, (8,)), 0), rows, "add"
    ),
    "scatter_elements": lambda x, rows, at: relay.scatter_elements(
        x, relay.broadcast_to(relay.reshape(at, (1, 1)), (8, 16)), rows
    ),
}


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_moves_the_part_that_it_changes(name):
    """Its loops run over the part, however many rows there are."""
    x, rows = relay.var("x", shape=(4096, 16)), relay.var("rows", shape=(8, 16))
    at = relay.var("at", shape=(1,), dtype="int64")
    stages = relay.driver.compile_stages(relay.Function([x, rows, at], UPDATES[name](x, rows, at)), donate=("x",))
    (work,) = (each for each in stages.manifest.kernels if name in each.operators)
    indices = {"strided_set": 8 * 2, "scatter_nd": 8 * 8, "scatter_elements": 8 * 8 * 16}[name]
    assert (work.constant_bytes or 0) + work.value_bytes == 2 * 4 * 8 * 16 + indices
    loops = next(each for each in stages.kernels if each.info.name == work.name).loops()
    assert [each.extent for each in walk_statement(loops.body) if isinstance(each, For)] == [8, 16]


def test_attention_has_two_products():
    q, k = relay.var("q", shape=(2, 6, 8)), relay.var("k", shape=(2, 5, 8))
    found = works([q, k], relay.nn.attention(q, k, k))
    assert sum(work.multiply_adds for work in found) == 2 * 6 * 5 * (8 + 8)


def test_what_only_the_run_can_tell():
    x = relay.var("x", shape=(7,))
    found = works([x], relay.argwhere(x))
    extents, filled = found
    assert extents.value_bytes is None
    assert evaluate(filled.value_bytes, dict.fromkeys(filled.symbols, 3)) == 4 * 7 + 4 * 3


@pytest.mark.parametrize(
    "network", [relay.testing.mlp, relay.testing.dqn, relay.testing.transformer, relay.testing.squeezenet]
)
def test_the_map_of_the_workspace_is_that_of_the_plan(network):
    """Values that are alive at once lie apart, but for results that are written over an input which dies there; and
    the plan is within 5 % of what must be."""
    module, params = network.get_workload()
    (entry,) = relay.driver.compile_stages(module, params=params).manifest.entries
    (arena,) = (region_arena(each, {}) for each in entry.regions)
    assert isinstance(arena, ArenaMap)
    assert arena.waste <= 0.05
    for number, late in enumerate(arena.buffers):
        assert 0 <= late.begin < late.end <= arena.planned_bytes
        for early in arena.buffers[:number]:
            if early.last > late.first or (early.last == late.first and early.begin != late.begin):
                assert early.end <= late.begin or late.end <= early.begin
