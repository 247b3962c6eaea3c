"""What a machine can do at most: operations a second, and bytes a second from each level of its memory.

The figures are measured (`relay.driver.measure_roofline`), kept beside the compiled kernels, and read here without the
compiler. The model is that of Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for
multicore architectures" (2009): a kernel takes at least as long as its operations at the peak, and as its bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import llvmlite.binding as llvm

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.kept_files import KeptFiles

_FORMAT = "relay-roofline-1"
_MOST_BYTES = 1 << 20  # never reached: a file for each number of threads


@frozen
class MemoryLevel:
    """A cache, of all threads together, or main memory (`size_bytes` 0), and how fast it can be read."""

    name: str
    size_bytes: int
    bytes_per_s: float


@frozen
class Roofline:
    """`peak_flops` by type (a multiply-add is two operations), `levels` from the nearest to main memory, which is last;
    all for `threads` threads. `is_disturbed`: others used the processors meanwhile, so the machine can do more."""

    threads: int
    peak_flops: Mapping[DType, float]
    levels: tuple[MemoryLevel, ...]
    is_disturbed: bool = False

    def level_of(self, size_bytes: float) -> MemoryLevel:
        """The nearest level that holds so many bytes.

        >>> caches = (MemoryLevel("L2", 1 << 20, 100e9), MemoryLevel("memory", 0, 10e9))
        >>> roofline = Roofline(1, {DType.FLOAT32: 100e9}, caches)
        >>> roofline.level_of(1 << 19).name, roofline.level_of(1 << 21).name
        ('L2', 'memory')
        """
        return next((each for each in self.levels if size_bytes <= each.size_bytes), self.levels[-1])

    def least_seconds(
        self, dtype: DType, multiply_adds: int, constant_bytes: int, value_bytes: int, program_bytes: int
    ) -> float | None:
        """How long a call of a kernel takes at least. Its values come from the level that holds what the call touches;
        its constants, which are read once in a run, from the level that holds all of the program.

        None for products of a type whose peak was not measured.
        """
        memory_s = value_bytes / self.level_of(value_bytes + constant_bytes).bytes_per_s
        memory_s += constant_bytes / self.level_of(max(program_bytes, value_bytes + constant_bytes)).bytes_per_s
        if not multiply_adds:
            return memory_s
        peak = self.peak_flops.get(dtype)
        return None if peak is None else max(memory_s, 2 * multiply_adds / peak)


def machine_key(threads: int) -> str:
    """What figures depend on, as the name of their file."""
    features = llvm.get_host_cpu_features()
    words = (_FORMAT, llvm.get_process_triple(), llvm.get_host_cpu_name(), str(threads))
    stated = ",".join(name for name in sorted(features) if features[name])
    return hashlib.sha256("\0".join((*words, stated)).encode()).hexdigest()[:24]


def kept_roofline(threads: int) -> Roofline | None:
    """What was measured on this machine with so many threads; None where nothing was, or the file is damaged."""
    files = _files()
    if files is None:
        return None
    try:
        return _from_json(json.loads(files.path(machine_key(threads)).read_bytes()))
    except (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return None


def keep_roofline(roofline: Roofline) -> None:
    """Keep what was measured, unless nothing is kept here. A full or read-only disk is no error."""
    files = _files()
    if files is not None:
        files.put(machine_key(roofline.threads), [json.dumps(to_json(roofline), sort_keys=True).encode()])


def to_json(roofline: Roofline) -> Any:
    return {
        "threads": roofline.threads,
        "disturbed": roofline.is_disturbed,
        "peak_flops": {str(dtype): peak for dtype, peak in roofline.peak_flops.items()},
        "levels": [[level.name, level.size_bytes, level.bytes_per_s] for level in roofline.levels],
    }


def _from_json(value: Any) -> Roofline:
    peaks = {DType(name): float(peak) for name, peak in value["peak_flops"].items()}
    levels = tuple(MemoryLevel(str(name), int(size), float(speed)) for name, size, speed in value["levels"])
    if not levels or min([*peaks.values(), *(level.bytes_per_s for level in levels)]) <= 0:
        raise ValueError("a machine that does nothing")
    return Roofline(int(value["threads"]), MappingProxyType(peaks), levels, bool(value["disturbed"]))


def _files() -> KeptFiles | None:
    return KeptFiles.from_environment("machine", ".json", "RELAY_CACHE_BYTES", _MOST_BYTES, os.environ)
