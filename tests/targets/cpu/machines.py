"""Machines that tests mean: cores, caches and features as frozen values, the same on whatever machine tests run.

A schedule depends on the machine it is for. A test that says what is chosen names one of these; one that runs code
takes it `as_far_as_here`, with its caches and cores, and those of its features that this machine has.

`RELAY_TEST_HOST=zen_3 python -m pytest` runs tests as if this machine were that one (see `tests/conftest.py`).
"""

from __future__ import annotations

from dataclasses import replace

from relay.base.target import Target
from relay.targets.cpu.host import host_features, resolve

_AVX2 = "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3"
_AVX512 = f"{_AVX2},+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl,+avx512vnni"
_AMX = f"{_AVX512},+amx-bf16,+amx-int8,+amx-tile,+avx512bf16"


def _machine(features: str, l1: int, l2: int, l3: int, threads: int = 2) -> Target:
    words = f"-mtriple=x86_64-unknown-linux-gnu -mattr={features} -num-threads={threads}"
    caches = f"-l1-bytes={l1 << 10} -l2-bytes={l2 << 10} -l3-bytes={l3 << 10}"
    return resolve(Target.parse(f"llvm {words} {caches}"))


ZEN_3 = _machine(_AVX2, l1=32, l2=512, l3=32 << 10)
CASCADE_LAKE = _machine(_AVX512, l1=32, l2=1 << 10, l3=36 << 10)
SAPPHIRE_RAPIDS = _machine(_AMX, l1=48, l2=2 << 10, l3=105 << 10)

MACHINES = {"zen_3": ZEN_3, "cascade_lake": CASCADE_LAKE, "sapphire_rapids": SAPPHIRE_RAPIDS}


def as_far_as_here(machine: Target) -> Target:
    """`machine` without the features that this one lacks: its code runs here, and its schedules are those for its cores
    and caches. On another kind of processor there is nothing that runs: the machine itself."""
    have = host_features()
    return resolve(replace(machine, features=tuple(each for each in machine.features if each in have), vector_bits=0))
