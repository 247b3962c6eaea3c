"""The support library of a target, as LLVM text.

It is written in C. `text/` keeps what clang makes of that (`generate.py`), the same for all 64-bit targets; what
differs by target is added to it here."""

from __future__ import annotations

from functools import cache
from importlib import resources

from relay.targets.cpu.codegen import kept_object
from relay.targets.cpu.target import CpuTarget

SPINS_BEFORE_SLEEP = 4000
"""How often a worker looks for work before it sleeps: with the pause between, 0.05 to 0.2 ms."""

_FUTEX_CALL_NUMBER = {"x86_64": 202, "aarch64": 98}
_PAUSE = {"x86_64": "@llvm.x86.sse2.pause()", "aarch64": "@llvm.aarch64.hint(i32 1)"}


@cache
def support_text(target: CpuTarget, pinning: bool = False, serial: bool = False) -> str:
    """LLVM text of the allocator, the error slot, calls from Python, the thread pool, and what watches over mapped
    files. Where the last two are not supported (they are on Linux, x86-64 and aarch64) or not wanted (`serial`),
    parallel loops run on one thread, and nobody watches."""
    machine = target.triple.split("-")[0]
    pooled = not serial and "linux" in target.triple and machine in _FUTEX_CALL_NUMBER
    return _read("library") + _target_text(machine, pinning) if pooled else _read("library_serial")


def _target_text(machine: str, pinning: bool) -> str:
    """What `target.h` declares."""
    return f"""
@relay_target_pinning = internal global i32 {int(pinning)}
@relay_target_spins_before_sleep = internal constant i32 {SPINS_BEFORE_SLEEP}
@relay_target_futex_number = internal constant i64 {_FUTEX_CALL_NUMBER[machine]}

define internal void @relay_target_pause() alwaysinline nounwind {{
  call void {_PAUSE[machine]}
  ret void
}}
"""


@cache
def support_object(target: CpuTarget, pinning: bool = False) -> bytes:
    """The support library as an object file, the same for every artefact of a target."""
    return kept_object(support_text(target, pinning), target, opt=1)


@cache
def serial_support_object(target: CpuTarget) -> bytes:
    """The support library of programs that are linked whole and use one thread: all it asks of a system is memory."""
    return kept_object(support_text(target, serial=True), target, opt=1)


@cache
def heap_text(target: CpuTarget, deep: bool) -> str:
    """LLVM text of the heap of calls, part of the programs that need one; `deep` adds what runs on a large stack."""
    return _read(f"heap_{target.heap}") + (_read("stack") if deep else "")


def values_text() -> str:
    """LLVM text of the functions by which programs in C make and read values."""
    return _read("values")


def device_text(has_tensors: bool) -> str:
    """LLVM text of the function that runs regions on devices, part of the programs that have such regions; and of those
    that make tensors there."""
    return _read("device") + (_read("device_tensors") if has_tensors else "")


def device_connect_text() -> str:
    """LLVM text of the function by which programs in C give an exported library its devices."""
    return _read("device_connect")


def device_header() -> str:
    """The C header of devices."""
    return resources.files("relay.targets.cpu.support").joinpath("device/device.h").read_text(encoding="utf-8")


def tiles_text() -> str:
    """LLVM text of the function that asks the system for the tiles of AMX."""
    return _read("tiles")


def _read(name: str) -> str:
    return resources.files("relay.targets.cpu.support").joinpath(f"text/{name}.ll").read_text(encoding="utf-8")
