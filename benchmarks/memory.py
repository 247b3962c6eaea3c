"""The planned workspace of a call against what no plan can go below: the largest sum of values alive at once; and what
a process keeps of a model that it compiled, against its constants and its workspace."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.progress import track

import relay
from benchmarks import fresh
from benchmarks.figures import RELAY, Failure, Quantity, Record
from benchmarks.network_programs import NETWORKS, SMALL
from benchmarks.startup import write_model
from benchmarks.workloads import Workload, told
from relay.driver.build import compile_stages
from relay.runtime.artefact.arena_map import ArenaMap, region_arena
from relay.runtime.artefact.manifest import HeapResult

LARGE_BYTES = 64e6
"""Of constants: what else a process keeps is a few MB, which is much for a small model and says nothing of it."""


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """Quantities of each model: planned bytes, the lower bound, constants, what is kept, and ratios."""
    chosen = SMALL if options.quick else NETWORKS
    names = [name for name in chosen if name.startswith(tuple(options.only or ("",)))]
    for name in track(names, "planning", transient=True):
        try:
            yield from _planned(name, chosen[name]())
        except Exception as error:
            yield Failure(name, 1, RELAY, told(error))


def _planned(name: str, workload: Workload) -> list[Record]:
    module, params = relay.frontend.from_onnx(workload.model)
    stages = compile_stages(module, params=params, opt_level=3)
    entry = stages.manifest.entry("main")
    if isinstance(entry.result, HeapResult) or entry.symbols:
        return [Failure(name, 1, RELAY, "its values live on a heap, or their sizes are not known: there is no plan")]
    (arena,) = (region_arena(each, {}) for each in entry.regions)
    assert isinstance(arena, ArenaMap)
    planned, least = arena.planned_bytes, arena.lower_bound_bytes
    constants, kept = stages.program.constant_bytes, _kept_bytes(workload)
    found: list[Record] = [
        Quantity(name, "workspace", RELAY, planned / 1e6, "MB"),
        Quantity(name, "largest live set", RELAY, least / 1e6, "MB"),
        Quantity(name, "workspace ÷ largest live set", RELAY, planned / least if least else 1.0, ""),
        Quantity(name, "constants", RELAY, constants / 1e6, "MB"),
        Quantity(name, "kept", RELAY, kept / 1e6, "MB"),
    ]
    if constants >= LARGE_BYTES:
        found.append(Quantity(name, "kept ÷ constants and workspace", RELAY, kept / (constants + planned), ""))
    return found


def _kept_bytes(workload: Workload) -> float:
    with tempfile.TemporaryDirectory() as path:
        model = write_model(workload, Path(path))
        return fresh.run("kept", str(model), environment=fresh.environment(Path(path, "cache")))["memory kept"]
