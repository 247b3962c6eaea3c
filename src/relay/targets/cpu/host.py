"""What the running machine can do: features, caches and the processors this process may use."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import llvmlite.binding as llvm

from relay.runtime.memory.tiles import ask_for_tiles
from relay.targets.cpu.processors import BASELINE, features_of
from relay.targets.cpu.target import CpuTarget

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_SIZE_UNITS = {"K": 1024, "M": 1024 * 1024}


def resolve(target: CpuTarget) -> CpuTarget:
    """`target` with nothing left open: triple, features, vector width and cache sizes filled in.

    `llvm` alone, or `-mcpu=native`, takes the host's features, flag by flag: what a virtual machine calls its CPU is
    not believed. Other targets have what they state, and what the CPU they name has for certain. Features that are
    stated win.
    """
    triple = target.triple or llvm.get_process_triple()
    native = target.cpu == "native" or not (target.cpu or target.features or target.triple)
    certain = (*BASELINE.get(triple.partition("-")[0], ()), *(host_features() if native else features_of(target.cpu)))
    features = _merge(certain, target.features)
    filled = replace(target, triple=triple, cpu="" if native else target.cpu, features=features)
    if not target.triple:
        l1, l2, l3 = host_cache_bytes()
        filled = replace(
            filled,
            l1_bytes=target.l1_bytes or l1,
            l2_bytes=target.l2_bytes or l2,
            l3_bytes=target.l3_bytes or l3,
        )
    return replace(filled, vector_bits=filled.register_bits)


def host_features() -> tuple[str, ...]:
    """The features of this CPU as LLVM flags, those it has and may be used only, sorted. Where it has tiles (AMX), this
    asks the system for them."""
    found = llvm.get_host_cpu_features()
    refused = found.get("amx-tile", False) and not ask_for_tiles()
    return tuple(f"+{name}" for name in sorted(found) if found[name] and not (refused and name.startswith("amx-")))


def supports(target: CpuTarget) -> bool:
    """Whether code for `target` runs on this machine."""
    if target.triple and target.triple.split("-")[0] != llvm.get_process_triple().split("-")[0]:
        return False
    have = set(host_features())
    return all(feature in have for feature in target.features if feature.startswith("+"))


def _merge(host: tuple[str, ...], stated: tuple[str, ...]) -> tuple[str, ...]:
    by_name = {feature[1:]: feature for feature in (*host, *stated)}
    return tuple(by_name[name] for name in sorted(by_name))


def host_cache_bytes() -> tuple[int, int, int]:
    """Sizes of this machine's L1 data, L2 and L3 caches in bytes; 0 for what is not known."""
    sizes = {1: 0, 2: 0, 3: 0}
    for index in sorted(_CACHES.glob("index*")):
        try:
            level = int((index / "level").read_text())
            kind = (index / "type").read_text().strip()
            size = (index / "size").read_text().strip()
        except (OSError, ValueError):
            continue
        if kind != "Instruction" and level in sizes and size[:-1].isdigit():
            sizes[level] = int(size[:-1]) * _SIZE_UNITS.get(size[-1], 1)
    return sizes[1], sizes[2], sizes[3]


def usable_cpus() -> int:
    """How many processors this process may run on."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else (os.cpu_count() or 1)
