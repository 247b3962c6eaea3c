"""What artefacts tell of their work: written, read, evaluated."""

from __future__ import annotations

import json

import pytest

from relay.arith.expr import Symbol, evaluate
from relay.base.dtypes import DType
from relay.runtime.artefact.arena_map import ArenaMap, OpenArena, PlacedBuffer, largest_arena, region_arena
from relay.runtime.artefact.work import (
    ArenaBuffer,
    KernelWork,
    RegionSpec,
    buffer_from_json,
    buffer_to_json,
    region_from_json,
    region_to_json,
    work_from_json,
    work_to_json,
)

N = Symbol("n")


def test_work_is_read_back():
    work = KernelWork("k", ("nn.dense", "add"), 3, (N,), DType.FLOAT32, 12 * N, 64, None)
    read = work_from_json(json.loads(json.dumps(work_to_json(work))))
    assert (read.name, read.operators, read.pointers, read.dtype) == ("k", ("nn.dense", "add"), 3, DType.FLOAT32)
    assert evaluate(read.multiply_adds, {read.symbols[0]: 5}) == 60
    assert (read.constant_bytes, read.value_bytes) == (64, None)


@pytest.mark.parametrize("change", [{"pointers": -1}, {"symbols": ["n", "n"]}, {"dtype": "float33"}, {"work": [1]}])
def test_work_that_nobody_wrote_is_refused(change):
    written = work_to_json(KernelWork("k", (), 1, (N,), DType.FLOAT32, 1, 1, 1))
    with pytest.raises((ValueError, KeyError, TypeError)):
        work_from_json({**written, **change})


def test_buffers_are_read_back():
    buffer = ArenaBuffer("k", 64, 4 * N, 1, 2)
    assert buffer_from_json(json.loads(json.dumps(buffer_to_json(buffer))), {"n": N}) == buffer


def test_a_plan_of_known_extents():
    arena = (ArenaBuffer("a", 0, 4 * N, 0, 1), ArenaBuffer("b", 4096, 0 * N, 1, 1), ArenaBuffer("c", 4096, 100, 1, 2))
    found = region_arena(RegionSpec(8192, arena), {N: 10})
    assert isinstance(found, ArenaMap)
    assert found.buffers == (PlacedBuffer("a", 0, 40, 0, 1), PlacedBuffer("c", 4096, 4196, 1, 2))
    assert (found.planned_bytes, found.lower_bound_bytes, found.steps) == (8192, 64 + 128, 3)


def test_a_plan_of_extents_that_only_the_run_tells():
    m = Symbol("m")
    region = RegionSpec(64 * m, (ArenaBuffer("a", 0, 4 * m, 0, 1),), "@loop, region 2", (m,))
    again = region_from_json(json.loads(json.dumps(region_to_json(region))), {"n": N})
    assert region_to_json(again) == region_to_json(region)
    found = region_arena(again, {N: 10})
    assert str(found) == "arena of @loop, region 2: 64*m bytes planned, of extents that are only known at run time"
    known = ArenaMap((), 128, "@loop, region 1")
    assert largest_arena([found, ArenaMap((), 64), known]) is known
    assert largest_arena([found]) is None
    assert isinstance(found, OpenArena)
    with pytest.raises(ValueError, match="the inputs tell m"):
        region_from_json(region_to_json(region), {"m": N})


def test_what_is_written_in_place_counts_once():
    """The result of step 1 stands where its input, which dies there, stood."""
    arena = ArenaMap((PlacedBuffer("a", 0, 256, 0, 1), PlacedBuffer("b", 0, 256, 1, 2)), 256)
    assert arena.lower_bound_bytes == 256
    assert arena.waste == 0


def test_the_map_as_text():
    arena = ArenaMap((PlacedBuffer("a", 0, 512, 0, 1), PlacedBuffer("b", 512, 1024, 1, 2)), 1024)
    summary, *rows = str(arena).splitlines()
    assert summary == "arena: 1,024 bytes planned, 1,024 bytes alive at most, +0.0%, 2 values"
    assert rows == [
        f"    0 |{'a' * 32}{' ' * 32}|",
        f"    1 |{'a' * 32}{'b' * 32}|",
        f"    2 |{' ' * 32}{'b' * 32}|",
    ]
    assert str(ArenaMap((), 0)) == "arena: no value needs it"
