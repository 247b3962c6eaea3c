"""What figures were taken on: by features, since names of virtual machines' processors say little."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

import llvmlite.binding as llvm

_FEATURES = ("avx2", "fma", "avx512f", "avx512vnni", "avx512bf16", "amx-bf16", "amx-int8", "neon", "sve")
_PACKAGES = ("relay", "numpy", "llvmlite", "onnxruntime", "openvino", "torch", "jax")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def machine() -> dict[str, object]:
    """Features, processors, caches, and the versions of those who were compared."""
    features = llvm.get_host_cpu_features()
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "features": [name for name in _FEATURES if features.get(name)],
        "processors": len(os.sched_getaffinity(0)),
        "caches": _caches(),
        "python": platform.python_version(),
        "packages": {name: version for name in _PACKAGES if (version := _version(name))},
    }


def _caches() -> dict[str, str]:
    """Sizes of a processor's caches of data, by level."""
    sizes: dict[str, str] = {}
    for folder in sorted(_CACHES.glob("index*")):
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            sizes[f"L{level}"] = size
    return sizes


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
