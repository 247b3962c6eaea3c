"""`relay doctor`: what is installed, what the machine has, and what is kept where."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import llvmlite.binding as llvm

from relay.base.diagnostics import RelayError
from relay.base.kept_files import kept_folder
from relay.base.version import VERSION
from relay.targets.cpu.host import host_cache_bytes, host_features
from relay.targets.cpu.link.linker import linker_command
from relay.targets.cpu.target import CpuTarget

PACKAGES: Mapping[str, str] = MappingProxyType({
    "numpy": "", "ml_dtypes": "", "llvmlite": "", "rich": "",
    "onnx": "onnx", "torch": "torch", "ziglang": "export", "safetensors": "params", "pillow": "images",
    "matplotlib": "training", "onnxruntime": "bench", "openvino": "peers", "jax": "peers",
})  # fmt: skip
"""The packages that relay can use, and the extra that brings them; nothing for those that it always has."""

_SHOWN_FEATURES = (
    "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vnni", "avx512bf16", "avxvnni", "amx-tile", "neon", "dotprod",
    "bf16", "i8mm", "sve",
)  # fmt: skip


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print it as JSON")
    command.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> None:
    found = {"relay": _relay(), "packages": _packages(), "machine": _machine(), "cache": _cache()}
    if options.json:
        print(json.dumps(found))
        return
    for title, facts in found.items():
        print(title)
        for name, value in facts.items():
            print(f"  {name:<12} {value}")


def _relay() -> dict[str, str]:
    version = ".".join(map(str, llvm.llvm_version_info))
    return {"version": VERSION, "python": platform.python_version(), "LLVM": version, "linker": _linker()}


def _linker() -> str:
    target = CpuTarget(triple=llvm.get_process_triple())
    try:
        return " ".join(linker_command(target))
    except RelayError as error:
        return f"none: {error.remedy}"


def _packages() -> dict[str, str]:
    return {name: _version(name) or f'missing: pip install "relay-ir[{extra}]"' for name, extra in PACKAGES.items()}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _machine() -> dict[str, str]:
    have = {each.lstrip("+") for each in host_features()}
    l1, l2, l3 = (f"{size >> 10} KiB" if size else "?" for size in host_cache_bytes())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": f"{llvm.get_host_cpu_name()} ({llvm.get_process_triple()})",
        "features": " ".join(each for each in _SHOWN_FEATURES if each in have) or "none of note",
        "processors": str(len(os.sched_getaffinity(0))),
        "caches": f"L1 {l1}, L2 {l2}, L3 {l3}",
        "memory": f"{memory / 1e9:.1f} GB",
    }


def _cache() -> dict[str, str]:
    folder = kept_folder(os.environ)
    if folder is None:
        return {"folder": "none: RELAY_CACHE=0"}
    sizes = {each.name: _size(each) for each in sorted(folder.glob("*")) if each.is_dir()}
    free = shutil.disk_usage(next(each for each in (folder, *folder.parents) if each.exists())).free
    return {"folder": str(folder), **sizes, "free": f"{free / 1e9:.1f} GB on its disk"}


def _size(folder: Path) -> str:
    sizes = [each.stat().st_size for each in folder.rglob("*") if each.is_file()]
    return f"{sum(sizes) / 1e6:.1f} MB in {len(sizes)} files"
