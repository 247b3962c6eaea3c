"""The planned workspace of a call against what no plan can go below: the largest sum of values alive at once."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from rich.progress import track

import relay
from benchmarks.figures import RELAY, Failure, Quantity, Record
from benchmarks.network_programs import NETWORKS, SMALL
from benchmarks.workloads import Workload, told
from relay.driver.build import compile_stages
from relay.runtime.artefact.arena_map import ArenaMap, region_arena
from relay.runtime.artefact.manifest import HeapResult


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """Three quantities a model: planned bytes, the lower bound, and their ratio; weights are told beside them."""
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
    return [
        Quantity(name, "workspace", RELAY, planned / 1e6, "MB"),
        Quantity(name, "largest live set", RELAY, least / 1e6, "MB"),
        Quantity(name, "workspace ÷ largest live set", RELAY, planned / least if least else 1.0, ""),
        Quantity(name, "constants", RELAY, stages.program.constant_bytes / 1e6, "MB"),
    ]
