"""The support library of a target: one module of LLVM text, from the files beside this one."""

from __future__ import annotations

from functools import cache
from importlib import resources
from string import Template

from relay.base.target import Target
from relay.targets.cpu.codegen import kept_object

SPINS_BEFORE_SLEEP = 4000
"""How often a worker looks for work before it sleeps: with the pause between, 0.05 to 0.2 ms."""

_FUTEX_CALL_NUMBER = {"x86_64": 202, "aarch64": 98}
_PAUSE = {
    "x86_64": ("declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"),
    "aarch64": ("declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"),
}


@cache
def support_text(target: Target, pinning: bool = False, serial: bool = False) -> str:
    """LLVM text of the allocator, the error slot, calls from Python, the thread pool, and what watches over mapped
    files. Where the last two are not supported (they are on Linux, x86-64 and aarch64) or not wanted (`serial`),
    parallel loops run on one thread, and nobody watches."""
    machine = target.triple.split("-")[0]
    pooled = not serial and "linux" in target.triple and machine in _FUTEX_CALL_NUMBER
    files = ("pool.ll", "mapped.ll") if pooled else ("serial.ll", "unmapped.ll")
    text = "\n".join(map(_read, ("memory.ll", "call.ll", "build.ll", *files)))
    if not pooled:
        return text
    declaration, pause = _PAUSE[machine]
    return Template(text).substitute(
        threads=target.num_threads,
        pinning=int(pinning),
        futex=_FUTEX_CALL_NUMBER[machine],
        spins=SPINS_BEFORE_SLEEP,
        pause=pause,
        pause_declaration=declaration,
    )


@cache
def support_object(target: Target, pinning: bool = False) -> bytes:
    """The support library as an object file, the same for every artefact of a target."""
    return kept_object(support_text(target, pinning), target, opt=1)


@cache
def serial_support_object(target: Target) -> bytes:
    """The support library of programs that are linked whole and use one thread: all it asks of a system is memory."""
    return kept_object(support_text(target, serial=True), target, opt=1)


@cache
def heap_text(target: Target, deep: bool) -> str:
    """LLVM text of the heap of calls, part of the programs that need one; `deep` adds what runs on a large stack."""
    files = ("heap.ll", f"heap_{target.heap}.ll", "heap_end.ll", *(["stack.ll"] if deep else []))
    return "\n".join(map(_read, files))


def values_text() -> str:
    """LLVM text of the functions by which programs in C make and read values."""
    return _read("values.ll")


def tiles_text() -> str:
    """LLVM text of the function that asks the system for the tiles of AMX."""
    return _read("tiles.ll")


def _read(name: str) -> str:
    return resources.files("relay.targets.cpu.support").joinpath(name).read_text(encoding="utf-8")
